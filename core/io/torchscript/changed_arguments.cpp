#include "core/io/torchscript/changed_arguments.h"

#include <utility>

#include "core/io/torchscript/region.h"
#include "core/io/torchscript/run_state.h"
#include "core/io/torchscript/views.h"
#include "core/trace/tracer.h"

namespace sonde::io::script {

namespace {

/// The list that exprs are recorded into; 0 for tracers that keep no such list.
std::size_t bodyOf(const trace::Tracer* tracer) {
    return tracer && tracer->recorded() ? tracer->currentBody().index() + 1 : 0;
}

}  // namespace

ChangedArguments::ChangedArguments(const std::vector<ScriptValue>& arguments)
    : m_arguments(arguments), m_tracer(trace::Tracer::active()), m_body(bodyOf(m_tracer)),
      m_before(std::exchange(runState().call, this)) {}
ChangedArguments::~ChangedArguments() { runState().call = m_before; }

void ChangedArguments::report(const std::vector<ScriptValue>& inner, const Var& result) {
    ChangedArguments* const call = runState().call;
    if (!call || call->m_tracer != trace::Tracer::active()) return;
    call->m_changes.clear();
    call->m_innerBody = bodyOf(call->m_tracer);
    for (std::size_t i = 0; i < inner.size() && i < call->m_arguments.size(); ++i) {
        TensorCell* cell = inner[i].cell();
        if (!cell || !cell->isArgumentWritten) continue;
        const Var now = cell->stale ? Var() : toVar(inner[i]);
        call->m_changes.push_back({i, now, result.isProxy() && now.isProxy() && now.node() == result.node()});
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
