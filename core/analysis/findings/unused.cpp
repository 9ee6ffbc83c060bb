#include <algorithm>
#include <fmt/format.h>

#include "core/analysis/findings/checker.h"
#include "core/analysis/problem.h"
#include "core/analysis/weights/weight_table.h"
#include "core/graph/traits.h"

namespace sonde::analysis {

using graph::Expr;
using graph::ExprId;
using graph::NodeId;

namespace {

/// Values of a body that something reads, or that it returns.
bool isUsed(const graph::InternalGraph& graph, NodeId node, const std::vector<bool>& isResult) {
    return isResult[node.index()] || !graph.node(node).users.empty();
}

void findUnusedOutputs(const CheckedModel& model, std::vector<Finding>& findings) {
    const std::vector<bool> isResult = resultNodes(model.graph);
    for (const ExprId id : model.graph.recursiveOrder(model.graph.mainId())) {
        const Expr& expr = model.graph.expr(id);
        const operators::Traits& traits = graph::traitsOf(expr);
        const bool hasEffect = traits.is(operators::Trait::Effect) || traits.memory.writes || traits.memory.reforms ||
                               traits.opClass == operators::OpClass::Assertion ||
                               traits.opClass == operators::OpClass::Marker || !expr.bodies.empty();
        if (!isComputed(expr) || hasEffect || expr.op.domain == "prim" || expr.outputs.empty()) continue;
        const auto isRead = [&](NodeId node) { return isUsed(model.graph, node, isResult); };
        // Numbers that scripts ask a tensor for cost nothing.
        const auto isNumber = [&](NodeId node) {
            const auto& kind = model.graph.node(node).type.kind;
            return kind && *kind != tensor::ValueKind::Tensor;
        };
        if (std::ranges::any_of(expr.outputs, isRead) || std::ranges::all_of(expr.outputs, isNumber)) continue;
        findings.push_back(
            {{},
             base::Severity::Info,
             Confidence::High,
             expr.outputs,
             {},
             fmt::format("nothing reads the result of {}, and it is no output of the model: dead code in the file, "
                         "or a connection that was lost",
                         placeText(model.graph, expr.outputs.front())),
             "remove it (sonde save --pass remove-dead-code), or find what should read it"});
    }
}

void findUnusedInputs(const CheckedModel& model, std::vector<Finding>& findings) {
    const std::vector<bool> isResult = resultNodes(model.graph);
    for (const NodeId input : model.graph.inputs()) {
        if (isUsed(model.graph, input, isResult)) continue;
        findings.push_back(findingAt(
            input, base::Severity::Warning, Confidence::High,
            "nothing reads input " + model.graph.node(input).name + ": whatever it is given, the outputs are the same",
            "remove the input, or check whether the export replaced it by the value of its example"));
    }
}

void findUnusedParameters(const CheckedModel& model, std::vector<Finding>& findings) {
    for (const StoredTensor& tensor : model.counts.tensors) {
        if (!isUnused(tensor)) continue;
        // What nothing reads is a parameter only if the file says so.
        const bool isParameter = tensor.kind == StoredKind::Parameter;
        Finding finding{
            {},
            isParameter ? base::Severity::Warning : base::Severity::Info,
            Confidence::High,
            {},
            {},
            fmt::format(
                "no operation reads this stored tensor ({} in the file): a layer that is not called, or weights that "
                "an export left behind",
                bytesText(tensor.size.bytes)),
            "remove it from the file, or find the layer that should use it"};
        for (const std::string& name : tensor.names)
            if (const NodeId node = model.graph.findNode(name); node.valid()) finding.nodes.push_back(node);
            else finding.others.push_back(name);
        findings.push_back(std::move(finding));
    }
}

}  // namespace

FindingChecker unusedOutputChecker() {
    return {"unused-output", FindingNeed::File, "An operation whose results nothing reads", findUnusedOutputs};
}

FindingChecker unusedInputChecker() {
    return {"unused-input", FindingNeed::File, "An input of the model that nothing reads", findUnusedInputs};
}

FindingChecker unusedParameterChecker() {
    return {"unused-parameter", FindingNeed::File, "A stored parameter that no operation reads", findUnusedParameters};
}

}  // namespace sonde::analysis
