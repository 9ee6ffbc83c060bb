// The called module's side of a call: its own tensors and containers for those of its caller, and what it did to them.

#include <algorithm>
#include <map>
#include <utility>

#include "core/io/torchscript/module_call.h"
#include "core/io/torchscript/run_state.h"
#include "core/io/torchscript/script_module.h"
#include "core/io/torchscript/views.h"
#include "core/trace/error.h"
#include "core/trace/tracer.h"

namespace sonde::io::script {

namespace {

constexpr int kMaxParts = 20;  ///< objects may hold each other

bool meet(const std::vector<CellPtr>& a, const std::vector<CellPtr>& b) {
    return std::ranges::find_first_of(a, b) != a.end();
}

/// Two tensors in a list, tuple or dict may share memory.
bool shareInside(const ScriptValue& value) {
    checkNesting();
    std::vector<ScriptValue> parts;
    if (value.list()) parts = value.list()->items;
    if (value.tuple()) parts = value.tuple()->items;
    if (value.dict()) {
        for (const auto& [key, item] : value.dict()->items) parts.push_back(item);
    }
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (shareInside(parts[i])) return true;
        for (std::size_t j = 0; j < i; ++j) {
            if (meet(withSharers(rootsIn(parts[i])), withSharers(rootsIn(parts[j])))) return true;
        }
    }
    return false;
}

bool isOwn(CallWay way) { return way == CallWay::Body || way == CallWay::Values; }

}  // namespace

CalledModule::CalledModule(trace::Module& module, std::vector<ScriptValue>& arguments)
    : m_call(runState().call), m_way(CallWay::Alone) {
    if (m_call && static_cast<trace::Module*>(&m_call->m_module) == &module) m_way = m_call->way();
    if (m_way == CallWay::Alone) m_call = nullptr;
    if (m_call) {
        m_call->m_report.reset();
        const bool startsAnew = m_way == CallWay::Values || (m_way == CallWay::Body && m_call->m_tracer &&
                                                             !m_call->m_tracer->recording().recordedGraph());
        if (startsAnew) m_call->checkStored();
        shareArguments(arguments);
    }
    m_attempt.emplace(*ModuleState::current());
    m_region.emplace(isOwn(m_way) ? Region::Kind::Body : Region::Kind::Call);
}

void CalledModule::shareArguments(std::vector<ScriptValue>& arguments) {
    const std::vector<ScriptValue>& outer = m_call->m_arguments;
    for (std::size_t i = 0; i < arguments.size() && i < outer.size(); ++i) {
        if (outer[i].isProxy()) {
            pairNode(arguments[i], *outer[i].plain(), i);
        } else if (isOwn(m_way)) {
            pair(arguments[i], outer[i], 0);
        } else if (!outer[i].plain()) {
            arguments[i] = outer[i];
        }
    }
    if (isOwn(m_way)) linkMemory();
}

/// An argument that is a node and may be a tensor.
void CalledModule::pairNode(ScriptValue& inner, const Var& outer, std::size_t parameter) {
    const FunctionDef* const function = m_call->m_module.type().method(m_call->m_module.forwardName());
    const bool isNumber =
        function && parameter < function->parameters.size() && !mayHoldTensors(function->parameters[parameter].type);
    const CellPtr whole = isNumber ? nullptr : tensorOf(outer);
    if (!whole) return;
    if (!isOwn(m_way)) {
        if (inner.cell()) inner = whole;
    } else if (inner.cell() || inner.isProxy()) {
        m_report.given.push_back({inner.cell() ? *inner.as<CellPtr>() : tensorOf(*inner.plain()), whole, false});
    }
}

