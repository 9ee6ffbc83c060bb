#include "core/session/precision/precision.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/analysis/difference.h"
#include "core/exec/flatten.h"
#include "core/graph/source_files.h"
#include "core/graph/traits.h"
#include "core/session/debug/recorded_run.h"

namespace sonde::session::precision {

using graph::Expr;
using graph::ExprId;
using graph::InternalGraph;
using graph::NodeId;
using operators::OpClass;
using tensor::Tensor;
using tensor::Value;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// NaN counts as the worst.
double rankOf(double decibels) { return std::isnan(decibels) ? -kInfinity : decibels; }

ValueError errorOf(const Tensor& actual, const Tensor& expected) {
    const analysis::Difference apart = analysis::difference(actual, expected, {});
    return {apart.maxAbsolute, apart.maxRelative, apart.snr};
}

/// Runs a graph, and looks up each of its values in the plain run.
class LockStep : public exec::RunObserver {
  public:
    LockStep(debug::RecordedRun& plain, const Counterparts& counterparts, const base::WorkContext& work)
        : m_plain(plain), m_counterparts(counterparts), m_work(work) {}

    void exprFinished(ExprId id, std::span<const Value> outputs, std::int64_t) override {
        const auto found = m_counterparts.find(id);
        if (found == m_counterparts.end() || m_error) return;
        const std::size_t time = m_times[id]++;
        for (const Counterpart& one : found->second)
            if (one.output < outputs.size()) compare(one.node, time, outputs[one.output]);
    }

    std::unordered_map<NodeId, NodeError>& found() { return m_found; }
    const std::optional<base::Error>& error() const { return m_error; }

  private:
    void compare(NodeId node, std::size_t time, const Value& actual) {
        const ExprId producer = m_plain.graph().node(node).producer;
        const debug::ItemId item = m_plain.trace().timeOf(producer, time);
        NodeError& error =
            m_found.try_emplace(node, NodeError{node, false, {0, 0, kInfinity}, kInfinity}).first->second;
        if (item == debug::kNoItem) {
            error.note = "the plain run does not compute it as often";
            return;
        }
        auto expected = m_plain.value(node, item, true, m_work);
        if (!expected) {
            m_error = std::move(expected).error();
            return;
        }
        if (!actual.isTensor() || !expected->isTensor()) return;
        const Tensor &a = actual.tensor(), &r = expected->tensor();
        if (!tensor::isFloating(r.dtype())) return;
        if (a.shape() != r.shape() || !tensor::isFloating(a.dtype())) {
            error.note = "it is " + a.typeText() + " instead of " + r.typeText();
            return;
        }
        const ValueError now = errorOf(a, r);
        error.error.maxAbs = std::max(error.error.maxAbs, now.maxAbs);
        error.error.maxRel = std::max(error.error.maxRel, now.maxRel);
        if (rankOf(now.sqnr) < rankOf(error.error.sqnr)) error.error.sqnr = now.sqnr;
        m_compared.insert({node, true});
    }

  public:
    bool wasCompared(NodeId node) const { return m_compared.contains(node); }

  private:
    debug::RecordedRun& m_plain;
    const Counterparts& m_counterparts;
    const base::WorkContext& m_work;
    std::unordered_map<ExprId, std::size_t> m_times;
    std::unordered_map<NodeId, NodeError> m_found;
    std::unordered_map<NodeId, bool> m_compared;
    std::optional<base::Error> m_error;
};

/// Collects the values of some nodes of the other run: each time that it has one, the last counts.
class Collect : public exec::RunObserver {
  public:
    Collect(const Counterparts& counterparts, const std::unordered_map<NodeId, std::size_t>& wanted)
        : m_counterparts(counterparts), m_wanted(wanted) {}
    void exprFinished(ExprId id, std::span<const Value> outputs, std::int64_t) override {
        const auto found = m_counterparts.find(id);
        if (found == m_counterparts.end()) return;
        for (const Counterpart& one : found->second)
            if (one.output < outputs.size() && m_wanted.contains(one.node)) values[one.node] = outputs[one.output];
    }
    std::unordered_map<NodeId, Value> values;

