#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/analysis/findings/checker.h"

namespace sonde::analysis {

/// So many findings of one id are listed, those that come first; the others are counted.
inline constexpr std::size_t kMaxFindings = 200;

struct FoundFindings {
    std::vector<Finding> all;  ///< errors, warnings, infos; of one severity by id, then in graph order
    std::map<std::string, std::size_t> leftOut;  ///< by id: beyond kMaxFindings
    /// Ids that need a run, or two batches, that there is not, or that did not go to its end.
    std::vector<std::string_view> notChecked;
    /// By id: what the run showed too little of.
    std::map<std::string, FewSamples> tooFew;
};

/// All that findingCheckers() find. Linear in the graph and in the bytes of its weights. Stops early when asked to.
FoundFindings findFindings(const CheckedModel& model);

}  // namespace sonde::analysis
