#pragma once

#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/trace/naming.h"
#include "core/trace/traced_module/node.h"
#include "core/trace/traced_module/query.h"

namespace sonde::trace {

class GraphEditor;
class TracedModule;

/// The program of one traced module for one structure of arguments (MegEngine's InternalGraph; traced-module.md): a
/// child module is a node that is read by GetAttr, and its call is one expr that may have a graph of its own. Names are
/// unique in each graph, ids in a graph and all graphs inside of it. The window and the engine see it as a
/// graph::InternalGraph (see inlineTracedModule).
///
/// Names here and in MegEngine: functions() get_function_by_type, methods() get_method_by_type, exprById/nodeById
/// get_…_by_id, modules() get_module_by_type, nodesByName get_node_by_name, dependencies get_dep_exprs, edit
/// insert_exprs, parent top_graph; the rest are the same words in camel case.
class ModuleGraph : public std::enable_shared_from_this<ModuleGraph> {
  public:
    ModuleGraph() = default;
    ModuleGraph(const ModuleGraph&) = delete;
    ModuleGraph& operator=(const ModuleGraph&) = delete;

    const std::string& name() const { return m_name; }
    /// Error: the parent graph has a node or graph of that name.
    base::Result<void> setName(std::string_view name);
    /// "Net.block0": without its first part the module's path.
    const std::string& qualname() const { return m_qualname; }
    ModuleGraph* parent() const { return m_parent; }
    ModuleGraph& root();
    const ModuleGraph& root() const;
    const std::vector<TracedNode*>& inputs() const { return m_inputs; }  ///< the first is the module itself
    const std::vector<TracedNode*>& outputs() const { return m_outputs; }
    /// Exprs without those of kind Input.
    const std::vector<TracedExpr*>& body() const { return m_body; }
    /// The module that the graph belongs to; null when it is gone.
    std::shared_ptr<TracedModule> owner() const { return m_owner.lock(); }
    /// (next node id, next expr id) of the root; edits continue there.
    std::pair<std::uint64_t, std::uint64_t> counters() const { return {root().m_nextNode, root().m_nextExpr}; }

    // Queries: everything in canonical order, an inner graph directly after its first call.
    ExprQuery exprs(bool recursive = true) const;
    NodeQuery nodes(bool recursive = true) const;
    ExprQuery functions(std::string_view function = {}, bool recursive = true) const {
        return exprs(recursive).callFunction(function);
    }
    ExprQuery methods(std::string_view method = {}, bool recursive = true) const {
        return exprs(recursive).callMethod(method);
    }
    ExprQuery exprById(std::vector<std::uint64_t> ids, bool recursive = true) const {
        return exprs(recursive).exprId(std::move(ids));
    }
    NodeQuery nodeById(std::vector<std::uint64_t> ids, bool recursive = true) const {
        return nodes(recursive).nodeId(std::move(ids));
    }
    NodeQuery modules(std::string_view moduleClass, bool recursive = true) const {
        return nodes(recursive).type(moduleClass);
    }
    template <typename M>
    NodeQuery modules(bool recursive = true) const {
        return nodes(recursive).type<M>();
    }
    NodeQuery nodesByName(std::string_view pattern, bool ignoreCase = true, bool recursive = true) const {
        return nodes(recursive).name(pattern, ignoreCase);
    }
    /// All exprs that these nodes need: depth first, the last input first. Error: a node of another graph.
    base::Result<ExprQuery> dependencies(const std::vector<TracedNode*>& nodes) const;

