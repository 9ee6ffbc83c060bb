#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/graph/internal_graph.h"
#include "core/graph/module_tree.h"
#include "core/operators/cost.h"
#include "core/ops/registry/registry.h"
#include "core/tensor/symbolic_sum.h"

namespace sonde::analysis {

/// What several operations take together.
struct CostSum {
    tensor::SymbolicSum flops, multiplyAdds;      ///< see operators::Cost
    tensor::SymbolicSum bytesRead, bytesWritten;  ///< see operators::Cost
    /// Bytes of the results, each once however often it is computed; views, and what is written in place, have none.
    tensor::SymbolicSum activationBytes;
    /// Operations whose FLOPs, multiply-adds or bytes are not in the sums: there is no rule, or a size is not known.
    std::size_t unknownFlops = 0, unknownMultiplyAdds = 0, unknownBytes = 0;

    /// Whether the sums say something. If not, all that they would be of is not known: they are no zeros.
    bool hasFlops() const { return unknownFlops == 0 || flops.constant() != 0; }
    bool hasMultiplyAdds() const { return unknownMultiplyAdds == 0 || multiplyAdds.constant() != 0; }
    bool hasBytes() const { return unknownBytes == 0 || bytesRead.constant() != 0 || bytesWritten.constant() != 0; }

    /// Where operands are not known, the results may be.
    bool hasActivations() const { return unknownBytes == 0 || activationBytes.constant() != 0; }

    void add(const CostSum& other);
    /// FLOPs by byte read or written; empty unless both are numbers, and without any bytes.
    std::optional<double> intensity() const;
};

/// How an operation takes part in the sums.
enum class CostPart : std::uint8_t {
    None,         ///< inputs, stored values: nothing is done
    Counted,      ///< it is a part of the sums
    Owner,        ///< a call, a branch or a loop: its parts are inside of it, and its cost is theirs together
    NotCounted,   ///< there is no rule for its FLOPs, or what they depend on is not known
    NotExecuted,  ///< inside the branch that is not counted, or that was not taken
};

struct ExprCost {
    CostPart part = CostPart::None;
    CostSum sum;  ///< of all times that it runs; of an owner with all inside
};

/// How often each body ran, by BodyId, and the shapes of a run: what a static count cannot know.
using BodyRuns = std::vector<std::int64_t>;

/// FLOPs, multiply-adds, memory traffic and activations of a model, from the types of its nodes (inferTypes, typedFor),
/// in the symbols of their shapes. Every sum is exactly that of its parts (CostPart::Counted): total = Σ operations, a
/// module's = Σ operations that it or a module below it calls. Operations on numbers, texts and lists of them, with no
/// tensor among their results, take nothing.
struct ModelCost {
    CostSum total;
    std::vector<ExprCost> ofExpr;   ///< by ExprId
    std::vector<CostSum> ofModule;  ///< by index in the tree: of the module with everything below it
    /// Operations that take part in no sum, by operator ("NonZero", "com.example::Custom"): how many.
    std::map<std::string, std::size_t> notCounted;
    std::vector<graph::ExprId> notCountedExprs;  ///< in the order of the program
    std::size_t bytesUnknown = 0;                ///< operations whose FLOPs count, but whose bytes are not known
    /// The most bytes of activations that exist at once when the main body runs in order and each value goes after its
    /// last use; inner bodies count as their results. Empty if a size is not known.
    std::optional<std::int64_t> peakActivationBytes;
    /// What was assumed of branches and loops without a run: "'if_1': the costlier branch, then_branch".
    std::vector<std::string> assumptions;
};

/// Linear in the graph. Without `runs` a branch counts by the costlier body, if that can be told, and a loop by its
/// trip count: the number if it is known, else the symbol "NODE.iterations".
ModelCost costOfModel(const graph::InternalGraph& graph, const graph::ModuleTree& modules,
                      const BodyRuns* runs = nullptr, const ops::Registry& registry = ops::Registry::all());

/// "Conv", "com.microsoft::FusedConv", "aten::conv2d"; of a call without operator the class of the module.
std::string operatorTitle(const graph::Expr& expr);

}  // namespace sonde::analysis
