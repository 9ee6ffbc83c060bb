#include "core/io/torchscript/changed_arguments.h"

#include <algorithm>
#include <utility>

#include "core/io/torchscript/region.h"
#include "core/io/torchscript/run_state.h"
#include "core/io/torchscript/views.h"
#include "core/trace/tracer.h"

namespace sonde::io::script {

namespace {

constexpr std::size_t kNoBody = static_cast<std::size_t>(-1);

/// The list that exprs are recorded into; 0 for tracers that keep no such list.
std::size_t bodyOf(const trace::Tracer* tracer) {
    return tracer && tracer->recorded() ? tracer->currentBody().index() + 1 : 0;
}

bool meet(const ScriptValue& a, const ScriptValue& b) {
    const std::vector<CellPtr> first = withSharers(rootsIn(a)), second = withSharers(rootsIn(b));
    return std::ranges::find_first_of(first, second) != first.end();
}

/// The value shows just what the tensor shows.
bool isAllOf(const ScriptValue& value, TensorCell& cell) {
    if (!value.cell() || cell.form) return false;
    const TensorCell* at = &shown(*value.cell());
    while (at != &cell && at->base && at->step->kind == ViewStep::Kind::Same) at = at->base.get();
    return at == &cell;
}

/// Two tensors in a list, tuple or dict may share memory.
bool shareInside(const ScriptValue& value) {
    std::vector<ScriptValue> parts;
    if (value.list()) parts = value.list()->items;
    if (value.tuple()) parts = value.tuple()->items;
    if (value.dict()) {
        for (const auto& [key, item] : value.dict()->items) parts.push_back(item);
    }
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (shareInside(parts[i])) return true;
        for (std::size_t j = 0; j < i; ++j) {
            if (meet(parts[i], parts[j])) return true;
        }
    }
    return false;
}

}  // namespace

ChangedArguments::ChangedArguments(const std::vector<ScriptValue>& arguments)
    : m_arguments(arguments), m_tracer(trace::Tracer::active()), m_body(bodyOf(m_tracer)),
      m_before(std::exchange(runState().call, this)) {}
ChangedArguments::~ChangedArguments() { runState().call = m_before; }

void ChangedArguments::link(std::vector<ScriptValue>& inner) {
    ChangedArguments* const call = runState().call;
    if (!call || (call->m_tracer != trace::Tracer::active() && !isAwaited())) return;
    const std::vector<ScriptValue>& outer = call->m_arguments;
    const std::size_t count = std::min(inner.size(), outer.size());
    for (std::size_t i = 0; i < count; ++i) {
        if (!inner[i].cell() || !outer[i].cell()) continue;
        inner[i].cell()->isDense = shown(*outer[i].cell()).isDense;
        for (std::size_t j = 0; j < i; ++j) {
            if (!inner[j].cell() || !outer[j].cell()) continue;
            if (outer[i].cell() == outer[j].cell()) {
                inner[i] = inner[j];
                break;
            }
            if (!meet(outer[i], outer[j])) continue;
            const CellPtr both = std::make_shared<TensorCell>();
            mayShare(*inner[i].cell(), {&both, 1});
            mayShare(*inner[j].cell(), {&both, 1});
        }
    }
}

bool ChangedArguments::isAwaited() {
    const ChangedArguments* const call = runState().call;
    return call && call->m_tracer && !trace::Tracer::active();
}

