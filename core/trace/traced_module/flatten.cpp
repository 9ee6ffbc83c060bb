// Every call with an inner graph is replaced by the inner exprs (traced-module.md, "Flattening").

#include <unordered_map>

#include "core/trace/traced_module/copy.h"

namespace sonde::trace {

using Kind = TracedExpr::Kind;

namespace {

bool isKept(const TracedExpr& call) {
    if (!call.innerGraph()) return true;
    const auto owner = call.innerGraph()->owner();
    return owner && owner->isQat();
}

class Flattener {
  public:
    Flattener(const TracedModule& source, const ModuleGraph& graph) : m_source(source), m_graph(graph) {}

    std::shared_ptr<TracedModule> run() {
        const TracedModule::Entry& entry = m_source.entries().front();
        auto made = holder(m_source, true);
        auto flat = std::make_shared<ModuleGraph>();
        made->addEntry({entry.forwardName, entry.argDef, flat, entry.outDef});
        m_flat = flat.get();
        GraphBuilder builder(*flat);
        builder.place(m_graph.name(), m_graph.qualname(), nullptr, made);
        m_copier.fillGraphs(flat.get());

        Context top;
        for (const TracedNode* input : m_graph.inputs()) {
            TracedNode* node = builder.addInput(input->name(), input->qualname(), input->expr().target(),
                                                input->isModule(), input->moduleType());
            copyNode(*node, *input);
            top.nodes[input] = node;
        }
        top.paths[m_graph.inputs().front()] = "";
        inlineBody(m_graph, top);
        std::vector<TracedNode*> outputs;
        for (const TracedNode* output : m_graph.outputs()) outputs.push_back(top.nodes.at(output));
        builder.setOutputs(std::move(outputs));
        flat->compile();
        builder.renumber();
        return made;
    }

  private:
    /// One call of one graph: what its nodes are in the flat graph.
    struct Context {
        std::string prefix;
        std::unordered_map<const TracedNode*, TracedNode*> nodes;
        std::unordered_map<const TracedNode*, std::string> paths;  ///< of module nodes, from the root
        std::unordered_map<const TracedNode*, std::string> names;  ///< of results: those of the call's outputs

        std::string nameOf(const TracedNode& node) const {
            const auto given = names.find(&node);
            return given == names.end() ? prefix + node.name() : given->second;
        }
    };

    /// A module that only holds what is below: the same names, parameters and built-in modules.
    std::shared_ptr<TracedModule> holder(const TracedModule& module, bool isTop) {
        auto made = std::make_shared<TracedModule>(module.className(), module.signature(), isTop, module.isQat());
        for (const Module::NamedSlot& named : module.ownTensors()) made->addSlot(named.name, named.slot);
        for (const Module::Child& child : module.children()) {
            const auto* traced = dynamic_cast<const TracedModule*>(child.module.get());
            // Built-in modules of a file are traced ones, too, but calls as ever.
            made->addChild(child.name, !traced || traced->isLibrary() ? child.module
                                       : traced->isQat()              ? m_copier.copy(*traced, false)
                                                                      : holder(*traced, false));
        }
        return made;
    }

    void inlineBody(const ModuleGraph& graph, Context& context) {
        GraphBuilder builder(*m_flat);
        for (const TracedExpr* expr : graph.body()) {
            if (expr->kind() == Kind::GetAttr) {
                read(*expr, context);
            } else if (expr->isModuleCall() && !isKept(*expr)) {
                inlineCall(*expr, context);
            } else {
                const NodeMap nodes = [&](const TracedNode* node) { return context.nodes.at(node); };
                TracedExpr* made =
                    copyExpr(builder, *expr, nodes, [&](const TracedNode& node) { return context.nameOf(node); });
                if (expr->innerGraph()) builder.setInner(*made, m_copier.copyOf(expr->innerGraph().get()));
                for (std::size_t i = 0; i < expr->outputs().size(); ++i)
                    context.nodes[expr->outputs()[i]] = made->outputs()[i];
            }
        }
    }

    void read(const TracedExpr& expr, Context& context) {
        const TracedNode* from = expr.outputs().front();
        const auto base = context.paths.find(expr.inputs().front());
        // A module that is a constant of the graph has no path; what is read of it is read as before.
        const bool hasPath = base != context.paths.end();
        const std::string path = !hasPath || base->second.empty() ? expr.target() : base->second + '.' + expr.target();
        if (hasPath && from->isModule()) context.paths[from] = path;
        if (from->isModule() && !isCalled(*from)) return;
        TracedNode* module = hasPath ? m_flat->inputs().front() : context.nodes.at(expr.inputs().front());
        TracedNode* node =
            GraphBuilder(*m_flat).addGetAttr(module, path, from->qualname(), context.nameOf(*from), from->isModule());
        copyNode(*node, *from);
        context.nodes[from] = node;
    }

    static bool isCalled(const TracedNode& module) {
        for (const TracedExpr* user : module.users()) {
            if (user->isModuleCall() && user->inputs().front() == &module && isKept(*user)) return true;
        }
        return false;
    }

    void inlineCall(const TracedExpr& call, Context& context) {
        const ModuleGraph& inner = *call.innerGraph();
        const TracedNode* callee = call.inputs().front();
        Context inside;
        inside.prefix = context.prefix + callee->name() + '_';
        inside.paths[inner.inputs().front()] = context.paths.at(callee);
        for (std::size_t i = 1; i < inner.inputs().size(); ++i)
            inside.nodes[inner.inputs()[i]] = context.nodes.at(call.inputs()[i]);
        // The call's results keep the names that they have outside; a result that is an input vanishes.
        for (std::size_t i = 0; i < inner.outputs().size(); ++i) {
            if (inner.outputs()[i]->expr().kind() != Kind::Input)
                inside.names.try_emplace(inner.outputs()[i], context.nameOf(*call.outputs()[i]));
        }
        inlineBody(inner, inside);
        for (std::size_t i = 0; i < inner.outputs().size(); ++i)
            context.nodes[call.outputs()[i]] = inside.nodes.at(inner.outputs()[i]);
    }

    const TracedModule& m_source;
    const ModuleGraph& m_graph;
    ModuleGraph* m_flat = nullptr;
    ModuleCopier m_copier;
};

}  // namespace

base::Result<std::shared_ptr<TracedModule>> TracedModule::flatten() const {
    SONDE_ASSIGN(const ModuleGraph* graph, this->graph());
    auto flat = Flattener(*this, *graph).run();
    flat->setEvaluator(m_evaluator);
    return flat;
}

}  // namespace sonde::trace
