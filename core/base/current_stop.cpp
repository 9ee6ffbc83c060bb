#include "core/base/current_stop.h"

#include <utility>

namespace sonde::base {

namespace {

/// Of this thread: for code of models, which runs behind their own forward and is handed no WorkContext.
thread_local std::stop_token tCurrent;

}  // namespace

StopScope::StopScope(std::stop_token token) : m_before(std::exchange(tCurrent, std::move(token))) {}
StopScope::~StopScope() { tCurrent = std::move(m_before); }

bool stopRequested() { return tCurrent.stop_requested(); }

}  // namespace sonde::base
