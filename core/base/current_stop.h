#pragma once

#include <stop_token>

namespace sonde::base {

/// Lends a stop token to everything that runs on this thread below: code without a WorkContext of its own (a script of
/// a model that runs in the middle of a plan) can still be cancelled. Scopes nest.
class StopScope {
  public:
    explicit StopScope(std::stop_token token);
    ~StopScope();
    StopScope(const StopScope&) = delete;
    StopScope& operator=(const StopScope&) = delete;

  private:
    std::stop_token m_before;
};

/// Whether the innermost scope's token was asked to stop; false outside of any.
bool stopRequested();

}  // namespace sonde::base
