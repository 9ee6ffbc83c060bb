#include "core/trace/robust_tracer.h"

#include <algorithm>
#include <cassert>
#include <deque>
#include <mutex>
#include <utility>

namespace sonde::trace {

namespace {

struct LeafRegistry {
    std::mutex mutex;
    std::unordered_set<std::type_index> classes;
};
LeafRegistry& leafRegistry() {
    static LeafRegistry registry;
    return registry;
}

}  // namespace

void RobustTracer::registerLeaf(std::type_index moduleClass) {
    const std::scoped_lock lock(leafRegistry().mutex);
    leafRegistry().classes.insert(moduleClass);
}

base::Result<void> RobustTracer::unregisterLeaf(std::type_index moduleClass) {
    const std::scoped_lock lock(leafRegistry().mutex);
    if (leafRegistry().classes.erase(moduleClass) == 0)
        return base::usageError("KeyError: the class is not registered as a leaf");
    return {};
}

bool RobustTracer::isRegisteredLeaf(std::type_index moduleClass) {
    const std::scoped_lock lock(leafRegistry().mutex);
    return leafRegistry().classes.contains(moduleClass);
}

const std::string* RobustTracer::failureMessage(const Module& module) const {
    const auto found = m_marks.failed.find(&module);
    return found == m_marks.failed.end() ? nullptr : &found->second;
}

void RobustTracer::recordCallModule(const Module& module, const TraceError* error) {
    m_marks.seen.insert(&module);
    if (error && m_marks.failed.emplace(&module, error->message()).second) m_again = true;
}

bool RobustTracer::isLeafModule(const Module& module, std::string_view path) const {
    return m_marks.failed.contains(&module) || isRegisteredLeaf(module) || ModulePathTracer::isLeafModule(module, path);
}

bool RobustTracer::absorbs(const Module& module, const TraceError& error) {
    if (error.kind() == TraceErrorKind::Depth)
        return false;  // of the whole way down, and not of the module where it ended
    if (m_asReference && !error.isTracingError()) return false;
    if (error.isOwnException()) {
        // It comes by at every module on its way up; the first is the one that it names.
        const bool isSame =
            m_thrown && m_thrown->error.module() == error.module() && m_thrown->error.message() == error.message();
        if (!isSame) m_thrown = Thrown{&module, error};
        return false;
    }
    noteForwardFailed(module, error);
    recordCallModule(module, &error);
    return true;
}

/// After a trace: what nobody handled makes the module that threw it a failed one.
void RobustTracer::settleThrown() {
    const auto thrown = std::exchange(m_thrown, std::nullopt);
    const bool hasLeft = thrown && failure() && failure()->module() == thrown->error.module() &&
                         failure()->message() == thrown->error.message();
    if (!hasLeft) return;
    noteForwardFailed(*thrown->module, thrown->error);
    recordCallModule(*thrown->module, &thrown->error);
}

base::Result<Tracer::GraphPtr> RobustTracer::traceRepeatedly(const std::shared_ptr<Module>& root,
                                                             const ConcreteArguments& concrete) {
    if (!root || !checkHierarchy(*root)) return trace(root, concrete);  // says so
    m_alive.push_back(root);
    std::size_t left = namedModules(*root).size() + 1;  // each pass has a failed module more than the one before
    while (true) {
        assert(left > 0);
        --left;
        m_again = false;
        auto result = trace(root, concrete);
        settleThrown();
        if (m_again && left > 0) continue;
        if (result) noteCalls(**result);
        return result;
    }
}

/// What stops a trace in which every parameter is symbolic, defaults or not: that is what fx says of the module.
std::optional<std::string> RobustTracer::plainFailure(const std::shared_ptr<Module>& root,
                                                      const ConcreteArguments& concrete) {
    const bool anyDefault = std::ranges::any_of(
        root->signature(), [](const ForwardParameter& p) { return p.fallback && !p.fallback->isTensor(); });
    if (m_asReference || !anyDefault || !concrete.empty()) return std::nullopt;
    const Marks before = m_marks;
    const auto tried = trace(root, {});
    m_marks = before;
    return tried ? std::nullopt : std::optional(tried.error().what);
}

Tracer::GraphPtr RobustTracer::traceRobust(const std::shared_ptr<Module>& root, const ConcreteArguments& concrete) {
    base::Result<GraphPtr> result = GraphPtr();
    try {
        result = traceSpecialised(root, concrete);
    } catch (...) {  // a root that cannot even say what it is: its class, its parameters
        result = TraceError::ofCurrentException().toError({});
    }
    if (root) m_marks.seen.insert(root.get());
    m_last = result ? std::move(*result) : std::make_shared<graph::InternalGraph>();
    if (!result && root) m_marks.failed.emplace(root.get(), result.error().what);
    return m_last;
}

namespace {

/// "trace its forward as a root, with mask=None, scale=2 fixed".
std::string asRoot(const ConcreteArguments& concrete) {
    std::string fixed;
    for (const auto& [name, value] : concrete) {
        if (value.isTensor()) continue;
        fixed += (fixed.empty() ? "" : ", ") + name + '=' + (value.isNone() ? "None" : value.text());
    }
    return "trace its forward as a root" + (fixed.empty() ? "" : ", with " + fixed + " fixed");
}

}  // namespace

base::Result<Tracer::GraphPtr> RobustTracer::traceSpecialised(const std::shared_ptr<Module>& root,
                                                              const ConcreteArguments& concrete) {
    if (!root) return trace(root, concrete);  // says so
    m_alive.push_back(root);
    ConcreteArguments effective;
    for (const ForwardParameter& parameter : root->signature()) {
        if (parameter.fallback && !parameter.fallback->isTensor()) effective[parameter.name] = *parameter.fallback;
    }
    for (const auto& [name, value] : concrete) effective[name] = value;
    auto result = isLeafModule(*root, {}) ? traceLeaf(root, effective) : traceRepeatedly(root, effective);
    if (result) return result;
    base::Error error = std::move(result).error();
    noteAttempt(*root, {asRoot(effective), error.what});
    if (auto plain = plainFailure(root, concrete)) {
        error.what = std::move(*plain);
        noteAttempt(*root, {"trace its forward as a root with every parameter symbolic", error.what});
    }
    return error;
}

base::Result<Tracer::GraphPtr> RobustTracer::traceLeaf(const std::shared_ptr<Module>& root,
                                                       const ConcreteArguments& concrete) {
    // Tried as any other root first: only tracing errors are what a leaf is for. What is inside does not count as
    // visited.
    const Marks before = m_marks;
    auto tried = trace(root, concrete);
    m_marks = before;
    const auto failedWith = [&tried](std::string_view type) { return tried.error().what.starts_with(type); };
    const bool counts = !tried && (m_asReference ? !failedWith("TraceError") && !failedWith("TypeError")
                                                 : failedWith("NotImplementedError"));
    if (counts) return tried;
    auto opaque = traceOpaque(root, concrete);
    if (opaque) noteCalls(**opaque);
    return opaque;
}

// --- what was tried -------------------------------------------------------------------------------------------------

const std::vector<Attempt>& RobustTracer::attempts(const Module& module) const {
    static const std::vector<Attempt> none;
    const auto found = m_marks.attempts.find(&module);
    return found == m_marks.attempts.end() ? none : found->second;
}

/// Once: a module may be called again, and by other roots.
void RobustTracer::noteAttempt(const Module& module, Attempt attempt) {
    std::vector<Attempt>& attempts = m_marks.attempts[&module];
    if (std::ranges::find(attempts, attempt) == attempts.end()) attempts.push_back(std::move(attempt));
}

void RobustTracer::noteForwardFailed(const Module& module, const TraceError& error) {
    noteAttempt(module, {"trace its forward as part of " + root()->className(), error.message()});
}

/// After the last attempt at a root: what became of the modules that its graph calls without following them.
void RobustTracer::noteCalls(const graph::InternalGraph& graph) {
    for (std::size_t i = 0; i < graph.exprCount(); ++i) {
        if (graph.isErased(graph::ExprId(i))) continue;
        const graph::Expr& expr = graph.expr(graph::ExprId(i));
        if (expr.kind != graph::ExprKind::CallModule) continue;
        const Module* module = root()->find(expr.target);
        if (!module) continue;
        if (expr.callable) m_called.emplace(expr.callable.get(), Called{expr.callable, module});
        if (!isFailed(*module) && !expr.callable) continue;
        const auto failure = failures().find(expr.target);
        for (Attempt& attempt : attemptsAsOneCall(expr, failure == failures().end() ? nullptr : &failure->second))
            noteAttempt(*module, std::move(attempt));
    }
}

// --- callables ------------------------------------------------------------------------------------------------------

const Module* RobustTracer::moduleOf(const graph::Callable& callable) const {
    const auto found = m_called.find(&callable);
    return found == m_called.end() ? nullptr : found->second.module;
}

const Module* RobustTracer::moduleOf(const graph::Expr& expr) const {
    const Module* ofCallable = expr.callable ? moduleOf(*expr.callable) : nullptr;
    if (ofCallable || expr.kind != graph::ExprKind::CallModule || !root()) return ofCallable;
    return root()->find(expr.target);
}

bool RobustTracer::isFailed(const graph::Callable& callable) const {
    const Module* module = moduleOf(callable);
    return module && isFailed(*module);
}

const std::string* RobustTracer::failureMessage(const graph::Callable& callable) const {
    const Module* module = moduleOf(callable);
    return module ? failureMessage(*module) : nullptr;
}

bool RobustTracer::isUnvisited(const graph::Callable& callable) const {
    const Module* module = moduleOf(callable);
    return !module || isUnvisited(*module);
}

bool RobustTracer::isFailed(const graph::Expr& expr) const {
    const Module* module = moduleOf(expr);
    return module && isFailed(*module);
}

const std::string* RobustTracer::failureMessage(const graph::Expr& expr) const {
    const Module* module = moduleOf(expr);
    return module ? failureMessage(*module) : nullptr;
}

bool RobustTracer::isUnvisited(const graph::Expr& expr) const {
    const Module* module = moduleOf(expr);
    return !module || isUnvisited(*module);
}

namespace {

/// How many levels of modules there are from a module on, itself included.
class Levels {
  public:
    std::size_t of(const Module& module) {
        if (const auto known = m_known.find(&module); known != m_known.end()) return known->second;
        std::size_t below = 0;
        for (const Module::Child& child : module.children()) below = std::max(below, of(*child.module));
        return m_known[&module] = below + 1;
    }

