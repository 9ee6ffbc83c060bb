#include "core/analysis/divergence.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "core/analysis/divergence_advice.h"
#include "core/analysis/relation.h"
#include "core/analysis/upstream.h"
#include "core/base/number_text.h"

namespace sonde::analysis {

using graph::ExprId;
using graph::InternalGraph;
using graph::NodeId;
using tensor::Tensor;
using tensor::Value;

namespace {

/// What is computed again is another origin only where it differs by more than what its tolerance tells apart.
constexpr double kClearly = 10;

std::string amountText(const NodeDifference& difference) {
    if (!difference.isMeasured) return difference.note.empty() ? "cannot be compared" : difference.note;
    if (std::isinf(difference.maxAbsolute)) return "is not finite where the reference is, or the reverse";
    return "differs from the reference by up to " + base::roundedText(difference.maxAbsolute, 3);
}

/// "relu_1, conv2 and 3 more"
std::string listOf(const InternalGraph& graph, const std::vector<NodeId>& nodes) {
    constexpr std::size_t kMaxListed = 3;
    std::string text;
    for (std::size_t i = 0; i < std::min(nodes.size(), kMaxListed); ++i)
        text += (i == 0 ? "" : ", ") + graph.node(nodes[i]).name;
    return nodes.size() > kMaxListed ? text + " and " + std::to_string(nodes.size() - kMaxListed) + " more" : text;
}

class DivergenceSearch {
  public:
    DivergenceSearch(const ComparedRun& run, Upstream upstream, exec::Runner& runner, const base::WorkContext& work)
        : m_run(run), m_graph(*run.graph), m_upstream(std::move(upstream)), m_runner(runner), m_work(work),
          m_isKnown(m_graph.nodeCount(), false), m_differs(m_graph.nodeCount(), false),
          m_shown(m_graph.nodeCount(), NodeId()) {}

    base::Result<std::vector<Problem>> find() {
        judgeInputs();
        const std::size_t count = m_run.differences.ofNode.size();
        for (std::size_t i = 0; i < count; ++i) noteCompared(NodeId(i));
        for (std::size_t i = 0; i < count; ++i) {
            if (m_work.cancelled()) return base::cancelled();
            const NodeId node(i);
            if (isWrong(node) && m_shown[m_upstream.sourceOf(node).index()] == node) judgeWrong(node);
        }
        sortProblems(m_graph, m_problems);
        return std::move(m_problems);
    }

  private:
    void judgeInputs() {
        const std::vector<NodeId>& inputs = m_graph.inputs();
        for (const NodeId input : inputs) m_isKnown[m_upstream.sourceOf(input).index()] = true;
        for (const NodeId input : m_run.differences.differingInputs) m_differs[input.index()] = true;
        for (std::size_t i = 0; i < std::min(inputs.size(), m_run.inputs.size()); ++i) {
            const auto own = m_run.replaced.find(inputs[i]);
            if (own == m_run.replaced.end() || !m_run.inputs[i].isTensor()) continue;
            auto problem = inputDivergence(m_graph, inputs[i], m_run.inputs[i].tensor(), own->second, m_run.tolerances);
            if (!problem) continue;
            m_differs[inputs[i].index()] = true;
            m_problems.push_back(std::move(*problem));
        }
    }

    bool isWrong(NodeId node) const {
        const auto& known = m_run.differences.ofNode[node.index()];
        return known && !known->ok;
    }

    /// One value may be compared under several names: it is shown under one that differs, and of these under that of
    /// what computes it.
    void noteCompared(NodeId node) {
        const auto& known = m_run.differences.ofNode[node.index()];
        if (!known) return;
        const NodeId source = m_upstream.sourceOf(node);
        m_isKnown[source.index()] = true;
        NodeId& shown = m_shown[source.index()];
        if (!shown.valid() || (isWrong(node) == isWrong(shown) ? node == source : isWrong(node))) shown = node;
        if (!known->ok) m_differs[source.index()] = true;
    }

    const NodeDifference& differenceAt(NodeId node) const { return *m_run.differences.ofNode[node.index()]; }

    Problem problemFor(NodeId node, ProblemRole role) const {
        Problem problem = problemAt(m_graph, node, ProblemKind::Divergence, role);
        problem.operatorName = operatorText(m_graph.expr(m_graph.node(m_upstream.sourceOf(node)).producer));
        return problem;
    }

