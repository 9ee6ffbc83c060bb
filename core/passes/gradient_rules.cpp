// Derivatives of ONNX operators for reverse mode: g is the gradient of an operator's output y, a rule gives that of its
// inputs. Formulas stand beside the rules.

#include "core/passes/gradient_rules.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <string_view>

namespace sonde::passes {

namespace {

using graph::Expr;
using graph::NodeId;

NodeId in(const Expr& expr, std::size_t index) { return inputOf(expr, index); }
NodeId out(const Expr& expr) { return expr.outputs.front(); }
NodeId grad(const GradientBuilder& b, const Expr& expr) { return gradientOf(b, expr); }

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
/// d(p^q): q·p^(q−1), 0 where q is 0; y·ln(p), 0 where p is 0 and q is not negative.
void powRule(GradientBuilder& b, const Expr& e) {
    const NodeId p = in(e, 0), q = in(e, 1);
    const NodeId lower = b.op("Pow", {p, b.sub(q, b.number(1, q))});
    const bool same = b.graph().node(p).type.dtype == b.graph().node(q).type.dtype;
    const NodeId exponent =
        same ? q : b.op("Cast", {q}, {{"to", static_cast<std::int64_t>(b.graph().node(p).type.dtype)}});
    const NodeId isFlat = b.op("Equal", {exponent, b.number(0, exponent)});
    b.giveBroadcast(e, p, b.mul(grad(b, e), b.op("Where", {isFlat, b.number(0, exponent), b.mul(exponent, lower)})));
    if (b.graph().node(q).constant || !tensor::isFloating(b.graph().node(q).type.dtype)) return;
    const NodeId isZero = b.op(
        "And", {b.op("Equal", {p, b.number(0, p)}), b.op("Not", {b.op("Less", {exponent, b.number(0, exponent)})})});
    const NodeId slope = b.op("Where", {isZero, b.number(0, p), b.mul(out(e), b.op("Log", {p}))});
    b.giveBroadcast(e, q, b.mul(grad(b, e), slope));
}
/// To those elements that are the result, in equal shares; all of it to each where the result is NaN.
void extremeRule(GradientBuilder& b, const Expr& e) {
    const NodeId one = b.number(1, out(e)), zero = b.number(0, out(e)), isNan = b.op("IsNaN", {out(e)});
    std::vector<NodeId> hits;
    NodeId count;
    for (std::size_t i = 0; i < e.arguments.size(); ++i) {
        hits.push_back(b.op("Where", {b.op("Or", {b.op("Equal", {in(e, i), out(e)}), isNan}), one, zero}));
        count = count.valid() ? b.add(count, hits.back()) : hits.back();
    }
    const NodeId share = b.div(grad(b, e), b.op("Where", {isNan, one, count}));
    for (std::size_t i = 0; i < e.arguments.size(); ++i) b.giveBroadcast(e, in(e, i), b.mul(hits[i], share));
}
void whereRule(GradientBuilder& b, const Expr& e) {
    const NodeId zero = b.number(0, out(e));
    b.giveBroadcast(e, in(e, 1), b.op("Where", {in(e, 0), grad(b, e), zero}));
    b.giveBroadcast(e, in(e, 2), b.op("Where", {in(e, 0), zero, grad(b, e)}));
}
/// At a limit to x. What lies beyond is the limit's.
void clipRule(GradientBuilder& b, const Expr& e) {
    const NodeId x = in(e, 0), zero = b.number(0, out(e)), isInside = b.op("Equal", {x, out(e)});
    b.give(x, b.op("Where", {isInside, grad(b, e), zero}));
    for (const std::size_t limit : {std::size_t{1}, std::size_t{2}}) {
        if (!in(e, limit).valid()) continue;
        const NodeId isBeyond = b.op(limit == 1 ? "Less" : "Greater", {x, in(e, limit)});
        b.giveBroadcast(e, in(e, limit), b.op("Where", {isBeyond, grad(b, e), zero}));
    }
}

/// `then` where x > 0 or NaN, else `otherwise`.
NodeId positive(GradientBuilder& b, const Expr& e, NodeId then, NodeId otherwise) {
    return b.op("Where", {isAboveOrNan(b, in(e, 0), b.number(0, in(e, 0))), then, otherwise});
}
void reluRule(GradientBuilder& b, const Expr& e) {
    b.give(in(e, 0), positive(b, e, grad(b, e), b.number(0, in(e, 0))));
}
void leakyReluRule(GradientBuilder& b, const Expr& e) {
    const NodeId x = in(e, 0), below = b.mul(grad(b, e), b.number(e.attributes.getFloat("alpha", 0.01), x));
    b.give(x, b.op("Where", {b.op("Greater", {x, b.number(0, x)}), grad(b, e), below}));
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
    if (e.attributes.getString("approximate", "none") != "none") {
        // x/2·(1 + tanh(√(2/π)·(x + 0.044715·x³)))
        return b.through(e, [&]() -> std::vector<NodeId> {
            const NodeId cube = b.mul(b.number(0.044715, x), b.mul(x, b.mul(x, x)));
            const NodeId inner = b.mul(b.number(std::sqrt(2 * std::numbers::inv_pi), x), b.add(x, cube));
            return {b.mul(b.mul(b.number(0.5, x), x), b.add(b.number(1, x), b.op("Tanh", {inner})))};
        });
    }
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
    const auto isZero = [&](std::size_t input) {
        const std::vector<double> numbers = constantNumbers(b, in(e, input));
        return numbers.size() == 1 && numbers.front() == 0;
    };
    if (in(e, 2).valid() && !isZero(1) && !isZero(2)) return b.fail("Dropout in training draws random numbers");
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
    std::vector<NodeId> inputs{countedElements(b, in(e, 0), 0)};
    for (std::size_t i = 1; i < e.arguments.size(); ++i) inputs.push_back(in(e, i));
    b.give(in(e, 0), scatteredGradient(b, in(e, 0), b.like(e, inputs, e.attributes), grad(b, e)));
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
        // An output that nobody reads has no known type.
        const NodeId g = b.gradientOf(output);
        parts.push_back(g.valid() ? g : b.filled(output, 0, b.graph().node(in(e, 0)).type.dtype));
    }
    b.give(in(e, 0), b.op("Concat", parts, {{"axis", e.attributes.getInt("axis", 0)}}));
}

}  // namespace

