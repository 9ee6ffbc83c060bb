#pragma once

#include <algorithm>
#include <cstddef>

#include "core/base/progress.h"

namespace sonde::canvas {

/// Counts what a painter draws: tells how far the picture is, and the painter when nobody wants it any more.
class PaintSteps {
  public:
    /// `total` 0: only whether to stop is asked. `work` must outlive the painting.
    void begin(const base::WorkContext& work, std::size_t total) {
        m_work = &work;
        m_done = 0;
        m_total = total;
        m_stopped = work.cancelled();
    }
    void end() { m_work = nullptr; }

    /// Before each thing that is drawn; false: leave it.
    bool goOn() {
        constexpr std::size_t kBetween = 256;
        if (!m_work) return true;
        if (++m_done % kBetween == 0) {
            m_stopped = m_stopped || m_work->cancelled();
            if (m_total > 0) m_work->report("Rendering", std::min(m_done, m_total), m_total);
        }
        return !m_stopped;
    }

  private:
    const base::WorkContext* m_work = nullptr;
    std::size_t m_done = 0, m_total = 0;
    bool m_stopped = false;
};

}  // namespace sonde::canvas