    void judgeWrong(NodeId node) {
        const NodeId source = m_upstream.sourceOf(node);
        const auto found = m_run.contradictions.find(source);
        const std::string contradiction =
            found == m_run.contradictions.end()
                ? std::string()
                : "the reference contradicts itself: " + found->second.keys + " are the same value of the model";
        if (!contradiction.empty() && found->second.isRight) {
            m_problems.push_back(contradictory(node, contradiction));
        } else if (m_graph.expr(m_graph.node(source).producer).kind == graph::ExprKind::Input) {
            judgeInput(node);
        } else {
            m_problems.push_back(m_upstream.isPlain(node) ? judge(node) : judgeInLoop(node));
            if (!contradiction.empty()) m_problems.back().message += "; " + contradiction;
        }
    }

    Problem contradictory(NodeId node, const std::string& contradiction) const {
        Problem problem = problemFor(node, ProblemRole::Origin);
        problem.message =
            contradiction + "; the model's value " + amountText(differenceAt(node)) + " under the first name";
        problem.advice =
            "Record the reference again, all values in one run; an operation in place may have changed one of them "
            "before it was stored";
        return problem;
    }

    /// An input of the model, or what a loop or branch was given.
    void judgeInput(NodeId node) {
        const NodeId source = m_upstream.sourceOf(node);
        const bool isOfModel = std::ranges::count(m_graph.inputs(), source) > 0;
        if (isOfModel && std::ranges::count(m_problems, source, &Problem::node) > 0) return;
        Problem problem = problemFor(node, isOfModel ? ProblemRole::Origin : ProblemRole::Carrier);
        problem.message = amountText(differenceAt(node));
        if (isOfModel) {
            problem.message = "the given input is not that of the reference: it " + problem.message;
            problem.advice = "Give the input that the reference was recorded with";
        }
        m_problems.push_back(std::move(problem));
    }

    Problem judgeInLoop(NodeId node) const {
        const NodeDifference& difference = differenceAt(node);
        Problem problem = problemFor(node, difference.isInherited ? ProblemRole::Carrier : ProblemRole::Origin);
        problem.message = amountText(difference);
        if (difference.iteration) problem.message += ", first in iteration " + std::to_string(*difference.iteration);
        if (!difference.isInherited) {
            problem.message = "same inputs, other output: " + problem.message;
            problem.advice = divergenceAdvice(m_graph, {m_graph.node(node).producer});
        }
        return problem;
    }

    /// What the operations give for the reference's own values, and whether that is the reference's output.
    struct Recomputed {
        Tensor own, expected;
        bool isSame = false, isClearlyOther = false;
    };

    std::optional<Recomputed> recomputed(NodeId node, const UpstreamPart& part) const {
        if (!m_run.reference || part.isOpen) return std::nullopt;
        const auto expected = m_run.reference(node);
        if (!expected) return std::nullopt;
        std::unordered_map<NodeId, Value> values;
        for (const NodeId known : part.known) {
            auto value = referenceAt(known);
            if (!value) return std::nullopt;
            values.emplace(known, std::move(*value));
        }
        const auto value = m_upstream.recompute(node, part, std::move(values), m_runner, m_work);
        if (!value || !value->isTensor() || value->tensor().shape() != expected->shape()) return std::nullopt;
        Tolerance tolerance = m_run.tolerances.of(value->tensor().dtype(), expected->dtype());
        Recomputed result{value->tensor(), *expected};
        result.isSame = difference(result.own, result.expected, tolerance).ok;
        tolerance.absolute *= kClearly, tolerance.relative *= kClearly, tolerance.ofLargest *= kClearly;
        result.isClearlyOther = !difference(result.own, result.expected, tolerance).ok;
        return result;
    }

    /// By source: of an input what the run had, or the reference instead; of others the reference's, if the operation
    /// that takes it can.
    std::optional<Value> referenceAt(NodeId source) const {
        const auto& inputs = m_graph.inputs();
        if (const auto at = std::ranges::find(inputs, source); at != inputs.end()) {
            if (const auto own = m_run.replaced.find(source); own != m_run.replaced.end()) return Value(own->second);
            if (m_differs[source.index()]) return std::nullopt;
            const auto index = static_cast<std::size_t>(at - inputs.begin());
            return index < m_run.inputs.size() ? std::optional(m_run.inputs[index]) : std::nullopt;
        }
        const auto value = m_run.reference(source);
        const tensor::DType dtype = m_graph.node(source).type.dtype;
        if (!value || (dtype != tensor::DType::Undefined && dtype != value->dtype())) return std::nullopt;
        return Value(*value);
    }

