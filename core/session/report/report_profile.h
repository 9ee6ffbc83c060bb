#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/document/document_types.h"
#include "core/session/report/report.h"

namespace sonde::session {

/// Measured times of runs on this machine.
struct ReportedProfile {
    struct Time {
        std::string name;              ///< an operator, a module, or a node
        std::string where, operation;  ///< of a node: its module and operator
        std::int64_t ns = 0;
        std::size_t count = 0;  ///< operations
    };
    std::size_t runs = 0, threads = 0;
    std::int64_t totalNs = 0;                       ///< of the fastest run, which all is of
    std::vector<Time> byOperator, byModule, nodes;  ///< longest first
};

/// Runs the document several times on `inputs` (in the order of Document::inputs). Blocks. Errors: the run's.
base::Result<ReportedProfile> reportedProfile(const document::Document& document,
                                              const std::vector<tensor::Value>& inputs, std::uint64_t seed,
                                              std::size_t threads, const base::WorkContext& work = {});

ReportSection profileSection(const ReportedProfile& profile);

}  // namespace sonde::session
