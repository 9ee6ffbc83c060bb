#include "core/analysis/bisect.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <set>

#include "core/analysis/compared_values.h"
#include "core/analysis/problem.h"
#include "core/analysis/upstream.h"
#include "core/base/counted_text.h"

namespace sonde::analysis {

using graph::ExprId;
using graph::InternalGraph;
using graph::NodeId;
using tensor::Tensor;
using tensor::Value;

namespace {

/// How far a value of the target is from A's.
struct Judged {
    bool ok = true;
    Difference difference;
    std::string note;
    Value other;  ///< of one that is not ok
};

Judged judge(const Value& own, const Value& other, const Tolerances& tolerances) {
    Judged judged;
    const auto a = asTensor(own), b = asTensor(other);
    if (!a || !b) {
        judged.ok = own.kind() == other.kind();
        if (!judged.ok) judged.note = "a " + other.typeText() + " instead of a " + own.typeText();
        return judged;
    }
    if (a->shape() != b->shape()) {
        judged.ok = false;
        judged.difference.maxAbsolute = judged.difference.maxRelative = std::numeric_limits<double>::infinity();
        judged.note = "shape " + b->shape().text() + " instead of " + a->shape().text();
        return judged;
    }
    judged.difference = difference(*b, *a, tolerances.of(b->dtype(), a->dtype()));
    judged.ok = judged.difference.ok;
    return judged;
}

class Bisector {
  public:
    Bisector(const BisectModel& model, BisectTarget& target, const Tolerances& tolerances, Upstream upstream,
             const base::WorkContext& work)
        : m_model(model), m_graph(*model.graph), m_target(target), m_tolerances(tolerances),
          m_upstream(std::move(upstream)), m_work(work), m_position(executionOrder(m_graph)) {}

    base::Result<Bisection> find(exec::Runner& runner) {
        collectNodes();
        SONDE_TRY(runModel(runner));
        SONDE_TRY(compareAll());
        if (!m_found.differs) return std::move(m_found);
        SONDE_ASSIGN(const bool isSingle, findSingle());
        if (!isSingle) SONDE_TRY(narrow());
        return std::move(m_found);
    }

  private:
    std::size_t positionOf(NodeId node) const { return m_position[m_graph.node(node).producer.index()]; }
    bool isOperation(NodeId node) const {
        const graph::ExprKind kind = m_graph.expr(m_graph.node(node).producer).kind;
        return kind != graph::ExprKind::Input && kind != graph::ExprKind::Constant &&
               kind != graph::ExprKind::GetAttr && kind != graph::ExprKind::Output;
    }

    /// What A computes outside of loops and branches, each value once, and what of it the target has.
    void collectNodes() {
        std::set<NodeId> all, matched;
        for (std::size_t i = 0; i < m_graph.nodeCount(); ++i) {
            const NodeId node(i);
            if (m_graph.isErased(m_graph.node(node).producer) || m_upstream.sourceOf(node) != node) continue;
            if (isOperation(node) && m_upstream.isPlain(node)) all.insert(node);
        }
        for (const NodeId node : m_target.matched())
            if (all.contains(node)) matched.insert(node);
        for (const NodeId input : m_target.editedInputs()) all.insert(input), matched.insert(input);
        m_nodes.assign(matched.begin(), matched.end());
        std::ranges::stable_sort(m_nodes, {}, [this](NodeId node) { return positionOf(node); });
        m_found.computed = all.size();
        if (m_model.values) std::erase_if(m_nodes, [&](NodeId node) { return !m_model.values->contains(node); });
        m_found.matched = m_nodes.size();
        for (const NodeId node : m_graph.outputs()) m_outputs.push_back(m_upstream.sourceOf(node));
    }

    base::Result<void> runModel(exec::Runner& runner) {
        if (m_model.values) {
            m_values = *m_model.values;
            return {};
        }
        exec::PlanOptions options;
        for (const NodeId node : m_nodes)
            if (isOperation(node)) options.watch.push_back(node);
        SONDE_ASSIGN(const auto plan, exec::Plan::make(m_model.graph, options));
        exec::RunOptions run;
        run.seed = m_model.seed;
        const exec::Recording recording = runner.run(*plan, m_model.inputs, stopOnly(), run);
        if (recording.error) return errorOf(m_model, *recording.error);
        for (const NodeId node : options.watch)
            if (const Value* const value = recording.value(node)) m_values.emplace(node, *value);
        const auto& inputs = m_graph.inputs();
        for (std::size_t i = 0; i < std::min(inputs.size(), m_model.inputs.size()); ++i)
            if (std::ranges::count(m_target.editedInputs(), inputs[i]) > 0)
                m_values.emplace(inputs[i], m_model.inputs[i]);
        return {};
    }

    base::WorkContext stopOnly() const { return {m_work.stop, {}}; }

