#include <cmath>
#include <nlohmann/json.hpp>

#include "core/session/weights/weights.h"

namespace sonde::session {

namespace {

using Json = nlohmann::ordered_json;

Json numberJson(double number) { return std::isfinite(number) ? Json(number) : Json(); }

Json filtersJson(const analysis::WeightRow& row, const analysis::WeightFigures& figures) {
    if (!row.filters) return {};
    Json json{{"count", row.filters->count()}, {"zero", figures.filters.zero}, {"duplicate", Json::array()}};
    for (const auto& [filter, first] : figures.filters.duplicates) json["duplicate"].push_back({filter, first});
    return json;
}

void addFigures(Json& json, const analysis::WeightRow& row, const analysis::WeightFigures& figures,
                bool withHistograms) {
    const auto finite = [&figures](double number) { return figures.finite() > 0 ? numberJson(number) : Json(); };
    json["min"] = finite(figures.minimum);
    json["max"] = finite(figures.maximum);
    json["mean"] = finite(figures.mean);
    json["std"] = finite(figures.deviation);
    json["nan"] = figures.nan;
    json["inf"] = figures.inf;
    json["zero"] = figures.zero;
    json["quartiles"] = Json();
    json["fences"] = Json();
    json["outliers"] = Json();
    if (figures.hasQuartiles) {
        json["quartiles"] = figures.quartiles;
        json["fences"] = {numberJson(figures.lowFence), numberJson(figures.highFence)};
        json["outliers"] = figures.outliers;
    }
    json["filters"] = filtersJson(row, figures);
    if (withHistograms && figures.finite() > 0)
        json["histogram"] = {
            {"low", numberJson(figures.minimum)}, {"high", numberJson(figures.maximum)}, {"counts", figures.histogram}};
}

Json rowJson(const WeightReport& report, std::size_t index, bool withHistograms) {
    const graph::InternalGraph& graph = *report.document->graph;
    const analysis::WeightRow& row = report.rows[index];
    Json json{{"name", row.name},
              {"tied", Json::array()},
              {"kind", std::string(analysis::kindName(row))},
              {"qualname", row.qualname},
              {"node", row.node.valid() ? Json(graph.node(row.node).name) : Json()},
              {"used_by", Json::array()},
              {"dtype", std::string(tensor::name(row.dtype))},
              {"shape", row.shape.dims()},
              {"elements", row.elements},
              {"bytes", row.bytes},
              {"scaled", row.scale != nullptr}};
    for (std::size_t i = 1; i < row.names.size(); ++i) json["tied"].push_back(row.names[i]);
    for (const graph::ExprId user : row.users) {
        const graph::Expr& expr = graph.expr(user);
        json["used_by"].push_back(expr.outputs.empty() ? expr.name : graph.node(expr.outputs.front()).name);
    }
    if (!row.note.empty()) json["note"] = row.note;
    if (index < report.figures.size()) addFigures(json, row, report.figures[index], withHistograms);
    return json;
}

Json layersJson(const LayerHistograms& layers) {
    Json json{{"low", numberJson(layers.low)}, {"high", numberJson(layers.high)}, {"layers", Json::array()}};
    for (const LayerHistogram& layer : layers.layers)
        json["layers"].push_back({{"name", layer.qualname},
                                  {"counts", layer.bins.counts},
                                  {"below", layer.bins.below},
                                  {"above", layer.bins.above}});
    return json;
}

Json spectrumJson(const std::string& name, const analysis::Spectrum& spectrum) {
    return {{"name", name},
            {"rows", spectrum.rows},
            {"cols", spectrum.cols},
            {"matrix", spectrum.matrix},
            {"method", std::string(analysis::name(spectrum.method))},
            {"effective_rank", spectrum.effectiveRank},
            {"effective_rank_high", spectrum.effectiveRankHigh},
            {"stable_rank", spectrum.stableRank},
            {"numerical_rank", spectrum.numericalRank},
            {"numerical_rank_open", spectrum.isRankOpen},
            {"energy", spectrum.energy()},
            {"singular_values", spectrum.values}};
}

}  // namespace

std::string weightsJson(const WeightReport& report, const std::vector<std::size_t>& order, bool withHistograms) {
    Json root{
        {"format", "sonde-weights"}, {"version", 1}, {"model", report.document->location}, {"weights", Json::array()}};
    for (const std::size_t row : order) root["weights"].push_back(rowJson(report, row, withHistograms));
    if (report.layers) root["layers"] = layersJson(*report.layers);
    root["spectra"] = Json::array();
    for (const auto& [row, spectrum] : report.spectra)
        root["spectra"].push_back(spectrumJson(report.rows[row].name, spectrum));
    return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace sonde::session
