#include "core/analysis/measured_runs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_set>

#include "core/analysis/edited_values.h"
#include "core/analysis/match.h"
#include "core/analysis/node_measures.h"
#include "core/analysis/stored_layouts.h"
#include "core/exec/flatten.h"

namespace sonde::analysis {

using exec::Recording;
using graph::ExprId;
using graph::InternalGraph;
using graph::NodeId;
using tensor::Tensor;

namespace {

constexpr std::int64_t kUnknownBytes = 1 << 20;  // of a value whose size is not known before the run

bool isComputed(const InternalGraph& graph, NodeId node) {
    const graph::Expr& expr = graph.expr(graph.node(node).producer);
    return expr.kind != graph::ExprKind::Input && expr.kind != graph::ExprKind::GetAttr &&
           expr.kind != graph::ExprKind::Constant;
}

std::vector<NodeId> computedNodes(const InternalGraph& graph) {
    std::vector<NodeId> nodes;
    for (const ExprId id : graph.recursiveOrder(graph.mainId()))
        for (const NodeId output : graph.expr(id).outputs)
            if (isComputed(graph, output)) nodes.push_back(output);
    return nodes;
}

/// The nodes in their order, cut where the values of a part would pass the limit.
std::vector<std::vector<NodeId>> parts(const InternalGraph& graph, const std::vector<NodeId>& nodes,
                                       std::int64_t heldBytes) {
    std::vector<std::vector<NodeId>> result;
    std::int64_t held = 0;
    for (const NodeId node : nodes) {
        const std::int64_t bytes = byteCount(graph.node(node)).value_or(kUnknownBytes);
        if (result.empty() || held > heldBytes - std::min(bytes, heldBytes)) {
            result.emplace_back();
            held = 0;
        }
        result.back().push_back(node);
        held += bytes;
    }
    return result;
}

base::Result<Recording> runWatching(const MeasuredRun& run, const std::vector<NodeId>& nodes, exec::Runner& runner,
                                    const base::WorkContext& work) {
    exec::PlanOptions options;
    options.watch = nodes;
    options.edits = run.edits;
    SONDE_ASSIGN(const auto plan, exec::Plan::make(run.graph, options));
    Recording recording = runner.run(*plan, run.inputs, work);
    if (recording.error && recording.error->kind == base::ErrorKind::Cancelled) return *recording.error;
    return recording;
}

/// "[1,2,16,16,8] (NCHW -> N C/8 H W C%8)".
std::string storedText(const Tensor& tensor, const std::string& packing) {
    return tensor.shape().text() + (packing.empty() ? "" : " (" + packing + ")");
}

/// How the values of a pair of nodes are stored: see StoredLayouts::of().
struct Packings {
    std::string actual, expected;
};

NodeDifference differenceOf(const Tensor& actual, const Tensor& expected, const Packings& packings,
                            const Tolerances& tolerances) {
    if (const auto plain = inOneLayout(actual, packings.actual, expected, packings.expected))
        return differenceOf(plain->first, plain->second, {}, tolerances);
    NodeDifference result;
    result.typeText = differentTypes(actual.dtype(), expected.dtype());
    if (actual.shape() != expected.shape()) {
        result.ok = false;
        result.maxAbsolute = result.maxRelative = INFINITY;
        result.isMeasured = false;
        result.note =
            "shape " + storedText(actual, packings.actual) + " instead of " + storedText(expected, packings.expected);
        return result;
    }
    const Difference found = difference(actual, expected, tolerances.of(actual.dtype(), expected.dtype()));
    result.maxAbsolute = found.maxAbsolute;
    result.maxRelative = found.maxRelative;
    result.ok = found.ok;
    result.cosine = found.cosine;
    result.snr = found.snr;
    if (found.masks) result.maskText = found.masks->text();
    return result;
}

/// The worse of both in each respect.
void addWorse(std::optional<NodeDifference>& worst, NodeDifference one) {
    if (!worst) {
        worst = std::move(one);
        return;
    }
    worst->maxAbsolute = std::max(worst->maxAbsolute, one.maxAbsolute);
    worst->maxRelative = std::max(worst->maxRelative, one.maxRelative);
    worst->ok = worst->ok && one.ok;
    worst->cosine = std::fmin(worst->cosine, one.cosine);  // what is not known says nothing
    worst->snr = std::fmin(worst->snr, one.snr);
    worst->isMeasured = worst->isMeasured && one.isMeasured;
    // One pass that holds no number leaves nothing to be said of all.
    if (std::isinf(worst->maxAbsolute)) worst->cosine = worst->snr = NAN;
    if (worst->note.empty()) worst->note = std::move(one.note);
    if (worst->typeText.empty()) worst->typeText = std::move(one.typeText);
    if (worst->maskText.empty()) worst->maskText = std::move(one.maskText);
    if (one.iteration) worst->iteration = std::min(worst->iteration.value_or(*one.iteration), *one.iteration);
}

/// Of a node that one of two runs computed: another branch was taken, or a loop had no iterations.
NodeDifference differenceOfOne(bool isOurs) {
    NodeDifference result;
    result.ok = false;
    result.maxAbsolute = result.maxRelative = INFINITY;
    result.isMeasured = false;
    result.note = isOurs ? "computed in this run only" : "computed in the reference only";
    return result;
}

/// What a failed run came to, in the order of the program: a kernel may have done later operations with earlier ones.
class Reach {
  public:
    Reach(const InternalGraph& graph, const Recording& recording) : m_graph(graph) {
        if (!recording.error || !recording.failedAt.valid()) return;
        const std::vector<ExprId>& order = graph.main().order;
        const auto failed = std::ranges::find(order, inMain(recording.failedAt));
        if (failed != order.end()) m_after.insert(failed + 1, order.end());
    }
    bool has(NodeId node) const { return m_after.empty() || !m_after.contains(inMain(m_graph.node(node).producer)); }

