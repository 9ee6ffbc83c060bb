#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/session/sweep/sweep.h"

namespace sonde::session {

/// What became of the samples of one class.
struct SweepClass {
    std::string label;
    std::size_t count = 0;    ///< judged samples with this label
    std::size_t correct = 0;  ///< of them
    /// What the others were taken for, the most frequent first, then the least index.
    std::vector<std::pair<std::int64_t, std::size_t>> mistakes;
    std::size_t nan = 0;  ///< samples of which the output is NaN alone: taken for nothing

    double accuracy() const { return count == 0 ? 0 : static_cast<double>(correct) / static_cast<double>(count); }
};

/// The confusion of a sweep with labels, row by row: memory grows with what was mistaken for what, not with the inputs.
class SweepClasses {
  public:
    void add(const SweepRow& row);
    bool empty() const { return m_classes.empty(); }
    /// The least accuracy first; of equal ones the class of more samples, then by name.
    std::vector<SweepClass> worst() const;

  private:
    struct Counts {
        std::size_t count = 0, correct = 0, nan = 0;
        std::map<std::int64_t, std::size_t> mistakes;
    };
    std::map<std::string, Counts> m_classes;
};

}  // namespace sonde::session
