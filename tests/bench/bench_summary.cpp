// How long the summary of a model takes, hashing apart: what `sonde info`, the Summary panel and reports begin with.
// `bench_summary [MODEL…]`, by default the largest of the reference models and two generated ones of 100,000 nodes, one
// of them with an open dimension in every shape. Less than 1 s for each is the aim. One line for the whole and one for
// each of its analyses: median and best of processor time in milliseconds.

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/analysis/infer.h"
#include "core/document/document.h"
#include "core/session/model_info.h"
#include "tests/bench/audit_models.h"

using namespace sonde;

namespace {

double processorMs() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

void measure(const char* what, const std::function<void()>& work) {
    std::vector<double> times;
    for (int i = 0; i < 7; ++i) {
        const double start = processorMs();
        work();
        times.push_back(processorMs() - start);
    }
    std::ranges::sort(times);
    std::printf("  %-24s %9.1f %9.1f\n", what, times[times.size() / 2], times.front());
}

int measureModel(const std::string& path) {
    const auto document = document::open(path, {});
    if (!document) return std::fprintf(stderr, "%s\n", document.error().text().c_str()), 1;
    const graph::InternalGraph& graph = *(*document)->graph;
    const graph::ModuleTree& modules = *(*document)->modules;
    std::printf("%s, %zu nodes\n", std::filesystem::path(path).filename().c_str(), graph.nodeCount());
    session::ModelInfoRequest request;
    request.hashes = false;
    measure("summary", [&] { (void)session::modelInfo(**document, request); });
    const auto info = session::modelInfo(**document, request);
    if (!info) return std::fprintf(stderr, "%s\n", info.error().text().c_str()), 1;
    measure("its lines", [&] { (void)session::modelInfoLines(**document, *info); });
    measure("its JSON", [&] { (void)session::modelInfoJson(**document, *info); });
    measure("parameters", [&] { (void)analysis::countParameters(graph, modules, (*document)->original.get()); });
    measure("operators", [&] { (void)analysis::summaryOf(graph); });
    measure("structure", [&] { (void)analysis::structureOf(graph); });
    measure("cost", [&] { (void)analysis::costOfModel(graph, modules); });
    measure("dynamic dimensions", [&] { (void)analysis::dynamicDimensions(graph, {}, {}); });
    measure("receptive fields", [&] { (void)analysis::receptiveFields(graph); });
    return 0;
}

int measureGenerated(bool isOpen) {
    const std::string name = isOpen ? "bench_summary_open.onnx" : "bench_summary.onnx";
    const std::string path = (std::filesystem::temp_directory_path() / name).string();
    if (!test::onnxfile::write(QString::fromStdString(path), audit_models::generated(100'000, isOpen))) return 1;
    const int status = measureModel(path);
    std::filesystem::remove(path);
    return status;
}

}  // namespace

int main(int argc, char** argv) {
    int status = 0;
    for (int i = 1; i < argc; ++i) status |= measureModel(argv[i]);
    if (argc > 1) return status;
    if (const std::string model = audit_models::largest(); !model.empty()) status |= measureModel(model);
    return status | measureGenerated(false) | measureGenerated(true);
}
