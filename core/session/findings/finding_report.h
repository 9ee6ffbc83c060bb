#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/analysis/findings/finding.h"

namespace sonde::session {

struct ReportedFinding {
    analysis::Finding finding;
    std::optional<std::string> accepted;  ///< the reason
};

/// Findings as they are printed and saved: verbs, window and reports write the same.
struct FindingReport {
    std::shared_ptr<const graph::InternalGraph> graph;
    std::vector<ReportedFinding> findings;       ///< errors, warnings, infos
    std::map<std::string, std::size_t> leftOut;  ///< by id: found, but not listed
    std::vector<std::string> notChecked;         ///< ids
    std::vector<std::string> notes;              ///< why those were not checked, and other remarks

    std::size_t count(base::Severity severity) const;  ///< of those that nobody accepted
    std::size_t acceptedCount() const;
    std::size_t openCount() const { return findings.size() - acceptedCount(); }  ///< that nobody accepted
    /// A line for each group of findings (groupsOf), and one with their number; control characters are made visible.
    std::string text() const;
    /// {"format":"sonde-findings","version":1,"findings":[…]}: see the help page on auditing.
    std::string json() const;
};

/// What `sonde findings --list` prints: each id, what it needs, and what it is.
std::string findingListText();
std::string findingListJson();

}  // namespace sonde::session