void ChangedArguments::report(const std::vector<ScriptValue>& inner, const ScriptValue& returned, const Var& result) {
    ChangedArguments* const call = runState().call;
    // Run on values for a trace: what shares memory is known, but none of the values is a node.
    const bool byValues = isAwaited();
    if (!call || (call->m_tracer != trace::Tracer::active() && !byValues)) return;
    call->m_changes.clear();
    call->m_isReported = true;
    call->m_shared.clear();
    call->m_innerBody = byValues ? kNoBody : bodyOf(call->m_tracer);
    const std::vector<CellPtr> roots = withSharers(rootsIn(returned));
    for (std::size_t i = 0; i < inner.size() && i < call->m_arguments.size(); ++i) {
        const std::vector<CellPtr> own = withSharers(rootsIn(inner[i]));
        if (std::ranges::find_first_of(roots, own) != roots.end()) call->m_shared.push_back(i);
        TensorCell* cell = inner[i].cell();
        if (!cell || !cell->isArgumentWritten) continue;
        const Var now = isKnown(*cell) && !cell->form && !byValues ? toVar(inner[i]) : Var();
        const bool isNode = result.isProxy() && now.isProxy() && now.node() == result.node();
        call->m_changes.push_back({i, now, byValues ? isAllOf(returned, *cell) : isNode});
    }
    for (const CellPtr& root : roots) {
        if (root->slot && !byValues) call->m_outer.push_back(root);
    }
    call->m_sharesInside = shareInside(returned);
    call->m_inner = inner;
    call->m_returned = returned;
}

ScriptValue ChangedArguments::apply(const Var& result) {
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
            lose(rootOf(*cell), result);  // what it is now is known inside of the call only
        }
    }
    if (same) return *same;
    if (sameBody && m_isReported) {
        if (auto value = inlined(result)) return *value;
    }
    return withMemory(result);
}

/// The module's operations are the caller's own: its tensors go on as they are, and its arguments are the caller's.
std::optional<ScriptValue> ChangedArguments::inlined(const Var& result) {
    const Var returned = toVar(m_returned);
    if (returned.kind() != result.kind()) return std::nullopt;
    if (result.isProxy() && (&returned.tracer() != &result.tracer() || returned.node() != result.node()))
        return std::nullopt;
    for (std::size_t i = 0; i < m_inner.size() && i < m_arguments.size(); ++i) {
        const auto* inner = m_inner[i].as<CellPtr>();
        const auto* outer = m_arguments[i].as<CellPtr>();
        if (!inner || !outer || (*inner)->base || (*inner)->slot || (*inner)->form) continue;
        (*inner)->sharers.clear();
        setBase(**inner, *outer, std::make_shared<const ViewStep>());
        (*inner)->mayBeOther = shown(**outer).mayBeOther = true;
    }
    for (const CellPtr& root : rootsIn(m_returned)) agreeWithSharers(*root);
    return m_returned;
}

std::vector<CellPtr> ChangedArguments::roots() const {
    std::vector<CellPtr> roots = m_outer;
    for (std::size_t i = 0; i < m_arguments.size(); ++i) {
        if (m_isReported && std::ranges::find(m_shared, i) == m_shared.end()) continue;
        const std::vector<CellPtr> own = rootsIn(m_arguments[i]);
        roots.insert(roots.end(), own.begin(), own.end());
    }
    if (m_sharesInside) roots.push_back(std::make_shared<TensorCell>());
    return roots;
}

ScriptValue ChangedArguments::withMemory(const Var& result) const {
    const std::vector<CellPtr> shared = roots();
    return shared.empty() ? fromVar(result) : withMemory(fromVar(result), shared);
}

/// The tensors in the value may show the memory of the roots.
ScriptValue ChangedArguments::withMemory(ScriptValue value, const std::vector<CellPtr>& roots) const {
    if (TensorCell* cell = value.cell()) {
        mayShare(*cell, roots);
        cell->repeats = mayRepeatElements(m_returned) || std::ranges::any_of(m_arguments, mayRepeatElements);
    }
    if (value.list()) {
        for (ScriptValue& item : value.list()->items) item = withMemory(std::move(item), roots);
    } else if (value.tuple()) {
        for (ScriptValue& item : value.tuple()->items) item = withMemory(std::move(item), roots);
    } else if (value.dict()) {
        for (auto& [key, item] : value.dict()->items) item = withMemory(std::move(item), roots);
    }
    return value;
}

}  // namespace sonde::io::script
