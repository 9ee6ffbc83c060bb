// The caller's side of a call: what it has takes what the module did, and what the call gives shows its memory.

#include <algorithm>
#include <utility>

#include "core/io/torchscript/module_call.h"
#include "core/io/torchscript/run_state.h"
#include "core/io/torchscript/script_module.h"
#include "core/io/torchscript/source_stack.h"
#include "core/io/torchscript/views.h"
#include "core/trace/error.h"
#include "core/trace/tracer.h"

namespace sonde::io::script {

using trace::TraceError;
using trace::TraceErrorKind;

namespace {

/// The list that exprs are recorded into; 0 for tracers that keep no such list.
std::size_t bodyOf(const trace::Tracer* tracer) {
    return tracer && tracer->recording().recordedGraph() ? tracer->recorder().bodies().top().id.index() + 1 : 0;
}

}  // namespace

bool mayHoldTensors(const std::string& type) {
    return type.find("Tensor") != std::string::npos || type.find("__torch__") != std::string::npos ||
           type.find("Any") != std::string::npos;
}

ModuleCall::ModuleCall(ScriptModule& module, const std::vector<ScriptValue>& arguments)
    : m_module(module), m_arguments(arguments), m_tracer(trace::Tracer::active()), m_state(ModuleState::current()),
      m_body(bodyOf(m_tracer)), m_before(std::exchange(runState().call, this)) {}
ModuleCall::~ModuleCall() { runState().call = m_before; }

bool ModuleCall::isAwaited() {
    const ModuleCall* const call = runState().call;
    return call && call->m_tracer && !trace::Tracer::active();
}

CallWay ModuleCall::way() const {
    if (isAwaited()) return CallWay::Values;
    if (m_tracer != trace::Tracer::active()) return CallWay::Alone;
    return bodyOf(m_tracer) == m_body && (m_body != 0 || !m_tracer) ? CallWay::Inline : CallWay::Body;
}

std::string ModuleCall::name() const {
    const std::string* path = m_tracer ? m_tracer->pathOf(m_module) : nullptr;
    const std::string name = path && !path->empty() ? *path : m_module.installedAs();
    return (name.empty() ? "the root module" : "module '" + name + '\'') + " of class " + m_module.className();
}

/// A module that runs on values, or has a graph that earlier calls had, begins with what the file holds.
void ModuleCall::checkStored() const {
    const std::string part = m_state ? m_state->changedPart(m_module) : std::string();
    if (part.empty()) return;
    const std::string here = SourceFrame::where();
    throw TraceError(TraceErrorKind::Runtime,
                     name() + " is called" + (here.empty() ? "" : " at " + here) + " after its " + part +
                         " changed: in a graph of its own it would begin with what the file holds. Not supported by "
                         "this tracer");
}

ScriptValue ModuleCall::apply(const Var& result) {
    if (!m_report) {
        if (m_tracer) checkStored();
        return withMemory(fromVar(result));
    }
    if (m_report->way == CallWay::Inline && givesReturned(result)) return m_report->returned;
    ScriptValue made = fromVar(result);
    takeReturned(made, m_report->returned);
    takeChanges(result);
    return withMemory(std::move(made));
}

/// An argument that was written and is in the result is that part of it.
void ModuleCall::takeReturned(const ScriptValue& made, const ScriptValue& returned) {
    if (made.cell() && returned.cell()) {
        m_report->made.emplace(returned.cell(), *made.as<CellPtr>());
        const auto origin = m_report->origins.find(returned.cell());
        if (origin == m_report->origins.end() || !origin->second.outer || !origin->second.steps.empty()) return;
        const auto given = std::ranges::find(m_report->given, origin->second.outer, &Given::outer);
        if (given == m_report->given.end() || !given->isWritten) return;
        write(*given->outer, made.cell()->var);
        given->isWritten = false;
        m_report->taken.emplace(made.cell(), given->outer);
        return;
    }
    const auto all = [this](const std::vector<ScriptValue>& parts, const std::vector<ScriptValue>& from) {
        for (std::size_t i = 0; i < parts.size() && i < from.size(); ++i) takeReturned(parts[i], from[i]);
    };
    if (made.list() && returned.list()) all(made.list()->items, returned.list()->items);
    else if (made.tuple() && returned.tuple()) all(made.tuple()->items, returned.tuple()->items);
}

/// The tracer has handed on just what the module gave.
bool ModuleCall::givesReturned(const Var& result) const {
    const ObjectsPass pass;
    const Var returned = toVar(m_report->returned);
    if (returned.kind() != result.kind()) return false;
    return !result.isProxy() || (&returned.tracer() == &result.tracer() && returned.node() == result.node());
}

void ModuleCall::takeChanges(const Var& result) {
    const std::string writer = name();
    for (const Given& given : m_report->given) {
        if (given.isWritten) lose(rootOf(*given.outer), result, writer);
    }
    for (const CellPtr& cell : m_report->written) lose(rootOf(*cell), result, writer);
    for (const auto& slot : m_report->writtenSlots) lose(rootOf(*m_state->tensorOf(slot)), result, writer);
    for (const auto& [cell, inner] : m_report->lost) {
        const auto made = m_report->made.find(inner);
        if (made == m_report->made.end()) {
            lose(*cell, result, writer);
            continue;
        }
        const auto taken = m_report->taken.find(made->second.get());
        const CellPtr& whole = taken == m_report->taken.end() ? made->second : taken->second;
        cell->var = made->second->var;
        cell->mayBeOther = shown(*whole).mayBeOther = true;
        setBase(*cell, whole, std::make_shared<const ViewStep>());
    }
    for (auto& [list, items] : m_report->lists) {
        Region::noteChange(list);
        list->items = std::move(items);
    }
    for (const auto& list : m_report->unknownLists) {
        if (!result.isProxy())
            throw TraceError(TraceErrorKind::Runtime, writer +
                                                          " changes a list that it is given, by a number of "
                                                          "elements that only a run knows: not supported");
        Region::noteChange(list);
        list->items.clear();
        list->symbolic = result;
        list->memory = makeSymbolicList(result, list->ofTensors, {}).list()->memory;
        lose(*list->memory, result, writer);
    }
    for (auto& [dict, items] : m_report->dicts) {
        Region::noteChange(dict);
        dict->items = std::move(items);
    }
    for (auto& [instance, attributes] : m_report->instances) {
        Region::noteChange(instance);
        instance->attributes = std::move(attributes);
    }
    for (Assigned& each : m_report->assigned)
        m_state->assign(*each.module, each.name, std::move(each.value), each.module->attribute(each.name));
}

ScriptValue ModuleCall::withMemory(ScriptValue made) {
    std::vector<CellPtr> roots;
    if (!m_report) {
        for (const ScriptValue& argument : m_arguments) std::ranges::copy(rootsIn(argument), std::back_inserter(roots));
    } else {
        roots = m_report->roots;
        for (const auto& slot : m_report->shownSlots) roots.push_back(m_state->tensorOf(slot));
        if (m_report->sharesInside) roots.push_back(std::make_shared<TensorCell>());
    }
    return withMemory(std::move(made), m_report ? &m_report->returned : nullptr, roots);
}

/// `made` with the memory that `returned`, the module's own value, shows.
ScriptValue ModuleCall::withMemory(ScriptValue made, const ScriptValue* returned, const std::vector<CellPtr>& roots) {
    if (returned && m_report) {
        const void* const object = returned->list()   ? static_cast<const void*>(returned->list())
                                   : returned->dict() ? static_cast<const void*>(returned->dict())
                                                      : nullptr;
        const auto outer = m_report->containers.find(object);
        if (object && outer != m_report->containers.end()) return outer->second;
    }
    if (TensorCell* cell = made.cell()) {
        if (m_report) {
            const auto taken = m_report->taken.find(cell);
            if (taken != m_report->taken.end()) return taken->second;
        }
        if (isKnownView(*cell, returned)) return made;
        mayShare(*cell, roots);
        cell->repeats = m_report ? m_report->mayRepeat : std::ranges::any_of(m_arguments, mayRepeatElements);
        return made;
    }
    if (made.isProxy()) {
        const FunctionDef* const function = m_module.type().method(m_module.forwardName());
        if (!function || mayHoldTensors(function->result)) shareNode(*made.plain(), roots);
        return made;
    }
    const auto part = [&](std::vector<ScriptValue>* items, std::size_t i) {
        return items && i < items->size() ? &(*items)[i] : nullptr;
    };
    const auto inside = [&](std::vector<ScriptValue>& items, std::vector<ScriptValue>* from) {
        for (std::size_t i = 0; i < items.size(); ++i) items[i] = withMemory(std::move(items[i]), part(from, i), roots);
    };
    if (made.list()) {
        inside(made.list()->items, returned && returned->list() ? &returned->list()->items : nullptr);
    } else if (made.tuple()) {
        inside(made.tuple()->items, returned && returned->tuple() ? &returned->tuple()->items : nullptr);
    } else if (made.dict()) {
        DictValue* const from = returned ? returned->dict() : nullptr;
        const bool fits = from && from->items.size() == made.dict()->items.size();
        for (std::size_t i = 0; i < made.dict()->items.size(); ++i) {
            ScriptValue& item = made.dict()->items[i].second;
            item = withMemory(std::move(item), fits ? &from->items[i].second : nullptr, roots);
        }
    }
    return made;
}

/// The tensor is a view of what the caller has, or all of it, and cut out of it in the same way: it follows.
bool ModuleCall::isKnownView(TensorCell& made, const ScriptValue* returned) {
    if (!returned || !returned->cell() || !m_report) return false;
    const auto found = m_report->origins.find(returned->cell());
    if (found == m_report->origins.end()) return false;
    const Origin& origin = found->second;
    CellPtr base = origin.outer ? origin.outer : m_state->tensorOf(origin.slot);
    if (!isKnown(*base)) return false;
    shown(*base).mayBeOther = made.mayBeOther = true;
    for (std::size_t i = 0; i + 1 < origin.steps.size(); ++i) {
        const auto level = std::make_shared<TensorCell>();
        setBase(*level, base, origin.steps[i]);
        level->seen = -1;  // nobody has cut it here
        base = level;
    }
    setBase(made, base, origin.steps.empty() ? std::make_shared<const ViewStep>() : origin.steps.back());
    return true;
}

}  // namespace sonde::io::script
