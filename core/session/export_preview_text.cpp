// The parts of ExportPreview that tell it.

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/analysis/parameters.h"
#include "core/base/count_text.h"
#include "core/base/number_text.h"
#include "core/session/export_preview.h"

namespace sonde::session {

namespace {

using Json = nlohmann::ordered_json;

std::string sizeText(std::uint64_t bytes) {
    return bytes == 0 ? std::string("-") : analysis::bytesText(static_cast<std::int64_t>(bytes));
}

std::string errorText(const ExportMeasure& measure) {
    const double error = measure.largestError();
    return std::isnan(error) ? std::string("-") : base::roundedText(error, 3);
}

/// NaN and infinities have no JSON.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(base::shortestText(value)); }

Json jsonOf(const ExportMeasure& measure, bool isModel) {
    Json json{{"label", measure.label},
              {"operations", measure.operations},
              {"weight_bytes", measure.weightBytes},
              {"file_bytes", measure.fileBytes}};
    json["run_ms"] = measure.ns ? Json(static_cast<double>(*measure.ns) / 1e6) : Json(nullptr);
    if (!isModel) {
        json["max_error"] = measure.outputs.empty() ? Json(nullptr) : number(measure.largestError());
        json["outputs"] = Json::array();
        for (const ExportedOutput& output : measure.outputs) {
            json["outputs"].push_back(
                {{"name", output.name}, {"error", number(output.error)}, {"max_abs", number(output.maxAbsolute)}});
            if (!output.note.empty()) json["outputs"].back()["note"] = output.note;
        }
    }
    for (const base::Diagnostic& note : measure.notes) json["notes"].push_back(note.what);
    if (measure.error) json["problem"] = measure.error->text();
    return json;
}

}  // namespace

std::string ExportMeasure::timeText() const {
    if (!ns) return {};
    // What three digits would round to 1e+03 is a whole number.
    constexpr double kWhole = 999.5;
    const double ms = static_cast<double>(*ns) / 1e6;
    return (ms < kWhole ? base::roundedText(ms, 3) : base::countText(std::llround(ms))) + " ms";
}

std::string ExportPreview::text() const {
    std::vector<std::array<std::string, 6>> rows{{"form", "operations", "weights", "file", "largest error", "time"}};
    std::vector<const ExportMeasure*> measures{&model};
    for (const ExportMeasure& form : forms) measures.push_back(&form);
    for (const ExportMeasure* measure : measures)
        rows.push_back({measure->label,
                        measure->isCounted() ? base::countText(static_cast<std::int64_t>(measure->operations)) : "-",
                        sizeText(measure->weightBytes), sizeText(measure->fileBytes),
                        measure == &model ? "" : errorText(*measure), measure->ns ? measure->timeText() : "-"});
    std::array<std::size_t, 6> widths{};
    for (const auto& row : rows)
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    std::string text;
    for (const auto& row : rows) {
        text += row[0] + std::string(widths[0] - row[0].size(), ' ');
        for (std::size_t i = 1; i < row.size(); ++i)
            text += "  " + std::string(widths[i] - row[i].size(), ' ') + row[i];
        text += '\n';
    }
    for (const ExportMeasure* measure : measures) {
        if (measure->error) text += measure->label + ": " + measure->error->text() + '\n';
        for (const ExportedOutput& output : measure->outputs)
            if (!output.note.empty()) text += measure->label + ": " + output.name + ": " + output.note + '\n';
    }
    return text;
}

std::string ExportPreview::json() const {
    Json json{{"threads", threads}, {"model", jsonOf(model, true)}};
    json["forms"] = Json::array();
    for (const ExportMeasure& form : forms) json["forms"].push_back(jsonOf(form, false));
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace sonde::session
