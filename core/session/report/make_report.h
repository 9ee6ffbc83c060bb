#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/document/document_types.h"
#include "core/session/findings/finding_report.h"
#include "core/session/model_info.h"
#include "core/session/report/report.h"
#include "core/session/report/report_comparison.h"
#include "core/session/report/report_profile.h"
#include "core/session/report/report_values.h"

namespace sonde::session {

/// What a report is made of; the callers computed it.
struct ReportContent {
    const ModelInfo& info;
    const FindingReport& findings;
    std::vector<ReportedValue> values;
    std::string valuesNote;               ///< why there are none, and other remarks
    std::string inputData;                ///< what the values are of, as it was given
    std::vector<ReportPicture> pictures;  ///< of the graph
    std::string picturesNote;             ///< why there is none
    std::optional<ReportedComparison> comparison = {};
    std::optional<ReportedProfile> profile = {};
};

/// The sections, in the order in which somebody reads who has to sign: summary, findings, graph, cost, operators,
/// weights, values, comparison, profile, versions. No dates, and no measured times but those of a profile: the same
/// model and input give the same report.
Report makeReport(const document::Document& document, const ReportContent& content);

}  // namespace sonde::session
