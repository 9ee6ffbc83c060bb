#include "core/analysis/problems.h"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <set>
#include <utility>

#include "core/exec/flatten.h"
#include "core/graph/guard.h"
#include "core/graph/traits.h"
#include "core/ops/kernels/finite.h"

namespace sonde::analysis {

using exec::BadValues;
using graph::Expr;
using graph::ExprKind;
using graph::InternalGraph;
using graph::NodeId;

namespace {

/// A node with bad values and what was found out about it.
struct Suspect {
    NodeId node;
    BadValues bad;
    bool isQuiet = false;   ///< accepted, or a carrier of what was accepted
    bool makesNan = false;  ///< none of its inputs held NaN
    bool makesInf = false;  ///< all of its inputs were finite
    bool isOrigin() const { return makesNan || makesInf; }
};

/// By expr: its position in execution, with what a body does before the operation that the body is of.
std::vector<std::size_t> executionOrder(const InternalGraph& graph) {
    std::vector<std::size_t> position(graph.exprCount(), 0);
    std::size_t next = 0;
    const std::function<void(graph::BodyId)> visit = [&](graph::BodyId body) {
        for (graph::ExprId id : graph.body(body).order) {
            for (graph::BodyId inner : graph.expr(id).bodies) visit(inner);
            position[id.index()] = next++;
        }
    };
    visit(graph.mainId());
    return position;
}

/// The suspects of a run in execution order, without other names of the same value.
class Suspects {
  public:
    Suspects(const InternalGraph& graph, const exec::Recording& recording, std::span<const NodeId> accepted)
        : m_graph(graph), m_sources(exec::valueSources(graph)), m_at(graph.nodeCount(), kNone) {
        std::set<NodeId> quiet;
        for (NodeId node : accepted) {
            if (node.valid() && node.index() < graph.nodeCount()) quiet.insert(m_sources[node.index()]);
        }
        for (const auto& [node, bad] : recording.bad) {
            const bool isOutput = graph.expr(graph.node(node).producer).kind == ExprKind::Output;
            if (m_sources[node.index()] == node && !isOutput) all.push_back({node, bad});
        }
        const std::vector<std::size_t> position = executionOrder(graph);
        const auto key = [&](const Suspect& suspect) {
            return std::pair(position[graph.node(suspect.node).producer.index()], graph.node(suspect.node).outputIndex);
        };
        std::ranges::sort(all, {}, key);
        for (std::size_t i = 0; i < all.size(); ++i) m_at[all[i].node.index()] = i;
        for (Suspect& suspect : all) {
            judge(suspect);
            suspect.isQuiet = !suspect.isOrigin() || quiet.contains(suspect.node);
        }
        // A carrier is quiet as long as everything that it could carry is. Loops hand values back to where they came
        // from.
        for (bool changed = true; std::exchange(changed, false);) {
            for (Suspect& suspect : all) {
                if (!suspect.isQuiet || quiet.contains(suspect.node)) continue;
                const auto inputs = badInputs(suspect);
                suspect.isQuiet = !inputs.empty() && std::ranges::all_of(inputs, &Suspect::isQuiet);
                changed = changed || !suspect.isQuiet;
            }
        }
    }

    /// The first in execution order that makes what `count` counts and nobody accepted; else the first that has it.
    const Suspect* first(std::int64_t BadValues::*count, bool Suspect::*makes) const {
        const auto has = [&](const Suspect& suspect) { return !suspect.isQuiet && suspect.bad.*count > 0; };
        auto found = std::ranges::find_if(all, [&](const Suspect& suspect) { return has(suspect) && suspect.*makes; });
        if (found == all.end()) found = std::ranges::find_if(all, has);
        return found == all.end() ? nullptr : &*found;
    }

    std::vector<Suspect> all;

  private:
    static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

    /// What is bad among what it was made from. What comes into a body is made by nothing there.
    std::vector<const Suspect*> badInputs(const Suspect& suspect) const {
        std::vector<const Suspect*> found;
        const auto add = [&](NodeId node) {
            if (const std::size_t at = m_at[m_sources[node.index()].index()]; at != kNone) found.push_back(&all[at]);
        };
        const Expr& expr = m_graph.expr(m_graph.node(suspect.node).producer);
        const graph::ExprId owner = m_graph.body(expr.body).owner;
        const Expr& maker = expr.kind == ExprKind::Input && owner.valid() ? m_graph.expr(owner) : expr;
        std::ranges::for_each(maker.inputs, add);
        for (graph::BodyId body : maker.bodies) std::ranges::for_each(m_graph.body(body).outputs, add);
        return found;
    }

