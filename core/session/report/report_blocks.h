#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/session/report/report.h"

namespace sonde::session {

// What sections of a report are put together from.

/// So many rows of a table are shown: nobody reads more, and other verbs list all.
inline constexpr std::size_t kMaxReportRows = 500;
inline constexpr std::size_t kMaxReportBars = 20;

/// "a, b, c and 7 more".
std::string joinedText(const std::vector<std::string>& texts, std::size_t most);

/// Two columns, without the rows that have no value.
ReportTable factTable(std::vector<std::vector<std::string>> rows);

/// Leaves the first rows, and says how many more there are, and which command lists all: "sonde info --json".
void cutRows(ReportTable& table, const std::string& command);

/// What all messages (second) say alike at their end, from ": " or "; " on, is taken from them, so that it is told
/// once: "nothing changes". All of it if the messages are equal, which are empty then. Of at least two.
std::string takeCommonEnd(std::vector<std::pair<std::string, std::string>>& each);

/// The longest bars; those without a value are left out.
ReportChart barChart(std::string title, std::vector<ReportChart::Bar> bars);

}  // namespace sonde::session
