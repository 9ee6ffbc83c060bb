#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/analysis/infer_index.h"
#include "core/base/diagnostics.h"
#include "core/base/thread_pool.h"
#include "core/graph/internal_graph.h"
#include "core/ops/registry/registry.h"

namespace sonde::analysis {

/// Goes through a graph once and settles what every node is; the work behind inferTypes().
class Inference {
  public:
    Inference(graph::InternalGraph& graph, base::Diagnostics& findings, const ops::Registry& registry);

    /// Dimensions of inputs that the file does not even name get a name, so that what depends on them can be told.
    void nameOpenDimSizes();
    void inferBody(graph::BodyId id, int depth);

  private:
    /// What is known of a node's value beside its type.
    struct Known {
        tensor::Value value;                    ///< None: not known
        std::optional<ops::Elements> elements;  ///< in symbols, row-major
        bool isWhole = false;                   ///< of a list: its type has an element for each of its own
    };

    static std::string plainName(std::string name);
    void inferExpr(graph::ExprId id, int depth);

    // ---- Control flow ----
    /// An If gives what both branches give; if the condition is known already, what its branch gives.
    void inferBranches(const graph::Expr& expr, int depth);
    /// cond(predicate, one, other, operands): the bodies take the operands.
    void inferConditional(const graph::Expr& expr, int depth);
    tensor::TypeInfo resultOf(const graph::Body& body) const;
    static std::optional<bool> toBool(const tensor::Value& value);
    /// ONNX names the branches in attributes; in domain prim they stand in order.
    static std::size_t branchOf(const graph::Expr& expr, bool holds);
    /// Infers a body that runs again and again with types that hold for every pass: `carried` are the types that go in
    /// at the first, `places` its inputs for them; what comes out stands at `results` of the body's outputs.
    std::vector<tensor::TypeInfo> inferRepeated(const graph::Body& body, std::vector<tensor::TypeInfo> carried,
                                                std::size_t firstInput, std::size_t firstResult, int depth);
    /// Trip count, condition, carried values; the body takes (i, condition, carried…) and gives (condition, carried…,
    /// stacked…).
    void inferLoop(const graph::Expr& expr, int depth);
    /// What a short loop of a script carries out, if it is certain how often it runs: lists that grow in it are whole,
    /// and numbers have their values. Leaves the body's nodes as the last pass has them.
    std::optional<std::vector<std::pair<tensor::TypeInfo, Known>>> passByPass(const graph::Expr& expr,
                                                                              const graph::Body& body, int depth);
    tensor::Symbolic tripCount(const graph::Expr& expr, const graph::Body& body) const;
    /// States and sequences; the body takes (states…, elements…) and gives (states…, outputs…).
    void inferScan(const graph::Expr& expr, int depth);
    /// Scan of version 8: lengths, states [N, …] and sequences [N, T, …]; the body runs on one sample of the batch.
    void inferScanByBatch(const graph::Expr& expr, int depth);
    /// x[i, :n]: of a tensor whose shape is known. False if the index picks by its values, or may.
    bool inferIndexed(const graph::Expr& expr);
    bool addIndexParts(const graph::Argument& index, std::vector<IndexPart>& parts, bool isWhole) const;
    /// A list with one more element. Of a list that may hold any number there is one type for all.
    void inferAppend(const graph::Expr& expr);
    /// The body runs on the elements of the first sequence and of those beside it.
    void inferMap(const graph::Expr& expr, int depth);
    /// A called module or function: types go in by position and come out of the body's result.
    void inferCall(const graph::Expr& expr, int depth);

    // ---- Operators ----
    void inferOperator(const graph::Expr& expr);
    struct Inputs {
        std::vector<tensor::TypeInfo> types;
        std::vector<tensor::Value> values;
        std::vector<std::optional<ops::Elements>> elements;
    };
    /// Values and expressions through an operator of ONNX.
    void follow(const graph::Expr& expr, const ops::OpDef& op, const ops::Attributes& attributes, Inputs& inputs,
                const std::vector<tensor::TypeInfo>& outputs, std::vector<Known>& known);
    /// Numbers, texts and lists through Python's operators; a list made in place is whole.
    void followPlain(const graph::Expr& expr, const ops::OpDef& op, const ops::Attributes& attributes,
                     const Inputs& inputs, const std::vector<tensor::TypeInfo>& outputs, std::vector<Known>& known);
    void bind(const graph::Expr& expr, const ops::OpDef& op, Inputs& inputs) const;

    // ---- Arguments ----
    tensor::TypeInfo typeOf(const graph::Argument& argument) const;
    Known knownOf(const graph::Argument& argument) const;
    /// None unless every part is known.
    tensor::Value valueOf(const graph::Argument& argument) const;
    /// Of a list with parts that are not numbers yet.
    std::optional<ops::Elements> elementsOf(const graph::Argument& argument) const;
    void settle(graph::NodeId node, const tensor::TypeInfo& inferred, Known known);
    /// How many there are of something is a number that only the data tells: it has a name, as dimensions of inputs
    /// have.
    void nameCounts(graph::NodeId node, tensor::TypeInfo& type) const;
    void note(const graph::Expr& expr, const std::string& what);

    graph::InternalGraph& m_graph;
    base::Diagnostics* m_findings;
    const ops::Registry& m_registry;
    std::vector<Known> m_known;                ///< by node
    std::vector<tensor::TypeInfo> m_declared;  ///< by node: before anything was inferred
    base::ThreadPool m_pool;
    ops::RunEnvironment m_environment;
    int m_loops = 0;  ///< that are being inferred, one inside the other
};

}  // namespace sonde::analysis
