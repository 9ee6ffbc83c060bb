// What it costs to run again what depends on an edited value: bench_what_if [MODEL [INPUT-DATA]]...
// For each model (default: ResNet-18, MobileNetV3, a small transformer) nodes from its start to its end. "share" is
// what the operations that depend on the node take of a plain run, by the times of that run; "again" what they take
// when only they run, from the values of a run that kept all; "ratio" again / share. "debug" is the same of a run that
// is debugged, by the whole time of `set`. Medians of so many runs that alternate.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "core/exec/dependants.h"
#include "core/exec/flatten.h"
#include "core/exec/rerun.h"
#include "core/session/session.h"

using namespace sonde;

namespace {

constexpr int kRuns = 21;
constexpr int kPlaces = 6;  ///< along a model

double millisecondsNow() {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double median(std::vector<double> times) {
    std::ranges::sort(times);
    return times[times.size() / 2];
}

double timeOf(const std::function<void()>& work) {
    const double start = millisecondsNow();
    work();
    return millisecondsNow() - start;
}

/// In order; branches and loops as a whole, calls by what is inside.
std::vector<graph::ExprId> operations(const graph::InternalGraph& graph) {
    std::vector<graph::ExprId> all;
    for (const graph::ExprId id : graph.recursiveOrder(graph.mainId()))
        if (!exec::isCall(graph.expr(id)) && exec::rowOf(graph, graph.expr(id).body) == graph.mainId())
            all.push_back(id);
    return all;
}

/// What the operations take together in a run.
double timeIn(const exec::Recording& recording, const graph::InternalGraph& graph, const std::vector<bool>& exprs) {
    double ns = 0;
    for (const graph::ExprId id : operations(graph))
        if (exprs[id.index()]) ns += static_cast<double>(recording.elapsedNs(id));
    return ns / 1e6;
}

std::shared_ptr<const exec::Edits> halved(graph::NodeId node) {
    auto edits = std::make_shared<exec::Edits>();
    edits->values.push_back({node, {}, [](const tensor::Value& value, std::span<const tensor::Value>) {
                                 tensor::Tensor copy = value.tensor().clone().value();
                                 for (float& x : copy.mutableSpan<float>()) x *= 0.5F;
                                 return base::Result<tensor::Value>(tensor::Value(std::move(copy)));
                             }});
    return edits;
}

/// Nodes of float32 along the run.
std::vector<graph::NodeId> places(const graph::InternalGraph& graph, const exec::Recording& kept) {
    std::vector<graph::NodeId> all;
    for (const graph::ExprId id : operations(graph)) {
        const graph::Expr& expr = graph.expr(id);
        if (expr.kind == graph::ExprKind::Input || expr.outputs.size() != 1 || !expr.bodies.empty()) continue;
        const tensor::Value* const value = kept.value(expr.outputs.front());
        const bool isConstant = graph.node(expr.outputs.front()).constant.has_value();
        if (!isConstant && value && value->isTensor() && value->tensor().dtype() == tensor::DType::Float32)
            all.push_back(expr.outputs.front());
    }
    std::vector<graph::NodeId> some;
    for (std::size_t i = 0; i < kPlaces && !all.empty(); ++i) some.push_back(all[i * (all.size() - 1) / kPlaces]);
    return some;
}

void measure(const std::string& model, const std::string& data) {
    session::Session session;
    if (const auto opened = session.open(model); !opened) {
        std::printf("%s\n", opened.error().text().c_str());
        return;
    }
    const auto cases = session.readCases({data, "bgr", 0});
    if (!cases || cases->empty()) {
        std::printf("%s\n", cases ? "no inputs" : cases.error().text().c_str());
        return;
    }
    const std::vector<tensor::Value>& inputs = cases->front().values;
    const auto graph = session.document()->graph;
    exec::Runner runner;
    const auto plainPlan = exec::Plan::make(graph, {}).value();
    const exec::Recording kept = runner.run(*exec::Plan::make(graph, {.watchAll = true}).value(), inputs);
    std::printf("%s\n%-28s %8s %10s %10s %7s %10s %10s %7s\n", model.c_str(), "node", "share", "share ms", "again ms",
                "ratio", "debug ms", "set ms", "ratio");
    session.runs().giveValues(inputs);
    session.debugger().restart();
    for (const graph::NodeId node : places(*graph, kept)) {
        const auto edits = halved(node);
        const exec::Dependants reached = exec::dependantsOf(*graph, *edits);
        exec::PlanOptions options;
        options.edits = edits;
        const exec::Rerun rerun = exec::planRerun(graph, options, kept).value();
        std::vector<double> plain, again, share, debugged, set;
        for (int i = 0; i < kRuns; ++i) {
            const exec::Recording recording = runner.run(*plainPlan, inputs);
            const double all = timeIn(recording, *graph, std::vector<bool>(graph->exprCount(), true));
            plain.push_back(static_cast<double>(recording.totalNs) / 1e6);
            share.push_back(timeIn(recording, *graph, reached.exprs) / all);
            again.push_back(timeOf([&] { (void)runner.run(*rerun.plan, inputs, {}, {.given = rerun.given}); }));
        }
        for (int i = 0; i < kRuns / 3; ++i) {
            debugged.push_back(timeOf([&] { session.debugger().restart(); }));
            session::Edit edit;
            edit.kind = session::Edit::Kind::Scale;
            edit.number = 0.5;
            session::EditPlace place;
            set.push_back(timeOf([&] { (void)session.addEdit(node, edit, place); }));
            (void)session.edits().undo();
            session.edits().clear();
        }
        const double due = median(share) * median(plain), dueDebugged = median(share) * median(debugged);
        std::printf("%-28.28s %7.1f%% %10.3f %10.3f %7.2f %10.3f %10.3f %7.2f\n", graph->node(node).name.c_str(),
                    100 * median(share), due, median(again), median(again) / due, dueDebugged, median(set),
                    median(set) / dueDebugged);
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1) {
        for (int i = 1; i < argc; i += 2) measure(argv[i], i + 1 < argc ? argv[i + 1] : "#rand(0,1)");
        return 0;
    }
    measure("zoo:resnet18", "#rand(0,1)");
    measure("zoo:mobilenet_v3_small", "#rand(0,1)");
    measure("zoo:gpt_mini", "#rand(0,1)");
}
