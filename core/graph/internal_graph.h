#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/result.h"
#include "core/graph/argument.h"
#include "core/graph/ids.h"
#include "core/graph/source.h"
#include "core/tensor/attribute.h"
#include "core/tensor/type_info.h"

namespace sonde::graph {

using tensor::Attributes;
using tensor::TypeInfo;
using tensor::Value;

/// What an expr is.
enum class ExprKind : std::uint8_t { Input, Constant, GetAttr, CallModule, CallMethod, CallFunction, Apply, Output };
std::string_view name(ExprKind kind);  ///< "Input", "CallModule", …

/// An operation as the file had it. A rewritten expr lists all that it stands for.
struct Origin {
    std::string op;    ///< "Conv"
    std::string name;  ///< the file's own name of the node
};

/// Which operator an expr executes. Empty name: none (Input, Output, a call with a body).
struct OpKey {
    std::string domain;
    std::string name;
    int version = 0;  ///< opset version that the model imports for the domain
};

/// An opaque thing that an expr calls when it has no body and no operator: a module whose forward could not be traced.
class Callable {
  public:
    virtual ~Callable() = default;
    virtual base::Result<std::vector<Value>> call(std::span<const Value> arguments) const = 0;
};

/// One operation. Timings, values and geometry live beside the graph in tables keyed by id.
struct Expr {
    ExprId id;
    ExprKind kind = ExprKind::Apply;
    OpKey op;
    /// Input: parameter name. GetAttr: dotted attribute path. CallModule: the module's path. CallMethod, CallFunction:
    /// name of the method or function. Apply, Constant: the operator's name. Output: "output".
    std::string target;
    std::string name;                 ///< the file's name of the operation (ONNX node name); may be empty
    std::vector<Argument> arguments;  ///< positional; operators see one Value for each
    std::vector<std::pair<std::string, Argument>> keywords;
    std::vector<NodeId> inputs;  ///< nodes in arguments and keywords, in order, with multiplicity (kept by the graph)
    std::vector<NodeId> outputs;
    Attributes attributes;
    std::vector<BodyId> bodies;           ///< branches, loop bodies, or the inside of a called module
    BodyId body;                          ///< the list that this expr is in
    ScopeId scope;                        ///< the module call during which it was recorded
    std::optional<std::string> qualname;  ///< originating module; none: not made by any ("None" in listings)
    std::string moduleClass;              ///< class of that module, e.g. "torch.nn.modules.conv.Conv2d"; may be empty
    bool isParameter = false;             ///< Constant or GetAttr: a weight or buffer of the model
    Source source;
    std::vector<Origin> origins;
    std::shared_ptr<const Callable> callable;
};

/// One value: what an expr makes.
struct Node {
    NodeId id;
    std::string name;  ///< unique in the graph
    ExprId producer;
    std::size_t outputIndex = 0;
    TypeInfo type;                  ///< as declared, recorded or inferred
    std::optional<Value> constant;  ///< of Constant and GetAttr exprs
    std::vector<ExprId> users;      ///< with multiplicity, in order
};

/// One call of one module. Scope 0 is the root's.
struct Scope {
    ScopeId id;
    ScopeId parent;           ///< none for the root
    std::string qualname;     ///< "layer1.0.conv1", "" for the root
    std::string moduleClass;  ///< "Conv2d"; may be empty
    int call = 0;             ///< 0 for the module's first call, 1 for the second …
    bool inferred = false;    ///< a group found in the graph, not named by the file
};

/// A list of exprs with its own inputs and results; captured values are simply nodes of an enclosing body.
/// An expr without an operator but with a body runs its first body in place (a called module, a model-local function):
/// the body's inputs are then Expr::inputs, one by one, and its result is the expr's output (several outputs: one
/// each). Operators of control flow run their bodies themselves. An expr of kind Output has one node whose value is the
/// structure of its first argument.
struct Body {
    BodyId id;
    ExprId owner;       ///< none for the main body
    std::string label;  ///< "then_branch", "body", …; empty for the main body
    std::vector<NodeId> inputs;
    Argument result;              ///< structure of result nodes
    std::vector<NodeId> outputs;  ///< nodes of `result` in order
    std::vector<ExprId> order;    ///< execution order
};

/// The recorded program in SSA form: exprs and nodes, with the tree of scopes beside them. Ids are dense and are never
/// used again; ids of all bodies count together, so one NodeId names a value anywhere in the program.
/// Built through the add functions; a published graph (shared_ptr<const>) is never edited: a pass works on a copy.
class InternalGraph {
  public:
    InternalGraph();

