#include "core/session/findings/finding_groups.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <tuple>
#include <unordered_set>

#include "core/analysis/findings/checker.h"

namespace sonde::session {

namespace {

/// "Channels of a rectifier that are zero on every input".
std::string descriptionOf(const std::string& id) {
    const auto& checkers = analysis::findingCheckers();
    const auto found = std::ranges::find(checkers, id, &analysis::FindingChecker::id);
    return found == checkers.end() ? id : std::string(found->description);
}

void complete(FindingGroup& group, const FindingReport& report) {
    std::unordered_set<std::string> known;
    for (const std::size_t index : group.members)
        for (std::string& name : analysis::namesOf(*report.graph, report.findings[index].finding))
            if (known.insert(name).second) group.names.push_back(std::move(name));
    const std::string& first = report.findings[group.members.front()].finding.message;
    group.description = descriptionOf(group.id);
    group.message = group.count() == 1
                        ? first
                        : fmt::format("{} findings: {}. The first: {}", group.count(), group.description, first);
}

}  // namespace

std::vector<FindingGroup> groupsOf(const FindingReport& report) {
    using Key = std::tuple<std::string, base::Severity, analysis::Confidence, std::string, std::optional<std::string>>;
    std::map<Key, std::size_t> known;
    std::vector<FindingGroup> groups;
    for (std::size_t i = 0; i < report.findings.size(); ++i) {
        const auto& [finding, accepted] = report.findings[i];
        const Key key{finding.id, finding.severity, finding.confidence, finding.advice, accepted};
        const auto [at, isNew] = known.try_emplace(key, groups.size());
        if (isNew)
            groups.push_back(
                {finding.id, finding.severity, finding.confidence, {}, {}, {}, {}, finding.advice, accepted});
        groups[at->second].members.push_back(i);
    }
    for (FindingGroup& group : groups) complete(group, report);
    return groups;
}

std::string namedText(const std::vector<std::string>& names, std::size_t most) {
    std::string text;
    for (std::size_t i = 0; i < std::min(names.size(), most); ++i) text += (i > 0 ? ", " : "") + names[i];
    if (names.size() > most) text += fmt::format(" and {} more", names.size() - most);
    return text.empty() ? "(model)" : text;
}

}  // namespace sonde::session