  private:
    /// Itself, or of an operation of a loop or branch: the one of the main body that it is inside of.
    ExprId inMain(ExprId at) const {
        while (m_graph.expr(at).body != m_graph.mainId()) at = m_graph.body(m_graph.expr(at).body).owner;
        return at;
    }

    const InternalGraph& m_graph;
    std::unordered_set<ExprId> m_after;  ///< of the main body, behind the failure
};

/// All iterations of a loop together.
std::optional<NodeDifference> differenceOf(const Recording& actual, NodeId node, const Recording& expected,
                                           NodeId other, const Packings& packings, const Tolerances& tolerances) {
    std::optional<NodeDifference> worst;
    const std::size_t ours = actual.iterations(node), theirs = expected.iterations(other);
    const std::size_t both = std::min(ours, theirs);
    if (both == 0 && ours != theirs && !actual.error && !expected.error) return differenceOfOne(ours > 0);
    for (std::size_t pass = 0; pass < both; ++pass) {
        const auto a = asTensor(*actual.value(node, pass)), r = asTensor(*expected.value(other, pass));
        if (!a || !r) continue;
        NodeDifference one = differenceOf(*a, *r, packings, tolerances);
        if (!one.ok && ours > 1) one.iteration = pass;
        addWorse(worst, std::move(one));
    }
    if (worst && ours != theirs) {
        worst->ok = false;
        worst->note = std::to_string(ours) + " iterations instead of " + std::to_string(theirs);
    }
    return worst;
}

/// Goes through the graph as it runs, the insides of control flow before what comes out of it, counts, and tells where
/// differences begin from where they are handed on. Within a loop a value hands its difference on from the iteration on
/// in which it has one: what differs in iteration 0 already did not get it from what differs in iteration 1.
class Summary {
  public:
    Summary(const InternalGraph& graph, RunDifferences& result)
        : m_graph(graph), m_result(result), m_since(graph.nodeCount(), kNever) {}

    void make() {
        for (const NodeId input : m_result.differingInputs) m_since[input.index()] = 0;
        struct Level {
            graph::BodyId body;
            std::size_t at = 0;
            std::size_t inner = 0;  ///< bodies of the expr at `at` that were gone through
        };
        std::vector<Level> stack{{m_graph.mainId()}};
        while (!stack.empty()) {
            Level& level = stack.back();
            const std::vector<ExprId>& order = m_graph.body(level.body).order;
            if (level.at == order.size()) {
                stack.pop_back();
                continue;
            }
            const graph::Expr& expr = m_graph.expr(order[level.at]);
            if (level.inner < expr.bodies.size()) {
                const graph::BodyId body = expr.bodies[level.inner++];
                handIn(expr, body);
                stack.push_back({body});
                continue;
            }
            handOut(expr);
            ++level.at;
            level.inner = 0;
        }
    }