NodeId isAboveOrNan(GradientBuilder& b, NodeId x, NodeId limit) {
    return b.op("Or", {b.op("Greater", {x, limit}), b.op("IsNaN", {x})});
}

NodeId countedElements(GradientBuilder& b, NodeId x, std::int64_t first) {
    const auto start = tensor::Tensor::scalar<std::int64_t>(first), one = tensor::Tensor::scalar<std::int64_t>(1);
    const NodeId end = first == 0 ? b.op("Size", {x}) : b.add(b.op("Size", {x}), b.constant(start));
    return b.reshapedTo(b.op("Range", {b.constant(start), end, b.constant(one)}), x);
}

NodeId scatteredGradient(GradientBuilder& b, NodeId x, NodeId places, NodeId g) {
    if (b.version() < 16) {
        b.fail("the derivative of what picks elements needs ScatterElements of version 16");
        return {};
    }
    const NodeId flat = b.integers({-1});
    const NodeId zeros = b.op("Reshape", {b.filled(x, 0), flat});
    const NodeId sum = b.op("ScatterElements", {zeros, b.op("Reshape", {places, flat}), b.op("Reshape", {g, flat})},
                            {{"axis", std::int64_t{0}}, {"reduction", std::string("add")}});
    return b.reshapedTo(sum, x);
}

const GradientRule* findGradientRule(const Expr& expr) {
    static const GradientRules all = [] {
        GradientRules rules{{"Abs", absRule},
                            {"Add", addRule},
                            {"Cast", castRule},
                            {"CastLike", castRule},
                            {"Ceil", constantRule},
                            {"Clip", clipRule},
                            {"Concat", concatRule},
                            {"ConstantOfShape", constantRule},
                            {"Cos", cosRule},
                            {"DepthToSpace", pickRule},
                            {"DequantizeLinear", constantRule},
                            {"Div", divRule},
                            {"Dropout", dropoutRule},
                            {"Elu", eluRule},
                            {"Erf", erfRule},
                            {"Exp", expRule},
                            {"Expand", pickRule},
                            {"Flatten", reshapeRule},
                            {"Floor", constantRule},
                            {"Gather", pickRule},
                            {"Compress", pickRule},
                            {"ReverseSequence", pickRule},
                            {"GatherElements", pickRule},
                            {"GatherND", pickRule},
                            {"Gelu", geluRule},
                            {"Gemm", gemmRule},
                            {"Identity", sameRule},
                            {"LeakyRelu", leakyReluRule},
                            {"Log", logRule},
                            {"MatMul", matMulRule},
                            {"Max", extremeRule},
                            {"Min", extremeRule},
                            {"Mul", mulRule},
                            {"Neg", negRule},
                            {"Pow", powRule},
                            {"Reciprocal", reciprocalRule},
                            {"Relu", reluRule},
                            {"Reshape", reshapeRule},
                            {"Round", constantRule},
                            {"Sigmoid", sigmoidRule},
                            {"Sign", constantRule},
                            {"Sin", sinRule},
                            {"Slice", pickRule},
                            {"Softplus", softplusRule},
                            {"SpaceToDepth", pickRule},
                            {"Split", splitRule},
                            {"Sqrt", sqrtRule},
                            {"Squeeze", reshapeRule},
                            {"Sub", subRule},
                            {"Sum", addRule},
                            {"Tanh", tanhRule},
                            {"Tile", pickRule},
                            {"Transpose", transposeRule},
                            {"Unsqueeze", reshapeRule},
                            {"Where", whereRule}};
        addElementwiseGradients(rules);
        addReductionGradients(rules);
        addWindowGradients(rules);
        addMovingGradients(rules);
        addLayerGradients(rules);
        addRecurrentGradients(rules);
        addScatterGradients(rules);
        addLossGradients(rules);
        addAttentionGradients(rules);
        addSignalGradients(rules);
        addLinalgGradients(rules);
        addContribGradients(rules);
        return rules;
    }();
    const std::string& domain = expr.op.domain;
    const auto found = all.find(domain.empty() ? expr.op.name : domain + "::" + expr.op.name);
    return found == all.end() ? nullptr : &found->second;
}

}  // namespace sonde::passes
