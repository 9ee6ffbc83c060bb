#include "core/trace/traced_module/inline_graph.h"

#include <algorithm>
#include <deque>

#include "core/trace/traced_module/interpretation.h"

namespace sonde::trace {

using Kind = TracedExpr::Kind;

namespace {

/// Records the run of a traced module's graphs and gives every node the name of the value that it stands for.
class InliningTracer final : public Tracer, public InterpretationFollower {
  public:
    InliningTracer() { m_contexts.emplace_back(); }

    void before(const TracedExpr& expr) override {
        if (m_leaf) return;
        if (!m_begun) begin();
        Context& context = m_contexts.back();
        m_pending.clear();
        if (expr.kind() == Kind::GetAttr) {
            const TracedNode& node = *expr.outputs().front();
            const auto base = context.paths.find(expr.inputs().front());
            const std::string path = base == context.paths.end() || base->second.empty()
                                         ? expr.target()
                                         : base->second + '.' + expr.target();
            if (node.isModule()) {
                context.paths[&node] = path;
            } else {
                m_attributes.try_emplace(path, context.nameOf(node));
            }
            return;
        }
        if (expr.innerGraph()) {
            enter(expr);
            return;
        }
        if (expr.isModuleCall()) m_leaf = &expr;
        if (expr.outDef().isNode() || (expr.kind() != Kind::CallMethod && expr.operation().outputs > 1)) {
            for (const TracedNode* node : expr.outputs()) m_pending.push_back(context.nameOf(*node));
            return;
        }
        // The operation gives one container, of which the elements are taken.
        if (expr.outputs().empty()) return;
        m_pending.push_back(context.nameOf(*expr.outputs().front()) + 's');
        std::size_t leaf = 0;
        nameElements(expr, expr.outDef(), leaf, context);
    }

    void after(const TracedExpr& expr) override {
        if (m_leaf && m_leaf != &expr) return;
        m_leaf = nullptr;
        if (expr.innerGraph()) m_contexts.pop_back();
        m_pending.clear();
    }

    void produced(const TracedNode& node, const Var& value) override {
        // What runs inside of a built-in module has numbers of its own.
        const bool isOwn = !m_leaf || &node.expr() == m_leaf;
        if (isOwn && value.kind() == Var::Kind::Proxy) m_numbered[node.id()] = value.node();
    }

    const std::map<std::uint64_t, graph::NodeId>& numbered() const { return m_numbered; }

  protected:
    bool isLeafModule(const Module& module, std::string_view) const override {
        const auto* traced = dynamic_cast<const TracedModule*>(&module);
        return !traced || traced->isLibrary();
    }

    std::string makeName(FxNames&, std::string_view candidate) override {
        if (!m_begun) begin();
        if (const auto attribute = m_attributes.find(candidate); attribute != m_attributes.end())
            return m_names.unique(attribute->second);
        if (candidate.starts_with("_tensor_constant")) return m_names.unique("const_tensor");
        if (m_pending.empty()) return m_names.unique(nameCandidate(candidate));
        const std::string name = m_pending.front();
        m_pending.pop_front();
        return m_names.unique(name);
    }

  private:
    struct Context {
        std::string prefix;
        std::unordered_map<const TracedNode*, std::string> paths;
        std::unordered_map<const TracedNode*, std::string> names;

        std::string nameOf(const TracedNode& node) const {
            const auto given = names.find(&node);
            return given == names.end() ? prefix + node.name() : given->second;
        }
    };

    void begin() {
        m_begun = true;
        m_names.take("output");
        for (graph::NodeId input : graph().inputs()) m_names.take(graph().node(input).name);
    }

    void enter(const TracedExpr& call) {
        const Context& outside = m_contexts.back();
        const TracedNode* callee = call.inputs().front();
        Context inside;
        inside.prefix = outside.prefix + callee->name() + '_';
        const auto path = outside.paths.find(callee);
        inside.paths[call.innerGraph()->inputs().front()] = path == outside.paths.end() ? std::string() : path->second;
        const auto& results = call.innerGraph()->outputs();
        for (std::size_t i = 0; i < results.size() && i < call.outputs().size(); ++i) {
            inside.names.try_emplace(results[i], outside.nameOf(*call.outputs()[i]));
        }
        m_contexts.push_back(std::move(inside));
    }

    /// In the order in which takeApart asks for them: all of a container, then the insides of its containers.
    void nameElements(const TracedExpr& expr, const Structure& structure, std::size_t& leaf, const Context& context) {
        std::size_t at = leaf;
        for (const Structure& item : structure.items) {
            if (item.kind == Structure::Kind::Constant) continue;
            const bool isTensor = item.kind == Structure::Kind::Tensor;
            m_pending.push_back(isTensor ? context.nameOf(*expr.outputs()[at])
                                         : context.nameOf(*expr.outputs().front()) + 's');
            at += item.leafCount();
        }
        for (const Structure& item : structure.items) {
            if (item.kind == Structure::Kind::Tensor || item.kind == Structure::Kind::Constant) {
                leaf += item.leafCount();
            } else {
                nameElements(expr, item, leaf, context);
            }
        }
    }

    bool m_begun = false;
    /// The call of a module without a graph that is being recorded. A module from a file has a graph that runs inside
    /// of it all the same; the call's own nodes get their names after that.
    const TracedExpr* m_leaf = nullptr;
    TracedNames m_names;
    std::deque<std::string> m_pending;  ///< names of the nodes that the present expr is going to make
    std::map<std::string, std::string, std::less<>> m_attributes;  ///< name by path
    std::vector<Context> m_contexts;
    std::map<std::uint64_t, graph::NodeId> m_numbered;
};

}  // namespace

base::Result<InlinedGraph> inlineTracedModule(const std::shared_ptr<TracedModule>& module) {
    InliningTracer tracer;
    SONDE_ASSIGN(auto graph, tracer.trace(module));
    if (const auto own = module->graph()) {
        // A parameter that is one tensor has the type of the example.
        for (graph::NodeId input : graph->inputs()) {
            const std::string& parameter = graph->expr(graph->node(input).producer).target;
            for (const TracedNode* node : (*own)->inputs()) {
                if (!node->isModule() && node->name() == parameter) graph->setType(input, node->type());
            }
        }
    }
    return InlinedGraph{std::move(graph), tracer.tree(), tracer.numbered()};
}

std::string allGraphsText(const TracedModule& module, std::string_view format) {
    std::string text;
    for (const TracedModule::Entry& entry : module.entries()) {
        std::vector<const ModuleGraph*> graphs{entry.graph.get()};
        for (const TracedExpr* expr : entry.graph->exprs()) {
            const ModuleGraph* inner = expr->innerGraph().get();
            if (inner && std::find(graphs.begin(), graphs.end(), inner) == graphs.end()) graphs.push_back(inner);
        }
        for (const ModuleGraph* graph : graphs) text += (text.empty() ? "" : "\n") + graph->text(format);
    }
    return text;
}

}  // namespace sonde::trace
