#include <fmt/format.h>

#include "core/analysis/findings/checker.h"
#include "core/analysis/problem.h"
#include "core/analysis/problems/advice.h"
#include "core/graph/traits.h"

namespace sonde::analysis {

using graph::Expr;
using operators::OpClass;

namespace {

constexpr int kOnnxModeAttribute = 14;  ///< since this version training is an attribute, before more outputs were
constexpr int kOnnxDropoutInput =
    12;  ///< since this version an input says whether dropout trains, before it never does

std::optional<bool> knownBool(const CheckedModel& model, const Expr& expr, std::size_t index,
                              std::string_view keyword) {
    const tensor::Value* const value = knownArgument(model.graph, expr, index, keyword);
    if (!value) return std::nullopt;
    if (value->isNumber()) return value->number() != 0;
    if (value->isTensor() && value->tensor().numel() == 1 && value->tensor().dtype() != tensor::DType::String)
        return value->tensor().toDouble(0) != 0;
    return std::nullopt;
}

std::optional<double> knownNumber(const CheckedModel& model, const Expr& expr, std::size_t index) {
    const tensor::Value* const value = knownArgument(model.graph, expr, index, "p");
    if (!value) return std::nullopt;
    if (value->isNumber()) return value->number();
    if (value->isTensor() && value->tensor().numel() == 1 && value->tensor().dtype() != tensor::DType::String)
        return value->tensor().toDouble(0);
    return std::nullopt;
}

bool isTrainingNorm(const CheckedModel& model, const Expr& expr) {
    if (expr.op.domain == "aten") return knownBool(model, expr, 5, "training").value_or(false);
    if (expr.op.version >= kOnnxModeAttribute) return expr.attributes.getInt("training_mode", 0) != 0;
    return expr.outputs.size() > 1;
}

bool isTrainingDropout(const CheckedModel& model, const Expr& expr) {
    if (expr.op.domain == "aten")
        return knownBool(model, expr, 2, "train").value_or(false) && knownNumber(model, expr, 1).value_or(0.5) > 0;
    return expr.op.version >= kOnnxDropoutInput && knownBool(model, expr, 2, "training_mode").value_or(false) &&
           knownNumber(model, expr, 1).value_or(0.5) > 0;
}

void findTrainingMode(const CheckedModel& model, std::vector<Finding>& findings) {
    for (const graph::ExprId id : model.graph.recursiveOrder(model.graph.mainId())) {
        const Expr& expr = model.graph.expr(id);
        if (expr.outputs.empty()) continue;
        const graph::NodeId node = expr.outputs.front();
        const OpClass opClass = graph::traitsOf(expr).opClass;
        const std::string place = placeText(model.graph, node);
        constexpr const char* kEvaluate = "call model.eval() before the export, or export with training=False";
        if (opClass == OpClass::Dropout && isTrainingDropout(model, expr))
            findings.push_back(
                findingAt(node, base::Severity::Error, Confidence::High,
                          place + " is in training mode: it sets elements to zero at random, so that two runs "
                                  "on one input differ",
                          kEvaluate));
        if (opClass == OpClass::BatchNorm && isTrainingNorm(model, expr))
            findings.push_back(
                findingAt(node, base::Severity::Error, Confidence::High,
                          place + " is in training mode: it normalises by the batch that it is given, so that a "
                                  "sample's result depends on the others",
                          kEvaluate));
    }
}

}  // namespace

FindingChecker trainingModeChecker() {
    return {"training-mode", FindingNeed::File, "A norm or a dropout that is in training mode", findTrainingMode};
}

}  // namespace sonde::analysis