  private:
    static constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();

    /// The first iteration in which one of them differs, for what is in `body`: of another body no one can tell.
    std::size_t firstWrong(const std::vector<NodeId>& nodes, graph::BodyId body) const {
        std::size_t first = kNever;
        for (const NodeId node : nodes) {
            const std::size_t since = m_since[node.index()];
            if (since == kNever) continue;
            const bool isHere = m_graph.expr(m_graph.node(node).producer).body == body;
            first = std::min(first, isHere ? since : 0);
        }
        return first;
    }

    std::size_t sinceOf(NodeId node, std::size_t handedOn) const {
        const auto& known = m_result.ofNode[node.index()];
        if (!known) return handedOn;  // what was not compared hands on
        return known->ok ? kNever : known->iteration.value_or(0);
    }

    void handIn(const graph::Expr& expr, graph::BodyId body) {
        const graph::Body& inside = m_graph.body(body);
        const bool oneByOne = expr.op.name.empty() && inside.inputs.size() <= expr.inputs.size();
        std::size_t any = firstWrong(expr.inputs, body);
        // What an iteration gives is what the next one is given.
        for (const NodeId output : inside.outputs)
            if (const std::size_t since = sinceOf(output, kNever); !oneByOne && since != kNever)
                any = std::min(any, since + 1);
        for (std::size_t i = 0; i < inside.inputs.size(); ++i)
            m_since[inside.inputs[i].index()] =
                sinceOf(inside.inputs[i], oneByOne ? m_since[expr.inputs[i].index()] : any);
    }

    void handOut(const graph::Expr& expr) {
        if (expr.kind == graph::ExprKind::Input) return;  // of bodies: see handIn()
        std::size_t first = firstWrong(expr.inputs, expr.body);
        for (const graph::BodyId body : expr.bodies)
            first = std::min(first, firstWrong(m_graph.body(body).outputs, expr.body));
        for (const NodeId node : expr.outputs) {
            auto& known = m_result.ofNode[node.index()];
            m_since[node.index()] = sinceOf(node, first);
            if (!known) continue;
            ++m_result.compared;
            if (known->ok) continue;
            known->isInherited = first <= m_since[node.index()];
            m_result.diverging.push_back(node);
        }
    }

