#include "core/session/report/report_blocks.h"

#include <algorithm>
#include <fmt/format.h>

namespace sonde::session {

std::string joinedText(const std::vector<std::string>& texts, std::size_t most) {
    std::string joined;
    for (std::size_t i = 0; i < std::min(texts.size(), most); ++i) joined += (i > 0 ? ", " : "") + texts[i];
    return texts.size() > most ? joined + fmt::format(" and {} more", texts.size() - most) : joined;
}

ReportTable factTable(std::vector<std::vector<std::string>> rows) {
    std::erase_if(rows, [](const std::vector<std::string>& row) { return row.back().empty(); });
    return {{}, {{"fact"}, {"value"}}, std::move(rows), {}, true};
}

void cutRows(ReportTable& table, const std::string& command) {
    if (table.rows.size() <= kMaxReportRows) return;
    table.note = fmt::format("and {} more: `{}` lists all", table.rows.size() - kMaxReportRows, command);
    table.rows.resize(kMaxReportRows);
}

std::string takeCommonEnd(std::vector<std::pair<std::string, std::string>>& each) {
    if (each.size() < 2) return {};
    const std::string first = each.front().second;
    std::size_t common = first.size();
    bool areEqual = true;
    for (const auto& [place, message] : each) {
        areEqual = areEqual && message == first;
        std::size_t same = 0;
        while (same < std::min(common, message.size()) &&
               message[message.size() - 1 - same] == first[first.size() - 1 - same])
            ++same;
        common = same;
    }
    std::size_t begin = 0;
    if (!areEqual) {
        begin = std::min(first.find(": ", first.size() - common), first.find("; ", first.size() - common));
        if (begin == std::string::npos) return {};
    }
    const std::size_t taken = first.size() - begin;
    for (auto& [place, message] : each) message.resize(message.size() - taken);
    return first.substr(areEqual ? 0 : begin + 2);
}

ReportChart barChart(std::string title, std::vector<ReportChart::Bar> bars) {
    std::erase_if(bars, [](const ReportChart::Bar& bar) { return !(bar.value > 0); });
    std::ranges::stable_sort(bars, std::greater(), &ReportChart::Bar::value);
    ReportChart result{std::move(title), std::move(bars), {}};
    if (result.bars.size() > kMaxReportBars) {
        result.note = fmt::format("and {} smaller ones", result.bars.size() - kMaxReportBars);
        result.bars.resize(kMaxReportBars);
    }
    return result;
}

}  // namespace sonde::session