    std::string name;  ///< model or class name

    // Reading.
    const Expr& expr(ExprId id) const { return m_exprs[id.index()]; }
    const Node& node(NodeId id) const { return m_nodes[id.index()]; }
    const Scope& scope(ScopeId id) const { return m_scopes[id.index()]; }
    const Body& body(BodyId id) const { return m_bodies[id.index()]; }
    const Body& main() const { return m_bodies.front(); }
    BodyId mainId() const { return BodyId(std::size_t{0}); }
    ScopeId rootScope() const { return ScopeId(std::size_t{0}); }
    /// Sizes of the arenas; erased exprs keep their place (see isErased).
    std::size_t exprCount() const { return m_exprs.size(); }
    std::size_t nodeCount() const { return m_nodes.size(); }
    std::size_t scopeCount() const { return m_scopes.size(); }
    std::size_t bodyCount() const { return m_bodies.size(); }
    bool isErased(ExprId id) const { return !m_exprs[id.index()].id.valid(); }
    const std::vector<Scope>& scopes() const { return m_scopes; }
    const std::vector<NodeId>& inputs() const { return main().inputs; }
    const std::vector<NodeId>& outputs() const { return main().outputs; }
    /// Node by its name, an invalid id if there is none.
    NodeId findNode(std::string_view name) const;
    /// The scope that a node's producer belongs to.
    const Scope& scopeOf(NodeId id) const { return scope(expr(node(id).producer).scope); }
    /// Exprs of a body with those of inner bodies directly after their owner.
    std::vector<ExprId> recursiveOrder(BodyId body) const;
    /// a is b or one of b's ancestors.
    bool encloses(ScopeId a, ScopeId b) const;

    // Building.
    ScopeId addScope(ScopeId parent, std::string qualname, std::string moduleClass, int call = 0,
                     bool inferred = false);
    BodyId addBody(ExprId owner, std::string label);
    /// Appends (or inserts before `position` in the body's order) an expr. `inputs` is derived from the arguments;
    /// `outputs` are made from outputNames (made unique only if `uniqueNames`). The expr's body and scope must be set.
    ExprId addExpr(Expr expr, std::span<const std::string> outputNames, std::optional<std::size_t> position = {});
    /// Stands after the inputs there are, or at `position` of the body's order.
    NodeId addInput(BodyId body, std::string name, TypeInfo type, std::string parameter = {},
                    std::optional<std::size_t> position = {});
    void setResult(BodyId body, Argument result);
    /// One more output of an expr: of control flow, whose bodies say what comes out.
    NodeId addOutput(ExprId expr, std::string name);
    void setType(NodeId id, TypeInfo type) { m_nodes[id.index()].type = std::move(type); }
    void setConstant(NodeId id, Value value) { m_nodes[id.index()].constant = std::move(value); }
    Expr& mutableExpr(ExprId id) { return m_exprs[id.index()]; }
    Scope& mutableScope(ScopeId id) { return m_scopes[id.index()]; }
    /// Changes arguments and keeps users right.
    void setArguments(ExprId id, std::vector<Argument> arguments,
                      std::vector<std::pair<std::string, Argument>> keywords = {});
    /// Redirects every use of `from` (also as a result) to `to`.
    void replaceUses(NodeId from, NodeId to);
    /// Removes an expr whose outputs have no users.
    void erase(ExprId id);
    base::Result<void> rename(NodeId id, std::string name);

    /// Every rule of the form: known kinds, unique names, arguments defined before use in scope of their body, use
    /// lists right in both directions, scopes form a tree. The first broken one, by name.
    base::Result<void> validate() const;

  private:
    void link(ExprId id);
    void unlink(ExprId id);

    std::vector<Expr> m_exprs;
    std::vector<Node> m_nodes;
    std::vector<Scope> m_scopes;
    std::vector<Body> m_bodies;
    std::unordered_map<std::string, NodeId> m_nodeByName;
};

/// The graph as text: one line per expr, "name: type = op(args) {attributes}  # qualname", bodies indented.
std::string printed(const InternalGraph& graph);

}  // namespace sonde::graph
