#include "core/io/torchscript/module_state.h"

#include <utility>

#include "core/io/torchscript/region.h"
#include "core/io/torchscript/run_state.h"
#include "core/trace/tracer.h"

namespace sonde::io::script {

ModuleState::Scope::Scope() : m_before(runState().modules) {
    if (runState().modules && runState().modules->m_tracer == trace::Tracer::active()) return;
    m_own = std::make_unique<ModuleState>();
    m_own->m_tracer = trace::Tracer::active();
    runState().modules = m_own.get();
}
ModuleState::Scope::~Scope() { runState().modules = m_before; }
ModuleState* ModuleState::current() { return runState().modules; }

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
    if (!runState().modules || !root->slot || runState().modules->m_written.contains(root->slot.get())) return;
    root->serial = 0;  // older than any branch
    runState().modules->m_written[root->slot.get()] = root->shared_from_this();
}

ObjectsPass::ObjectsPass() : m_before(std::exchange(runState().objectsPass, true)) {}
ObjectsPass::~ObjectsPass() { runState().objectsPass = m_before; }
bool ObjectsPass::active() { return runState().objectsPass; }

}  // namespace sonde::io::script
