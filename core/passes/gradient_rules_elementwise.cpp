// Derivatives of further element-wise operators. Where none exists the convention is PyTorch's.

#include "core/passes/gradient_rules.h"

namespace sonde::passes {

namespace {

using graph::Expr;
using graph::NodeId;

/// One input x with its number, the output y and its gradient.
struct UnaryCall {
    GradientBuilder& b;
    const Expr& e;
    NodeId x = inputOf(e, 0), y = e.outputs.front(), g = gradientOf(b, e);

    NodeId number(double value) const { return b.number(value, x); }
    NodeId attribute(const char* name, double fallback) const { return number(e.attributes.getFloat(name, fallback)); }
    NodeId square(NodeId a) const { return b.mul(a, a); }
    NodeId sqrt(NodeId a) const { return b.op("Sqrt", {a}); }
    void times(NodeId slope) const { b.give(x, b.mul(g, slope)); }
    void over(NodeId divisor) const { b.give(x, b.div(g, divisor)); }
};

void tanRule(GradientBuilder& b, const Expr& e) {
    const UnaryCall u{b, e};
    u.times(b.add(u.number(1), u.square(u.y)));
}
void asinRule(GradientBuilder& b, const Expr& e) {
    const UnaryCall u{b, e};
    u.over(u.sqrt(b.sub(u.number(1), u.square(u.x))));
}
void acosRule(GradientBuilder& b, const Expr& e) {
    const UnaryCall u{b, e};
    u.over(b.op("Neg", {u.sqrt(b.sub(u.number(1), u.square(u.x)))}));
}
void atanRule(GradientBuilder& b, const Expr& e) {
    const UnaryCall u{b, e};
    u.over(b.add(u.number(1), u.square(u.x)));
}
void sinhRule(GradientBuilder& b, const Expr& e) {
    const UnaryCall u{b, e};
    u.times(b.op("Cosh", {u.x}));
}
void coshRule(GradientBuilder& b, const Expr& e) {
    const UnaryCall u{b, e};
    u.times(b.op("Sinh", {u.x}));
}
void asinhRule(GradientBuilder& b, const Expr& e) {
    const UnaryCall u{b, e};
    u.over(u.sqrt(b.add(u.square(u.x), u.number(1))));
}
void acoshRule(GradientBuilder& b, const Expr& e) {
    const UnaryCall u{b, e};
    u.over(u.sqrt(b.sub(u.square(u.x), u.number(1))));
}
void atanhRule(GradientBuilder& b, const Expr& e) {
    const UnaryCall u{b, e};
    u.over(b.sub(u.number(1), u.square(u.x)));
}
/// alpha where 0 < y < 1.
void hardSigmoidRule(GradientBuilder& b, const Expr& e) {
    const UnaryCall u{b, e};
    const NodeId isInside = b.op("And", {b.op("Greater", {u.y, u.number(0)}), b.op("Less", {u.y, u.number(1)})});
    b.give(u.x, gradientWhere(b, isInside, b.mul(u.g, u.attribute("alpha", 0.2))));
}
/// 0 below -3, 1 above 3, else x / 3 + 1/2, at both too.
void hardSwishRule(GradientBuilder& b, const Expr& e) {
    const UnaryCall u{b, e};
    const NodeId between = b.add(b.div(u.x, u.number(3)), u.number(0.5));
    const NodeId upTo = b.op("Where", {b.op("Greater", {u.x, u.number(3)}), u.number(1), between});
    u.times(b.op("Where", {b.op("Less", {u.x, u.number(-3)}), u.number(0), upTo}));
}
/// 1 / (1 + |x|)².
void softsignRule(GradientBuilder& b, const Expr& e) {
    const UnaryCall u{b, e};
    u.over(u.square(b.add(u.number(1), b.op("Abs", {u.x}))));
}
/// gamma where x > 0, else y + gamma · alpha.
void seluRule(GradientBuilder& b, const Expr& e) {
    const UnaryCall u{b, e};
    const double alpha = e.attributes.getFloat("alpha", 1.67326319217681884765625),
                 gamma = e.attributes.getFloat("gamma", 1.05070102214813232421875);
    u.times(b.op("Where", {isAboveOrNan(b, u.x, u.number(0)), u.number(gamma), b.add(u.y, u.number(alpha * gamma))}));
}
/// 1 where x > 0, else exp(x / alpha).
void celuRule(GradientBuilder& b, const Expr& e) {
    const UnaryCall u{b, e};
    const NodeId below = b.op("Exp", {b.div(u.x, u.attribute("alpha", 1))});
    u.times(b.op("Where", {isAboveOrNan(b, u.x, u.number(0)), u.number(1), below}));
}
/// x · tanh(ln(1 + exp x)).
void mishRule(GradientBuilder& b, const Expr& e) {
    const UnaryCall u{b, e};
    b.through(e, [&]() -> std::vector<NodeId> { return {b.mul(u.x, b.op("Tanh", {b.op("Softplus", {u.x})}))}; });
}
/// x · σ(alpha · x).
void swishRule(GradientBuilder& b, const Expr& e) {
    const UnaryCall u{b, e};
    b.through(e, [&]() -> std::vector<NodeId> {
        return {b.mul(u.x, b.op("Sigmoid", {b.mul(u.x, u.attribute("alpha", 1))}))};
    });
}
void thresholdedReluRule(GradientBuilder& b, const Expr& e) {
    const UnaryCall u{b, e};
    b.give(u.x, gradientWhere(b, isAboveOrNan(b, u.x, u.attribute("alpha", 1)), u.g));
}
void shrinkRule(GradientBuilder& b, const Expr& e) {
    const UnaryCall u{b, e};
    b.give(u.x, gradientWhere(b, isAboveOrNan(b, b.op("Abs", {u.x}), u.attribute("lambd", 0.5)), u.g));
}
/// y = x where x > 0, else slope · x.
void preluRule(GradientBuilder& b, const Expr& e) {
    const UnaryCall u{b, e};
    const NodeId slope = inputOf(e, 1), isPositive = b.op("Greater", {u.x, u.number(0)});
    b.give(u.x, b.op("Where", {isPositive, u.g, b.mul(u.g, slope)}));
    b.giveBroadcast(e, slope, b.op("Where", {isPositive, u.number(0), b.mul(u.g, u.x)}));
}
/// fmod: a − b·trunc(a / b).
void modRule(GradientBuilder& b, const Expr& e) {
    const NodeId p = inputOf(e, 0), q = inputOf(e, 1), g = gradientOf(b, e), ratio = b.div(p, q);
    const NodeId whole = b.mul(b.op("Sign", {ratio}), b.op("Floor", {b.op("Abs", {ratio})}));
    b.giveBroadcast(e, p, g);
    b.giveBroadcast(e, q, b.op("Neg", {b.mul(g, whole)}));
}
void meanRule(GradientBuilder& b, const Expr& e) {
    const NodeId g = gradientOf(b, e);
    const NodeId share = b.div(g, b.number(static_cast<double>(e.arguments.size()), g));
    for (std::size_t i = 0; i < e.arguments.size(); ++i) b.giveBroadcast(e, inputOf(e, i), share);
}
void flatRule(GradientBuilder&, const Expr&) {}

}  // namespace

void addElementwiseGradients(GradientRules& rules) {
    rules.insert({{"Acos", acosRule},
                  {"Acosh", acoshRule},
                  {"Asin", asinRule},
                  {"Asinh", asinhRule},
                  {"Atan", atanRule},
                  {"Atanh", atanhRule},
                  {"Celu", celuRule},
                  {"Cosh", coshRule},
                  {"HardSigmoid", hardSigmoidRule},
                  {"HardSwish", hardSwishRule},
                  {"Hardmax", flatRule},
                  {"Mean", meanRule},
                  {"Mish", mishRule},
                  {"Mod", modRule},
                  {"PRelu", preluRule},
                  {"Selu", seluRule},
                  {"Shrink", shrinkRule},
                  {"Sinh", sinhRule},
                  {"Softsign", softsignRule},
                  {"Swish", swishRule},
                  {"Tan", tanRule},
                  {"ThresholdedRelu", thresholdedReluRule}});
}

}  // namespace sonde::passes
