#include <algorithm>
#include <fmt/format.h>

#include "core/analysis/findings/checker.h"
#include "core/analysis/problem.h"
#include "core/graph/traits.h"

namespace sonde::analysis {

using operators::OpClass;
using operators::Trait;

namespace {

/// Root mean squares outside of these are lost in sums with others, or near the end of half precision.
constexpr double kExploding = 1e5, kVanishing = 1e-7;
constexpr std::int64_t kMinScaleElements = 16;

/// Layers alone: masks and shape arithmetic have large numbers on purpose.
bool isLayer(const graph::Expr& expr) {
    const operators::Traits& traits = graph::traitsOf(expr);
    return traits.is(Trait::Convolves) || traits.is(Trait::Multiplies) || traits.opClass == OpClass::BatchNorm ||
           traits.opClass == OpClass::LayerNorm || traits.opClass == OpClass::Recurrent;
}

struct Scale {
    double own = 0, before = 0;
};

/// Of the operation's largest input and its result; nothing where too little is known.
std::optional<Scale> scaleOf(const CheckedModel& model, const graph::Expr& expr, graph::NodeId node) {
    const ObservedValue* const value = model.run->values.of(node);
    if (!value || value->finite() < kMinScaleElements) return std::nullopt;
    Scale scale{value->rms(), 0};
    for (const graph::NodeId input : expr.inputs)
        if (const ObservedValue* const before = model.run->values.of(input))
            scale.before = std::max(scale.before, before->rms());
    return scale;
}

void findScale(const CheckedModel& model, bool isExploding, std::vector<Finding>& findings) {
    for (const graph::ExprId id : model.graph.recursiveOrder(model.graph.mainId())) {
        const graph::Expr& expr = model.graph.expr(id);
        if (!isLayer(expr)) continue;
        for (const graph::NodeId node : expr.outputs) {
            const auto scale = scaleOf(model, expr, node);
            if (!scale) continue;
            // Where it begins, not everything behind.
            const bool isOrigin = isExploding
                                      ? scale->own > kExploding && scale->before <= kExploding
                                      : scale->own > 0 && scale->own < kVanishing && scale->before >= kVanishing;
            if (!isOrigin) continue;
            findings.push_back(findingAt(
                node, base::Severity::Warning, Confidence::Medium,
                fmt::format("the values of {} have a root mean square of {:.3g}, those that come in of {:.3g}: {}",
                            placeText(model.graph, node), scale->own, scale->before,
                            isExploding ? "narrow dtypes overflow there, and sums lose their small terms"
                                        : "they are lost as soon as anything of usual size is added"),
                isExploding ? "check the weights of the layer, and whether a normalisation is missing before it"
                            : "check the weights of the layer: they may never have been trained, or regularised away"));
        }
    }
}

}  // namespace

FindingChecker explodingScaleChecker() {
    return {"exploding-scale", FindingNeed::Run, "The results of a layer are so large that precision or range is lost",
            [](const CheckedModel& model, std::vector<Finding>& findings) { findScale(model, true, findings); }};
}

FindingChecker vanishingScaleChecker() {
    return {"vanishing-scale", FindingNeed::Run, "The results of a layer are so small that they no longer count",
            [](const CheckedModel& model, std::vector<Finding>& findings) { findScale(model, false, findings); }};
}

}  // namespace sonde::analysis
