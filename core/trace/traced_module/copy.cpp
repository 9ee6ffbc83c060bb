#include "core/trace/traced_module/copy.h"

namespace sonde::trace {

using Kind = TracedExpr::Kind;

void copyNode(TracedNode& to, const TracedNode& from) {
    GraphBuilder::setType(to, from.type());
    GraphBuilder::setQuantParams(to, from.quantParams());
    if (from.isModule()) GraphBuilder::setModuleType(to, from.moduleType());
}

TracedExpr* copyExpr(GraphBuilder& to, const TracedExpr& from, const NodeMap& nodes,
                     const std::function<std::string(const TracedNode&)>& name) {
    TracedExpr* made = nullptr;
    if (from.kind() == Kind::GetAttr || from.kind() == Kind::Constant) {
        const TracedNode& old = *from.outputs().front();
        TracedNode* node =
            from.kind() == Kind::GetAttr
                ? to.addGetAttr(nodes(from.inputs().front()), from.target(), old.qualname(), name(old), old.isModule())
            : from.constantModule() ? to.addModuleConstant(from.constantModule(), name(old), old.qualname())
                                    : to.addConstant(from.constant(), name(old), old.qualname());
        copyNode(*node, old);
        made = &node->expr();
    } else {
        std::vector<Operand> args = from.args();
        auto keywords = from.keywords();
        const auto replace = [&](TracedNode*& node) { node = nodes(node); };
        for (Operand& operand : args) operand.forEachNode(replace);
        for (auto& [key, operand] : keywords) operand.forEachNode(replace);
        made = to.addCall(from.kind(), from.target(), std::move(args), std::move(keywords), from.operation());
        GraphBuilder::setForwardName(*made, from.forwardName());
        GraphBuilder::setOutDef(*made, from.outDef());
        for (const TracedNode* old : from.outputs()) copyNode(*to.addOutput(*made, name(*old), old->qualname()), *old);
    }
    if (!from.mayRemove()) made->disableRemove();
    return made;
}

std::shared_ptr<TracedModule> ModuleCopier::copy(const TracedModule& from, bool isTop) {
    // A module that several others have stays one.
    if (const auto known = m_modules.find(&from); known != m_modules.end()) return known->second;
    auto made = std::make_shared<TracedModule>(from.className(), from.signature(), isTop, from.isQat());
    m_modules[&from] = made;
    made->setBuiltin(from.isLibrary());
    for (const Module::NamedSlot& named : from.ownTensors()) made->addSlot(named.name, named.slot);
    for (const Module::Child& child : from.children()) {
        const auto* traced = dynamic_cast<const TracedModule*>(child.module.get());
        made->addChild(child.name, traced ? copy(*traced, traced->isTop()) : child.module);
    }
    for (const TracedModule::Entry& entry : from.entries()) {
        auto graph = std::make_shared<ModuleGraph>();
        m_graphs[entry.graph.get()] = graph;
        m_owners[entry.graph.get()] = made;
        m_order.push_back(entry.graph.get());
        made->addEntry({entry.forwardName, entry.argDef, graph, entry.outDef});
    }
    return made;
}

std::shared_ptr<ModuleGraph> ModuleCopier::copyOf(const ModuleGraph* graph) const {
    const auto found = m_graphs.find(graph);
    return found == m_graphs.end() ? nullptr : found->second;
}

void ModuleCopier::fillGraphs(ModuleGraph* parent) {
    for (const ModuleGraph* from : m_order) {
        const auto above = from->parent() ? copyOf(from->parent()) : nullptr;
        GraphBuilder(*m_graphs[from])
            .place(from->name(), from->qualname(), above ? above.get() : parent, m_owners[from]);
    }
    for (const ModuleGraph* from : m_order) fill(*from, *m_graphs[from]);
    // Inner graphs are there now, and with them the nodes that calls stand for.
    for (const ModuleGraph* from : m_order) {
        ModuleGraph& to = *m_graphs[from];
        GraphBuilder builder(to);
        for (std::size_t i = 0; i < from->body().size(); ++i) {
            const auto& inner = from->body()[i]->innerGraph();
            if (!inner) continue;
            const auto copied = copyOf(inner.get());
            builder.setInner(*to.body()[i], copied ? copied : inner);
            if (copied) builder.innerName(copied->name());
        }
        if (!to.parent()) builder.setCounters(from->counters().first, from->counters().second);
    }
}

void ModuleCopier::fill(const ModuleGraph& from, ModuleGraph& to) {
    GraphBuilder builder(to);
    const auto settle = [&](const TracedExpr& old, TracedExpr& made) {
        GraphBuilder::setId(made, old.id());
        for (std::size_t i = 0; i < old.outputs().size(); ++i) {
            GraphBuilder::setId(*made.outputs()[i], old.outputs()[i]->id());
            builder.forceName(*made.outputs()[i], old.outputs()[i]->name());
            m_nodes[old.outputs()[i]] = made.outputs()[i];
        }
    };
    for (const TracedNode* input : from.inputs()) {
        TracedNode* node = builder.addInput(input->name(), input->qualname(), input->expr().target(), input->isModule(),
                                            input->moduleType());
        copyNode(*node, *input);
        settle(input->expr(), node->expr());
    }
    const NodeMap nodes = [&](const TracedNode* node) { return m_nodes.at(node); };
    for (const TracedExpr* expr : from.body()) {
        settle(*expr, *copyExpr(builder, *expr, nodes, [](const TracedNode& node) { return node.name(); }));
    }
    std::vector<TracedNode*> outputs;
    for (const TracedNode* output : from.outputs()) outputs.push_back(m_nodes.at(output));
    builder.setOutputs(std::move(outputs));
}

std::shared_ptr<TracedModule> TracedModule::clone() const {
    ModuleCopier copier;
    auto made = copier.copy(*this, m_isTop);
    made->setEvaluator(m_evaluator);
    copier.fillGraphs(nullptr);
    return made;
}

}  // namespace sonde::trace
