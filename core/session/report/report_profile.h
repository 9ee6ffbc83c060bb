#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/analysis/profile/run_profile.h"
#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/document/document_types.h"
#include "core/session/report/report.h"

namespace sonde::session {

/// What a run on this machine took: the profile that `sonde profile` prints and the panel shows.
struct ReportedProfile {
    std::size_t runs = 0;  ///< the last one is told
    std::shared_ptr<const analysis::RunProfile> profile;
};

/// Runs the document several times on `inputs` (in the order of Document::inputs). Blocks. Errors: the run's.
base::Result<ReportedProfile> reportedProfile(const document::Document& document,
                                              const std::vector<tensor::Value>& inputs, std::uint64_t seed,
                                              std::size_t threads, const base::WorkContext& work = {});

ReportSection profileSection(const ReportedProfile& profile);

}  // namespace sonde::session