    base::Result<BisectTarget::Values> runTarget(const BisectTarget::Values& given, const std::vector<NodeId>& wanted) {
        constexpr std::size_t kRun = 100;
        const std::size_t expected =
            std::max<std::size_t>(2 + static_cast<std::size_t>(std::bit_width(m_nodes.size())), m_found.runs + 1);
        const std::string what = "run " + std::to_string(m_found.runs + 1) + " of at most " + std::to_string(expected);
        const auto report = [&, before = m_found.runs * kRun](std::size_t part) {
            m_work.report(what, before + part, expected * kRun);
        };
        ++m_found.runs;
        report(0);
        const base::WorkContext inner{m_work.stop, [&](const base::Progress& progress) {
                                          if (progress.total > 0)
                                              report(std::min(progress.done * kRun / progress.total, kRun));
                                      }};
        auto values = m_target.run(given, wanted, inner);
        addStep(given.size(), wanted, values);
        return values;
    }

    void addStep(std::size_t given, const std::vector<NodeId>& wanted,
                 const base::Result<BisectTarget::Values>& values) {
        BisectStep step;
        step.given = given;
        if (!values) step.refusal = values.error().what;
        for (const NodeId node : wanted) {
            if (!values || m_upstream.isRandom(node) || !m_values.contains(node) || !values->contains(node)) continue;
            ++step.compared;
            if (!differing(node, *values)) continue;
            ++step.differing;
            if (!step.first.valid()) step.first = node;
        }
        m_found.steps.push_back(std::move(step));
    }

    /// Whether a node that the target computed has another value there; what has no value says nothing.
    std::optional<Judged> differing(NodeId node, const BisectTarget::Values& others) const {
        const auto own = m_values.find(node);
        const auto other = others.find(node);
        if (own == m_values.end() || other == others.end()) return std::nullopt;
        Judged judged = judge(own->second, other->second, m_tolerances);
        if (judged.ok) return std::nullopt;
        judged.other = other->second;
        return judged;
    }

    /// The first run: the target by itself.
    base::Result<void> compareAll() {
        SONDE_ASSIGN(const BisectTarget::Values others, runTarget({}, m_nodes));
        bool anyCompared = false, anyElement = false;
        std::vector<NodeId> wrong;
        for (const NodeId output : m_outputs) {
            if (differing(output, others)) wrong.push_back(output);
            const auto own = m_values.find(output);
            if (own == m_values.end() || !others.contains(output)) continue;
            anyCompared = true;
            anyElement = anyElement || !own->second.isTensor() || own->second.tensor().numel() > 0;
        }
        if (!anyCompared)
            return base::usageError(
                "no output of the model has a counterpart in " + m_target.title(),
                std::to_string(m_found.matched) + " of " + std::to_string(m_found.computed) + " values have one",
                "both must be forms of one model, with names or modules in common");
        m_found.differs = !wrong.empty();
        if (!m_found.differs && !anyElement) m_found.note = "the outputs have no elements: nothing was compared";
        const std::set<ExprId> leading = upstreamOf(wrong);
        for (const NodeId node : m_nodes) {
            const auto own = m_values.find(node);
            const auto other = others.find(node);
            if (own == m_values.end() || other == others.end()) continue;
            const Judged judged = judge(own->second, other->second, m_tolerances);
            if (!judged.ok && m_found.inBetween++ < Bisection::kListedInBetween) m_found.firstInBetween.push_back(node);
            if (!judged.note.empty()) {  // of another shape: cannot be given
                ++m_found.reshaped;
                continue;
            }
            m_givable.push_back(node);
        }
        for (const NodeId node : m_nodes) {
            if (!leading.contains(m_graph.node(node).producer) || !m_values.contains(node)) continue;
            if (m_upstream.isRandom(node)) ++m_random;
            else m_suspects.push_back(node);
        }
        for (const NodeId node : m_suspects) {
            auto judged = differing(node, others);
            if (!judged) continue;
            if (!m_first.valid()) m_first = node, m_firstJudged = std::move(*judged);
        }
        if (m_random > 0)
            m_found.notes.push_back(base::countedText(static_cast<std::int64_t>(m_random), "value") +
                                    " of random operators " + (m_random == 1 ? "is" : "are") + " not compared");
        return {};
    }

    std::set<ExprId> upstreamOf(const std::vector<NodeId>& nodes) const {
        std::vector<bool> inputs(m_graph.nodeCount(), false);
        for (const NodeId input : m_target.editedInputs()) inputs[input.index()] = true;
        std::set<ExprId> found;
        for (const NodeId node : nodes) {
            const UpstreamPart part = m_upstream.to(node, inputs);
            found.insert(part.between.begin(), part.between.end());
            for (const NodeId input : part.known) found.insert(m_graph.node(input).producer);
            found.insert(m_graph.node(node).producer);
        }
        return found;
    }

