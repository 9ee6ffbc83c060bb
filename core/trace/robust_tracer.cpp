#include "core/trace/robust_tracer.h"

#include <algorithm>
#include <deque>

namespace sonde::trace {

const std::string* RobustTracer::failureMessage(const Module& module) const {
    const auto found = m_failed.find(&module);
    return found == m_failed.end() ? nullptr : &found->second;
}

bool RobustTracer::isLeafModule(const Module& module, std::string_view path) const {
    return m_failed.contains(&module) || ModulePathTracer::isLeafModule(module, path);
}

bool RobustTracer::absorbs(const Module& module, const TraceError& error) {
    if (m_asReference && !error.isTracingError()) return false;
    m_failed.emplace(&module, error.message());
    m_again = true;
    return true;
}

base::Result<Tracer::GraphPtr> RobustTracer::traceRepeatedly(const std::shared_ptr<Module>& root, const ConcreteArguments& concrete) {
    m_alive.push_back(root);
    while (true) {
        m_again = false;
        auto result = trace(root, concrete);
        if (!m_again) return result;  // each repetition has a failed module more than the one before
    }
}

Tracer::GraphPtr RobustTracer::traceRobust(const std::shared_ptr<Module>& root, const ConcreteArguments& concrete) {
    m_alive.push_back(root);
    ConcreteArguments effective;
    for (const ForwardParameter& parameter : root->signature()) {
        if (parameter.fallback && !parameter.fallback->isTensor()) effective[parameter.name] = *parameter.fallback;
    }
    for (const auto& [name, value] : concrete) effective[name] = value;
    if (isLeafModule(*root, {})) return traceLeaf(root, effective);
    auto result = traceRepeatedly(root, effective);
    m_seen.insert(root.get());
    if (result) return *result;
    m_failed.emplace(root.get(), result.error().what);
    return std::make_shared<graph::InternalGraph>();
}

Tracer::GraphPtr RobustTracer::traceLeaf(const std::shared_ptr<Module>& root, const ConcreteArguments& concrete) {
    // Tried as any other root first: only tracing errors are what a leaf is for. What is inside does not count as visited.
    const std::unordered_set<const Module*> seen = m_seen;
    const auto tried = trace(root, concrete);
    m_seen = seen;
    m_seen.insert(root.get());
    const bool tracingError = !tried && (tried.error().what.starts_with("TraceError") || tried.error().what.starts_with("TypeError"));
    auto result = tried || tracingError ? traceOpaque(root, concrete) : tried;
    if (result) return *result;
    m_failed.emplace(root.get(), result.error().what);
    return std::make_shared<graph::InternalGraph>();
}

const graph::InternalGraph* GraphCollection::find(const Module& module) const {
    const auto found = std::ranges::find_if(m_entries, [&](const Entry& entry) { return entry.root.get() == &module; });
    return found == m_entries.end() ? nullptr : found->graph.get();
}

void GraphCollection::recursiveTrace(const std::shared_ptr<Module>& model, const ConcreteArguments& concrete, bool asReference) {
    m_tracer = std::make_unique<RobustTracer>(asReference);
    m_entries.clear();
    std::deque<std::shared_ptr<Module>> queue{model};
    std::unordered_set<const Module*> queued{model.get()};
    while (!queue.empty()) {
        const std::shared_ptr<Module> root = std::move(queue.front());
        queue.pop_front();
        m_entries.push_back({root, m_tracer->traceRobust(root, root == model ? concrete : ConcreteArguments{})});
        for (const auto& [path, module] : namedModules(*root)) {
            if (!m_tracer->isFailed(*module)) continue;
            for (const Module::Child& child : module->children()) {
                if (queued.insert(child.module.get()).second) queue.push_back(child.module);
            }
        }
    }
}

}  // namespace sonde::trace
