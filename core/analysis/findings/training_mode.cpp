#include <string>

#include "core/analysis/findings/checker.h"
#include "core/analysis/problem.h"
#include "core/graph/known_argument.h"
#include "core/graph/traits.h"

namespace sonde::analysis {

using graph::Expr;
using operators::OpClass;

namespace {

constexpr int kOnnxModeAttribute = 14;  ///< since this version training is an attribute, before more outputs were

bool isTrainingNorm(const CheckedModel& model, const Expr& expr) {
    if (expr.op.domain == "aten") return graph::knownNumber(model.graph, expr, 5, "training").value_or(0) != 0;
    if (expr.op.version >= kOnnxModeAttribute) return expr.attributes.getInt("training_mode", 0) != 0;
    return expr.outputs.size() > 1;
}

/// What elements are dropped of; empty: nothing is drawn, or not because it trains.
std::string droppedBy(const CheckedModel& model, const Expr& expr) {
    if (!graph::drawsNumbers(model.graph, expr).value_or(false)) return {};
    switch (const operators::Traits& traits = graph::traitsOf(expr); traits.opClass) {
        case OpClass::Random: return {};
        case OpClass::Dropout: return "it sets elements to zero at random";
        case OpClass::Recurrent: return "between its layers it sets elements to zero at random";
        default:
            return traits.is(operators::Trait::Attends) ? "it sets weights of the attention to zero at random"
                                                        : "it draws numbers at random";
    }
}

void findTrainingMode(const CheckedModel& model, std::vector<Finding>& findings) {
    for (const graph::ExprId id : model.graph.recursiveOrder(model.graph.mainId())) {
        const Expr& expr = model.graph.expr(id);
        if (expr.outputs.empty()) continue;
        const graph::NodeId node = expr.outputs.front();
        const OpClass opClass = graph::traitsOf(expr).opClass;
        const std::string place = placeText(model.graph, node);
        constexpr const char* kEvaluate = "call model.eval() before the export, or export with training=False";
        if (const std::string how = droppedBy(model, expr); !how.empty())
            findings.push_back(findingAt(
                node, base::Severity::Error, Confidence::High,
                place + " is in training mode: " + how + ", so that two runs on one input differ", kEvaluate));
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
    return {"training-mode", FindingNeed::File,
            "A norm, a dropout or a layer with dropout inside that is in training mode", findTrainingMode};
}

}  // namespace sonde::analysis
