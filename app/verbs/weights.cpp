#include "core/session/weights/weights.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <numeric>
#include <optional>

#include "app/interrupt.h"
#include "app/verb.h"
#include "app/verbs/options.h"
#include "core/analysis/weights/weight_columns.h"

namespace sonde::app {

namespace {

struct WeightsOptions {
    ModelOptions model;
    std::vector<std::string> svd;
    std::string sort;
    bool histogram = false, json = false;
};

base::Result<int> printWeights(WeightsOptions& options) {
    SONDE_ASSIGN(const auto document, options.model.load());
    session::WeightReport report = session::listWeights(document);
    std::vector<std::size_t> decomposed;
    for (const std::string& name : options.svd) {
        SONDE_ASSIGN(const std::size_t row, session::findWeight(report, name));
        decomposed.push_back(row);
    }
    const base::WorkContext work = commandLineWork();
    SONDE_TRY(session::measureWeights(
        report,
        [&report](std::size_t, analysis::WeightFigures figures) { report.figures.push_back(std::move(figures)); },
        work));
    if (options.histogram) {
        SONDE_ASSIGN(report.layers, session::layerHistograms(report, work));
    }
    // One that has none is told at the end, after all others.
    std::optional<base::Error> failed;
    for (const std::size_t row : decomposed)
        for (std::int64_t matrix = 0; matrix < report.rows[row].matrices; ++matrix) {
            auto spectrum = session::weightSpectrum(report, row, work, matrix);
            if (spectrum) report.spectra.emplace_back(row, std::move(*spectrum));
            else if (spectrum.error().kind != base::ErrorKind::Run) return spectrum.error();
            else if (!failed) failed = spectrum.error();
        }
    std::vector<std::size_t> order(report.rows.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (!options.sort.empty())
        order = analysis::sortedWeights(*analysis::weightColumn(options.sort), *document->graph, report.rows,
                                        report.figures);
    fmt::print("{}", options.json ? session::weightsJson(report, order, options.histogram)
                                  : session::weightsText(report, order, options.histogram));
    if (failed) return *failed;
    return 0;
}

std::string columnHelp() {
    std::string text;
    for (const analysis::WeightColumn& column : analysis::weightColumns())
        text += fmt::format("  {:18} {}\n", column.id, column.description);
    return text;
}

}  // namespace

Verb weightsVerb() {
    return {
        "weights", "List every parameter and buffer with its statistics, singular values on demand",
        "sonde weights model.onnx --sort outliers --svd fc.weight", [](CLI::App& command) {
            auto options = std::make_shared<WeightsOptions>();
            options->model.addTo(command);
            std::vector<std::string> keys;
            for (const analysis::WeightColumn& column : analysis::weightColumns()) keys.emplace_back(column.id);
            command
                .add_option("--sort", options->sort, "Sort by a column: largest numbers first, texts by the alphabet")
                ->check(CLI::IsMember(keys));
            command
                .add_option("--svd", options->svd,
                            "Also the singular values and the effective rank of this weight (again for more)")
                ->allow_extra_args(false);
            command.add_flag(
                "--histogram", options->histogram,
                "Also histograms: of each weight over its own range, of each layer over one range for all");
            command.add_flag("--json", options->json, "One JSON object instead of text");
            command.footer(
                "Columns, and keys of --sort:\n" + columnHelp() +
                "\nWeights are read from the mapped file in pieces; each tensor is listed once, with all of its names.\n\n"
                "--svd takes the weight as a matrix, filters by elements of a filter, of a recurrent layer gates by features for\n"
                "each direction, with singular values \u03c3:\n"
                "  effective rank  exp(\u2212\u03a3 p\u00b7ln p), p = \u03c3/\u03a3\u03c3 (Roy and Vetterli 2007)\n"
                "  stable rank     \u2016A\u2016\u00b2/\u03c3\u2081\u00b2 (Rudelson and Vershynin 2007)\n"
                "  numerical rank  count of \u03c3 above \u03c3\u2081\u00b7max(rows, columns)\u00b72\u207b\u00b2\u00b3\n"
                "Where rows and columns are both more than 4,096 only the 256 largest are computed, by a randomised\n"
                "projection (Halko, Martinsson, Tropp 2011), which is told; the effective rank is then between two limits.\n\n" +
                command.get_footer());
            return std::function<base::Result<int>()>([options] { return printWeights(*options); });
        }};
}

}  // namespace sonde::app
