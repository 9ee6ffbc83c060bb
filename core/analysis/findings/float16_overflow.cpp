#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "core/analysis/findings/checker.h"
#include "core/analysis/problem.h"
#include "core/graph/traits.h"

namespace sonde::analysis {

using operators::OpClass;

namespace {

/// Halfway from the largest number of float16, 65504, to what would follow it: from here on rounding gives infinity
/// (IEEE 754: ties go to the even one, which is that).
constexpr double kInfiniteInFloat16 = 65520;

bool isWide(tensor::DType dtype) { return dtype == tensor::DType::Float32 || dtype == tensor::DType::BFloat16; }

bool exceeds(const ObservedValue* value) {
    return value && isWide(value->dtype) && value->magnitude() >= kInfiniteInFloat16;
}

/// A stored operand that is too large itself: a mask.
bool hasLargeConstant(const graph::InternalGraph& graph, const graph::Expr& expr) {
    return std::ranges::any_of(expr.inputs, [&](graph::NodeId input) {
        const auto& constant = graph.node(input).constant;
        if (!constant || !constant->isTensor()) return false;
        const tensor::Tensor& tensor = constant->tensor();
        if (!isWide(tensor.dtype()) || tensor.numel() > 4096) return false;
        for (std::int64_t i = 0; i < tensor.numel(); ++i)
            if (std::abs(tensor.toDouble(i)) >= kInfiniteInFloat16) return true;
        return false;
    });
}

void findOverflows(const CheckedModel& model, std::vector<Finding>& findings) {
    constexpr const char* kKeepWide =
        "keep this part in float32 or bfloat16 when the model is converted, or scale it down";
    for (const StoredWeight& weight : model.weights)
        if (isWide(weight.dtype) && weight.magnitude() >= kInfiniteInFloat16)
            findings.push_back(
                findingAt(weight.node, base::Severity::Warning, Confidence::High,
                          fmt::format("this weight has elements up to {:.6g}, and float16 ends at 65504: "
                                      "converted, they become infinite",
                                      weight.magnitude()),
                          kKeepWide));
    if (!model.run) return;
    for (const graph::ExprId id : model.graph.recursiveOrder(model.graph.mainId())) {
        const graph::Expr& expr = model.graph.expr(id);
        const auto isBefore = [&](graph::NodeId input) { return exceeds(model.run->values.of(input)); };
        if (!isComputed(expr) || std::ranges::any_of(expr.inputs, isBefore)) continue;
        const OpClass opClass = graph::traitsOf(expr).opClass;
        const bool isMask =
            opClass == OpClass::Where || opClass == OpClass::MaskedFill || hasLargeConstant(model.graph, expr);
        for (const graph::NodeId node : expr.outputs) {
            const ObservedValue* const value = model.run->values.of(node);
            if (!exceeds(value)) continue;
            findings.push_back(findingAt(
                node, isMask ? base::Severity::Info : base::Severity::Warning,
                isMask ? Confidence::Low : Confidence::Medium,
                fmt::format(
                    "the values of {} reach {:.6g}, and float16 ends at 65504: computed in it, they become "
                    "infinite{}",
                    placeText(model.graph, node), value->magnitude(),
                    isMask ? "; if this is a mask before a softmax, only a row that is masked as a whole becomes NaN"
                           : ""),
                isMask ? "if the model is converted to float16, let the mask be -65504 instead" : kKeepWide));
        }
    }
}

}  // namespace

FindingChecker float16OverflowChecker() {
    return {"float16-overflow", FindingNeed::File,
            "Weights, and on a run values, that are beyond the range of float16 (65504)", findOverflows};
}

}  // namespace sonde::analysis
