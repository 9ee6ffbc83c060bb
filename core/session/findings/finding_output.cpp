#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/analysis/findings/checker.h"
#include "core/analysis/problem.h"
#include "core/base/counted_text.h"
#include "core/base/visible_text.h"
#include "core/session/findings/finding_groups.h"
#include "core/session/findings/finding_report.h"

namespace sonde::session {

namespace {

using OrderedJson = nlohmann::ordered_json;

std::string printedJson(const OrderedJson& json) {
    return json.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

std::string_view needText(analysis::FindingNeed need) {
    switch (need) {
        case analysis::FindingNeed::Run: return "run";
        case analysis::FindingNeed::Batch: return "batch";
        case analysis::FindingNeed::File: break;
    }
    return "file";
}

OrderedJson groupJson(const FindingGroup& group) {
    OrderedJson one{{"id", group.id},
                    {"severity", analysis::severityName(group.severity)},
                    {"confidence", analysis::name(group.confidence)},
                    {"count", group.count()},
                    {"nodes", group.names},
                    {"message", group.message},
                    {"advice", group.advice},
                    {"accepted", nullptr}};
    if (group.accepted) one["accepted"] = *group.accepted;
    return one;
}

}  // namespace

std::string FindingReport::text() const {
    std::string all;
    for (const FindingGroup& group : groupsOf(*this)) {
        const std::string line = fmt::format(
            "{:8}  {:25}  {:6}  {}: {}; {}", group.accepted ? "accepted" : analysis::severityName(group.severity),
            group.id, analysis::name(group.confidence), namedText(group.names), group.message,
            group.accepted ? "accepted: " + *group.accepted : group.advice);
        all += base::visibleText(line) + "\n";
    }
    for (const auto& [id, more] : leftOut) all += fmt::format("{}: {} more\n", id, more);
    if (!notChecked.empty()) all += fmt::format("not checked: {}\n", fmt::join(notChecked, ", "));
    return all + fmt::format("{}, errors: {}, warnings: {}, accepted: {}\n",
                             base::countedText(static_cast<std::int64_t>(openCount()), "finding"),
                             count(base::Severity::Error), count(base::Severity::Warning), acceptedCount());
}

std::string FindingReport::json() const {
    OrderedJson list = OrderedJson::array();
    for (const auto& [finding, accepted] : findings) {
        OrderedJson one{{"id", finding.id},
                        {"severity", analysis::severityName(finding.severity)},
                        {"confidence", analysis::name(finding.confidence)},
                        {"nodes", analysis::namesOf(*graph, finding)},
                        {"message", finding.message},
                        {"advice", finding.advice},
                        {"accepted", nullptr}};
        if (accepted) one["accepted"] = *accepted;
        list.push_back(std::move(one));
    }
    OrderedJson groups = OrderedJson::array();
    for (const FindingGroup& group : groupsOf(*this)) groups.push_back(groupJson(group));
    OrderedJson more = OrderedJson::object();
    for (const auto& [id, count] : leftOut) more[id] = count;
    return printedJson({{"format", "sonde-findings"},
                        {"version", 1},
                        {"findings", std::move(list)},
                        {"groups", std::move(groups)},
                        {"left_out", std::move(more)},
                        {"not_checked", notChecked},
                        {"notes", notes}});
}

std::string findingListText() {
    std::string all;
    for (const analysis::FindingChecker& checker : analysis::findingCheckers())
        all += fmt::format("{:25}  {:5}  {}\n", checker.id, needText(checker.need), checker.description);
    return all;
}

std::string findingListJson() {
    OrderedJson list = OrderedJson::array();
    for (const analysis::FindingChecker& checker : analysis::findingCheckers())
        list.push_back({{"id", checker.id}, {"needs", needText(checker.need)}, {"description", checker.description}});
    return printedJson({{"format", "sonde-finding-list"}, {"version", 1}, {"checkers", std::move(list)}});
}

}  // namespace sonde::session
