// What it costs to run again what depends on an edited value: bench_what_if [MODEL [INPUT-DATA]]...
// For each model (default: ResNet-18, MobileNetV3, a small transformer) nodes from its start to its end. "share" is
// what the operations that depend on the node take of a plain run, by the least times of each in these runs; "again"
// what they take when only they run, from the values of a run that kept all, with "edit", what the edit itself takes;
// "ratio" is again / (share + edit). "plan" is what it takes to find out what is to run. "set" is all of it in a run
// that is debugged, with its comparison and events; "ratio" is set / (share of the debugged run + edit). Milliseconds
// of CPU, of one thread, so that others on the machine count little; least ones of runs that alternate.

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/exec/dependants.h"
#include "core/exec/flatten.h"
#include "core/exec/rerun.h"
#include "core/session/session.h"

using namespace sonde;

namespace {

constexpr int kRuns = 41;
constexpr int kPlaces = 6;  ///< along a model

double millisecondsNow() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

/// The least of several times.
class Least {
  public:
    void add(double time) { m_value = m_value ? std::min(*m_value, time) : time; }
    void time(const std::function<void()>& work) {
        const double start = millisecondsNow();
        work();
        add(millisecondsNow() - start);
    }
    double value() const { return m_value.value_or(0); }

  private:
    std::optional<double> m_value;
};

/// In order; branches and loops as a whole, calls by what is inside.
std::vector<graph::ExprId> operations(const graph::InternalGraph& graph) {
    std::vector<graph::ExprId> all;
    for (const graph::ExprId id : graph.recursiveOrder(graph.mainId()))
        if (!exec::isCall(graph.expr(id)) && exec::rowOf(graph, graph.expr(id).body) == graph.mainId())
            all.push_back(id);
    return all;
}

/// The least time of every operation.
class OperationTimes {
  public:
    explicit OperationTimes(const graph::InternalGraph& graph) : m_all(operations(graph)), m_times(graph.exprCount()) {}
    void add(const exec::Recording& recording) {
        for (const graph::ExprId id : m_all)
            m_times[id.index()].add(static_cast<double>(recording.elapsedNs(id)) / 1e6);
    }
    double share(const std::vector<bool>& exprs) const {
        double all = 0, some = 0;
        for (const graph::ExprId id : m_all) {
            all += m_times[id.index()].value();
            if (exprs[id.index()]) some += m_times[id.index()].value();
        }
        return all > 0 ? some / all : 0;
    }

  private:
    std::vector<graph::ExprId> m_all;
    std::vector<Least> m_times;
};

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
    exec::Runner runner(1);
    const auto plainPlan = exec::Plan::make(graph, {}).value();
    const exec::Recording kept = runner.run(*exec::Plan::make(graph, {.watchAll = true}).value(), inputs);
    std::printf("%s\n%-28s %7s %9s %9s %9s %6s %9s %9s %9s %6s\n", model.c_str(), "node", "share", "share ms",
                "edit ms", "again ms", "ratio", "plan ms", "debug ms", "set ms", "ratio");
    auto settings = session.runs().settings();
    settings.threads = 1;
    session.runs().setSettings(settings);
    session.runs().giveValues(inputs);
    for (const graph::NodeId node : places(*graph, kept)) {
        const auto edits = halved(node);
        const exec::Dependants reached = exec::dependantsOf(*graph, *edits);
        exec::PlanOptions options;
        options.edits = edits;
        exec::Rerun rerun;
        OperationTimes times(*graph);
        Least plain, again, plan, applied, debugged, set;
        for (int i = 0; i < kRuns; ++i) {
            plain.time([&] { times.add(runner.run(*plainPlan, inputs)); });
            plan.time([&] { rerun = exec::planRerun(graph, options, kept).value(); });
            again.time([&] { (void)runner.run(*rerun.plan, inputs, {}, {.given = rerun.given}); });
            applied.time([&] { (void)edits->values.front().apply(*kept.value(node), {}); });
        }
        for (int i = 0; i < kRuns / 2; ++i) {
            debugged.time([&] { session.debugger().restart(); });
            session::Edit edit;
            edit.kind = session::Edit::Kind::Scale;
            edit.number = 0.5;
            session::EditPlace place;
            set.time([&] { (void)session.addEdit(node, edit, place); });
            (void)session.edits().undo();
            session.edits().clear();
        }
        const double share = times.share(reached.exprs), due = share * plain.value() + applied.value(),
                     dueDebugged = share * debugged.value() + applied.value();
        std::printf("%-28.28s %6.1f%% %9.3f %9.3f %9.3f %6.2f %9.3f %9.3f %9.3f %6.2f\n",
                    graph->node(node).name.c_str(), 100 * share, share * plain.value(), applied.value(), again.value(),
                    again.value() / due, plan.value(), dueDebugged, set.value(), set.value() / dueDebugged);
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
