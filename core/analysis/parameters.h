#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/graph/internal_graph.h"
#include "core/graph/module_tree.h"

namespace sonde::analysis {

/// What a stored tensor is to the model.
enum class StoredKind : std::uint8_t {
    Parameter,  ///< trainable, or a quantised form of that
    Buffer,     ///< running statistics, and what the model itself registers as a buffer
    Constant,   ///< shapes, axes, scalars, masks, scales of a quantisation
};

/// Tensors of one kind together.
struct StoredSum {
    std::int64_t tensors = 0;
    std::int64_t elements = 0;
    std::int64_t bytes = 0;                         ///< in the file; elements of few bits count as such
    std::map<tensor::DType, std::int64_t> byDType;  ///< elements
    void add(const StoredSum& other);
};

/// One tensor in memory, under however many names.
struct StoredTensor {
    StoredKind kind = StoredKind::Constant;
    StoredSum size;                    ///< of one tensor
    std::vector<std::string> names;    ///< "fc.weight"; more than one: tied
    std::vector<std::size_t> modules;  ///< owners in the tree, each once
    graph::ExprId reader;              ///< the first operation that reads it; none: no operation does
    bool isResult = false;             ///< the model gives it, or a branch or loop does
    bool isTied() const { return names.size() > 1; }
};

/// Of one module.
struct ModuleSums {
    StoredSum parameters;  ///< of it and all below, tied ones once
    StoredSum buffers;
    std::int64_t tied = 0;  ///< elements of parameters that another module has, too
};

/// What a model stores, counted by one definition wherever a count is shown:
///  - a tensor that the model itself registers (C++, TorchScript) is the parameter or buffer that it is registered as;
///  - of other tensors the positions decide in which operators read them (weightPosition()), through casts, transposes,
///    dequantisation and everything else that is computed of stored tensors alone: floating-point tensors, and integers
///    of quantised weights, are parameters in positions of weights; running statistics are buffers; the rest is
///    neither;
///  - as an operand of any other operator a tensor of rank 1 or more is a parameter if it is one of the file's weights
///  and no
///    mask (two values); one that stands in a Constant node only if it is added or multiplied channel by channel;
///  - tensors that are one memory count once.
struct ModelCounts {
    std::vector<StoredTensor> tensors;  ///< in the order of the graph, then those that nothing reads
    StoredSum parameters, buffers, constants;
    StoredSum unread;                  ///< of the parameters: registered, but no operation reads them
    std::vector<std::int64_t> ofExpr;  ///< by ExprId: elements of the parameters that it is the first to read
    std::vector<ModuleSums> ofModule;  ///< by index in the tree
};

/// `original`: the graph before passes changed it, if any did; parameters that only it reads are gone. Linear in the
/// graph.
ModelCounts countParameters(const graph::InternalGraph& graph, const graph::ModuleTree& modules,
                            const graph::InternalGraph* original = nullptr);

/// By ExprId: elements of the parameters that an operation reads, as countParameters() counts them without modules.
std::vector<std::int64_t> parameterCounts(const graph::InternalGraph& graph);

/// The kind of every stored tensor of `graph` (by NodeId; nothing of other nodes), by the positions alone.
std::vector<std::optional<StoredKind>> storedKinds(const graph::InternalGraph& graph);

/// For readers of files that do not say what is a parameter: makes the lists of `modules` say what countParameters()
/// counts. Entries that are neither parameter nor buffer go; weights in Constant nodes come to the module that reads
/// them first.
void listParameters(const graph::InternalGraph& graph, graph::ModuleTree& modules);

/// "float32", "float16 and int8".
std::string dtypesText(const StoredSum& sum);
/// "44.6 MiB", "512 bytes".
std::string bytesText(std::int64_t bytes);

}  // namespace sonde::analysis