  private:
    const Counterparts& m_counterparts;
    const std::unordered_map<NodeId, std::size_t>& m_wanted;
};

/// Features are along axis 1, but for the last one of what is [batch, position, feature].
std::int64_t channelAxisOf(const InternalGraph& graph, NodeId node, std::size_t rank) {
    if (rank < 2) return -1;
    const OpClass is = graph::traitsOf(graph.expr(graph.node(node).producer)).opClass;
    const bool isWindow = is == OpClass::Conv || is == OpClass::ConvTranspose || is == OpClass::MaxPool ||
                          is == OpClass::AveragePool || is == OpClass::BatchNorm;
    return rank == 3 && !isWindow ? 2 : 1;
}

/// Expressions in the order in which their results are known: what has bodies is entered before them (true), and has
/// its results after.
std::vector<std::pair<ExprId, bool>> stepsWithin(const InternalGraph& graph) {
    std::vector<std::pair<ExprId, bool>> steps;
    std::vector<std::pair<ExprId, bool>> waiting;  // the next one last
    const auto wait = [&](graph::BodyId body) {
        const auto& order = graph.body(body).order;
        for (std::size_t i = order.size(); i-- > 0;)
            waiting.emplace_back(order[i], !graph.expr(order[i]).bodies.empty());
    };
    wait(graph.mainId());
    while (!waiting.empty()) {
        const auto step = waiting.back();
        waiting.pop_back();
        steps.push_back(step);
        if (!step.second) continue;
        waiting.emplace_back(step.first, false);
        const std::vector<graph::BodyId>& bodies = graph.expr(step.first).bodies;
        for (std::size_t i = bodies.size(); i-- > 0;) wait(bodies[i]);
    }
    return steps;
}

class Measurement {
  public:
    Measurement(std::shared_ptr<const InternalGraph> plain, std::shared_ptr<const InternalGraph> other,
                Counterparts counterparts, const Request& request, const base::WorkContext& work)
        : m_plain(std::move(plain)), m_other(std::move(other)), m_counterparts(std::move(counterparts)),
          m_request(request), m_work(work), m_runner(request.threads) {}

    base::Result<Report> run(const std::vector<Value>& otherInputs, const std::vector<ExprId>& chosen) {
        SONDE_ASSIGN(auto plan, exec::Plan::make(m_plain, {}));
        debug::RecordedRun plain({std::move(plan),
                                  m_request.inputs,
                                  std::make_shared<exec::Runner>(m_request.threads),
                                  m_request.seed,
                                  m_request.limits,
                                  {}});
        m_work.report("the plain run");
        plain.advance({}, m_work.stop);
        if (m_work.cancelled()) return base::cancelled("the plain run");
        if (plain.recording() && plain.recording()->error) return *plain.recording()->error;
        m_work.report("the run to compare with it");
        LockStep compared(plain, m_counterparts, m_work);
        SONDE_TRY(runOther(otherInputs, compared));
        if (compared.error()) return *compared.error();
        Report report = collect(compared, plain, chosen);
        SONDE_TRY(addChannels(report, otherInputs, plain));
        SONDE_TRY(graph::checkFiles(m_plain));
        return report;
    }

  private:
    base::Result<void> runOther(const std::vector<Value>& inputs, exec::RunObserver& observer) {
        SONDE_ASSIGN(const auto plan, exec::Plan::make(m_other, {}));
        exec::RunOptions options;
        options.seed = m_request.seed;
        options.observer = &observer;
        options.countsBad = false;
        exec::Recording recording = m_runner.run(*plan, inputs, m_work, options);
        if (recording.error) return std::move(*recording.error);
        return {};
    }

    /// In execution order, with what each operation read.
    Report collect(LockStep& compared, const debug::RecordedRun& plain, const std::vector<ExprId>& chosen) const {
        Report report;
        report.chosen = chosen.size();
        std::vector<bool> isChosen(m_plain->exprCount(), false);
        for (const ExprId id : chosen) isChosen[id.index()] = true;
        std::unordered_map<NodeId, double> decibels;  // by source
        for (const auto& [id, isEntered] : stepsWithin(*m_plain)) {
            const Expr& expr = m_plain->expr(id);
            if (expr.inputs.empty() && expr.bodies.empty()) continue;
            const double before = worstInput(expr, plain, decibels);
            if (isEntered) {
                for (const graph::BodyId body : expr.bodies)
                    for (const NodeId input : m_plain->body(body).inputs) decibels[input] = before;
                continue;
            }
            for (const NodeId node : expr.outputs) {
                const auto found = compared.found().find(node);
                const bool isKnown = found != compared.found().end();
                // What was not compared, a list or what control flow gives, hands on what it was made of.
                if (!isKnown || !compared.wasCompared(node)) decibels[node] = before;
                if (!isKnown || (!compared.wasCompared(node) && found->second.note.empty())) continue;
                NodeError error = std::move(found->second);
                error.isRounded = isChosen[id.index()];
                error.inputSqnr = before;
                if (error.note.empty()) decibels[node] = error.error.sqnr;
                if (error.note.empty() && error.error.maxAbs > 0 && !report.begins.valid()) report.begins = node;
                report.nodes.push_back(std::move(error));
            }
        }
        rank(report);
        return report;
    }

