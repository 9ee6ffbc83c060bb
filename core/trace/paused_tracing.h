#pragma once

namespace sonde::trace {

class Tracer;

/// While it lives no tracer is active on this thread: modules and functions compute at once.
class PausedTracing {
  public:
    PausedTracing();
    ~PausedTracing();
    PausedTracing(const PausedTracing&) = delete;
    PausedTracing& operator=(const PausedTracing&) = delete;

  private:
    Tracer* m_before;
};

}  // namespace sonde::trace