    Problem judge(NodeId node) const {
        const UpstreamPart part = m_upstream.to(node, m_isKnown);
        std::vector<NodeId> wrong;
        for (const NodeId known : part.known)
            if (m_differs[known.index()]) wrong.push_back(shownAs(known));
        const auto again = recomputed(node, part);
        if (!wrong.empty() && !(again && again->isClearlyOther)) return inherited(node, part, wrong);
        if (const std::vector<NodeId> inside = originsInside(node); !inside.empty()) {
            Problem problem = problemFor(node, ProblemRole::Carrier);
            problem.message = amountText(differenceAt(node)) + ", made inside of it by " + listOf(m_graph, inside);
            return problem;
        }
        return origin(node, part, wrong, again);
    }

    /// Of a loop or branch: values in its bodies that differ while what they were computed from does not.
    std::vector<NodeId> originsInside(NodeId node) const {
        std::vector<NodeId> found;
        for (const graph::BodyId body : m_graph.expr(m_graph.node(m_upstream.sourceOf(node)).producer).bodies)
            for (const ExprId id : m_graph.recursiveOrder(body))
                for (const NodeId output : m_graph.expr(id).outputs) {
                    const bool isInput = m_graph.expr(id).kind == graph::ExprKind::Input;
                    if (!isInput && isWrong(output) && !differenceAt(output).isInherited) found.push_back(output);
                }
        return found;
    }

    Problem inherited(NodeId node, const UpstreamPart& part, const std::vector<NodeId>& wrong) const {
        Problem problem = problemFor(node, ProblemRole::Carrier);
        problem.message = amountText(differenceAt(node)) + ", inherited from " + listOf(m_graph, wrong);
        if (!part.between.empty())
            problem.message +=
                " through " + std::to_string(part.between.size()) + " operations without reference values";
        return problem;
    }

    Problem origin(NodeId node, const UpstreamPart& part, const std::vector<NodeId>& wrong,
                   const std::optional<Recomputed>& again) const {
        Problem problem = problemFor(node, ProblemRole::Origin);
        const std::string amount = amountText(differenceAt(node));
        std::vector<ExprId> suspects = part.between;
        suspects.push_back(m_graph.node(m_upstream.sourceOf(node)).producer);
        if (suspects.size() == 1) {
            problem.message = "same inputs, other output: " + amount;
            if (wrong.empty() && !part.known.empty()) problem.message += ", while " + shownList(part.known) + " agrees";
        } else {
            problem.message = "same inputs, other output: " + amount + "; one of " + std::to_string(suspects.size()) +
                              " operations is the origin, between " +
                              (part.known.empty() ? "the weights" : shownList(part.known)) +
                              (wrong.empty() ? " (agrees)" : "") + " and this node: " + suspectList(suspects);
        }
        if (!wrong.empty())
            problem.message += "; " + listOf(m_graph, wrong) +
                               " differs too, but what is computed from the reference's own inputs does as well";
        if (again && again->isSame) {
            problem.severity = base::Severity::Warning;
            problem.message +=
                "; from the reference's own inputs the output is right: differences within the tolerance are amplified here";
            problem.advice =
                "The inputs are nearly the same: look for a division by small numbers, a subtraction of nearly equal ones, or a step (argmax, comparison, rounding)";
            return problem;
        }
        problem.advice = divergenceAdvice(m_graph, suspects);
        problem.suspects = std::move(suspects);
        if (again)
            if (const auto relation = relationOf(again->own, again->expected))
                problem.message += "; " + relation->text + ", where x is this output";
        return problem;
    }

    NodeId shownAs(NodeId source) const { return m_shown[source.index()].valid() ? m_shown[source.index()] : source; }

    std::string shownList(std::vector<NodeId> sources) const {
        for (NodeId& source : sources) source = shownAs(source);
        return listOf(m_graph, sources);
    }

    std::string suspectList(const std::vector<ExprId>& suspects) const {
        std::vector<NodeId> nodes;
        for (const ExprId id : suspects)
            if (!m_graph.expr(id).outputs.empty()) nodes.push_back(m_graph.expr(id).outputs.front());
        return listOf(m_graph, nodes);
    }

