// Time of a symbolic trace of the built-in models, without making them: bench_trace [MODEL…]. One line a model: nodes
// of the main graph, all nodes (with the insides of leaves), and median and best of several traces in milliseconds, by
// the clock and of this thread's processor time (the one to compare when other programs run, too).

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <vector>

#include "core/document/evaluator.h"
#include "core/trace/module_path_tracer.h"
#include "core/zoo/zoo.h"

using namespace sonde;

namespace {

double wallMs() {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double processorMs() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

double median(std::vector<double>& times) {
    std::ranges::sort(times);
    return times[times.size() / 2];
}

void measure(const std::string& name) {
    const auto module = zoo::makeModel(name);
    if (!module) {
        std::printf("%-22s %s\n", name.c_str(), module.error().text().c_str());
        return;
    }
    std::vector<double> wall, processor;
    std::size_t mainNodes = 0, allNodes = 0;
    const double until = wallMs() + 500;
    while (wall.size() < 7 || (wallMs() < until && wall.size() < 500)) {
        const double wallStart = wallMs(), processorStart = processorMs();
        trace::ModulePathTracer tracer;
        const auto graph = tracer.trace(*module);
        processor.push_back(processorMs() - processorStart);
        wall.push_back(wallMs() - wallStart);
        if (!graph) {
            std::printf("%-22s cannot be traced: %s\n", name.c_str(), graph.error().what.c_str());
            return;
        }
        mainNodes = (*graph)->main().order.size();
        allNodes = (*graph)->nodeCount();
    }
    const double wallMedian = median(wall), processorMedian = median(processor);
    std::printf("%-22s %6zu %6zu %9.3f %9.3f %9.3f %9.3f\n", name.c_str(), mainNodes, allNodes, wallMedian,
                wall.front(), processorMedian, processor.front());
}

}  // namespace

int main(int argc, char** argv) {
    const trace::EvaluatorScope evaluator(document::kernelEvaluator());
    std::printf("%-22s %6s %6s %9s %9s %9s %9s\n", "model", "nodes", "all", "median", "best", "cpu med.", "cpu best");
    for (int i = 1; i < argc; ++i) measure(argv[i]);
    if (argc > 1) return 0;
    for (const zoo::ModelEntry& model : zoo::models()) measure(std::string(model.name));
}
