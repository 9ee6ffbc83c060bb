#include "core/io/torchscript/module_state.h"

#include <utility>

#include "core/io/torchscript/region.h"
#include "core/io/torchscript/run_state.h"
#include "core/io/torchscript/view_steps.h"
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

void ModuleState::noteRead(const CellPtr& cell) {
    const tensor::Storage* storage = cell->slot ? cell->slot->value.storage().get() : nullptr;
    if (storage) m_read[storage].push_back(cell);
}

void ModuleState::noteWritten(TensorCell& root) {
    ModuleState* const state = current();
    if (!state || !root.slot || state->m_written.contains(root.slot.get())) return;
    root.serial = 0;  // older than any branch
    const CellPtr written = root.shared_from_this();
    state->m_written[root.slot.get()] = written;
    const auto known = state->m_read.find(root.slot->value.storage().get());
    if (known == state->m_read.end()) return;
    for (const std::weak_ptr<TensorCell>& each : known->second) {
        const CellPtr other = each.lock();
        if (!other || other == written || other->base) continue;
        if (other->slot == root.slot) {
            // Each read of it made a tensor of its own, as long as nobody had written.
            other->base = written;
            other->step = std::make_shared<const ViewStep>();
            other->seen = root.version;
        } else {
            root.sharers.push_back({other, other->version});
        }
    }
}

ObjectsPass::ObjectsPass() : m_before(std::exchange(runState().objectsPass, true)) {}
ObjectsPass::~ObjectsPass() { runState().objectsPass = m_before; }
bool ObjectsPass::active() { return runState().objectsPass; }

}  // namespace sonde::io::script