    const InternalGraph& m_graph;
    RunDifferences& m_result;
    std::vector<std::size_t> m_since;  ///< by NodeId: the first iteration in which it differs; kNever: it does not
};

void summarise(const InternalGraph& graph, RunDifferences& result) {
    Summary(graph, result).make();
    result.differing = result.diverging.size();
    if (!result.diverging.empty()) result.firstDiverging = result.diverging.front();
}

}  // namespace

std::string NodeDifference::remarks() const {
    std::string text;
    const std::string place = iteration ? "first in iteration " + std::to_string(*iteration) : "";
    for (const std::string& one : {note, typeText, maskText, place})
        if (!one.empty()) text += (text.empty() ? "" : ", ") + one;
    return text;
}

base::Result<RunStats> measureRun(const MeasuredRun& run, exec::Runner& runner, const base::WorkContext& work) {
    RunStats result;
    result.ofNode.resize(run.graph->nodeCount());
    exec::PlanOptions plan;
    plan.watch = computedNodes(*run.graph);
    plan.measuresWatched = true;
    plan.edits = run.edits;
    SONDE_ASSIGN(const auto made, exec::Plan::make(run.graph, plan));
    const std::vector<NodeId> sources = exec::valueSources(*run.graph);
    std::vector<std::optional<TensorStats>> last(run.graph->nodeCount());  // by node: of the value that it has now
    exec::RunOptions options;
    options.countsBad = false;  // the statistics do
    options.measured = [&](NodeId node, const tensor::Value& value, const ops::kernels::ElementMoments* moments) {
        const NodeId source = sources[node.index()];
        auto& now = last[node.index()];
        if (source != node && last[source.index()]) {
            now = last[source.index()];
        } else if (moments) {
            now = tensorStats(*moments);
        } else {
            const auto tensor = asTensor(value);
            if (!tensor || tensor->dtype() == tensor::DType::String) return;
            now = tensorStats(*tensor, work.stop, &runner.pool());
        }
        auto& known = result.ofNode[node.index()];
        known = known ? together(*known, *now) : *now;
    };
    Recording recording = runner.run(*made, run.inputs, work, options);
    // The last ones may be of a part of the elements.
    if (work.cancelled()) return base::cancelled();
    result.error = std::move(recording.error);
    return result;
}

namespace {

/// Inputs of `actual` that have a value of their own in both runs, and not the same.
std::vector<NodeId> differingInputs(const MeasuredRun& actual, const MeasuredRun& reference,
                                    const std::vector<NodeId>& match) {
    std::vector<NodeId> found;
    const std::vector<NodeId>& theirs = reference.graph->inputs();
    for (std::size_t i = 0; i < actual.inputs.size() && i < actual.graph->inputs().size(); ++i) {
        const NodeId input = actual.graph->inputs()[i];
        const auto at = std::ranges::find(theirs, match[input.index()]);
        const std::size_t other = static_cast<std::size_t>(at - theirs.begin());
        if (at == theirs.end() || other >= reference.inputs.size()) continue;
        const tensor::Value &own = actual.inputs[i], &its = reference.inputs[other];
        const auto a = asTensor(own), r = asTensor(its);
        const bool isSame = a && r ? tensor::identical(*a, *r) : own.text() == its.text();
        if (!isSame) found.push_back(input);
    }
    return found;
}

bool isSame(const tensor::Value& a, const tensor::Value& b) {
    const auto first = asTensor(a), second = asTensor(b);
    return first && second ? tensor::identical(*first, *second) : !first && !second && a.text() == b.text();
}

/// `isWhole`: these are all values that are compared.
base::Result<std::shared_ptr<const Recording>> referenceValues(const MeasuredRun& reference,
                                                               const std::vector<NodeId>& nodes, bool isWhole,
                                                               exec::Runner& runner, const base::WorkContext& work) {
    const bool isKept = reference.kept && isWhole && !reference.edits;
    if (isKept)
        if (auto known = reference.kept->find(*reference.graph, reference.inputs, nodes)) return known;
    SONDE_ASSIGN(Recording made, runWatching(reference, nodes, runner, work));
    auto recording = std::make_shared<const Recording>(std::move(made));
    if (isKept && !recording->error) reference.kept->keep(reference.graph, reference.inputs, nodes, recording);
    return recording;
}

}  // namespace

std::shared_ptr<const Recording> KeptRun::find(const InternalGraph& graph, const std::vector<tensor::Value>& inputs,
                                               const std::vector<NodeId>& nodes) const {
    const std::scoped_lock lock(m_mutex);
    if (m_graph.get() != &graph || m_nodes != nodes || !std::ranges::equal(m_inputs, inputs, isSame)) return nullptr;
    return m_recording;
}

void KeptRun::keep(std::shared_ptr<const InternalGraph> graph, std::vector<tensor::Value> inputs,
                   std::vector<NodeId> nodes, std::shared_ptr<const Recording> recording) {
    const std::scoped_lock lock(m_mutex);
    m_graph = std::move(graph);
    m_inputs = std::move(inputs);
    m_nodes = std::move(nodes);
    m_recording = std::move(recording);
}

base::Result<RunDifferences> compareRuns(const MeasuredRun& actual, const MeasuredRun& reference,
                                         const Tolerances& tolerances, exec::Runner& runner,
                                         const base::WorkContext& work, std::int64_t heldBytes) {
    RunDifferences result;
    result.ofNode.resize(actual.graph->nodeCount());
    const std::vector<NodeId> match =
        withEditedValues(matchNodes(*actual.graph, *reference.graph), *actual.graph, *reference.graph);
    result.differingInputs = differingInputs(actual, reference, match);
    std::vector<NodeId> nodes = computedNodes(*actual.graph);
    std::erase_if(nodes, [&](NodeId node) {
        return !match[node.index()].valid() || !isComputed(*reference.graph, match[node.index()]);
    });
    const StoredLayouts ourLayouts(*actual.graph), theirLayouts(*reference.graph);
    // Both runs hold values at the same time.
    const std::vector<std::vector<NodeId>> all = parts(*actual.graph, nodes, heldBytes / 2);
    for (const std::vector<NodeId>& part : all) {
        std::vector<NodeId> others;
        for (const NodeId node : part) others.push_back(match[node.index()]);
        SONDE_ASSIGN(const Recording ours, runWatching(actual, part, runner, work));
        SONDE_ASSIGN(const auto expected, referenceValues(reference, others, all.size() == 1, runner, work));
        const Recording& theirs = *expected;
        const Reach reach(*actual.graph, ours), otherReach(*reference.graph, theirs);
        for (std::size_t i = 0; i < part.size(); ++i) {
            if (work.cancelled()) return base::cancelled();
            if (reach.has(part[i]) && otherReach.has(others[i]))
                result.ofNode[part[i].index()] = differenceOf(
                    ours, part[i], theirs, others[i], {ourLayouts.of(part[i]), theirLayouts.of(others[i])}, tolerances);
        }
        if (!result.error || (result.isReferenceError && ours.error)) {
            result.error = ours.error ? ours.error : theirs.error;
            result.isReferenceError = !ours.error && theirs.error;
        }
    }
    summarise(*actual.graph, result);
    return result;
}

void markDifferent(const InternalGraph& graph, RunDifferences& differences, NodeId node, const std::string& note) {
    auto& known = differences.ofNode.at(node.index());
    if (!known) return;
    known->ok = false;
    known->note += (known->note.empty() ? "" : ", ") + note;
    differences.compared = 0;
    differences.diverging.clear();
    for (auto& each : differences.ofNode)
        if (each) each->isInherited = false;
    summarise(graph, differences);
}

std::string remarksOn(const InternalGraph& graph, const RunDifferences& differences) {
    std::string text = unmatchedText(differences.unmatched);
    constexpr std::size_t kMaxListed = 3;
    for (std::size_t i = 0; i < differences.pairings.size() && i < kMaxListed; ++i)
        text += (text.empty() ? "" : "; ") + differences.pairings[i];
    if (differences.pairings.size() > kMaxListed)
        text += " and " + std::to_string(differences.pairings.size() - kMaxListed) + " more";
    std::size_t others = 0;
    std::string types;
    for (std::size_t i = 0; i < differences.ofNode.size() && i < graph.nodeCount(); ++i) {
        const auto& one = differences.ofNode[i];
        if (!one || one->typeText.empty() || ++others > kMaxListed) continue;
        types += (types.empty() ? "" : ", ") + graph.node(NodeId(i)).name + " (" + one->typeText + ")";
    }
    if (others == 0) return text;
    if (others > kMaxListed) types += " and " + std::to_string(others - kMaxListed) + " more";
    return text + (text.empty() ? "" : "; ") + std::to_string(others) +
           (others == 1 ? " value has another dtype: " : " values have another dtype: ") + types;
}

RunDifferences differencesOf(const InternalGraph& graph, const ComparedCase& compared) {
    RunDifferences result;
    result.ofNode.resize(graph.nodeCount());
    result.error = compared.error;
    result.unmatched = compared.unmatched;
    for (const ComparedValue& value : compared.values) {
        if (!value.node.valid() || value.node.index() >= result.ofNode.size()) continue;
        if (!value.outputByPosition.empty())
            result.pairings.push_back("out." + value.name + " is " + value.pairingText());
        // What a failed run did not come to is no difference: the failure is told for itself.
        if (compared.error && !value.hasValue) continue;
        NodeDifference one{value.maxAbsolute, value.maxRelative, value.ok, value.note, value.cosine, value.snr};
        one.isMeasured = value.isMeasured();
        if (!one.isMeasured) one.maxAbsolute = one.maxRelative = INFINITY;
        one.typeText = value.typeText();
        one.maskText = value.maskText;
        if (!one.ok) one.iteration = value.iteration;
        addWorse(result.ofNode[value.node.index()], std::move(one));
    }
    summarise(graph, result);
    return result;
}

}  // namespace sonde::analysis
