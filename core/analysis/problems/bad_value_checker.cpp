#include <algorithm>
#include <array>

#include "core/analysis/problems/advice.h"
#include "core/analysis/problems/checker.h"
#include "core/analysis/problems/suspects.h"
#include "core/graph/traits.h"
#include "core/ops/kernels/finite.h"

namespace sonde::analysis {

using exec::BadValues;
using graph::InternalGraph;
using operators::OpClass;
using tensor::DType;

namespace {

std::string badCountText(const BadValues& bad) {
    const auto one = [](std::int64_t count, const char* what) {
        return std::to_string(count) + (count == 1 ? " element is " : " elements are ") + what;
    };
    if (bad.inf == 0) return one(bad.nan, "NaN");
    return bad.nan == 0 ? one(bad.inf, "infinite")
                        : one(bad.nan, "NaN") + ", " + std::to_string(bad.inf) +
                              (bad.inf == 1 ? " is infinite" : " are infinite");
}

/// Constants among the inputs that are bad themselves: "; its weight 'running_var' holds NaN".
std::string badWeights(const InternalGraph& graph, const graph::Expr& expr) {
    std::string text;
    base::ThreadPool pool(1);
    for (const graph::NodeId input : expr.inputs) {
        const graph::Node& node = graph.node(input);
        if (!node.constant || !node.constant->isTensor()) continue;
        const ops::kernels::BadCount found = ops::kernels::countBad(node.constant->tensor(), pool);
        if (found.any()) text += "; its weight '" + node.name + "' holds " + (found.nan > 0 ? "NaN" : "infinity");
    }
    return text;
}

/// Dtypes whose range values of a network reach.
bool isNarrow(DType dtype) {
    return dtype == DType::Float16 || (tensor::isFloating(dtype) && tensor::itemSize(dtype) == 1);
}

/// Never infinite for being too large: poles, and masks.
constexpr std::array kNeverOverflow{OpClass::Log, OpClass::Where, OpClass::MaskedFill, OpClass::Fill, OpClass::Create};
/// Of finite numbers infinite only if they are too large. (A division may have a divisor of 0.)
constexpr std::array kOnlyOverflow{OpClass::Exp,
                                   OpClass::Add,
                                   OpClass::Sub,
                                   OpClass::Mul,
                                   OpClass::Conv,
                                   OpClass::ConvTranspose,
                                   OpClass::Linear,
                                   OpClass::MatMul,
                                   OpClass::MatrixProduct,
                                   OpClass::Cast,
                                   OpClass::AddMatrixProduct,
                                   OpClass::BatchMatrixProduct,
                                   OpClass::Sum};

bool isOverflow(const graph::Expr& expr, DType dtype) {
    const OpClass opClass = graph::traitsOf(expr).opClass;
    const auto isOneOf = [opClass](const auto& classes) {
        return std::ranges::find(classes, opClass) != classes.end();
    };
    if (expr.kind == graph::ExprKind::Input || isOneOf(kNeverOverflow)) return false;
    return isNarrow(dtype) || isOneOf(kOnlyOverflow);
}

Problem problemOfSuspect(const InternalGraph& graph, const Suspect& suspect) {
    const graph::Node& node = graph.node(suspect.node);
    const DType dtype = suspect.bad.dtype != DType::Undefined ? suspect.bad.dtype : node.type.dtype;
    const graph::Expr& expr = graph.expr(node.producer);
    const std::string weights = suspect.isOrigin() ? badWeights(graph, expr) : std::string();
    const ProblemKind kind = suspect.bad.nan > 0                                                ? ProblemKind::Nan
                             : suspect.isOrigin() && weights.empty() && isOverflow(expr, dtype) ? ProblemKind::Overflow
                                                                                                : ProblemKind::Inf;
    Problem problem =
        problemAt(graph, suspect.node, kind, suspect.isOrigin() ? ProblemRole::Origin : ProblemRole::Carrier);
    problem.message = badCountText(suspect.bad) + weights;
    if (!suspect.isOrigin()) return problem;
    if (kind == ProblemKind::Inf) problem.severity = base::Severity::Warning;
    problem.advice = adviceFor(graph, suspect, !weights.empty());
    return problem;
}

void findBadValues(const CheckedRun& run, std::vector<Problem>& problems) {
    for (const Suspect& suspect : Suspects(run.graph, run.recording, run.accepted).all)
        if (!suspect.isQuiet) problems.push_back(problemOfSuspect(run.graph, suspect));
}

}  // namespace

ProblemChecker badValueChecker() {
    return {"bad-values", "NaN, infinity and overflow, with the nodes that made them", findBadValues};
}

}  // namespace sonde::analysis
