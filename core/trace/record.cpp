#include "core/trace/record.h"

#include <utility>

#include "core/trace/innermost_swap.h"

namespace sonde::trace {

namespace {

thread_local std::shared_ptr<const Evaluator> tCurrent;
thread_local bool tWritesAsValues = false;

}  // namespace

const FunctionSwap*& innermostSwap() {
    thread_local const FunctionSwap* swap = nullptr;
    return swap;
}

EvaluatorScope::EvaluatorScope(std::shared_ptr<const Evaluator> evaluator) : m_previous(std::move(tCurrent)) {
    tCurrent = std::move(evaluator);
}
EvaluatorScope::~EvaluatorScope() { tCurrent = std::move(m_previous); }
std::shared_ptr<const Evaluator> EvaluatorScope::current() { return tCurrent; }

WritesAsValues::WritesAsValues(bool on) : m_before(std::exchange(tWritesAsValues, on)) {}
WritesAsValues::~WritesAsValues() { tWritesAsValues = m_before; }
bool WritesAsValues::isOn() { return tWritesAsValues; }

FunctionSwap::FunctionSwap(std::string name, Replacement replacement)
    : m_name(std::move(name)), m_replacement(std::move(replacement)), m_previous(std::exchange(innermostSwap(), this)) {
}
FunctionSwap::~FunctionSwap() { innermostSwap() = m_previous; }

bool FunctionSwap::isSwapped(std::string_view name) {
    for (const FunctionSwap* swap = innermostSwap(); swap; swap = swap->m_previous) {
        if (swap->m_name == name) return true;
    }
    return false;
}

}  // namespace sonde::trace
