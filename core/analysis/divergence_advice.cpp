#include "core/analysis/divergence_advice.h"

#include <algorithm>
#include <array>

#include "core/analysis/weight_positions.h"
#include "core/graph/traits.h"

namespace sonde::analysis {

using graph::Expr;
using graph::InternalGraph;
using operators::OpClass;

namespace {

constexpr std::string_view kPadding = "its padding, stride, dilation, groups and layout";
constexpr std::string_view kOperands =
    "the constants among its operands (the mean, deviation or scale of a normalisation) and their order";
/// What an operator of the kind has besides weights, as "check …".
constexpr std::array<std::pair<OpClass, std::string_view>, 22> kChecks{{
    {OpClass::Conv, kPadding},
    {OpClass::ConvTranspose, kPadding},
    {OpClass::Linear, "whether its weight is transposed"},
    {OpClass::MatMul, "whether its weight is transposed"},
    {OpClass::BatchNorm, "its running statistics, its epsilon, and that both sides are in evaluation mode"},
    {OpClass::BatchNormWithStatistics,
     "its running statistics, its epsilon, and that both sides are in evaluation mode"},
    {OpClass::LayerNorm, "its epsilon and the axes that it normalises"},
    {OpClass::Softmax, "its axis"},
    {OpClass::MaxPool, "its window, stride, padding and ceil_mode"},
    {OpClass::AveragePool, "its window, stride, padding, ceil_mode and count_include_pad"},
    {OpClass::Resample, "its mode, align_corners, antialiasing and rounding"},
    {OpClass::Dropout, "that both sides are in evaluation mode: it is random in training"},
    {OpClass::Random, "its seed: another generator gives other numbers"},
    {OpClass::Reshape, "the order of its dimensions"},
    {OpClass::Transpose, "the order of its axes"},
    {OpClass::Concat, "its axis and the order of its inputs"},
    {OpClass::Cast, "the dtype, and how it rounds"},
    {OpClass::Add, kOperands},
    {OpClass::Sub, kOperands},
    {OpClass::Mul, kOperands},
    {OpClass::Div, kOperands},
    {OpClass::Sum, "its axes"},
}};

bool isAll(const tensor::Tensor& tensor, double number) {
    if (tensor.numel() == 0 || tensor::isComplex(tensor.dtype()) || tensor.dtype() == tensor::DType::String)
        return false;
    for (std::int64_t i = 0; i < tensor.numel(); ++i)
        if (tensor.toDouble(i) != number) return false;
    return true;
}

struct Weights {
    std::vector<std::string> names;
    bool isUntrained = false;  ///< a norm whose mean is 0 and whose variance is 1 everywhere
};

Weights weightsOf(const InternalGraph& graph, const Expr& expr) {
    Weights weights;
    std::vector<const tensor::Tensor*> statistics;
    for (const graph::NodeId input : expr.inputs) {
        const graph::Node& node = graph.node(input);
        if (!node.constant || !node.constant->isTensor()) continue;
        const auto at = std::ranges::find_if(expr.arguments, [&](const graph::Argument& argument) {
            return argument.kind == graph::Argument::Kind::Node && argument.node == input;
        });
        // Those in a list, as of an LSTM, have no position of their own.
        const auto index = static_cast<std::size_t>(at - expr.arguments.begin());
        const auto position = at == expr.arguments.end() ? WeightPosition::Weight : weightPosition(expr, index);
        if (position == WeightPosition::None) continue;
        weights.names.push_back("'" + node.name + "'");
        if (position == WeightPosition::Statistic) statistics.push_back(&node.constant->tensor());
    }
    weights.isUntrained = statistics.size() == 2 && isAll(*statistics[0], 0) && isAll(*statistics[1], 1);
    return weights;
}

}  // namespace

std::string divergenceAdvice(const InternalGraph& graph, const std::vector<graph::ExprId>& suspects) {
    std::vector<std::string> names;
    std::string text;
    for (const graph::ExprId id : suspects) {
        const Expr& expr = graph.expr(id);
        Weights weights = weightsOf(graph, expr);
        if (weights.isUntrained)
            text =
                "the running mean of " + (expr.outputs.empty() ? "the norm" : graph.node(expr.outputs.front()).name) +
                " is 0 and its running variance 1 everywhere: it was never trained, or its statistics were not loaded. ";
        names.insert(names.end(), weights.names.begin(), weights.names.end());
    }
    constexpr std::size_t kMaxNames = 4;
    std::string list;
    for (std::size_t i = 0; i < std::min(names.size(), kMaxNames); ++i) list += (i == 0 ? "" : ", ") + names[i];
    if (names.size() > kMaxNames) list += " and " + std::to_string(names.size() - kMaxNames) + " more";
    if (!names.empty())
        text += "Compare its weights (" + list + ") with those of the model that the reference was recorded from";
    if (suspects.size() == 1) {
        const OpClass opClass = graph::traitsOf(graph.expr(suspects.front())).opClass;
        const auto check = std::ranges::find(kChecks, opClass, &std::pair<OpClass, std::string_view>::first);
        const std::string what = check == kChecks.end() ? "its attributes, and which version of the operator is meant"
                                                        : std::string(check->second);
        text += (names.empty() ? "Check " : ", and check ") + what;
    } else if (names.empty()) {
        text += "Check the attributes of these operations";
    }
    return text;
}

}  // namespace sonde::analysis
