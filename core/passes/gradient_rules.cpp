// Derivatives of ONNX operators for reverse mode: g is the gradient of an operator's output y, a rule gives that of its
// inputs. Formulas stand beside the rules.

#include <array>
#include <cmath>
#include <numbers>
#include <string_view>

#include "core/passes/gradient_builder.h"

namespace sonde::passes {

namespace {

using graph::Expr;
using graph::NodeId;

NodeId in(const Expr& expr, std::size_t index) {
    if (index >= expr.arguments.size() || expr.arguments[index].kind != graph::Argument::Kind::Node) return {};
    return expr.arguments[index].node;
}
NodeId out(const Expr& expr) { return expr.outputs.front(); }
NodeId grad(const GradientBuilder& b, const Expr& expr) { return b.gradientOf(out(expr)); }

void constantRule(GradientBuilder&, const Expr&) {}

// ---- element by element

void addRule(GradientBuilder& b, const Expr& e) {
    for (std::size_t i = 0; i < e.arguments.size(); ++i) b.giveBroadcast(e, in(e, i), grad(b, e));
}
void subRule(GradientBuilder& b, const Expr& e) {
    b.giveBroadcast(e, in(e, 0), grad(b, e));
    b.giveBroadcast(e, in(e, 1), b.op("Neg", {grad(b, e)}));
}
void mulRule(GradientBuilder& b, const Expr& e) {
    b.giveBroadcast(e, in(e, 0), b.mul(grad(b, e), in(e, 1)));
    b.giveBroadcast(e, in(e, 1), b.mul(grad(b, e), in(e, 0)));
}
/// d(p/q): 1/q and −y/q.
void divRule(GradientBuilder& b, const Expr& e) {
    b.giveBroadcast(e, in(e, 0), b.div(grad(b, e), in(e, 1)));
    b.giveBroadcast(e, in(e, 1), b.op("Neg", {b.div(b.mul(grad(b, e), out(e)), in(e, 1))}));
}
/// d(p^q): q·p^(q−1) and y·ln(p).
void powRule(GradientBuilder& b, const Expr& e) {
    const NodeId p = in(e, 0), q = in(e, 1);
    const NodeId lower = b.op("Pow", {p, b.sub(q, b.number(1, q))});
    const bool same = b.graph().node(p).type.dtype == b.graph().node(q).type.dtype;
    const NodeId exponent =
        same ? q : b.op("Cast", {q}, {{"to", static_cast<std::int64_t>(b.graph().node(p).type.dtype)}});
    b.giveBroadcast(e, p, b.mul(grad(b, e), b.mul(exponent, lower)));
    if (b.graph().node(q).constant) return;
    b.giveBroadcast(e, q, b.mul(grad(b, e), b.mul(out(e), b.op("Log", {p}))));
}
/// The share of those elements that are the result.
void extremeRule(GradientBuilder& b, const Expr& e) {
    for (std::size_t i = 0; i < e.arguments.size(); ++i) {
        b.giveBroadcast(e, in(e, i),
                        b.op("Where", {b.op("Equal", {in(e, i), out(e)}), grad(b, e), b.number(0, out(e))}));
    }
}
void whereRule(GradientBuilder& b, const Expr& e) {
    const NodeId zero = b.number(0, out(e));
    b.giveBroadcast(e, in(e, 1), b.op("Where", {in(e, 0), grad(b, e), zero}));
    b.giveBroadcast(e, in(e, 2), b.op("Where", {in(e, 0), zero, grad(b, e)}));
}
void clipRule(GradientBuilder& b, const Expr& e) {
    b.give(in(e, 0), b.op("Where", {b.op("Equal", {in(e, 0), out(e)}), grad(b, e), b.number(0, out(e))}));
}

/// g · f where x > 0, else g · otherwise(…).
NodeId positive(GradientBuilder& b, const Expr& e, NodeId then, NodeId otherwise) {
    return b.op("Where", {b.op("Greater", {in(e, 0), b.number(0, in(e, 0))}), then, otherwise});
}
void reluRule(GradientBuilder& b, const Expr& e) {
    b.give(in(e, 0), positive(b, e, grad(b, e), b.number(0, in(e, 0))));
}
void leakyReluRule(GradientBuilder& b, const Expr& e) {
    b.give(in(e, 0),
           positive(b, e, grad(b, e), b.mul(grad(b, e), b.number(e.attributes.getFloat("alpha", 0.01), in(e, 0)))));
}
void eluRule(GradientBuilder& b, const Expr& e) {
    const NodeId alpha = b.number(e.attributes.getFloat("alpha", 1), in(e, 0));
    b.give(in(e, 0), positive(b, e, grad(b, e), b.mul(grad(b, e), b.add(out(e), alpha))));
}
void sigmoidRule(GradientBuilder& b, const Expr& e) {
    b.give(in(e, 0), b.mul(grad(b, e), b.mul(out(e), b.sub(b.number(1, out(e)), out(e)))));
}
void tanhRule(GradientBuilder& b, const Expr& e) {
    b.give(in(e, 0), b.mul(grad(b, e), b.sub(b.number(1, out(e)), b.mul(out(e), out(e)))));
}
void expRule(GradientBuilder& b, const Expr& e) { b.give(in(e, 0), b.mul(grad(b, e), out(e))); }
void logRule(GradientBuilder& b, const Expr& e) { b.give(in(e, 0), b.div(grad(b, e), in(e, 0))); }
void sqrtRule(GradientBuilder& b, const Expr& e) {
    b.give(in(e, 0), b.div(grad(b, e), b.mul(b.number(2, out(e)), out(e))));
}
void reciprocalRule(GradientBuilder& b, const Expr& e) {
    b.give(in(e, 0), b.op("Neg", {b.mul(grad(b, e), b.mul(out(e), out(e)))}));
}
void negRule(GradientBuilder& b, const Expr& e) { b.give(in(e, 0), b.op("Neg", {grad(b, e)})); }
void absRule(GradientBuilder& b, const Expr& e) { b.give(in(e, 0), b.mul(grad(b, e), b.op("Sign", {in(e, 0)}))); }
void sinRule(GradientBuilder& b, const Expr& e) { b.give(in(e, 0), b.mul(grad(b, e), b.op("Cos", {in(e, 0)}))); }
void cosRule(GradientBuilder& b, const Expr& e) {
    b.give(in(e, 0), b.op("Neg", {b.mul(grad(b, e), b.op("Sin", {in(e, 0)}))}));
}
void softplusRule(GradientBuilder& b, const Expr& e) {
    b.give(in(e, 0), b.mul(grad(b, e), b.op("Sigmoid", {in(e, 0)})));
}
/// 2/sqrt(pi) · exp(−x²).
void erfRule(GradientBuilder& b, const Expr& e) {
    const NodeId bell = b.op("Exp", {b.op("Neg", {b.mul(in(e, 0), in(e, 0))})});
    b.give(in(e, 0), b.mul(grad(b, e), b.mul(bell, b.number(2 * std::numbers::inv_sqrtpi, in(e, 0)))));
}
/// Φ(x) + x·φ(x) with the normal distribution's Φ and φ.
void geluRule(GradientBuilder& b, const Expr& e) {
    const NodeId x = in(e, 0);
    if (e.attributes.getString("approximate", "none") != "none")
        return b.fail("the derivative of Gelu is only supported without approximation");
    const NodeId half = b.number(0.5, x);
    const NodeId below =
        b.mul(half, b.add(b.number(1, x), b.op("Erf", {b.mul(x, b.number(1 / std::numbers::sqrt2, x))})));
    const NodeId density = b.mul(b.number(std::numbers::inv_sqrtpi / std::numbers::sqrt2, x),
                                 b.op("Exp", {b.op("Neg", {b.mul(half, b.mul(x, x))})}));
    b.give(x, b.mul(grad(b, e), b.add(below, b.mul(x, density))));
}
void sameRule(GradientBuilder& b, const Expr& e) { b.give(in(e, 0), grad(b, e)); }
void castRule(GradientBuilder& b, const Expr& e) {
    const auto dtype = b.graph().node(in(e, 0)).type.dtype;
    if (!tensor::isFloating(dtype)) return;
    b.give(in(e, 0), b.op("Cast", {grad(b, e)}, {{"to", static_cast<std::int64_t>(dtype)}}));
}
void dropoutRule(GradientBuilder& b, const Expr& e) {
    if (in(e, 2).valid()) return b.fail("Dropout in training draws random numbers");
    sameRule(b, e);
}

// ---- products

/// C = A·B: dA = g·Bᵀ, dB = Aᵀ·g, summed over broadcast batches; vectors as matrices of one row or column.
void matMulRule(GradientBuilder& b, const Expr& e) {
    const NodeId A = in(e, 0), B = in(e, 1), g = grad(b, e);
    const auto rankA = b.rankOf(A), rankB = b.rankOf(B);
    if (!rankA || !rankB) return b.fail("the rank of a factor of MatMul is unknown");
    const auto sumTo = [&](NodeId gradient, NodeId x) { return b.prim("grad_sum_to", {gradient, x}, {}, 1).front(); };
    if (*rankA == 1 && *rankB == 1) {
        b.give(A, b.mul(g, B));
        b.give(B, b.mul(g, A));
    } else if (*rankB == 1) {
        const NodeId column = b.unsqueezed(g, -1);
        b.give(A, b.mul(column, B));
        b.give(B, sumTo(b.mul(column, A), B));
    } else if (*rankA == 1) {
        const NodeId row = b.unsqueezed(g, -2);
        b.give(A, b.reshapedTo(sumTo(b.op("MatMul", {B, b.unsqueezed(g, -1)}), b.unsqueezed(A, -1)), A));
        b.give(B, b.mul(b.unsqueezed(A, -1), row));
    } else {
        const NodeId dA = b.op("MatMul", {g, b.transposed(B)}), dB = b.op("MatMul", {b.transposed(A), g});
        b.give(A, *rankA == 2 && *rankB == 2 ? dA : sumTo(dA, A));
        b.give(B, *rankA == 2 && *rankB == 2 ? dB : sumTo(dB, B));
    }
}

/// Y = alpha·A'·B' + beta·C.
void gemmRule(GradientBuilder& b, const Expr& e) {
    const NodeId A = in(e, 0), B = in(e, 1), C = in(e, 2), g = grad(b, e);
    const bool turnA = e.attributes.getInt("transA", 0) != 0, turnB = e.attributes.getInt("transB", 0) != 0;
    const auto turned = [&](NodeId x, bool turn) {
        return turn ? b.op("Transpose", {x}, {{"perm", std::vector<std::int64_t>{1, 0}}}) : x;
    };
    const NodeId scaled = b.mul(g, b.number(e.attributes.getFloat("alpha", 1), A));
    b.give(A, turned(b.op("MatMul", {scaled, turned(B, !turnB)}), turnA));
    b.give(B, turned(b.op("MatMul", {turned(A, !turnA), scaled}), turnB));
    if (C.valid()) b.giveBroadcast(e, C, b.mul(g, b.number(e.attributes.getFloat("beta", 1), C)));
}

/// How many elements of x go into one of y, as a number of x's dtype.
NodeId elementsFor(GradientBuilder& b, NodeId x, NodeId y) {
    const auto dtype = b.graph().node(x).type.dtype;
    return b.op(
        "Cast", {b.op("Div", {b.op("Size", {x}), b.op("Size", {y})})},
        {{"to", static_cast<std::int64_t>(dtype == tensor::DType::Undefined ? tensor::DType::Float32 : dtype)}});
}

// ---- windows

void convRule(GradientBuilder& b, const Expr& e) {
    const NodeId x = in(e, 0), w = in(e, 1), g = grad(b, e);
    const auto made = b.prim("grad_conv", {g, x, w}, e.attributes, 2);
    b.give(x, made[0]);
    b.give(w, made[1]);
    const NodeId bias = in(e, 2);
    const auto rank = b.rankOf(x);
    if (!bias.valid()) return;
    if (!rank) return b.fail("the rank of the input of Conv is unknown");
    std::vector<std::int64_t> axes{0};
    for (std::size_t i = 2; i < *rank; ++i) axes.push_back(static_cast<std::int64_t>(i));
    b.give(bias, b.reshapedTo(b.reduced("ReduceSum", g, axes), bias));
}
void poolRule(GradientBuilder& b, const Expr& e) {
    tensor::Attributes attributes = e.attributes;
    attributes.set("kind", e.op.name);
    b.give(in(e, 0), b.prim("grad_pool", {grad(b, e), in(e, 0)}, std::move(attributes), 1).front());
}
/// Every element of the picture has the same share.
void globalAverageRule(GradientBuilder& b, const Expr& e) {
    const NodeId x = in(e, 0);
    b.give(x, b.op("Expand", {b.div(grad(b, e), elementsFor(b, x, out(e))), b.shapeOf(x)}));
}

// ---- reductions: the gradient goes back along the axes that were summed

NodeId spreadBack(GradientBuilder& b, const Expr& e, NodeId& kept) {
    tensor::Attributes attributes = e.attributes;
    attributes.set("keepdims", std::int64_t{1});
    std::vector<NodeId> inputs{in(e, 0)};
    if (in(e, 1).valid()) inputs.push_back(in(e, 1));
    kept = b.op(e.op.name, inputs, std::move(attributes));
    return b.op("Expand", {b.op("Reshape", {grad(b, e), b.shapeOf(kept)}), b.shapeOf(in(e, 0))});
}
void reduceSumRule(GradientBuilder& b, const Expr& e) {
    NodeId kept;
    b.give(in(e, 0), spreadBack(b, e, kept));
}
void reduceMeanRule(GradientBuilder& b, const Expr& e) {
    NodeId kept;
    const NodeId x = in(e, 0), spread = spreadBack(b, e, kept);
    b.give(x, b.div(spread, elementsFor(b, x, kept)));
}
void reduceSquaresRule(GradientBuilder& b, const Expr& e) {
    NodeId kept;
    const NodeId x = in(e, 0), spread = spreadBack(b, e, kept);
    b.give(x, b.mul(spread, b.mul(x, b.number(2, x))));
}
/// x / y.
void reduceLengthRule(GradientBuilder& b, const Expr& e) {
    NodeId kept;
    const NodeId x = in(e, 0), spread = spreadBack(b, e, kept);
    b.give(x, b.mul(spread, b.div(x, kept)));
}

/// The axis of Softmax and its kin; before version 13 all axes from it on were one.
std::optional<std::int64_t> softmaxAxis(GradientBuilder& b, const Expr& e) {
    const std::int64_t axis = e.attributes.getInt("axis", e.op.version >= 13 ? -1 : 1);
    const auto rank = b.rankOf(in(e, 0));
    if (e.op.version < 13 && axis != -1 && (!rank || axis != static_cast<std::int64_t>(*rank) - 1)) {
        b.fail("the derivative of " + e.op.name + " over several axes is not supported");
        return std::nullopt;
    }
    return axis;
}
/// y·(g − Σ g·y).
void softmaxRule(GradientBuilder& b, const Expr& e) {
    const auto axis = softmaxAxis(b, e);
    if (axis)
        b.give(in(e, 0), b.mul(out(e), b.sub(grad(b, e), b.reduced("ReduceSum", b.mul(grad(b, e), out(e)), {*axis}))));
}
/// g − exp(y)·Σ g.
void logSoftmaxRule(GradientBuilder& b, const Expr& e) {
    const auto axis = softmaxAxis(b, e);
    if (axis)
        b.give(in(e, 0), b.sub(grad(b, e), b.mul(b.op("Exp", {out(e)}), b.reduced("ReduceSum", grad(b, e), {*axis}))));
}

// ---- normalisations

/// Inference: y = scale·(x − mean)/sqrt(var + ε) + bias; mean and var are constants.
void batchNormRule(GradientBuilder& b, const Expr& e) {
    const NodeId x = in(e, 0), g = grad(b, e);
    const auto rank = b.rankOf(x);
    if (!rank || *rank < 2) return b.fail("the rank of the input of BatchNormalization is unknown");
    if (e.attributes.getInt("training_mode", 0) != 0)
        return b.fail("the derivative of BatchNormalization in training is not supported");
    std::vector<std::int64_t> shape(*rank - 1, 1), axes{0};
    shape.front() = -1;
    for (std::size_t i = 2; i < *rank; ++i) axes.push_back(static_cast<std::int64_t>(i));
    const NodeId to = b.integers(shape);
    const auto perChannel = [&](std::size_t input) { return b.op("Reshape", {in(e, input), to}); };
    const NodeId deviation = b.op("Sqrt", {b.add(perChannel(4), b.number(e.attributes.getFloat("epsilon", 1e-5), x))});
    const NodeId normal = b.div(b.sub(x, perChannel(3)), deviation);
    b.give(x, b.mul(g, b.div(perChannel(1), deviation)));
    b.give(in(e, 1), b.reshapedTo(b.reduced("ReduceSum", b.mul(g, normal), axes), in(e, 1)));
    b.give(in(e, 2), b.reshapedTo(b.reduced("ReduceSum", g, axes), in(e, 2)));
}

/// n = (x − mean)/deviation, y = scale·n + bias; with h = g·scale: dx = (h − mean(h) − n·mean(h·n)) / deviation.
void layerNormRule(GradientBuilder& b, const Expr& e) {
    const NodeId x = in(e, 0), scale = in(e, 1), bias = in(e, 2), g = grad(b, e);
    const auto rank = b.rankOf(x);
    if (!rank) return b.fail("the rank of the input of LayerNormalization is unknown");
    std::int64_t axis = e.attributes.getInt("axis", -1);
    if (axis < 0) axis += static_cast<std::int64_t>(*rank);
    std::vector<std::int64_t> axes;
    for (std::int64_t i = axis; i < static_cast<std::int64_t>(*rank); ++i) axes.push_back(i);
    const auto mean = [&](NodeId of) { return b.reduced("ReduceMean", of, axes); };
    const NodeId centred = b.sub(x, mean(x));
    const NodeId deviation =
        b.op("Sqrt", {b.add(mean(b.mul(centred, centred)), b.number(e.attributes.getFloat("epsilon", 1e-5), x))});
    const NodeId normal = b.div(centred, deviation), h = b.mul(g, scale);
    b.give(x, b.div(b.sub(b.sub(h, mean(h)), b.mul(normal, mean(b.mul(h, normal)))), deviation));
    b.giveBroadcast(e, scale, b.mul(g, normal));
    if (bias.valid()) b.giveBroadcast(e, bias, g);
}

// ---- places

void reshapeRule(GradientBuilder& b, const Expr& e) { b.give(in(e, 0), b.reshapedTo(grad(b, e), in(e, 0))); }
void transposeRule(GradientBuilder& b, const Expr& e) {
    const auto order = e.attributes.getInts("perm");
    if (order.empty()) return b.give(in(e, 0), b.op("Transpose", {grad(b, e)}));
    std::vector<std::int64_t> inverse(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
        if (order[i] < 0 || order[i] >= static_cast<std::int64_t>(order.size()))
            return b.fail("perm of Transpose is not a permutation of the axes");
        inverse[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
    }
    b.give(in(e, 0), b.op("Transpose", {grad(b, e)}, {{"perm", inverse}}));
}
/// Operators that pick elements of their first input: where each comes from is found by the operator itself, on numbers
/// that count the elements; then every gradient is added there.
void pickRule(GradientBuilder& b, const Expr& e) {
    const NodeId x = in(e, 0);
    if (b.version() < 16) return b.fail("the derivative of " + e.op.name + " needs ScatterElements of version 16");
    const auto zero = tensor::Tensor::scalar<std::int64_t>(0), one = tensor::Tensor::scalar<std::int64_t>(1);
    const NodeId places = b.reshapedTo(b.op("Range", {b.constant(zero), b.op("Size", {x}), b.constant(one)}), x);
    std::vector<NodeId> inputs{places};
    for (std::size_t i = 1; i < e.arguments.size(); ++i) {
        if (!in(e, i).valid())
            return b.fail("the derivative of " + e.op.name + " with an omitted input is not supported");
        inputs.push_back(in(e, i));
    }
    const NodeId flat = b.integers({-1});
    const NodeId from = b.op("Reshape", {b.op(e.op.name, inputs, e.attributes), flat});
    const NodeId zeros = b.op("Reshape", {b.filled(x, 0), flat});
    const NodeId sum = b.op("ScatterElements", {zeros, from, b.op("Reshape", {grad(b, e), flat})},
                            {{"axis", std::int64_t{0}}, {"reduction", std::string("add")}});
    b.give(x, b.reshapedTo(sum, x));
}
/// Every input takes its part of the axis.
void concatRule(GradientBuilder& b, const Expr& e) {
    std::int64_t start = 0;
    const std::int64_t axis = e.attributes.getInt("axis", 0);
    for (std::size_t i = 0; i < e.arguments.size(); ++i) {
        const auto& shape = b.graph().node(in(e, i)).type.shape;
        const auto at = shape ? axis < 0 ? axis + static_cast<std::int64_t>(shape->size()) : axis : -1;
        if (!shape || at < 0 || at >= static_cast<std::int64_t>(shape->size()) ||
            !(*shape)[static_cast<std::size_t>(at)].known() || b.version() < 10) {
            return b.fail("the dimensions of the inputs of Concat are unknown");
        }
        const std::int64_t end = start + (*shape)[static_cast<std::size_t>(at)].value;
        b.give(in(e, i), b.op("Slice", {grad(b, e), b.integers({start}), b.integers({end}), b.integers({at})}));
        start = end;
    }
}
void splitRule(GradientBuilder& b, const Expr& e) {
    std::vector<NodeId> parts;
    for (NodeId output : e.outputs) {
        const NodeId g = b.gradientOf(output);
        parts.push_back(g.valid() ? g : b.filled(output, 0));
    }
    b.give(in(e, 0), b.op("Concat", parts, {{"axis", e.attributes.getInt("axis", 0)}}));
}

struct Named {
    std::string_view op;
    GradientRule rule;
};

// clang-format off
constexpr std::array kRules{
    Named{"Abs", absRule}, Named{"Add", addRule}, Named{"AveragePool", poolRule}, Named{"BatchNormalization", batchNormRule},
    Named{"Cast", castRule}, Named{"CastLike", castRule}, Named{"Ceil", constantRule}, Named{"Clip", clipRule}, Named{"Concat", concatRule},
    Named{"ConstantOfShape", constantRule}, Named{"Conv", convRule}, Named{"Cos", cosRule}, Named{"DepthToSpace", pickRule}, Named{"Div", divRule},
    Named{"Dropout", dropoutRule}, Named{"Elu", eluRule}, Named{"Erf", erfRule}, Named{"Exp", expRule}, Named{"Expand", pickRule},
    Named{"Flatten", reshapeRule}, Named{"Floor", constantRule}, Named{"Gather", pickRule}, Named{"GatherElements", pickRule},
    Named{"GatherND", pickRule}, Named{"Gelu", geluRule}, Named{"Gemm", gemmRule}, Named{"GlobalAveragePool", globalAverageRule},
    Named{"Identity", sameRule}, Named{"LayerNormalization", layerNormRule}, Named{"LeakyRelu", leakyReluRule}, Named{"Log", logRule},
    Named{"LogSoftmax", logSoftmaxRule}, Named{"MatMul", matMulRule}, Named{"Max", extremeRule}, Named{"MaxPool", poolRule},
    Named{"Min", extremeRule}, Named{"Mul", mulRule}, Named{"Neg", negRule}, Named{"Pow", powRule}, Named{"Reciprocal", reciprocalRule},
    Named{"ReduceL2", reduceLengthRule}, Named{"ReduceMean", reduceMeanRule}, Named{"ReduceSum", reduceSumRule},
    Named{"ReduceSumSquare", reduceSquaresRule}, Named{"Relu", reluRule}, Named{"Reshape", reshapeRule}, Named{"Round", constantRule},
    Named{"Sigmoid", sigmoidRule}, Named{"Sign", constantRule}, Named{"Sin", sinRule}, Named{"Slice", pickRule}, Named{"Softmax", softmaxRule},
    Named{"Softplus", softplusRule}, Named{"SpaceToDepth", pickRule}, Named{"Split", splitRule}, Named{"Sqrt", sqrtRule},
    Named{"Squeeze", reshapeRule}, Named{"Sub", subRule}, Named{"Sum", addRule}, Named{"Tanh", tanhRule}, Named{"Tile", pickRule},
    Named{"Transpose", transposeRule}, Named{"Unsqueeze", reshapeRule}, Named{"Where", whereRule}};
// clang-format on

}  // namespace

const GradientRule* findGradientRule(const Expr& expr) {
    if (!expr.op.domain.empty()) return nullptr;
    for (const Named& named : kRules) {
        if (named.op == expr.op.name) return &named.rule;
    }
    return nullptr;
}

}  // namespace sonde::passes
