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

bool isTrainingNorm(const CheckedModel& model, const Expr& expr) {
    if (expr.op.domain == "aten") return knownNumber(model.graph, expr, 5, "training").value_or(0) != 0;
    if (expr.op.version >= kOnnxModeAttribute) return expr.attributes.getInt("training_mode", 0) != 0;
    return expr.outputs.size() > 1;
}

bool isTrainingDropout(const CheckedModel& model, const Expr& expr) {
    const bool isAten = expr.op.domain == "aten";
    if (!isAten && expr.op.version < kOnnxDropoutInput) return false;
    return knownNumber(model.graph, expr, 2, isAten ? "train" : "training_mode").value_or(0) != 0 &&
           knownNumber(model.graph, expr, 1, "p").value_or(0.5) > 0;
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
