#include "core/session/load_and_run/case_files.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/analysis/profile.h"

namespace sonde::session {

namespace {

using CaseJson = nlohmann::ordered_json;

base::Result<void> writeCaseFile(const std::string& path, const std::string& text) {
    std::ofstream file(path, std::ios::binary);
    file << text;
    file.close();
    if (!file) return base::runError("the file cannot be written", path);
    return {};
}

/// Adds counts, times and bytes to those of the operators that are known already.
void addSums(CaseJson& sums, const CaseJson& added) {
    for (const auto& [name, numbers] : added.items()) {
        CaseJson& sum = sums[name];
        if (sum.is_null()) {
            sum = numbers;
            continue;
        }
        for (const auto& [key, number] : numbers.items())
            sum[key] = sum.at(key).get<std::uint64_t>() + number.get<std::uint64_t>();
    }
}

}  // namespace

void CaseProfiles::add(std::size_t caseIndex, const graph::InternalGraph& graph, const exec::Recording& recording) {
    m_cases.emplace_back(caseIndex, analysis::profileJson(graph, recording));
}

base::Result<void> CaseProfiles::write(const std::string& path) const {
    if (path.empty() || m_cases.empty()) return {};
    if (m_cases.size() == 1) return writeCaseFile(path, m_cases.front().second);
    CaseJson events = CaseJson::array(), sums = CaseJson::object(), cases = CaseJson::array();
    for (const auto& [index, text] : m_cases) {
        CaseJson each = CaseJson::parse(text);
        const std::string name = "case " + std::to_string(index);
        events.push_back({{"name", "process_name"}, {"ph", "M"}, {"pid", index + 1}, {"args", {{"name", name}}}});
        for (CaseJson& event : each.at("traceEvents")) {
            event["pid"] = index + 1;
            events.push_back(std::move(event));
        }
        addSums(sums, each.at("profiler"));
        cases.push_back({{"case", index}, {"profiler", std::move(each.at("profiler"))}});
    }
    const CaseJson root{{"traceEvents", std::move(events)},
                        {"displayTimeUnit", "ms"},
                        {"profiler", std::move(sums)},
                        {"cases", std::move(cases)}};
    return writeCaseFile(path, root.dump(-1, ' ', false, CaseJson::error_handler_t::replace) + "\n");
}

base::Result<void> CaseMemory::write(const std::string& path) const {
    if (path.empty() || m_cases.empty()) return {};
    if (m_cases.size() == 1) return writeCaseFile(path, m_cases.front().second);
    CaseJson cases = CaseJson::array();
    std::int64_t peak = 0;
    for (const auto& [index, text] : m_cases) {
        CaseJson each = CaseJson::parse(text);
        peak = std::max(peak, each.at("peak_bytes").get<std::int64_t>());
        each["case"] = index;
        cases.push_back(std::move(each));
    }
    const CaseJson root{
        {"format", "sonde-static-memory"}, {"version", 1}, {"peak_bytes", peak}, {"cases", std::move(cases)}};
    return writeCaseFile(path, root.dump(2, ' ', false, CaseJson::error_handler_t::replace) + "\n");
}

}  // namespace sonde::session
