#include "core/io/torchscript/module_state.h"

#include <utility>

#include "core/io/torchscript/region.h"
#include "core/io/torchscript/views.h"
#include "core/trace/tracer.h"

namespace sonde::io::script {

namespace {

thread_local ModuleState* tState = nullptr;
thread_local bool tObjectsPass = false;
thread_local ChangedArguments* tCall = nullptr;

/// The list that exprs are recorded into; 0 for tracers that keep no such list.
std::size_t bodyOf(const trace::Tracer* tracer) {
    return tracer && tracer->recorded() ? tracer->currentBody().index() + 1 : 0;
}

}  // namespace

ModuleState::Scope::Scope() : m_before(tState) {
    if (tState && tState->m_tracer == trace::Tracer::active()) return;
    m_own = std::make_unique<ModuleState>();
    m_own->m_tracer = trace::Tracer::active();
    tState = m_own.get();
}
ModuleState::Scope::~Scope() { tState = m_before; }
ModuleState* ModuleState::current() { return tState; }

const ScriptValue* ModuleState::find(const ScriptModule& module, const std::string& name) const {
    const auto state = m_assigned.find(&module);
    if (state == m_assigned.end()) return nullptr;
    const auto value = state->second->attributes.find(name);
    return value == state->second->attributes.end() ? nullptr : &value->second;
}

void ModuleState::assign(const ScriptModule& module, const std::string& name, ScriptValue value,
                         const ScriptValue& before) {
    std::shared_ptr<InstanceValue>& state = m_assigned[&module];
    if (!state) {
        state = std::make_shared<InstanceValue>();
        state->typeName = "module";
        state->serial = 0;  // older than any branch
    }
    state->attributes.try_emplace(name, before);
    Region::noteChange(state);
    state->attributes[name] = std::move(value);
}

std::shared_ptr<TensorCell> ModuleState::find(const trace::Slot& slot) const {
    const auto found = m_written.find(&slot);
    return found == m_written.end() ? nullptr : found->second;
}

void ModuleState::noteWritten(TensorCell& cell) {
    TensorCell* root = &cell;
    while (root->base && root->step) root = root->base.get();
    if (!tState || !root->slot || tState->m_written.contains(root->slot.get())) return;
    root->serial = 0;  // older than any branch
    tState->m_written[root->slot.get()] = root->shared_from_this();
}

ObjectsPass::ObjectsPass() : m_before(std::exchange(tObjectsPass, true)) {}
ObjectsPass::~ObjectsPass() { tObjectsPass = m_before; }
bool ObjectsPass::active() { return tObjectsPass; }

ChangedArguments::ChangedArguments(const std::vector<ScriptValue>& arguments)
    : m_arguments(arguments), m_tracer(trace::Tracer::active()), m_body(bodyOf(m_tracer)),
      m_before(std::exchange(tCall, this)) {}
ChangedArguments::~ChangedArguments() { tCall = m_before; }

void ChangedArguments::report(const std::vector<ScriptValue>& inner, const Var& result) {
    if (!tCall || tCall->m_tracer != trace::Tracer::active()) return;
    tCall->m_changes.clear();
    tCall->m_innerBody = bodyOf(tCall->m_tracer);
    for (std::size_t i = 0; i < inner.size() && i < tCall->m_arguments.size(); ++i) {
        TensorCell* cell = inner[i].cell();
        if (!cell || !cell->isArgumentWritten) continue;
        const Var now = cell->stale ? Var() : toVar(inner[i]);
        tCall->m_changes.push_back({i, now, result.isProxy() && now.isProxy() && now.node() == result.node()});
    }
}

std::optional<ScriptValue> ChangedArguments::apply(const Var& result) const {
    std::optional<ScriptValue> same;
    const bool sameBody = m_innerBody == m_body && (m_body != 0 || !m_tracer);
    for (const Change& change : m_changes) {
        TensorCell* cell = m_arguments[change.argument].cell();
        if (!cell) continue;
        if (change.isResult) {
            write(*cell, result);
            same = m_arguments[change.argument];
        } else if (sameBody && !change.value.isNone()) {
            write(*cell, change.value);
        } else {
            // What it is now is known inside of the call only.
            Region::noteChange(*cell);
            cell->stale = true;
        }
    }
    return same;
}

}  // namespace sonde::io::script