    // Edits. Errors leave the graph as it was.
    /// While the editor lives, what is done with its values is recorded; see GraphEditor. Null: after the last producer
    /// of what is used. Error: the expr is of another graph.
    base::Result<GraphEditor> edit(TracedExpr* after = nullptr);
    /// Consumers of `old` after the producer of `new`, and outputs, read `new`. Consumers at or before that producer,
    /// and so all that `new` itself needs, stay. Errors: other kinds, `new` of another graph.
    base::Result<void> replaceNode(const std::vector<std::pair<TracedNode*, TracedNode*>>& replacements);
    /// Merges reads (traced-module.md, "Reads of attributes") and removes what no output needs.
    void compile();
    /// Of top graphs only: one more positional input; calls need it from now on.
    base::Result<TracedNode*> addInputNode(tensor::DType dtype, const tensor::Shape& shape,
                                           std::string_view name = "args");
    /// Of top graphs only: all inputs but the module become `args`, `args_1` … and the given names, with dtypes and
    /// shapes of the examples. Who used the old inputs has to be redirected by the caller. Returns the new ones.
    base::Result<std::vector<TracedNode*>> resetInputs(
        const std::vector<tensor::Value>& positional,
        const std::vector<std::pair<std::string, tensor::Value>>& keywords = {});
    /// Of top graphs only: the result becomes (result, node).
    base::Result<void> addOutputNode(TracedNode* node);
    /// Of top graphs only: the result becomes this structure of nodes.
    base::Result<void> resetOutputs(const Operand& structure);

    // Running. Evaluates at once (there must be an EvaluatorScope) or is recorded by the active tracer.
    /// On exactly as many tensors as there are inputs beside the module. A flat list of the outputs.
    base::Result<std::vector<tensor::Value>> eval(const std::vector<tensor::Value>& tensors);
    /// The same with the module given; watch and end points count. Throws TraceError.
    std::vector<Var> interpret(Module& self, std::span<const Var> tensors);

    /// "Net.Graph (self, x) {", a line for each expr but inputs, "return …", "}". See TracedExpr::text for `format`.
    std::string text(std::string_view format = {}) const;
    /// Everything of the form: use lists in both directions with multiplicity, names unique, producers before
    /// consumers, actual nodes of inner inputs; in all inner graphs, too. The first broken rule.
    base::Result<void> validate() const;

    // Watch and end points as set through TracedModule.
    const std::set<const TracedNode*>& watchPoints() const { return m_watch; }
    const std::vector<TracedNode*>& endPoints() const { return m_end; }

  private:
    friend class TracedNode;
    friend class TracedExpr;
    friend class TracedModule;
    friend class GraphBuilder;

    void collect(bool recursive, std::vector<TracedExpr*>& into, std::set<const ModuleGraph*>& seen) const;
    std::size_t positionOf(const TracedExpr& expr) const;
    void mergeReads();
    void removeUnneeded();
    base::Result<void> mustBeTop() const;

    std::string m_name;
    std::string m_qualname;
    ModuleGraph* m_parent = nullptr;
    std::weak_ptr<TracedModule> m_owner;
    std::vector<TracedNode*> m_inputs;
    std::vector<TracedNode*> m_outputs;
    std::vector<TracedExpr*> m_body;
    std::vector<std::unique_ptr<TracedNode>> m_nodes;  ///< also those that were removed
    std::vector<std::unique_ptr<TracedExpr>> m_exprs;
    TracedNames m_names;  ///< of nodes and of inner graphs
    std::uint64_t m_nextNode = 0;
    std::uint64_t m_nextExpr = 0;
    std::set<const TracedNode*> m_watch;
    std::vector<TracedNode*> m_end;
    std::vector<std::pair<const TracedNode*, tensor::Value>> m_watched;  ///< of the last run
};

/// Makes and changes graphs: what the tracer, the editor, flattening, copying and reading files share. It keeps use
/// lists and names right and checks nothing else.
class GraphBuilder {
  public:
    explicit GraphBuilder(ModuleGraph& graph) : m_graph(graph) {}

    ModuleGraph& graph() { return m_graph; }
    void place(std::string name, std::string qualname, ModuleGraph* parent, const std::shared_ptr<TracedModule>& owner);
    /// A name for an inner graph.
    std::string innerName(std::string_view wanted) { return m_graph.m_names.unique(wanted); }