    /// Of control flow also what its bodies read, and what they give, as soon as that is known.
    double worstInput(const Expr& expr, const debug::RecordedRun& plain,
                      const std::unordered_map<NodeId, double>& decibels) const {
        double worst = kInfinity;
        const auto read = [&](NodeId node) {
            const auto known = decibels.find(plain.sourceOf(node));
            if (known != decibels.end() && rankOf(known->second) < rankOf(worst)) worst = known->second;
        };
        std::ranges::for_each(expr.inputs, read);
        for (const graph::BodyId body : expr.bodies) {
            for (const ExprId inner : m_plain->recursiveOrder(body))
                std::ranges::for_each(m_plain->expr(inner).inputs, read);
            std::ranges::for_each(m_plain->body(body).outputs, read);
        }
        return worst;
    }

    void rank(Report& report) const {
        const auto best = [&](auto key, bool onlyLosses) {
            std::vector<std::size_t> order;
            for (std::size_t i = 0; i < report.nodes.size(); ++i)
                if (report.nodes[i].note.empty() && report.nodes[i].error.maxAbs != 0 &&
                    (!onlyLosses || key(report.nodes[i]) < 0))
                    order.push_back(i);
            std::ranges::stable_sort(
                order, [&](std::size_t a, std::size_t b) { return key(report.nodes[a]) < key(report.nodes[b]); });
            order.resize(std::min(order.size(), m_request.worst));
            return order;
        };
        report.worst = best([](const NodeError& node) { return rankOf(node.error.sqnr); }, false);
        const auto growth = [](const NodeError& node) {
            // What comes from equal inputs has lost all that it lacks: it counts by its own decibels. What comes from
            // NaN had nothing left to lose.
            const double own = rankOf(node.error.sqnr), before = rankOf(node.inputSqnr);
            if (before == -kInfinity) return kInfinity;
            return before == kInfinity ? own - 200 : own - before;
        };
        report.growing = best(growth, true);
    }

    /// A second run, for the values of the nodes that are listed.
    base::Result<void> addChannels(Report& report, const std::vector<Value>& inputs, debug::RecordedRun& plain) {
        std::unordered_map<NodeId, std::size_t> wanted;
        for (const auto* list : {&report.worst, &report.growing})
            for (const std::size_t i : *list) wanted.emplace(report.nodes[i].node, i);
        if (wanted.empty() || m_request.channels == 0) return {};
        Collect collect(m_counterparts, wanted);
        SONDE_TRY(runOther(inputs, collect));
        const auto end = static_cast<debug::ItemId>(plain.trace().size());
        for (const auto& [node, index] : wanted) {
            SONDE_ASSIGN(const Value expected, plain.value(node, end, false, m_work));
            const Value& actual = collect.values[node];
            if (!actual.isTensor() || !expected.isTensor() || actual.tensor().shape() != expected.tensor().shape())
                continue;
            addChannelsOf(report.nodes[index], actual.tensor(), expected.tensor());
        }
        return {};
    }

    void addChannelsOf(NodeError& node, const Tensor& actual, const Tensor& expected) const {
        node.channelAxis = channelAxisOf(*m_plain, node.node, expected.rank());
        if (node.channelAxis < 0) return;
        const auto axis = static_cast<std::size_t>(node.channelAxis);
        for (std::int64_t channel = 0; channel < expected.dim(axis); ++channel)
            node.channels.push_back(
                {channel, errorOf(actual.selected(axis, channel), expected.selected(axis, channel))});
        std::ranges::stable_sort(node.channels, [](const ChannelError& a, const ChannelError& b) {
            return rankOf(a.error.sqnr) < rankOf(b.error.sqnr);
        });
        node.channels.resize(std::min(node.channels.size(), m_request.channels));
    }

    std::shared_ptr<const InternalGraph> m_plain, m_other;
    Counterparts m_counterparts;
    const Request& m_request;
    const base::WorkContext& m_work;
    exec::Runner m_runner;
};

}  // namespace

base::Result<Report> measure(const document::Document& document, const SimulationOptions& options,
                             const Request& request, const base::WorkContext& work) {
    SONDE_ASSIGN(std::vector<ExprId> chosen, chosenBy(*document.graph, options.queries));
    const Simulation simulation = simulate(document.graph, std::move(chosen), options);
    Counterparts counterparts;
    for (const ExprId id : document.graph->recursiveOrder(document.graph->mainId())) {
        if (exec::isCall(document.graph->expr(id))) continue;
        const auto& outputs = document.graph->expr(id).outputs;
        for (const NodeId output : outputs) {
            const graph::Node& read = simulation.graph->node(simulation.readAs(output));
            counterparts[read.producer].push_back({output, read.outputIndex});
        }
    }
    return measureRuns(document.graph, simulation.graph, std::move(counterparts), simulation.chosen, request, work);
}

base::Result<Report> measureRuns(std::shared_ptr<const InternalGraph> plain, std::shared_ptr<const InternalGraph> other,
                                 Counterparts counterparts, const std::vector<ExprId>& chosen, const Request& request,
                                 const base::WorkContext& work) {
    Measurement measurement(std::move(plain), std::move(other), std::move(counterparts), request, work);
    return measurement.run(request.inputs, chosen);
}

}  // namespace sonde::session::precision