  private:
    std::unordered_map<const Module*, std::size_t> m_known;
};

/// What nests too deeply fails once more one level further down, and so on: after it come the parts with half as many
/// levels at most, wherever they are below it.
std::vector<std::shared_ptr<Module>> shallowerParts(const Module& root) {
    Levels levels;
    const std::size_t most = levels.of(root) / 2;
    std::vector<std::shared_ptr<Module>> parts;
    std::unordered_set<const Module*> seen;
    std::deque<const Module*> deeper{&root};
    while (!deeper.empty()) {
        for (const Module::Child& child : deeper.front()->children()) {
            if (!seen.insert(child.module.get()).second) continue;
            if (levels.of(*child.module) <= most) parts.push_back(child.module);
            else deeper.push_back(child.module.get());
        }
        deeper.pop_front();
    }
    return parts;
}

}  // namespace

const graph::InternalGraph* GraphCollection::find(const Module& module) const {
    const auto found = std::ranges::find_if(m_entries, [&](const Entry& entry) { return entry.root.get() == &module; });
    return found == m_entries.end() ? nullptr : found->graph.get();
}

const std::vector<Attempt>& GraphCollection::attempts(const Module& module) const {
    static const std::vector<Attempt> none;
    return m_tracer ? m_tracer->attempts(module) : none;
}

const Module* GraphCollection::moduleOf(const graph::Expr& expr) const {
    if (m_entries.empty()) return nullptr;
    const Module* ofCallable = expr.callable ? m_tracer->moduleOf(*expr.callable) : nullptr;
    if (ofCallable || expr.kind != graph::ExprKind::CallModule) return ofCallable;
    const auto holdsExpr = [&expr](const Entry& entry) {
        return expr.id.index() < entry.graph->exprCount() && &entry.graph->expr(expr.id) == &expr;
    };
    const auto found = std::ranges::find_if(m_entries, holdsExpr);
    return (found == m_entries.end() ? m_entries.front() : *found).root->find(expr.target);
}

bool GraphCollection::isFailed(const graph::Expr& expr) const {
    const Module* module = moduleOf(expr);
    return module && isFailed(*module);
}

const std::string* GraphCollection::failureMessage(const graph::Expr& expr) const {
    const Module* module = moduleOf(expr);
    return module ? failureMessage(*module) : nullptr;
}

bool GraphCollection::isUnvisited(const graph::Expr& expr) const {
    const Module* module = moduleOf(expr);
    return !module || isUnvisited(*module);
}

void GraphCollection::recursiveTrace(const std::shared_ptr<Module>& model, const ConcreteArguments& concrete,
                                     const std::function<bool()>& stop) {
    m_tracer = m_makeTracer();
    m_entries.clear();
    if (!model) return;
    std::deque<std::shared_ptr<Module>> queue{model};
    std::unordered_set<const Module*> queued{model.get()};
    while (!queue.empty() && !(stop && stop())) {
        const std::shared_ptr<Module> root = std::move(queue.front());
        queue.pop_front();
        Entry entry{root, {}, {}, false};
        try {
            entry.isLeaf = m_tracer->isLeafModule(*root, {});
        } catch (...) {  // it fails as a root, too
        }
        entry.graph = m_tracer->traceRobust(root, root == model ? concrete : ConcreteArguments{});
        const bool isEmpty = entry.graph->nodeCount() == 0;
        if (isEmpty) entry.failure = *m_tracer->failureMessage(*root);
        m_entries.push_back(std::move(entry));
        if (!checkHierarchy(*root)) continue;
        const auto& failure = m_tracer->failure();
        if (isEmpty && failure && failure->kind() == TraceErrorKind::Depth) {
            for (std::shared_ptr<Module>& part : shallowerParts(*root)) {
                if (queued.insert(part.get()).second) queue.push_back(std::move(part));
            }
            continue;
        }
        for (const auto& [path, module] : namedModules(*root)) {
            if (!m_tracer->isFailed(*module)) continue;
            for (const Module::Child& child : module->children()) {
                if (queued.insert(child.module.get()).second) queue.push_back(child.module);
            }
        }
    }
}

GraphCollection recursiveTrace(const std::shared_ptr<Module>& model, const ConcreteArguments& concrete) {
    GraphCollection collection;
    collection.recursiveTrace(model, concrete);
    return collection;
}

}  // namespace sonde::trace
