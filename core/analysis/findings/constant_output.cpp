#include <algorithm>
#include <fmt/format.h>

#include "core/analysis/findings/checker.h"
#include "core/analysis/problem.h"
#include "core/graph/traits.h"

namespace sonde::analysis {

using graph::Expr;
using graph::ExprId;
using graph::InternalGraph;
using graph::NodeId;

namespace {

constexpr int kMaxLevels = 64;

/// By node: whether it is computed from an input of the model, or from random numbers, through whatever.
std::vector<bool> dependentNodes(const InternalGraph& graph) {
    std::vector<bool> depends(graph.nodeCount(), false);
    for (const NodeId input : graph.inputs()) depends[input.index()] = true;
    // Inner exprs stand behind their owner: what bodies return is known a round later for each level.
    bool isNew = true;
    for (int round = 0; isNew; ++round) {
        isNew = false;
        // Nobody nests so deep; of what does nothing is claimed.
        if (round == kMaxLevels) return std::vector<bool>(graph.nodeCount(), true);
        for (const ExprId id : graph.recursiveOrder(graph.mainId())) {
            const Expr& expr = graph.expr(id);
            bool own = std::ranges::any_of(expr.inputs, [&](NodeId node) { return depends[node.index()]; });
            own = own || graph::traitsOf(expr).is(operators::Trait::Random);
            for (const graph::BodyId body : expr.bodies) {
                for (const NodeId output : graph.body(body).outputs) own = own || depends[output.index()];
                for (const NodeId input : graph.body(body).inputs)
                    if (own && !depends[input.index()]) depends[input.index()] = isNew = true;
            }
            for (const NodeId output : expr.outputs)
                if (own && !depends[output.index()]) depends[output.index()] = isNew = true;
        }
    }
    return depends;
}

/// Whether all inputs, or the two samples of a batch, gave one value. Different inputs say more than samples that are
/// made of one another.
bool isRepeated(const CheckedModel& model, std::size_t index) {
    if (model.run && model.run->complete > 1 && index < model.run->outputValues.size())
        return model.run->outputValues[index] == 1;
    return model.batch && index < model.batch->outputs.size() && model.batch->outputs[index].isComparable &&
           model.batch->outputs[index].isSameForBoth && model.batch->outputs[index].magnitude != 0;
}

void findConstantOutputs(const CheckedModel& model, std::vector<Finding>& findings) {
    const std::vector<bool> depends = dependentNodes(model.graph);
    for (std::size_t i = 0; i < model.graph.outputs().size(); ++i) {
        const NodeId node = model.graph.outputs()[i];
        const std::string place = "output " + model.graph.node(node).name;
        if (!depends[node.index()] && !model.graph.inputs().empty()) {
            findings.push_back(findingAt(node, base::Severity::Warning, Confidence::High,
                                         place + " depends on no input: it is the same for every input",
                                         "drop the output, or find where the export replaced an input by a constant"));
            continue;
        }
        const ObservedValue* const value = model.run ? model.run->values.of(node) : nullptr;
        const bool isUniform = value && value->count > 1 && value->isUniform;
        if (!isUniform && !isRepeated(model, i)) continue;
        const std::string what =
            isUniform ? fmt::format(" has one value, {:.6g}, in all {} elements", value->first, value->count)
                      : std::string(" is the same for different inputs");
        findings.push_back(findingAt(
            node, base::Severity::Warning, model.run && model.run->inputs > 1 ? Confidence::Medium : Confidence::Low,
            place + what + ": the model does not tell inputs apart there",
            "look upstream for a softmax over a dimension of 1, a dead layer, weights that are zero, or an input outside "
            "of the range that the model was trained on"));
    }
}

}  // namespace

FindingChecker constantOutputChecker() {
    return {"constant-output", FindingNeed::File,
            "An output depends on no input, or has one value in all elements or for all inputs", findConstantOutputs};
}

}  // namespace sonde::analysis
