#include "core/trace/traced_module/upgrade.h"

#include <map>
#include <mutex>

#include "core/trace/traced_module.h"

namespace sonde::trace {

namespace {

using Key = std::pair<UpgradeKind, std::string>;

struct Hooks {
    std::mutex mutex;
    std::map<Key, UpgradeHook> hooks;
};

Hooks& hooks() {
    static Hooks instance;
    return instance;
}

Key keyOf(const TracedExpr& expr) {
    switch (expr.kind()) {
        case TracedExpr::Kind::Apply: return {UpgradeKind::Operator, expr.operation().display};
        case TracedExpr::Kind::CallFunction: return {UpgradeKind::Function, expr.operation().display};
        case TracedExpr::Kind::CallMethod: break;
        default: return {UpgradeKind::Function, {}};
    }
    if (!expr.isModuleCall()) return {UpgradeKind::Method, expr.target()};
    const auto module = expr.inputs().front()->owner();
    return {UpgradeKind::Module, module ? module->className() : std::string()};
}

UpgradeHook hookFor(const TracedExpr& expr) {
    const std::scoped_lock lock(hooks().mutex);
    const auto found = hooks().hooks.find(keyOf(expr));
    return found == hooks().hooks.end() ? UpgradeHook() : found->second;
}

}  // namespace

base::Result<void> registerUpgrade(UpgradeKind kind, std::string identity, UpgradeHook hook) {
    const std::scoped_lock lock(hooks().mutex);
    if (!hooks().hooks.try_emplace({kind, identity}, std::move(hook)).second) {
        return base::usageError("there is an upgrade for '" + identity + "' already");
    }
    return {};
}

bool unregisterUpgrade(UpgradeKind kind, std::string_view identity) {
    const std::scoped_lock lock(hooks().mutex);
    return hooks().hooks.erase({kind, std::string(identity)}) > 0;
}

std::size_t upgradeModule(TracedModule& module, std::string_view fileVersion) {
    std::size_t changed = 0;
    for (const TracedModule::Entry& entry : module.entries()) {
        // What hooks add is new and needs no hooks.
        const ExprQuery exprs = entry.graph->exprs();
        std::size_t here = 0;
        for (TracedExpr* expr : exprs) {
            const UpgradeHook hook = hookFor(*expr);
            if (!hook) continue;
            hook(*expr, fileVersion);
            ++here;
        }
        if (here > 0) GraphBuilder(*entry.graph).renumber();
        changed += here;
    }
    return changed;
}

}  // namespace sonde::trace