/// The module's own value stands for the caller's. What is one thing for the caller is one for the module.
void CalledModule::pair(ScriptValue& inner, const ScriptValue& outer, int depth) {
    if (depth > kMaxParts) return;
    const auto same = [&](const void* object) {
        for (const auto& [own, known] : m_report.containers) {
            const void* const of = known.list() ? static_cast<const void*>(known.list()) : known.dict();
            if (of == object) return own;
        }
        return static_cast<const void*>(nullptr);
    };
    // Of an untyped list's part only who uses it knows that it is a tensor: the caller may, and the module not yet.
    if (inner.isProxy() && outer.cell()) inner = tensorOf(*inner.plain());
    if (inner.cell() && (outer.cell() || outer.isProxy())) {
        const CellPtr whole = outer.cell() ? *outer.as<CellPtr>() : tensorOf(*outer.plain());
        const auto known = std::ranges::find(m_report.given, whole, &ModuleCall::Given::outer);
        if (known != m_report.given.end()) {
            inner = known->inner;
            return;
        }
        inner.cell()->isDense = shown(*whole).isDense;
        inner.cell()->repeats = mayRepeatElements(whole);
        m_report.given.push_back({*inner.as<CellPtr>(), whole, false});
    } else if (outer.isSymbolicList() && inner.isProxy()) {
        inner = makeSymbolicList(*inner.plain(), outer.list()->ofTensors, {});
        m_report.containers[inner.list()] = outer;
        if (outer.list()->memory) m_report.given.push_back({inner.list()->memory, outer.list()->memory, false});
    } else if (inner.list() && outer.list()) {
        if (const void* const own = same(outer.list())) {
            inner = m_inner.at(own);
            return;
        }
        inner.list()->ofTensors = outer.list()->ofTensors;
        m_report.containers[inner.list()] = outer;
        m_inner[inner.list()] = inner;
        std::vector<ScriptValue>& items = inner.list()->items;
        for (std::size_t i = 0; i < items.size() && i < outer.list()->items.size(); ++i)
            pair(items[i], outer.list()->items[i], depth + 1);
    } else if (inner.tuple() && outer.tuple()) {
        std::vector<ScriptValue>& items = inner.tuple()->items;
        for (std::size_t i = 0; i < items.size() && i < outer.tuple()->items.size(); ++i)
            pair(items[i], outer.tuple()->items[i], depth + 1);
    } else if (inner.dict() && outer.dict()) {
        if (const void* const own = same(outer.dict())) {
            inner = m_inner.at(own);
            return;
        }
        m_report.containers[inner.dict()] = outer;
        m_inner[inner.dict()] = inner;
        auto& items = inner.dict()->items;
        for (std::size_t i = 0; i < items.size() && i < outer.dict()->items.size(); ++i)
            pair(items[i].second, outer.dict()->items[i].second, depth + 1);
    } else if (inner.isProxy() && outer.isProxy()) {
        m_report.given.push_back({tensorOf(*inner.plain()), tensorOf(*outer.plain()), false});
    }
}

/// Arguments that may share memory may share it inside.
void CalledModule::linkMemory() {
    std::vector<std::vector<CellPtr>> roots;
    for (const ModuleCall::Given& given : m_report.given) {
        const CellPtr& outer = given.outer;
        roots.push_back(withSharers({&outer, 1}));
        for (std::size_t j = 0; j + 1 < roots.size(); ++j) {
            if (!meet(roots.back(), roots[j])) continue;
            const CellPtr both = std::make_shared<TensorCell>();
            mayShare(*given.inner, {&both, 1});
            mayShare(*m_report.given[j].inner, {&both, 1});
        }
    }
}

bool CalledModule::hasChangedContainers() const {
    const Region::Changes& changes = m_region->changes();
    return !changes.lists.empty() || !changes.dicts.empty() || !changes.instances.empty();
}

void CalledModule::returned(const ScriptValue& result) {
    if (!isOwn(m_way)) {
        m_region->commit();
        m_attempt->keep();
        if (!m_call) return;
        m_report.roots = rootsIn(result);
    } else {
        m_region->settle();
        for (ModuleCall::Given& given : m_report.given) given.isWritten = given.inner->isArgumentWritten;
        m_report.sharesInside = shareInside(result);
        m_report.mayRepeat = mayRepeatElements(result);
        reportRoots(result);
        reportResult(result, 0);
        reportChanges();
        m_region->takeBack();
        m_attempt->keep();
    }
    m_report.way = m_way;
    m_report.returned = result;
    m_call->m_report = std::move(m_report);
}

