#pragma once

#include <string_view>
#include <unordered_map>

#include "core/passes/gradient_builder.h"

namespace sonde::passes {

/// Rules by the name of the ONNX operator, of another domain as "DOMAIN::NAME"; each of the files gradient_rules*.cpp
/// adds its own.
using GradientRules = std::unordered_map<std::string_view, GradientRule>;
void addElementwiseGradients(GradientRules& rules);
void addReductionGradients(GradientRules& rules);
void addWindowGradients(GradientRules& rules);
void addMovingGradients(GradientRules& rules);
void addLayerGradients(GradientRules& rules);
void addRecurrentGradients(GradientRules& rules);
void addScatterGradients(GradientRules& rules);
void addLossGradients(GradientRules& rules);
void addAttentionGradients(GradientRules& rules);
void addSignalGradients(GradientRules& rules);
void addLinalgGradients(GradientRules& rules);
/// Called behind those of ai.onnx, some of whose rules it gives to other names.
void addContribGradients(GradientRules& rules);

// What rules are written with.

/// A flag or an integer among the arguments of an operator of PyTorch.
inline std::int64_t argumentOf(const graph::Expr& expr, std::size_t index, std::int64_t fallback) {
    if (index >= expr.arguments.size() || expr.arguments[index].kind != graph::Argument::Kind::Constant)
        return fallback;
    const tensor::Value& given = expr.arguments[index].constant;
    return given.isNumber() ? static_cast<std::int64_t>(given.number()) : fallback;
}

/// An invalid id: the input is left out.
inline graph::NodeId inputOf(const graph::Expr& expr, std::size_t index) {
    if (index >= expr.arguments.size() || expr.arguments[index].kind != graph::Argument::Kind::Node) return {};
    return expr.arguments[index].node;
}
/// The first output's gradient.
inline graph::NodeId gradientOf(const GradientBuilder& b, const graph::Expr& expr) {
    return b.gradientOf(expr.outputs.front());
}
/// g where a condition holds, else 0.
inline graph::NodeId gradientWhere(GradientBuilder& b, graph::NodeId condition, graph::NodeId g) {
    return b.op("Where", {condition, g, b.number(0, g)});
}
/// Where x is above a limit, or NaN: PyTorch cuts off what is not above it, and NaN is neither.
graph::NodeId isAboveOrNan(GradientBuilder& b, graph::NodeId x, graph::NodeId limit);
/// How many elements of x go into one of y, as a number of x's dtype.
graph::NodeId elementsFor(GradientBuilder& b, graph::NodeId x, graph::NodeId y);
/// Adds `g`, with as many elements as `places`, to an x of zeros there: flat indices; those beyond x's elements are
/// dropped.
graph::NodeId scatteredGradient(GradientBuilder& b, graph::NodeId x, graph::NodeId places, graph::NodeId g);
/// Numbers that count x's elements from `first`, in x's shape.
graph::NodeId countedElements(GradientBuilder& b, graph::NodeId x, std::int64_t first);
/// Elements of an input that is a constant; empty if it is none.
std::vector<double> constantNumbers(GradientBuilder& b, graph::NodeId node);
tensor::Tensor unitMatrix(std::int64_t size, tensor::DType dtype);

}  // namespace sonde::passes
