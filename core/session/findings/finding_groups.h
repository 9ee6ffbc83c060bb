#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/session/findings/finding_report.h"

namespace sonde::session {

/// Findings of one kind that call for the same thing: people read them as one.
struct FindingGroup {
    std::string id;
    base::Severity severity = base::Severity::Info;
    analysis::Confidence confidence = analysis::Confidence::High;
    std::vector<std::size_t> members;  ///< of FindingReport::findings, ascending; at least one
    std::vector<std::string> names;    ///< what they name, each once, in that order
    std::string description;           ///< what all findings of the id are
    std::string message;               ///< the finding's own; of several: what they are, and the first one's
    std::string advice;
    std::optional<std::string> accepted;

    std::size_t count() const { return members.size(); }
};

/// Equal in id, severity, confidence, advice and the reason for which they are accepted. In the order of their first
/// members.
std::vector<FindingGroup> groupsOf(const FindingReport& report);

/// "conv1, conv2, conv3 and 7 more"; "(model)" without names.
std::string namedText(const std::vector<std::string>& names, std::size_t most = 3);

}  // namespace sonde::session
