// Time of the questions that the window asks a large graph: bench_analysis. One line each: nodes, and median and best
// in milliseconds of processor time. The whole summary of models: bench_summary.

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <functional>
#include <vector>

#include "core/analysis/infer.h"
#include "core/analysis/model_cost.h"
#include "core/analysis/model_structure.h"
#include "core/analysis/model_summary.h"
#include "core/analysis/parameters.h"
#include "core/analysis/query/query.h"
#include "core/analysis/reach.h"
#include "core/analysis/receptive_field.h"
#include "tests/bench/layout_graphs.h"

using namespace sonde;
using namespace layout_graphs;

namespace {

double processorMs() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

void measure(const char* what, std::size_t nodes, const std::function<std::size_t()>& question) {
    std::vector<double> times;
    std::size_t answer = 0;
    for (int i = 0; i < 9; ++i) {
        const double start = processorMs();
        answer = question();
        times.push_back(processorMs() - start);
    }
    std::ranges::sort(times);
    std::printf("%-44s %8zu nodes %8zu found %9.2f %9.2f\n", what, nodes, answer, times[times.size() / 2],
                times.front());
}

std::shared_ptr<const graph::InternalGraph> diamonds(std::size_t count) {
    GraphMaker m;
    graph::NodeId x = m.input("x");
    for (std::size_t i = 0; i < count; ++i) x = m.op("Add", {m.op("A", {x}), m.op("B", {x})}, "s" + std::to_string(i));
    return m.done({x});
}

}  // namespace

int main() {
    const auto deep = transformer(3400);
    const auto ways = diamonds(33000);
    const auto producer = [](const graph::InternalGraph& graph, const char* name) {
        return graph.node(graph.findNode(name)).producer;
    };
    const auto query = analysis::Query::parse("op:MatMul and qualname:layers.1*.attn* and upstream-of:op:Softmax");
    const graph::ExprId last = deep->node(deep->outputs().front()).producer;
    const graph::ExprId first = producer(*ways, "x"), end = producer(*ways, "s32999");
    measure("query with a cone", deep->nodeCount(), [&] { return query->run(*deep).size(); });
    measure("distances upstream of the output", deep->nodeCount(), [&] {
        const auto distance = analysis::distances(*deep, {last}, analysis::Flow::Upstream);
        return distance.size() - static_cast<std::size_t>(std::ranges::count(distance, analysis::kUnreached));
    });
    measure("all ways between two nodes (2^33000)", ways->nodeCount(),
            [&] { return analysis::between(*ways, {first}, {end}).size(); });
    // What `sonde info` says, hashing apart: under a second for 100,000 nodes.
    const graph::ModuleTree modules;
    measure("model summary", deep->nodeCount(), [&] {
        return analysis::summaryOf(*deep).nodes + analysis::structureOf(*deep).depth +
               analysis::dynamicDimensions(*deep, {}, {}).size() +
               analysis::countParameters(*deep, modules).tensors.size() +
               analysis::costOfModel(*deep, modules).notCountedExprs.size() +
               analysis::receptiveFields(*deep).axes().size();
    });
    measure("types for given inputs", deep->nodeCount(), [&] { return analysis::typedFor(*deep, {}).nodeCount(); });
}