    const ComparedRun& m_run;
    const InternalGraph& m_graph;
    Upstream m_upstream;
    exec::Runner& m_runner;
    const base::WorkContext& m_work;
    std::vector<bool> m_isKnown, m_differs;  ///< by source: in the reference; and not ok
    std::vector<NodeId> m_shown;             ///< by source of what is compared: under which name
    std::vector<Problem> m_problems;
};

}  // namespace

std::optional<Problem> inputDivergence(const InternalGraph& graph, NodeId input, const Tensor& given,
                                       const Tensor& reference, const Tolerances& tolerances) {
    const bool isSameShape = given.shape() == reference.shape();
    if (isSameShape && difference(given, reference, tolerances.of(given.dtype(), reference.dtype())).ok)
        return std::nullopt;
    Problem problem = problemAt(graph, input, ProblemKind::Divergence, ProblemRole::Origin);
    const auto relation = relationOf(given, reference);
    if (!isSameShape) {
        problem.message =
            "the given input has shape " + given.shape().text() + ", that of the reference " + reference.shape().text();
        problem.advice = "Give the input that the reference was recorded with, or one of its size";
    } else if (relation) {
        problem.message = "the given input is not normalised as that of the reference: " + relation->text +
                          ", where x is the given input" +
                          (relation->convention.empty() ? "" : "; that is " + relation->convention);
        if (!relation->isScaled)
            problem.message = "the given input is not in the order of the reference: " + relation->text;
        problem.advice = relation->isReordered ? "Swap the channels (RGB or BGR) before the model" : "";
        if (relation->isScaled)
            problem.advice += std::string(problem.advice.empty() ? "Apply" : ", and apply") +
                              " this scale and offset in the preprocessing, or choose the image preset that has them";
    } else {
        problem.message =
            "the given input is not that of the reference, and no scale, offset or order of channels "
            "relates them";
        problem.advice =
            "Give the input that the reference was recorded with; of the same image, compare resizing, "
            "cropping and rotation";
    }
    return problem;
}

base::Result<std::vector<Problem>> findDivergence(const ComparedRun& run, exec::Runner& runner,
                                                  const base::WorkContext& work) {
    SONDE_ASSIGN(Upstream upstream, Upstream::make(run.graph, run.edits));
    return DivergenceSearch(run, std::move(upstream), runner, work).find();
}

namespace {

using ProblemsOfCase = std::pair<std::string, std::vector<Problem>>;

/// Whether all suspects of one are suspects of the other, which has more.
bool isNarrower(const Problem& one, const Problem& other) {
    return !one.suspects.empty() && one.suspects.size() < other.suspects.size() &&
           std::ranges::all_of(one.suspects, [&](ExprId id) { return std::ranges::count(other.suspects, id) > 0; });
}

/// A case with few reference values knows an origin only as one of many operations. Where another case found which one,
/// what the first tells of it is a carrier.
void narrowOrigins(const InternalGraph& graph, std::vector<ProblemsOfCase>& cases) {
    std::vector<Problem> found;
    for (const auto& [label, problems] : cases)
        for (const Problem& problem : problems)
            if (!problem.suspects.empty()) found.push_back(problem);
    for (auto& [label, problems] : cases)
        for (Problem& problem : problems) {
            const auto exact =
                std::ranges::find_if(found, [&](const Problem& other) { return isNarrower(other, problem); });
            if (exact == found.end()) continue;
            problem.role = ProblemRole::Carrier;
            problem.severity = base::Severity::Info;
            problem.message =
                "differs from the reference; another case finds the origin at '" + graph.node(exact->node).name + "'";
            problem.advice.clear();
            problem.suspects.clear();
        }
}

}  // namespace

std::vector<Problem> joinCases(const InternalGraph& graph, std::vector<ProblemsOfCase> cases) {
    narrowOrigins(graph, cases);
    std::map<std::tuple<NodeId, ProblemKind, ProblemRole>, std::size_t> places;
    std::vector<Problem> all;
    std::vector<std::string> labels;
    for (const auto& [label, problems] : cases)
        for (const Problem& problem : problems) {
            const auto [place, isNew] = places.try_emplace({problem.node, problem.kind, problem.role}, all.size());
            if (isNew) {
                all.push_back(problem);
                labels.push_back(label);
            } else {
                Problem& known = all[place->second];
                known.severity = std::max(known.severity, problem.severity);
                if (!labels[place->second].ends_with(label)) labels[place->second] += ", " + label;
            }
        }
    if (cases.size() > 1)
        for (std::size_t i = 0; i < all.size(); ++i) all[i].message += " (in " + labels[i] + ")";
    sortProblems(graph, all);
    return all;
}

}  // namespace sonde::analysis
