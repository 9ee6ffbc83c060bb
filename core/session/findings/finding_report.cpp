#include "core/session/findings/finding_report.h"

#include <algorithm>

namespace sonde::session {

std::size_t FindingReport::count(base::Severity severity) const {
    return static_cast<std::size_t>(std::ranges::count_if(findings, [severity](const ReportedFinding& each) {
        return each.finding.severity == severity && !each.accepted;
    }));
}

std::size_t FindingReport::acceptedCount() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(findings, [](const ReportedFinding& each) { return each.accepted.has_value(); }));
}

}  // namespace sonde::session
