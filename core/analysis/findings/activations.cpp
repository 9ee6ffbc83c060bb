#include "core/analysis/findings/activations.h"

#include <array>
#include <string_view>

#include "core/analysis/model_summary.h"
#include "core/graph/known_argument.h"
#include "core/graph/traits.h"

namespace sonde::analysis {

using graph::Expr;
using graph::InternalGraph;
using graph::NodeId;
using operators::OpClass;
using operators::Trait;

namespace {

constexpr double kNearBound = 1e-3;
constexpr std::size_t kMaxSteps = 16;

/// Operators that their class tells nothing of.
struct Bounded {
    std::string_view onnx, aten;
    ValueLimits limits;
};
constexpr std::array kBounded{
    Bounded{"Tanh", "tanh", {.low = -1 + kNearBound, .high = 1 - kNearBound}},
    Bounded{"HardSigmoid", "hardsigmoid", {.low = 0, .high = 1}},
    Bounded{"", "relu6", {.high = 6, .isRectifier = true}},
};

/// Between numbers that are known before a run: attributes of old ONNX, else arguments.
ValueLimits limitsOfClip(const InternalGraph& graph, const Expr& expr) {
    ValueLimits limits;
    const auto low = graph::knownNumber(graph, expr, 1, "min"), high = graph::knownNumber(graph, expr, 2, "max");
    limits.low = low ? *low : expr.attributes.getFloat("min", limits.low);
    limits.high = high ? *high : expr.attributes.getFloat("max", limits.high);
    if (limits.low == 0) {
        limits.isRectifier = true;
        limits.low = -std::numeric_limits<double>::infinity();
    }
    return limits;
}

/// Whether a matrix product is the layer before `expr`: its channels are the last dimension.
bool isBehindProduct(const InternalGraph& graph, const Expr& expr) {
    NodeId node = expr.inputs.empty() ? NodeId() : expr.inputs.front();
    for (std::size_t step = 0; node.valid() && step < kMaxSteps; ++step) {
        const Expr& before = graph.expr(graph.node(node).producer);
        const operators::Traits& traits = graph::traitsOf(before);
        if (traits.is(Trait::Convolves)) return false;
        if (traits.is(Trait::Multiplies)) return true;
        const bool isBetween = traits.is(Trait::ElementWise) || traits.opClass == OpClass::BatchNorm ||
                               traits.opClass == OpClass::LayerNorm;
        if (!isBetween || before.inputs.empty()) return false;
        node = before.inputs.front();
    }
    return false;
}

bool isQuantizer(const Expr& expr) {
    const ops::OpDef* const definition = definitionOf(expr);
    return definition && definition->category == ops::Category::Quantization &&
           graph::traitsOf(expr).opClass != OpClass::Dequantize;
}

}  // namespace

std::optional<ValueLimits> limitsOf(const InternalGraph& graph, const Expr& expr) {
    if (expr.op.name.empty()) return std::nullopt;
    std::optional<ValueLimits> limits;
    switch (graph::traitsOf(expr).opClass) {
        case OpClass::Sigmoid: limits = ValueLimits{.low = kNearBound, .high = 1 - kNearBound}; break;
        case OpClass::Relu: limits = ValueLimits{.isRectifier = true}; break;
        case OpClass::Clip: limits = limitsOfClip(graph, expr); break;
        default: break;
    }
    const bool isAten = expr.op.domain == "aten";
    for (const Bounded& bounded : kBounded) {
        const std::string_view own = isAten ? bounded.aten : bounded.onnx;
        const std::string_view plain = std::string_view(expr.op.name).substr(0, expr.op.name.find('.'));
        if (!own.empty() &&
            (plain == own || (isAten && plain.ends_with('_') && plain.substr(0, plain.size() - 1) == own)))
            limits = bounded.limits;
    }
    if (!limits && isQuantizer(expr)) limits = ValueLimits{.isQuantized = true};
    if (limits && limits->isRectifier) limits->isChannelLast = isBehindProduct(graph, expr);
    return limits;
}

}  // namespace sonde::analysis
