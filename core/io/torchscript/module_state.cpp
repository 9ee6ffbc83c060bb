#include "core/io/torchscript/module_state.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "core/io/torchscript/region.h"
#include "core/io/torchscript/run_state.h"
#include "core/io/torchscript/view_steps.h"
#include "core/trace/tracer.h"

namespace sonde::io::script {

namespace {

/// The first and the last element of the tensor in its storage.
std::pair<std::int64_t, std::int64_t> placeOf(const tensor::Tensor& tensor) {
    std::int64_t first = tensor.offsetElements(), last = first;
    for (std::size_t d = 0; d < tensor.shape().dims().size(); ++d) {
        const std::int64_t way = (tensor.shape().dims()[d] - 1) * tensor.strides()[d];
        (way < 0 ? first : last) += way;
    }
    return {first, last};
}

/// Elements of the two may be one place in memory.
bool overlap(const tensor::Tensor& a, const tensor::Tensor& b) {
    if (a.storage() != b.storage() || a.numel() == 0 || b.numel() == 0) return false;
    if (a.dtype() != b.dtype()) return true;
    const auto [firstOfA, lastOfA] = placeOf(a);
    const auto [firstOfB, lastOfB] = placeOf(b);
    return firstOfA <= lastOfB && firstOfB <= lastOfA;
}

}  // namespace

ModuleState::Scope::Scope() : m_before(runState().modules), m_objectsBefore(runState().changedObjects) {
    if (runState().modules && runState().modules->m_tracer == trace::Tracer::active()) return;
    m_own = std::make_unique<ModuleState>();
    m_own->m_tracer = trace::Tracer::active();
    runState().modules = m_own.get();
    runState().changedObjects = &m_own->m_isChanged;
}
ModuleState::Scope::~Scope() {
    runState().modules = m_before;
    runState().changedObjects = m_objectsBefore;
}
ModuleState* ModuleState::current() { return runState().modules; }

ModuleState::~ModuleState() {
    for (const std::weak_ptr<TensorCell>& each : m_linked) {
        const CellPtr cell = each.lock();
        if (!cell) continue;
        cell->sharers.clear();
        cell->form.reset();
    }
}

void ModuleState::noteLinks(TensorCell& cell) {
    if (ModuleState* state = current()) state->m_linked.push_back(cell.weak_from_this());
}

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

void ModuleState::visitAssigned(
    const std::function<void(const ScriptModule&, const std::string&, const ScriptValue&)>& visit) const {
    for (const auto& [module, state] : m_assigned) {
        for (const auto& [name, value] : state->attributes) visit(*module, name, value);
    }
}

ScriptValue ModuleState::ownCopy(const ScriptValue& stored) {
    checkNesting();
    const void* const object = stored.cell()    ? static_cast<const void*>(stored.cell())
                               : stored.list()  ? static_cast<const void*>(stored.list())
                               : stored.dict()  ? static_cast<const void*>(stored.dict())
                               : stored.tuple() ? static_cast<const void*>(stored.tuple())
                                                : nullptr;
    const auto* instance = stored.as<std::shared_ptr<InstanceValue>>();
    const void* const key = instance ? instance->get() : object;
    if (!key) return stored;
    if (const auto known = m_copies.find(key); known != m_copies.end()) return known->second;
    const auto keep = [&](auto copy) {
        copy->serial = 0;  // older than any branch
        m_copies[key] = copy;
        return copy;
    };
    if (const TensorCell* cell = stored.cell()) {
        const auto copy = keep(std::make_shared<TensorCell>());
        copy->var = cell->var;
        copy->slot = cell->var.slot();
        noteRead(copy);
        return copy;
    }
    if (const ListValue* list = stored.list()) {
        const auto copy = keep(std::make_shared<ListValue>());
        copy->ofTensors = list->ofTensors;
        for (const ScriptValue& item : list->items) copy->items.push_back(ownCopy(item));
        return copy;
    }
    if (const DictValue* dict = stored.dict()) {
        const auto copy = keep(std::make_shared<DictValue>());
        for (const auto& [name, item] : dict->items) copy->items.emplace_back(name, ownCopy(item));
        return copy;
    }
    if (instance) {
        const auto copy =
            keep(std::make_shared<InstanceValue>(InstanceValue{(*instance)->typeName, (*instance)->type, {}}));
        for (const auto& [name, item] : (*instance)->attributes) copy->attributes[name] = ownCopy(item);
        return copy;
    }
    std::vector<ScriptValue> items;
    for (const ScriptValue& item : stored.tuple()->items) items.push_back(ownCopy(item));
    return m_copies[key] = makeTuple(std::move(items), stored.tuple()->type);
}

std::shared_ptr<TensorCell> ModuleState::find(const trace::Slot& slot) const {
    const auto found = m_written.find(&slot);
    return found == m_written.end() ? nullptr : found->second;
}

CellPtr ModuleState::tensorOf(const std::shared_ptr<const trace::Slot>& slot) {
    if (CellPtr written = find(*slot)) return written;
    const ScriptValue made = makeCell(Var::ofSlot(slot));
    made.cell()->slot = slot;
    noteRead(*made.as<CellPtr>());
    return *made.as<CellPtr>();
}

void ModuleState::noteRead(const CellPtr& cell) {
    const tensor::Storage* storage = cell->slot ? cell->slot->value.storage().get() : nullptr;
    if (storage) m_read[storage].push_back(cell);
    for (const auto& [slot, written] : m_written) {
        if (!storage || slot == cell->slot.get() || !overlap(slot->value, cell->slot->value)) continue;
        // What has become of this part of the other tensor is not known.
        cell->isLost = true;
        cell->lastWrite = written->lastWrite;
        cell->lostTo = written->lostTo;
    }
}

void ModuleState::noteWritten(TensorCell& root) {
    ModuleState* const state = current();
    if (!state || !root.slot || state->m_written.contains(root.slot.get())) return;
    root.serial = 0;  // older than any branch
    // A read that is recorded in a branch is none of the program around it.
    if (Region::isInsideBody() && root.var.isProxy()) root.var = Var::ofSlot(root.slot);
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
            state->m_joined.push_back(other);
        } else if (overlap(other->slot->value, root.slot->value)) {
            noteLinks(root);
            root.sharers.push_back({other, other->version});
        }
    }
}

ModuleState::Attempt::Attempt(ModuleState& state)
    : m_state(state), m_assigned(state.m_assigned), m_written(state.m_written), m_joined(state.m_joined.size()) {}

ModuleState::Attempt::~Attempt() {
    if (m_isKept) return;
    m_state.m_assigned = std::move(m_assigned);
    m_state.m_written = std::move(m_written);
    for (; m_state.m_joined.size() > m_joined; m_state.m_joined.pop_back()) {
        const CellPtr cell = m_state.m_joined.back().lock();
        if (!cell) continue;
        cell->base = nullptr;
        cell->step = nullptr;
    }
}

ObjectsPass::ObjectsPass() : m_before(std::exchange(runState().objectsPass, true)) {}
ObjectsPass::~ObjectsPass() { runState().objectsPass = m_before; }
bool ObjectsPass::active() { return runState().objectsPass; }

}  // namespace sonde::io::script
