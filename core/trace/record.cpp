#include "core/trace/record.h"

#include <utility>

#include "core/trace/thread_state.h"

namespace sonde::trace {

EvaluatorScope::EvaluatorScope(std::shared_ptr<const Evaluator> evaluator)
    : m_previous(std::exchange(threadState().evaluator, std::move(evaluator))) {}
EvaluatorScope::~EvaluatorScope() { threadState().evaluator = std::move(m_previous); }
std::shared_ptr<const Evaluator> EvaluatorScope::current() { return threadState().evaluator; }

WritesAsValues::WritesAsValues(bool on) : m_before(std::exchange(threadState().writesAsValues, on)) {}
WritesAsValues::~WritesAsValues() { threadState().writesAsValues = m_before; }
bool WritesAsValues::isOn() { return threadState().writesAsValues; }

FunctionSwap::FunctionSwap(std::string name, Replacement replacement)
    : m_name(std::move(name)), m_replacement(std::move(replacement)),
      m_previous(std::exchange(threadState().swap, this)) {}
FunctionSwap::~FunctionSwap() { threadState().swap = m_previous; }

bool FunctionSwap::isSwapped(std::string_view name) {
    for (const FunctionSwap* swap = threadState().swap; swap; swap = swap->m_previous) {
        if (swap->m_name == name) return true;
    }
    return false;
}

}  // namespace sonde::trace
