#pragma once

#include <cstddef>

#include "core/trace/error.h"

namespace sonde::io::script {

/// Counts the parts of a value while it is gone through: thirty pairs of pairs are a billion, and a list may hold
/// itself.
class PartCount {
  public:
    /// One container of the value, while what is in it is gone through. Throws TraceError (RuntimeError) beyond bounds.
    class Level {
      public:
        explicit Level(PartCount& count) : m_count(count) {
            if (++m_count.m_parts > kMaxParts || m_count.m_depth >= kMaxDepth)
                throw trace::TraceError(trace::TraceErrorKind::Runtime, "a value has too many nested parts");
            ++m_count.m_depth;
        }
        ~Level() { --m_count.m_depth; }
        Level(const Level&) = delete;
        Level& operator=(const Level&) = delete;

      private:
        PartCount& m_count;
    };

  private:
    static constexpr std::size_t kMaxParts = 1'000'000;
    static constexpr int kMaxDepth = 500;
    std::size_t m_parts = 0;
    int m_depth = 0;
};

}  // namespace sonde::io::script