    /// Infinity is made where all inputs are finite; NaN also where some are infinite: ∞ − ∞, 0 · ∞, softmax of −∞
    /// alone.
    void judge(Suspect& suspect) const {
        const auto inputs = badInputs(suspect);
        const bool isHandedIn = isBodyInput(suspect.node) && !inputs.empty();
        suspect.makesInf = suspect.bad.inf > 0 && suspect.bad.isOrigin && !isHandedIn;
        suspect.makesNan = suspect.bad.nan > 0 && !isHandedIn &&
                           (suspect.bad.isOrigin ||
                            std::ranges::none_of(inputs, [](const Suspect* input) { return input->bad.nan > 0; }));
    }

    bool isBodyInput(NodeId node) const {
        const Expr& expr = m_graph.expr(m_graph.node(node).producer);
        return expr.kind == ExprKind::Input && m_graph.body(expr.body).owner.valid();
    }

    const InternalGraph& m_graph;
    std::vector<NodeId> m_sources;
    std::vector<std::size_t> m_at;  ///< by node: in `all`
};

std::string operatorOf(const Expr& expr) {
    if (expr.kind == ExprKind::Input) return "Input";
    return expr.op.name.empty() ? expr.target : expr.op.name;
}

std::string countText(const BadValues& bad) {
    const auto one = [](std::int64_t count, const char* what) {
        return std::to_string(count) + (count == 1 ? " element is " : " elements are ") + what;
    };
    if (bad.inf == 0) return one(bad.nan, "NaN");
    return bad.nan == 0 ? one(bad.inf, "infinite")
                        : one(bad.nan, "NaN") + ", " + std::to_string(bad.inf) +
                              (bad.inf == 1 ? " is infinite" : " are infinite");
}

/// Constants among the inputs that are bad themselves: ", and its input 'running_var' holds NaN".
std::string badConstants(const InternalGraph& graph, const Expr& expr) {
    std::string text;
    base::ThreadPool pool(1);
    for (NodeId input : expr.inputs) {
        const graph::Node& node = graph.node(input);
        if (!node.constant || !node.constant->isTensor()) continue;
        const ops::kernels::BadCount found = ops::kernels::countBad(node.constant->tensor(), pool);
        if (found.any()) text += "; its weight '" + node.name + "' holds " + (found.nan > 0 ? "NaN" : "infinity");
    }
    return text;
}

/// What usually is behind it where all inputs are finite; empty: nothing that is known of the operator.
struct Advice {
    operators::OpClass opClass;
    std::string_view ofNan, ofInf;
};
constexpr std::string_view kNegative = "its input has negative elements",
                           kZero = "its input has elements that are zero";
constexpr std::string_view kNotPositive = "its input has elements that are zero or negative";
constexpr std::string_view kAcceptMask = "if the mask is infinite on purpose, accept it";
constexpr std::string_view kDivisor = "its divisor has elements that are zero or very small";
constexpr std::string_view kPower = "a negative base with a fractional exponent is NaN, and large powers overflow";
constexpr std::string_view kCast = "its input has elements outside of the range of the new dtype";
constexpr std::array kAdvice{
    Advice{operators::OpClass::Log, kNegative, kZero},
    Advice{operators::OpClass::Sqrt, kNegative, {}},
    Advice{operators::OpClass::ReciprocalSqrt, kNotPositive, kZero},
    Advice{operators::OpClass::Reciprocal, {}, "its input has elements that are zero or very small"},
    Advice{operators::OpClass::Div, kDivisor, kDivisor},
    Advice{operators::OpClass::Pow, kPower, kPower},
    Advice{operators::OpClass::Cast, kCast, kCast},
    Advice{operators::OpClass::Where, kAcceptMask, kAcceptMask},
    Advice{operators::OpClass::MaskedFill, kAcceptMask, kAcceptMask},
};

/// An argument of an operator that has the same place in ONNX and PyTorch, as a value that is known before a run.
const tensor::Value* knownArgument(const InternalGraph& graph, const Expr& expr, std::size_t index,
                                   std::string_view keyword) {
    const graph::Argument* argument = index < expr.arguments.size() ? &expr.arguments[index] : nullptr;
    for (const auto& [name, value] : expr.keywords)
        if (name == keyword) argument = &value;
    if (!argument) return nullptr;
    if (argument->kind == graph::Argument::Kind::Constant) return &argument->constant;
    if (argument->kind != graph::Argument::Kind::Node) return nullptr;
    const auto& constant = graph.node(argument->node).constant;
    return constant ? &*constant : nullptr;
}

/// x · scale / √(variance + ε) + bias: what of it is wrong, as far as the weights tell.
std::string adviceForNorm(const InternalGraph& graph, const Expr& expr, const std::string& overflow) {
    const tensor::Value* const known = knownArgument(graph, expr, 4, "running_var");
    const tensor::Value* const given = knownArgument(graph, expr, 7, "eps");
    const double epsilon = given && given->isNumber() ? given->number() : expr.attributes.getFloat("epsilon", 1e-5);
    if (!known || !known->isTensor() || known->tensor().numel() == 0)
        return "check its running variance, which must be positive, and its scale";
    double least = std::numeric_limits<double>::infinity();
    for (std::int64_t i = 0; i < known->tensor().numel(); ++i) least = std::min(least, known->tensor().toDouble(i));
    if (least + epsilon < 0) return "its running variance has negative elements";
    if (least + epsilon == 0) return "its running variance has elements that are zero, and its epsilon is 0";
    return overflow + ": check its scale, its running variance and the magnitude of its input";
}

std::string adviceForExp(tensor::DType dtype) {
    const char* const largest = dtype == tensor::DType::Float16   ? "11"
                                : dtype == tensor::DType::Float64 ? "709"
                                                                  : "88.7";
    return std::string("its input has elements above ") + largest + ", where " +
           std::string(tensor::name(dtype == tensor::DType::Undefined ? tensor::DType::Float32 : dtype)) + " overflows";
}

/// Something bad that is no mere overflow comes from what an operation is given; only where all of that is finite is
/// the operator the one to check.
std::string adviceFor(const InternalGraph& graph, const Suspect& suspect, bool hasBadConstant) {
    const graph::Node& node = graph.node(suspect.node);
    const Expr& expr = graph.expr(node.producer);
    if (expr.kind == ExprKind::Input) return "the given input contains it: check the file and its normalisation";
    const operators::OpClass opClass = graph::traitsOf(expr).opClass;
    const bool isNan = suspect.bad.nan > 0;
    const bool isMask = !isNan && (opClass == operators::OpClass::Where || opClass == operators::OpClass::MaskedFill);
    if (hasBadConstant && !isMask) return "check where its weight comes from";
    if (!suspect.bad.isOrigin)
        return "its inputs contain infinity: \u221e \u2212 \u221e, 0 \u00b7 \u221e, \u221e / \u221e and a softmax of \u2212\u221e alone are NaN";
    const bool isTyped = node.type.dtype != tensor::DType::Undefined;
    const std::string range =
        "the range of " + (isTyped ? std::string(tensor::name(node.type.dtype)) : std::string("its dtype"));
    const std::string overflow = "its inputs are finite, but its result exceeds " + range;
    if (opClass == operators::OpClass::BatchNorm || opClass == operators::OpClass::BatchNormWithStatistics)
        return adviceForNorm(graph, expr, overflow);
    if (opClass == operators::OpClass::Exp) return adviceForExp(node.type.dtype);
    const auto found = std::ranges::find(kAdvice, opClass, &Advice::opClass);
    const std::string_view text = found == kAdvice.end() ? "" : isNan ? found->ofNan : found->ofInf;
    if (!text.empty()) return std::string(text);
    return isNan ? "its inputs are finite: check for 0 / 0, and for intermediate results that exceed " + range
                 : overflow + ": check the magnitude of its inputs and weights";
}

Problem problemOf(const InternalGraph& graph, const Suspect& suspect) {
    const graph::Node& node = graph.node(suspect.node);
    const Expr& expr = graph.expr(node.producer);
    Problem problem;
    problem.role = suspect.isOrigin() ? ProblemRole::Origin : ProblemRole::Carrier;
    const bool isNarrow = node.type.dtype == tensor::DType::Float16;
    problem.kind = suspect.bad.nan > 0              ? ProblemKind::Nan
                   : isNarrow && suspect.isOrigin() ? ProblemKind::Overflow
                                                    : ProblemKind::Inf;
    problem.node = suspect.node;
    problem.severity = !suspect.isOrigin()                ? base::Severity::Info
                       : problem.kind == ProblemKind::Inf ? base::Severity::Warning
                                                          : base::Severity::Error;
    problem.qualname = expr.qualname.value_or("");
    problem.operatorName = operatorOf(expr);
    problem.message = countText(suspect.bad);
    if (suspect.isOrigin()) {
        const std::string constants = badConstants(graph, expr);
        problem.message += constants;
        problem.advice = adviceFor(graph, suspect, !constants.empty());
    }
    return problem;
}

Problem problemOf(const InternalGraph& graph, const exec::Failure& failure, bool endedRun) {
    const Expr& expr = graph.expr(failure.expr);
    Problem problem;
    problem.kind = graph::isGuard(expr) ? ProblemKind::Guard : ProblemKind::Failure;
    problem.severity = endedRun ? base::Severity::Error : base::Severity::Warning;
    if (!expr.outputs.empty()) problem.node = expr.outputs.front();
    problem.qualname = expr.qualname.value_or("");
    problem.operatorName = operatorOf(expr);
    problem.message = failure.error.what;
    problem.advice = failure.error.hint;
    return problem;
}

}  // namespace

std::string_view name(ProblemKind kind) {
    constexpr std::array<std::string_view, 5> kNames{"nan", "inf", "overflow", "failure", "guard"};
    return kNames[static_cast<std::size_t>(kind)];
}

std::string_view name(ProblemRole role) { return role == ProblemRole::Origin ? "origin" : "carrier"; }

std::vector<Problem> findProblems(const InternalGraph& graph, const exec::Recording& recording,
                                  std::span<const NodeId> accepted) {
    std::vector<Problem> problems, carriers;
    for (const Suspect& suspect : Suspects(graph, recording, accepted).all) {
        if (!suspect.isQuiet) (suspect.isOrigin() ? problems : carriers).push_back(problemOf(graph, suspect));
    }
    for (const exec::Failure& failure : recording.failures) {
        const bool endedRun = recording.error && &failure == &recording.failures.front();
        problems.push_back(problemOf(graph, failure, endedRun));
    }
    problems.insert(problems.end(), std::make_move_iterator(carriers.begin()), std::make_move_iterator(carriers.end()));
    return problems;
}

BadSummary summarizeBad(const InternalGraph& graph, const exec::Recording& recording,
                        std::span<const NodeId> accepted) {
    BadSummary summary;
    const std::vector<NodeId> sources = exec::valueSources(graph);
    std::set<NodeId> quiet;
    const Suspects suspects(graph, recording, accepted);
    for (const Suspect& suspect : suspects.all) {
        if (suspect.isQuiet) {
            quiet.insert(suspect.node);
            ++summary.accepted;
            continue;
        }
        if (suspect.bad.nan > 0) ++summary.nanNodes;
        if (suspect.bad.inf > 0) ++summary.infNodes;
    }
    if (const Suspect* const first = suspects.first(&BadValues::nan, &Suspect::makesNan))
        summary.firstNan = first->node;
    if (const Suspect* const first = suspects.first(&BadValues::inf, &Suspect::makesInf))
        summary.firstInf = first->node;
    for (const auto& [node, bad] : recording.bad) {
        if (!quiet.contains(sources[node.index()])) summary.nodes.push_back(node);
    }
    return summary;
}

std::string placeText(const InternalGraph& graph, NodeId node) {
    const Expr& expr = graph.expr(graph.node(node).producer);
    const bool isInModule = expr.qualname && !expr.qualname->empty();
    return (isInModule ? *expr.qualname : graph.node(node).name) + " (" + operatorOf(expr) + ")";
}

std::string BadSummary::text(const InternalGraph& graph) const {
    const auto part = [&](const char* what, std::size_t count, NodeId first) -> std::string {
        if (count == 0) return {};
        const bool isInput = graph.expr(graph.node(first).producer).kind == ExprKind::Input;
        return std::string(what) + " in " + std::to_string(count) + (count == 1 ? " node, first " : " nodes, first ") +
               (isInput ? "in input " + graph.node(first).name : "produced by " + placeText(graph, first));
    };
    const std::string nan = part("NaN", nanNodes, firstNan), inf = part("Inf", infNodes, firstInf);
    return nan + (nan.empty() || inf.empty() ? "" : "; ") + inf;
}

}  // namespace sonde::analysis
