#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/internal_graph.h"
#include "core/trace/body_stack.h"
#include "core/trace/value_oracle.h"
#include "core/trace/var.h"

namespace sonde::trace {

class Memory;
class ModelIndex;
class TracePolicy;

/// Knows where in the model's own source the operation stands that is recorded now (modules that come from a file).
class SourceSite {
  public:
    virtual ~SourceSite() = default;
    virtual graph::Source source() const = 0;
};

/// The model's code that runs now.
struct CodePlace {
    std::string module;                ///< qualified name of the module whose forward it is; "" at top level
    std::string moduleClass;           ///< of that module
    const SourceSite* site = nullptr;  ///< asked at each expr; null: nothing is known. Must outlive the trace.

    /// "model.py:12"; empty: it is not known.
    std::string sourceText() const;
};

/// Builds the InternalGraph of a trace: the bodies that are open, names, scopes, constants, reads of the model's
/// tensors, and what is taken back again. It decides nothing: what becomes a node, and whether, is up to its callers,
/// and names in the main body are up to the policy.
///
/// What operations write to is not followed here (see Memory): arguments mean what they mean now.
class Recorder {
  public:
    using GraphPtr = std::shared_ptr<graph::InternalGraph>;

    /// All must outlive it; `tracer` is whose proxies its nodes get.
    Recorder(Tracer& tracer, TracePolicy& policy, ModelIndex& model, Memory& memory)
        : m_tracer(tracer), m_policy(policy), m_model(model), m_memory(memory) {}

    /// A new graph, of the root in the model index.
    void begin();
    /// Nothing is recorded any more; the graph stays.
    void end();
    graph::InternalGraph& graph() const { return *m_graph; }
    const GraphPtr& sharedGraph() const { return m_graph; }
    /// The graph is what a pass has made of it.
    void setGraph(GraphPtr graph) { m_graph = std::move(graph); }
    BodyStack& bodies() { return m_bodies; }
    const BodyStack& bodies() const { return m_bodies; }
    CodePlace& place() { return m_place; }
    const CodePlace& place() const { return m_place; }
    /// Told of what is recorded; null: nobody.
    ValueOracle* oracle() const { return m_oracle.get(); }
    void setOracle(std::shared_ptr<ValueOracle> oracle) { m_oracle = std::move(oracle); }

    // Exprs and nodes, in the innermost body.
    /// Several outputs are a tuple. `candidate`: what its nodes are named after.
    Var record(graph::ExprKind kind, graph::OpKey op, std::string target, std::string_view candidate,
               std::vector<Var> arguments, Keywords keywords, bool makesTensor, std::size_t outputs = 1);
    /// An expr of the code that runs now, with its operator and arguments.
    graph::ExprId addExpr(graph::Expr expr, std::string_view candidate, std::size_t outputs = 1);
    graph::NodeId addInput(std::string name, tensor::TypeInfo type, std::string target, bool isTensor);
    graph::NodeId addOutput(graph::ExprId owner, std::string name, bool isTensor);
    graph::NodeId addConstant(const tensor::Value& value);
    /// A node that reads the model's parameter, one for each body; a value if it is none of the model's.
    Var readParameter(const std::shared_ptr<const Slot>& slot);
    /// Tensors that are values become constants or reads of the model's tensors. May record nodes.
    graph::Argument toArgument(const Var& var);
    Var proxy(graph::NodeId node) { return Var::proxy(m_tracer, node); }
    /// The name that the next node of the innermost body gets.
    std::string newName(std::string_view candidate);
    /// Known to be a tensor (else it may be anything).
    bool isTensor(graph::NodeId node) const { return node.index() < m_isTensor.size() && m_isTensor[node.index()]; }
    void setTensor(graph::NodeId node, bool isTensor);

    // What was recorded, changed again.
    /// Takes back an expr and everything recorded after it.
    void abandon(graph::ExprId first);
    /// Gives the expr of a node other arguments, if it is the last one of the innermost body and nothing uses it.
    /// False: it is not.
    bool amendLast(graph::NodeId node, const std::vector<Var>& arguments);
    /// Takes back the expr that made a node, if nothing uses it.
    void eraseUnused(graph::NodeId node);

  private:
    graph::NodeId addAttribute(const std::shared_ptr<const Slot>& slot, const std::string& path, bool withOrigin);
    graph::Argument containerOf(const Var& var);

    Tracer& m_tracer;
    TracePolicy& m_policy;
    ModelIndex& m_model;
    Memory& m_memory;
    std::shared_ptr<ValueOracle> m_oracle;
    GraphPtr m_graph;
    BodyStack m_bodies;
    CodePlace m_place;
    std::vector<bool> m_isTensor;  ///< by node
};

}  // namespace sonde::trace
