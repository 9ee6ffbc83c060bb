#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "core/analysis/weights/weight_columns.h"
#include "core/base/count_text.h"
#include "core/base/counted_text.h"
#include "core/base/number_text.h"
#include "core/base/visible_text.h"
#include "core/session/weights/weights.h"

namespace sonde::session {

namespace {

using analysis::WeightColumn;

constexpr std::size_t kShownBins = 16;

/// Bars of eight heights; the least that is there is a bar, too.
std::string barsText(std::span<const std::int64_t> counts) {
    constexpr std::array kBars{" ", "\u2581", "\u2582", "\u2583", "\u2584", "\u2585", "\u2586", "\u2587", "\u2588"};
    const std::int64_t most = counts.empty() ? 0 : *std::ranges::max_element(counts);
    std::string text;
    for (const std::int64_t count : counts) {
        const double height = most > 0 ? 8.0 * static_cast<double>(count) / static_cast<double>(most) : 0;
        text += kBars[count == 0 ? 0 : std::clamp<std::size_t>(static_cast<std::size_t>(height), 1, 8)];
    }
    return text;
}

std::string ownBars(const analysis::WeightFigures& figures) {
    std::array<std::int64_t, kShownBins> shown{};
    constexpr std::size_t kTogether = analysis::kWeightBins / kShownBins;
    for (std::size_t i = 0; i < analysis::kWeightBins; ++i) shown[i / kTogether] += figures.histogram[i];
    return barsText(shown);
}

/// Code points: all that are shown take one place.
std::size_t widthOf(const std::string& text) {
    return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
}

/// Columns as wide as their widest cell; numbers at the right.
class TextTable {
  public:
    void addColumn(std::string title, bool isRight) {
        m_right.push_back(isRight);
        m_titles.push_back(std::move(title));
    }
    void addRow(std::vector<std::string> cells) { m_rows.push_back(std::move(cells)); }
    std::string text() const {
        std::vector<std::size_t> widths;
        for (std::size_t i = 0; i < m_titles.size(); ++i) {
            std::size_t width = widthOf(m_titles[i]);
            for (const auto& row : m_rows) width = std::max(width, widthOf(row[i]));
            widths.push_back(width);
        }
        std::string text = line(m_titles, widths);
        for (const auto& row : m_rows) text += line(row, widths);
        return text;
    }

  private:
    std::string line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) const {
        std::string text;
        for (std::size_t i = 0; i < cells.size(); ++i) {
            const std::string blanks(widths[i] - widthOf(cells[i]), ' ');
            text += (i > 0 ? "  " : "") + (m_right[i] ? blanks + cells[i] : cells[i] + blanks);
        }
        text.erase(text.find_last_not_of(' ') + 1);
        return text + '\n';
    }

    std::vector<std::string> m_titles;
    std::vector<bool> m_right;
    std::vector<std::vector<std::string>> m_rows;
};

std::string layersText(const LayerHistograms& layers) {
    std::size_t width = 5;
    for (const LayerHistogram& layer : layers.layers) width = std::max(width, widthOf(layer.qualname));
    std::string text = fmt::format("\nhistograms of the layers, all from {} to {} in {} bins\n",
                                   base::roundedText(layers.low, 4), base::roundedText(layers.high, 4), kLayerBins);
    for (const LayerHistogram& layer : layers.layers) {
        const std::string title = base::visibleText(layer.qualname);
        const std::string blanks(width > widthOf(title) ? width - widthOf(title) : 0, ' ');
        text += fmt::format("{}{}  |{}|", title, blanks, barsText(layer.bins.counts));
        if (layer.bins.below + layer.bins.above > 0)
            text += fmt::format("  {} below, {} above", base::countText(layer.bins.below),
                                base::countText(layer.bins.above));
        text += '\n';
    }
    return text;
}

std::string totalText(const WeightReport& report, const std::vector<std::size_t>& order) {
    analysis::StoredSum parameters, buffers, constants;
    for (const std::size_t i : order) {
        const analysis::WeightRow& row = report.rows[i];
        (row.kind == analysis::StoredKind::Parameter ? parameters
         : row.kind == analysis::StoredKind::Buffer  ? buffers
                                                     : constants)
            .add({1, row.elements, row.bytes, {{row.dtype, row.elements}}});
    }
    std::string text =
        fmt::format("{} in {} ({})", base::countedText(parameters.elements, "parameter"),
                    base::countedText(parameters.tensors, "tensor"), analysis::bytesText(parameters.bytes));
    if (buffers.tensors > 0)
        text += fmt::format(", {} in {} ({})", base::countedText(buffers.elements, "element"),
                            base::countedText(buffers.tensors, "buffer"), analysis::bytesText(buffers.bytes));
    if (constants.tensors > 0)
        text += fmt::format(", {} in {} that nothing reads ({})", base::countedText(constants.elements, "element"),
                            base::countedText(constants.tensors, "constant"), analysis::bytesText(constants.bytes));
    return text + '\n';
}

}  // namespace

std::string spectrumText(const analysis::Spectrum& spectrum) {
    using analysis::SpectrumMethod;
    const std::int64_t most = std::min(spectrum.rows, spectrum.cols);
    const bool isPart = spectrum.method == SpectrumMethod::Randomised;
    std::string rank = base::roundedText(spectrum.effectiveRank, 4);
    if (isPart) rank += " to " + base::roundedText(spectrum.effectiveRankHigh, 4);
    std::string text = fmt::format("effective rank {} of {}, stable rank {}, numerical rank {}{}", rank, most,
                                   base::roundedText(spectrum.stableRank, 4), spectrum.isRankOpen ? "at least " : "",
                                   spectrum.numericalRank);
    if (!spectrum.values.empty())
        text += fmt::format("; \u03c3 from {} to {}", base::roundedText(spectrum.values.front(), 4),
                            base::roundedText(spectrum.values.back(), 4));
    if (isPart)
        text += fmt::format("; randomised: the {} largest singular values, {} % of \u2016A\u2016\u00b2",
                            spectrum.values.size(), base::roundedText(100 * spectrum.energy(), 3));
    return text;
}

std::string weightsText(const WeightReport& report, const std::vector<std::size_t>& order, bool withHistograms) {
    TextTable table;
    std::vector<const WeightColumn*> columns;
    for (const WeightColumn& column : analysis::weightColumns()) {
        if (column.id == "module") continue;  // in the name
        columns.push_back(&column);
        table.addColumn(std::string(column.title), column.form != WeightColumn::Form::Text);
    }
    if (withHistograms) table.addColumn("Histogram", false);
    for (const std::size_t i : order) {
        const analysis::WeightFigures* figures = i < report.figures.size() ? &report.figures[i] : nullptr;
        std::vector<std::string> cells;
        for (const WeightColumn* column : columns)
            cells.push_back(
                base::visibleText(analysis::weightText(*column, *report.document->graph, report.rows[i], figures)));
        if (withHistograms) cells.push_back(figures && figures->finite() > 0 ? ownBars(*figures) : std::string());
        table.addRow(std::move(cells));
    }
    std::string text = order.empty() ? std::string() : table.text();
    text += totalText(report, order);
    if (report.layers && !report.layers->layers.empty()) text += layersText(*report.layers);
    for (const auto& [row, spectrum] : report.spectra)
        text += fmt::format("\n{} as {} \u00d7 {} ({}): {}\n", base::visibleText(report.rows[row].name), spectrum.rows,
                            spectrum.cols, spectrum.matrix, spectrumText(spectrum));
    return text;
}

}  // namespace sonde::session