    BisectTarget::Values valuesOf(const std::vector<NodeId>& nodes) const {
        BisectTarget::Values values;
        for (const NodeId node : nodes) values.emplace(node, m_values.at(node));
        return values;
    }

    /// One run in which each operation gets A's values: what differs then differs by itself. False: nothing does, or
    /// the target cannot be run so.
    base::Result<bool> findSingle() {
        const auto others = runTarget(valuesOf(m_givable), m_suspects);
        if (!others && others.error().kind == base::ErrorKind::Cancelled) return others.error();
        if (!others) {
            noteRefusal(others.error());
            return false;
        }
        m_isTried = true;
        for (const NodeId node : m_suspects) {
            auto judged = differing(node, *others);
            if (!judged) continue;
            if (m_found.all.empty()) setPart(node, m_givable, std::move(*judged));
            m_found.all.push_back(node);
        }
        return !m_found.all.empty();
    }

    /// Differences add up on the way to the first value that differs. The more of A's values the target is given on
    /// that way, the smaller they are: the largest beginning with which it still differs.
    base::Result<void> narrow() {
        std::vector<NodeId> way;  // in order
        const std::set<ExprId> leading = upstreamOf({m_first});
        for (const NodeId node : m_givable)
            if (node != m_first && leading.contains(m_graph.node(node).producer)) way.push_back(node);
        std::size_t low = 0, high = way.size() + 1;  // differs with `low` values; not with `high`, or nobody knows
        if (m_isTried) high = way.size();
        Judged judged = m_firstJudged;
        while (low + 1 < high) {
            if (m_work.cancelled()) return base::cancelled();
            const std::size_t middle = low + (high - low) / 2;
            const std::vector<NodeId> given(way.begin(), way.begin() + static_cast<std::ptrdiff_t>(middle));
            const auto others = runTarget(valuesOf(given), {m_first});
            if (!others && others.error().kind == base::ErrorKind::Cancelled) return others.error();
            std::optional<Judged> still;
            if (others) still = differing(m_first, *others);
            else noteRefusal(others.error());
            if (still) judged = std::move(*still), low = middle;
            else high = middle;
        }
        way.resize(low);
        setPart(m_first, way, std::move(judged));
        m_found.all = {m_first};
        m_found.isAccumulated = m_found.operations.size() > 1 && m_isTried;
        return {};
    }

    void noteRefusal(const base::Error& error) {
        const std::string note = "the other model cannot be run on given values: " + error.what;
        if (m_found.notes.empty() || m_found.notes.back() != note) m_found.notes.push_back(note);
    }

    void setPart(NodeId node, const std::vector<NodeId>& given, Judged judged) {
        std::vector<bool> known(m_graph.nodeCount(), false);
        for (const NodeId each : given) known[each.index()] = true;
        for (const NodeId input : m_graph.inputs()) known[m_upstream.sourceOf(input).index()] = true;
        known[node.index()] = false;
        m_found.node = node;
        if (isOperation(node)) {
            UpstreamPart part = m_upstream.to(node, known);
            m_found.from = std::move(part.known);
            m_found.operations = std::move(part.between);
            m_found.operations.push_back(m_graph.node(node).producer);
        } else {
            m_found.from = {node};
        }
        m_found.difference = judged.difference;
        m_found.note = std::move(judged.note);
        m_found.own = m_values.at(node);
        m_found.other = std::move(judged.other);
    }

    const BisectModel& m_model;
    const InternalGraph& m_graph;
    BisectTarget& m_target;
    const Tolerances& m_tolerances;
    Upstream m_upstream;
    const base::WorkContext& m_work;
    std::vector<std::size_t> m_position;  ///< by expr: in execution order
    std::vector<NodeId> m_nodes;          ///< that both compute, in order
    std::vector<NodeId> m_outputs;        ///< by source
    BisectTarget::Values m_values;        ///< A's
    std::vector<NodeId> m_givable;        ///< of m_nodes: of the same shape in both
    std::vector<NodeId> m_suspects;       ///< of m_nodes: that outputs which differ depend on
    std::size_t m_random = 0;
    NodeId m_first;  ///< of m_suspects: the first that differs
    Judged m_firstJudged;
    bool m_isTried = false;  ///< each operation on A's values
    Bisection m_found;
};

}  // namespace

base::Error errorOf(const BisectModel& model, base::Error error) {
    if (model.title.empty() || error.kind == base::ErrorKind::Cancelled) return error;
    error.where = "in " + model.title + (error.where.empty() ? "" : ", " + error.where);
    return error;
}

base::Result<Bisection> bisect(const BisectModel& model, BisectTarget& target, const Tolerances& tolerances,
                               exec::Runner& runner, const base::WorkContext& work) {
    SONDE_ASSIGN(Upstream upstream, Upstream::make(model.graph));
    return Bisector(model, target, tolerances, std::move(upstream), work).find(runner);
}

}  // namespace sonde::analysis
