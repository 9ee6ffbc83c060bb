#include "core/trace/tracer.h"

#include <utility>

#include "core/trace/thread_state.h"

namespace sonde::trace {

using graph::NodeId;
using tensor::Value;

ActiveTracer::ActiveTracer(Tracer& tracer) : m_tracer(tracer), m_before(std::exchange(threadState().tracer, &tracer)) {}
ActiveTracer::~ActiveTracer() {
    threadState().tracer = m_before;
    m_tracer.m_currentModule.clear();
    m_tracer.m_currentClass.clear();
    m_tracer.m_frames.clear();
}

PausedTracing::PausedTracing() : m_before(std::exchange(threadState().tracer, nullptr)) {}
PausedTracing::~PausedTracing() { threadState().tracer = m_before; }

Tracer* Tracer::active() { return threadState().tracer; }

void Tracer::attributeAssigned(const Module*, const Slot* slot) {
    const auto path = m_slotPaths.find(slot);
    if (path != m_slotPaths.end() && !m_frames.empty())
        throw refusal(TraceErrorKind::Type, "a forward assigns another tensor to '" + path->second +
                                                "' of the model, for which a graph has no operation");
}

std::optional<Value> Tracer::valueOf(NodeId node, KnownUse use) {
    return raising([&] { return known(current(node), use); });
}

std::optional<Value> Tracer::known(NodeId node, KnownUse use) {
    return m_follower ? m_follower->known(node, use) : std::nullopt;
}

std::optional<Var> Tracer::answer(std::string_view, bool, const std::vector<Var>&) { return std::nullopt; }

bool Tracer::isLeafModule(const Module& module, std::string_view) const { return module.isLibrary(); }

const std::string* Tracer::pathOf(const Module& module) const {
    const auto found = m_paths.find(&module);
    return found == m_paths.end() ? nullptr : &found->second;
}

const std::optional<std::string>& Tracer::originOf(NodeId node) const {
    return m_graph->expr(m_graph->node(node).producer).qualname;
}

graph::ModuleTree Tracer::tree() const {
    graph::ModuleTree tree = moduleTree(*m_root);
    for (std::size_t i = 0; i < tree.modules().size(); ++i) {
        graph::ModuleInfo& info = tree.mutableModule(i);
        info.visited = i == 0 || m_visited.contains(info.qualname);
        // A leaf of the library is one call anyway: that its inside is opaque is no failure of the model.
        const Module* module = m_root->find(info.qualname);
        const auto failure = m_failures.find(info.qualname);
        if (failure != m_failures.end() && !(module && module->isLibrary())) info.failure = failure->second;
    }
    graph::explainUnvisited(tree, [this](const std::string& qualname) {
        const Module* module = m_root->find(qualname);
        return !qualname.empty() && module && isLeafModule(*module, qualname);
    });
    return tree;
}

std::string Tracer::makeName(FxNames& names, std::string_view candidate) {
    return names.unique(nameCandidate(candidate));
}

}  // namespace sonde::trace
