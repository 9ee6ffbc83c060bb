#include "core/session/weights/weights.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/nearest.h"
#include "core/graph/missing_data.h"
#include "core/graph/source_files.h"

namespace sonde::session {

using analysis::WeightFigures;
using analysis::WeightReader;
using analysis::WeightRow;

namespace {

constexpr const char* kReading = "reading the weights";

bool isLayered(const WeightRow& row, const WeightFigures& figures) {
    return row.kind == analysis::StoredKind::Parameter && figures.finite() > 0;
}

/// Widened by what a row has without its outliers.
void widen(LayerHistograms& range, const WeightFigures& figures, bool isFirst) {
    const double low = figures.hasQuartiles ? std::max(figures.minimum, figures.lowFence) : figures.minimum;
    const double high = figures.hasQuartiles ? std::min(figures.maximum, figures.highFence) : figures.maximum;
    range.low = isFirst ? low : std::min(range.low, low);
    range.high = isFirst ? high : std::max(range.high, high);
}

void findRange(LayerHistograms& range, const WeightReport& report) {
    for (const std::size_t minRank : {2, 0}) {
        bool isFirst = true;
        for (std::size_t i = 0; i < report.figures.size(); ++i) {
            if (!isLayered(report.rows[i], report.figures[i]) || report.rows[i].shape.rank() < minRank) continue;
            widen(range, report.figures[i], isFirst);
            isFirst = false;
        }
        if (!isFirst) return;
    }
}

}  // namespace

WeightReport listWeights(std::shared_ptr<const document::Document> document) {
    const analysis::ModelCounts counts =
        analysis::countParameters(*document->graph, *document->modules, document->original.get());
    WeightReport report;
    report.rows = analysis::weightRows(*document->graph, *document->modules, counts);
    report.document = std::move(document);
    return report;
}

base::Result<void> measureWeights(const WeightReport& report,
                                  const std::function<void(std::size_t, WeightFigures)>& take,
                                  const base::WorkContext& work, std::size_t first) {
    SONDE_TRY(graph::checkComplete(report.document->graph));
    std::int64_t all = 0, done = 0;
    for (const WeightRow& row : report.rows) all += row.bytes;
    for (std::size_t i = 0; i < first && i < report.rows.size(); ++i) done += report.rows[i].bytes;
    for (std::size_t i = first; i < report.rows.size(); ++i) {
        const WeightRow& row = report.rows[i];
        work.report(kReading, static_cast<std::size_t>(done), static_cast<std::size_t>(all));
        WeightFigures figures = analysis::weightFigures(WeightReader(row.value, row.scale), row.filters, work.stop);
        if (work.cancelled()) return base::cancelled(kReading);
        // Numbers of another file are not told: a large weight is looked at before it is told, small ones together.
        constexpr std::int64_t kLarge = 1 << 22;
        const bool isLast = i + 1 == report.rows.size();
        if (isLast || done / kLarge != (done + row.bytes) / kLarge)
            SONDE_TRY(graph::checkFiles(report.document->graph));
        done += row.bytes;
        take(i, std::move(figures));
    }
    return {};
}

base::Result<LayerHistograms> layerHistograms(const WeightReport& report, const base::WorkContext& work) {
    LayerHistograms found;
    findRange(found, report);
    std::map<std::string, std::size_t> layerOf;
    for (std::size_t i = 0; i < report.figures.size(); ++i) {
        const WeightRow& row = report.rows[i];
        work.report("making histograms", i, report.figures.size());
        if (!isLayered(row, report.figures[i])) continue;
        const std::string title = row.qualname.empty() ? row.name : row.qualname;
        const auto [at, isNew] = layerOf.try_emplace(title, found.layers.size());
        if (isNew) found.layers.push_back({title, {}, {std::vector<std::int64_t>(kLayerBins), 0, 0}});
        LayerHistogram& layer = found.layers[at->second];
        layer.rows.push_back(i);
        analysis::addToBins(layer.bins, WeightReader(row.value, row.scale), found.low, found.high, work.stop);
        if (work.cancelled()) return base::cancelled("making histograms");
    }
    SONDE_TRY(graph::checkFiles(report.document->graph));
    return found;
}

base::Result<analysis::Spectrum> weightSpectrum(const WeightReport& report, std::size_t row,
                                                const base::WorkContext& work, std::int64_t matrix) {
    const WeightRow& weight = report.rows[row];
    if (!weight.value.defined()) return base::usageError("the model has no value for the weight", weight.name);
    const bool isPart = weight.matrices > 1;
    const tensor::Tensor value = isPart ? weight.value.selected(0, matrix) : weight.value;
    auto spectrum = analysis::spectrumOf(WeightReader(value, weight.scale), isPart ? value.shape() : weight.shape,
                                         weight.filters, {}, work);
    if (spectrum && isPart) spectrum->matrix = "direction " + std::to_string(matrix) + ": " + spectrum->matrix;
    if (!spectrum) {
        if (spectrum.error().kind != base::ErrorKind::Cancelled) spectrum.error().where = weight.name;
        return spectrum;
    }
    SONDE_TRY(graph::checkFiles(report.document->graph));
    return spectrum;
}

base::Result<std::size_t> findWeight(const WeightReport& report, const std::string& name) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < report.rows.size(); ++i) {
        for (const std::string& known : report.rows[i].names) {
            if (known == name) return i;
            names.push_back(known);
        }
    }
    // What the graph calls it: a weight that a module owns has the module's name before its own.
    for (std::size_t i = 0; i < report.rows.size(); ++i)
        if (const graph::NodeId node = report.rows[i].node;
            node.valid() && report.document->graph->node(node).name == name)
            return i;
    return base::usageError("the model has no such parameter or buffer", name, base::didYouMean(name, names));
}

}  // namespace sonde::session