/// Whose memory the result shows.
void CalledModule::reportRoots(const ScriptValue& result) {
    const std::vector<CellPtr> shown = withSharers(rootsIn(result));
    for (const ModuleCall::Given& given : m_report.given) {
        if (meet(shown, withSharers({&given.inner, 1})))
            m_report.roots.push_back(rootOf(*given.outer).shared_from_this());
    }
    for (const CellPtr& root : shown) {
        if (root->slot) m_report.shownSlots.push_back(root->slot);
        else if (m_way == CallWay::Body && m_region->isOlder(root->serial)) m_report.roots.push_back(root);
    }
}

void CalledModule::reportResult(const ScriptValue& value, int depth) {
    if (depth > kMaxParts) return;
    if (value.cell()) reportOrigin(*value.cell());
    if (value.list()) {
        for (const ScriptValue& item : value.list()->items) reportResult(item, depth + 1);
    } else if (value.tuple()) {
        for (const ScriptValue& item : value.tuple()->items) reportResult(item, depth + 1);
    } else if (value.dict()) {
        for (const auto& [key, item] : value.dict()->items) reportResult(item, depth + 1);
    }
}

/// How the tensor is cut out of what the caller has, if that can be said in its terms.
void CalledModule::reportOrigin(TensorCell& cell) {
    ModuleCall::Origin origin;
    TensorCell* at = &shown(cell);
    const auto isGiven = [&] {
        const auto given =
            std::ranges::find_if(m_report.given, [at](const auto& each) { return each.inner.get() == at; });
        if (given != m_report.given.end()) origin.outer = given->outer;
        return given != m_report.given.end();
    };
    while (!isGiven() && at->base) {
        if (at->repeats || std::ranges::any_of(at->step->arguments, &Var::hasProxy)) return;
        if (at->step->kind != ViewStep::Kind::Same) origin.steps.insert(origin.steps.begin(), at->step);
        at = at->base.get();
    }
    if (!origin.outer) origin.slot = at->slot;
    if (at->form || !at->sharers.empty() || (!origin.outer && !origin.slot)) return;
    m_report.origins.emplace(&cell, std::move(origin));
}

void CalledModule::reportChanges() {
    const Region::Changes& changes = m_region->changes();
    for (const Region::Cell& entry : changes.cells) {
        const bool isGiven =
            std::ranges::any_of(m_report.given, [&](const auto& each) { return each.inner == entry.cell; });
        if (isGiven || !(entry.isWritten || entry.cell->isLost || entry.cell->form != entry.state.form)) continue;
        if (entry.cell->slot) m_report.writtenSlots.push_back(entry.cell->slot);
        else if (m_way == CallWay::Body) m_report.written.push_back(entry.cell);
    }
    if (m_way == CallWay::Values) checkOwnObjects();
    for (const Region::List& entry : changes.lists) {
        const auto outer = m_report.containers.find(entry.list.get());
        const auto list =
            outer == m_report.containers.end() ? entry.list : *outer->second.as<std::shared_ptr<ListValue>>();
        if (entry.list->symbolic.isProxy()) {
            m_report.unknownLists.push_back(list);
            continue;
        }
        std::vector<ScriptValue> items;
        for (const ScriptValue& item : entry.list->items) items.push_back(outside(item, 0));
        m_report.lists.emplace_back(list, std::move(items));
    }
    for (const Region::Dict& entry : changes.dicts) {
        const auto outer = m_report.containers.find(entry.dict.get());
        std::vector<std::pair<ScriptValue, ScriptValue>> items;
        for (const auto& [key, item] : entry.dict->items) items.emplace_back(key, outside(item, 0));
        m_report.dicts.emplace_back(
            outer == m_report.containers.end() ? entry.dict : *outer->second.as<std::shared_ptr<DictValue>>(),
            std::move(items));
    }
    if (m_way == CallWay::Values) {
        ModuleState::current()->visitAssigned(
            [&](const ScriptModule& module, const std::string& name, const ScriptValue& value) {
                m_report.assigned.push_back({&module, name, outside(value, 0)});
            });
        return;
    }
    for (const Region::Instance& entry : changes.instances) {
        std::map<std::string, ScriptValue> attributes;
        for (const auto& [name, item] : entry.instance->attributes) attributes[name] = outside(item, 0);
        m_report.instances.emplace_back(entry.instance, std::move(attributes));
    }
}

