// Time and memory of reading the weights of a model: bench_weights MODEL [WEIGHT…]. One line for the table, the
// histograms and each spectrum: seconds, and how far the peak of the memory grew. Pages of the mapped file are not
// counted: they belong to the file, and the system takes them back at any time.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>

#include "core/document/document.h"
#include "core/session/weights/weights.h"

using namespace sonde;

namespace {

/// A line of /proc/self/status, in MiB.
double status(const std::string& key) {
    std::ifstream file("/proc/self/status");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with(key + ":")) return std::stod(line.substr(key.size() + 1)) / 1024;
    return NAN;
}

template <typename Work>
void measure(const std::string& what, Work work) {
    const double before = status("RssAnon");
    double peak = before;
    const auto start = std::chrono::steady_clock::now();
    work([&peak] { peak = std::max(peak, status("RssAnon")); });
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    std::printf("%-40s %9.3f s %8.1f MiB of its own, VmHWM %.1f MiB\n", what.c_str(), took.count(), peak - before,
                status("VmHWM"));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) {
        std::fprintf(stderr, "bench_weights MODEL [WEIGHT...]\n");
        return 2;
    }
    const auto document = document::open(argv[1]);
    if (!document) {
        std::fprintf(stderr, "%s\n", document.error().text().c_str());
        return 3;
    }
    session::WeightReport report;
    measure("list", [&](auto look) {
        report = session::listWeights(*document);
        look();
    });
    std::int64_t bytes = 0;
    for (const analysis::WeightRow& row : report.rows) bytes += row.bytes;
    std::printf("%zu weights, %.1f MiB\n", report.rows.size(), static_cast<double>(bytes) / (1 << 20));
    const std::size_t step = std::max<std::size_t>(report.rows.size() / 64, 1);
    measure("statistics", [&](auto look) {
        const auto done = session::measureWeights(report, [&](std::size_t row, analysis::WeightFigures figures) {
            report.figures.push_back(std::move(figures));
            if (row % step == 0) look();
        });
        if (!done) std::fprintf(stderr, "%s\n", done.error().text().c_str());
    });
    measure("histograms of the layers", [&](auto look) {
        if (auto layers = session::layerHistograms(report)) report.layers = std::move(*layers);
        look();
    });
    for (int i = 2; i < argc; ++i) {
        const auto row = session::findWeight(report, argv[i]);
        if (!row) {
            std::fprintf(stderr, "%s\n", row.error().text().c_str());
            continue;
        }
        measure(argv[i], [&](auto look) {
            const base::WorkContext work{{}, [&look](const base::Progress&) { look(); }};
            const auto spectrum = session::weightSpectrum(report, *row, work);
            std::printf("%s\n", spectrum ? session::spectrumText(*spectrum).c_str() : spectrum.error().text().c_str());
        });
    }
}
