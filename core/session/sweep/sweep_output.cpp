#include "core/session/sweep/sweep_output.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/counted_text.h"
#include "core/base/number_text.h"
#include "core/base/visible_text.h"

namespace sonde::session {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMaxBroken = 20;
constexpr std::size_t kMaxClasses = 5;   ///< told to people
constexpr std::size_t kMaxMistakes = 3;  ///< of each

std::string cell(const std::string& text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"') quoted += '"';
        quoted += c;
    }
    return quoted + '"';
}

std::string inputsText(std::size_t count) { return base::countedText(static_cast<std::int64_t>(count), "input"); }

std::string numberCell(double number) { return base::shortestText(number); }

std::string statsCells(const std::optional<analysis::TensorStats>& stats) {
    if (!stats) return ",,,,,,";
    std::string cells;
    for (const double number : {stats->minimum, stats->maximum, stats->mean, stats->deviation})
        cells += ',' + (stats->finiteCount() > 0 ? numberCell(number) : std::string());
    return cells + fmt::format(",{},{}", stats->nanCount, stats->infCount);
}

Json statsJson(const analysis::TensorStats& stats) {
    const auto finite = [&stats](double number) { return stats.finiteCount() > 0 ? Json(number) : Json(); };
    return {{"min", finite(stats.minimum)},   {"max", finite(stats.maximum)}, {"mean", finite(stats.mean)},
            {"std", finite(stats.deviation)}, {"nan", stats.nanCount},        {"inf", stats.infCount}};
}

/// An index; of a batch one for each sample.
Json predictedJson(const SweepRow& row) {
    const auto one = [](const std::optional<std::int64_t>& index) { return index ? Json(*index) : Json(); };
    if (row.predicted.size() == 1) return one(row.predicted.front());
    Json all = Json::array();
    for (const auto& each : row.predicted) all.push_back(one(each));
    return all.empty() ? Json() : all;
}

Json rowJson(const Sweep& sweep, const SweepRow& row) {
    Json json{{"input", row.input}};
    if (row.error) {
        json["error"] = row.error->text();
        return json;
    }
    json["values"] = Json::object();
    for (std::size_t i = 0; i < sweep.nodes().size(); ++i)
        json["values"][sweep.nodes()[i].first] = row.stats[i] ? statsJson(*row.stats[i]) : Json();
    if (row.condition) json["condition"] = *row.condition;
    if (sweep.hasLabels()) {
        json["label"] = row.label.empty() ? Json() : Json(row.label);
        json["predicted"] = predictedJson(row);
        if (!row.labelError.empty()) json["label_error"] = row.labelError;
    }
    return json;
}

}  // namespace

std::string sweepCsvTitle(const Sweep& sweep) {
    std::string line = "input";
    for (const auto& [name, node] : sweep.nodes())
        for (const char* what : {".min", ".max", ".mean", ".std", ".nan", ".inf"}) line += ',' + cell(name + what);
    if (sweep.hasCondition()) line += ",condition";
    if (sweep.hasLabels()) line += ",label,predicted";
    return line + '\n';
}

std::string sweepCsvRow(const Sweep& sweep, const SweepRow& row) {
    std::string line = cell(row.input);
    for (const auto& stats : row.stats) line += statsCells(row.error ? std::nullopt : stats);
    if (sweep.hasCondition()) line += row.condition ? (*row.condition ? ",true" : ",false") : ",";
    if (sweep.hasLabels()) line += ',' + cell(row.label) + ',' + row.predictedText();
    return line + '\n';
}

std::string sweepJson(const document::Document& document, const Sweep& sweep, const SweepSummary& summary,
                      const std::vector<SweepRow>& rows, const SweepClasses& classes) {
    Json root{{"format", "sonde-sweep"}, {"version", 1}, {"model", document.location}, {"nodes", Json::array()}};
    for (const auto& [name, node] : sweep.nodes()) root["nodes"].push_back(name);
    root["inputs"] = summary.done;
    root["failed"] = summary.failed;
    root["cancelled"] = summary.isCancelled;
    root["rows"] = Json::array();
    for (const SweepRow& row : rows) root["rows"].push_back(rowJson(sweep, row));
    if (sweep.hasCondition()) {
        root["broken"] = Json::array();
        for (const SweepRow& row : rows)
            if (row.condition == false)
                root["broken"].push_back({{"input", row.input}, {"nodes", sweep.conditionNodes()}});
    }
    if (sweep.hasLabels()) {
        root["unlabelled"] = summary.unlabelled;
        root["labelled"] = summary.labelled;
        root["correct"] = summary.correct;
        root["accuracy"] = summary.labelled == 0
                               ? Json()
                               : Json(static_cast<double>(summary.correct) / static_cast<double>(summary.labelled));
        root["classes"] = Json::array();
        for (const SweepClass& one : classes.worst()) {
            Json mistakes = Json::array();
            for (const auto& [predicted, count] : one.mistakes)
                mistakes.push_back({{"predicted", predicted}, {"count", count}});
            root["classes"].push_back({{"label", one.label},
                                       {"count", one.count},
                                       {"correct", one.correct},
                                       {"mistakes", mistakes},
                                       {"nan", one.nan}});
        }
    }
    return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string sweepClassText(const SweepClass& one) {
    std::string text = fmt::format("{}: {:.3g} % of {}", base::visibleText(one.label), 100 * one.accuracy(), one.count);
    for (std::size_t i = 0; i < one.mistakes.size() && i < kMaxMistakes; ++i)
        text += fmt::format("{}{} ({})", i == 0 ? ", taken for " : ", ", one.mistakes[i].first, one.mistakes[i].second);
    if (one.nan > 0)
        text += fmt::format("{}{} of NaN alone", one.mistakes.empty() ? ", " : "; ",
                            base::countedText(static_cast<std::int64_t>(one.nan), "output"));
    return text;
}

std::string sweepText(const Sweep& sweep, const SweepSummary& summary, const std::vector<std::string>& broken,
                      const SweepClasses& classes) {
    std::string text = fmt::format("{}, {} failed\n", inputsText(summary.done), summary.failed);
    if (sweep.hasCondition()) {
        text += fmt::format("condition is false for {} ({})\n", inputsText(summary.broken),
                            base::visibleText(fmt::format("{}", fmt::join(sweep.conditionNodes(), ", "))));
        for (std::size_t i = 0; i < broken.size() && i < kMaxBroken; ++i)
            text += "  " + base::visibleText(broken[i]) + "\n";
        if (broken.size() > kMaxBroken) text += fmt::format("  and {} more\n", broken.size() - kMaxBroken);
    }
    if (sweep.hasLabels() && summary.labelled == 0) text += "no accuracy: no sample has a label that fits\n";
    if (sweep.hasLabels() && summary.labelled > 0)
        text += fmt::format("accuracy {:.4g} % ({} of {})\n",
                            100.0 * static_cast<double>(summary.correct) / static_cast<double>(summary.labelled),
                            summary.correct, summary.labelled);
    std::size_t told = 0;
    for (const SweepClass& one : classes.worst())
        if ((!one.mistakes.empty() || one.nan > 0) && told++ < kMaxClasses) text += "  " + sweepClassText(one) + "\n";
    if (summary.unlabelled > 0)
        text += inputsText(summary.unlabelled) + (summary.unlabelled == 1 ? " has" : " have") + " no label that fits\n";
    return text;
}

}  // namespace sonde::session