/// What a module that runs on values changes of the lists and objects that it holds, its next call would not see.
void CalledModule::checkOwnObjects() const {
    const Region::Changes& changes = m_region->changes();
    const bool isOwnList = std::ranges::any_of(
        changes.lists, [this](const auto& entry) { return !m_report.containers.contains(entry.list.get()); });
    const bool isOwnDict = std::ranges::any_of(
        changes.dicts, [this](const auto& entry) { return !m_report.containers.contains(entry.dict.get()); });
    const bool isObject =
        std::ranges::any_of(changes.instances, [](const auto& entry) { return entry.instance->type != nullptr; });
    if (isOwnList || isOwnDict || isObject)
        throw trace::TraceError(trace::TraceErrorKind::Runtime,
                                m_call->name() +
                                    " changes lists or objects that it holds, which is not supported by this tracer "
                                    "in a call of a graph that an earlier call has made");
}

/// What the value means to the caller. What only the module's own graph knows is lost.
ScriptValue CalledModule::outside(const ScriptValue& value, int depth) {
    const auto lost = [&] {
        const CellPtr cell = std::make_shared<TensorCell>();
        m_report.lost.emplace_back(cell, value.cell());
        return ScriptValue(cell);
    };
    if (depth > kMaxParts) return lost();
    if (value.plain()) return value.plain()->hasProxy() ? lost() : value;
    if (const auto* cell = value.as<CellPtr>()) {
        const auto given = std::ranges::find(m_report.given, *cell, &ModuleCall::Given::inner);
        if (given != m_report.given.end()) return given->outer;
        return m_way == CallWay::Body && m_region->isOlder((*cell)->serial) ? value : lost();
    }
    const auto all = [&](const std::vector<ScriptValue>& parts) {
        std::vector<ScriptValue> items;
        for (const ScriptValue& part : parts) items.push_back(outside(part, depth + 1));
        return items;
    };
    const void* const object = value.list()   ? static_cast<const void*>(value.list())
                               : value.dict() ? static_cast<const void*>(value.dict())
                                              : nullptr;
    const auto outer = m_report.containers.find(object);
    if (object && outer != m_report.containers.end()) return outer->second;
    const bool isBody = m_way == CallWay::Body;
    if (value.tuple()) return makeTuple(all(value.tuple()->items), value.tuple()->type);
    if (value.list()) {
        if (isBody && m_region->isOlder(value.list()->serial)) return value;
        return value.isSymbolicList() ? lost() : makeList(all(value.list()->items));
    }
    if (value.dict()) {
        if (isBody && m_region->isOlder(value.dict()->serial)) return value;
        auto dict = std::make_shared<DictValue>();
        for (const auto& [key, item] : value.dict()->items) dict->items.emplace_back(key, outside(item, depth + 1));
        return dict;
    }
    if (const auto* instance = value.as<std::shared_ptr<InstanceValue>>()) {
        if (isBody && m_region->isOlder((*instance)->serial)) return value;
        auto made = std::make_shared<InstanceValue>(InstanceValue{(*instance)->typeName, (*instance)->type, {}});
        for (const auto& [name, item] : (*instance)->attributes) made->attributes[name] = outside(item, depth + 1);
        return made;
    }
    return value;
}

}  // namespace sonde::io::script