    // Exprs with their outputs; ids come from the root's counters. All but inputs go to the end of the body.
    TracedNode* addInput(std::string_view name, std::string qualname, std::string parameter, bool isModule,
                         std::string moduleType = {});
    TracedNode* addGetAttr(TracedNode* module, std::string path, std::string qualname, std::string_view name,
                           bool isModule, std::string moduleType = {});
    TracedNode* addConstant(tensor::Value value, std::string_view name, std::string qualname);
    TracedNode* addModuleConstant(std::shared_ptr<Module> module, std::string_view name, std::string qualname);
    /// A call with its arguments; outputs are added by addOutput.
    TracedExpr* addCall(TracedExpr::Kind kind, std::string target, std::vector<Operand> args,
                        std::vector<std::pair<std::string, Operand>> keywords, TracedOperation operation);
    TracedNode* addOutput(TracedExpr& expr, std::string_view name, std::string qualname);
    /// Says that the call enters the graph: its inputs' actual nodes get those of the call.
    void setInner(TracedExpr& call, std::shared_ptr<ModuleGraph> inner);
    static void setForwardName(TracedExpr& call, std::string name) { call.m_forwardName = std::move(name); }
    static void setOutDef(TracedExpr& expr, Structure structure) { expr.m_outDef = std::move(structure); }
    static void setType(TracedNode& node, tensor::TypeInfo type) { node.m_type = std::move(type); }
    static void setModuleType(TracedNode& node, std::string type) { node.m_moduleType = std::move(type); }
    static void setQualname(TracedNode& node, std::string qualname) { node.m_qualname = std::move(qualname); }
    static void setQuantParams(TracedNode& node, std::optional<QuantParams> params) {
        node.m_quantParams = std::move(params);
    }
    static void setValue(TracedNode& node, std::optional<tensor::Value> value) { node.m_value = std::move(value); }
    static void setId(TracedNode& node, std::uint64_t id) { node.m_id = id; }
    static void setId(TracedExpr& expr, std::uint64_t id) { expr.m_id = id; }
    void setCounters(std::uint64_t nextNode, std::uint64_t nextExpr) {
        m_graph.m_nextNode = nextNode, m_graph.m_nextExpr = nextExpr;
    }
    void setOutputs(std::vector<TracedNode*> outputs) { m_graph.m_outputs = std::move(outputs); }
    void setInputs(std::vector<TracedNode*> inputs) { m_graph.m_inputs = std::move(inputs); }

    /// Takes the name whether it is free or not (files and copies have it right).
    void forceName(TracedNode& node, std::string name);
    /// Gives every node its name anew in canonical order.
    void uniquifyNames();
    void setArguments(TracedExpr& expr, std::vector<Operand> args,
                      std::vector<std::pair<std::string, Operand>> keywords);
    /// Every use of `before` in exprs from this position of the body on reads `after`; outputs only if asked for.
    void redirect(TracedNode& before, TracedNode& after, std::size_t fromPosition, bool outputsToo);
    /// Takes an expr out of the body: use lists and names are cleared. It stays alive.
    void remove(TracedExpr& expr);
    /// Moves the exprs of the body from `first` on to the place before `position`.
    void moveTail(std::size_t first, std::size_t position);
    /// Ids of this graph and all inner ones in canonical order from 0 (traced-module.md, "Ids").
    void renumber();

  private:
    TracedNode* makeNode(TracedExpr& expr, std::string_view name, std::string qualname);
    TracedExpr* makeExpr(TracedExpr::Kind kind, std::string target);
    static void link(TracedExpr& expr);
    static void unlink(TracedExpr& expr);
    static void addActual(const TracedExpr& call);
    static void dropActual(const TracedExpr& call);

    ModuleGraph& m_graph;
};

}  // namespace sonde::trace
