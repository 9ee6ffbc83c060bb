// Functions of single elements, and what is computed along one dimension without changing the shape.

#include "core/operators/tables.h"

namespace sonde::operators {

namespace {

using enum Trait;

constexpr Traits kUnary{.density = Density::LikeArguments, .bits = ElementWise | KeepsShape | KeepsDType | KeepsRank};
constexpr Traits kUnaryInPlace = kUnary.with(HasInPlaceForm);
/// With a bool for each element.
constexpr Traits kTest = kUnary.without(KeepsDType);
constexpr Traits kBinary{.density = Density::LikeArguments, .bits = ElementWise | Broadcasts};
constexpr Traits kBinaryInPlace = kBinary.with(HasInPlaceForm);
/// With three inputs, the others broadcast to the first one's rank at most in all models that are known.
constexpr Traits kMasked{.density = Density::LikeArguments,
                         .bits = ElementWise | Broadcasts | KeepsRank | HasInPlaceForm};
/// Elements of a row depend on each other.
constexpr Traits kAlongDim{.density = Density::LikeArguments, .bits = KeepsShape | KeepsDType | KeepsRank};

constexpr Row kRows[] = {
    {"abs acos acosh asin asinh atan atanh bitwise_not celu cos cosh deg2rad digamma elu erf erfc erfinv exp2 expm1 frac gelu hardsigmoid hardswish hardtanh "
     "i0 lgamma log10 log1p log2 logit mish nan_to_num rad2deg relu6 selu sgn sign silu sin sinc sinh square tan tanh threshold trunc",
     kUnaryInPlace},
    {"ceil floor round", kUnaryInPlace.with(StaysSmall)},
    {"exp", kUnaryInPlace.as(OpClass::Exp)},
    {"log", kUnaryInPlace.as(OpClass::Log)},
    {"neg", kUnaryInPlace.as(OpClass::Neg).with(StaysSmall)},
    {"reciprocal", kUnaryInPlace.as(OpClass::Reciprocal)},
    {"relu", kUnaryInPlace.as(OpClass::Relu)},
    {"leaky_relu", kUnaryInPlace.as(OpClass::LeakyRelu)},
    {"rsqrt", kUnaryInPlace.as(OpClass::ReciprocalSqrt)},
    {"sigmoid", kUnaryInPlace.as(OpClass::Sigmoid)},
    {"sqrt", kUnaryInPlace.as(OpClass::Sqrt).with(StaysSmall)},
    {"clamp clamp_max clamp_min", kUnaryInPlace.as(OpClass::Clip)},
    {"rrelu rrelu_with_noise", kUnaryInPlace.with(Random)},
    {"hardshrink log_sigmoid prelu softplus softshrink softsign tanhshrink", kUnary},
    {"angle isfinite isinf isnan isneginf isposinf signbit", kTest},
    {"logical_not", kTest.as(OpClass::Not).with(HasInPlaceForm)},

    {"add", kBinaryInPlace.as(OpClass::Add).with(StaysSmall).takes("AA ")},
    {"sub", kBinaryInPlace.as(OpClass::Sub).with(StaysSmall).takes(" M ")},
    {"rsub", kBinary.as(OpClass::ReverseSub)},
    {"mul", kBinaryInPlace.as(OpClass::Mul).with(StaysSmall).takes("AA ")},
    {"div", kBinaryInPlace.as(OpClass::Div).with(StaysSmall).takes(" M ")},
    {"pow", kBinaryInPlace.as(OpClass::Pow)},
    {"float_power", kBinaryInPlace},
    {"maximum", kBinary.as(OpClass::Maximum)},
    {"minimum", kBinary.as(OpClass::Minimum)},
    {"eq", kBinaryInPlace.as(OpClass::Equal)},
    {"ne", kBinaryInPlace.as(OpClass::NotEqual)},
    {"ge gt le lt", kBinaryInPlace},
    {"floor_divide remainder", kBinaryInPlace.with(StaysSmall)},
    {"atan2 bitwise_left_shift bitwise_right_shift copysign fmod heaviside hypot logical_xor nextafter xlogy",
     kBinaryInPlace},
    {"bitwise_and logical_and __and__", kBinaryInPlace.as(OpClass::And)},
    {"bitwise_or logical_or __or__", kBinaryInPlace.as(OpClass::Or)},
    {"bitwise_xor __xor__ __lshift__ __rshift__", kBinaryInPlace},
    {"fmax fmin isclose logaddexp logaddexp2", kBinary},
    {"where", kBinary.as(OpClass::Where)},
    special({"masked_fill", kMasked.as(OpClass::MaskedFill).with(ConvertsValues)}, Special::ReadsNumberFirst),
    {"addcdiv addcmul lerp", kBinaryInPlace, CostRule::ThreePerElement},

    {"softmax _softmax", kAlongDim.as(OpClass::Softmax).with(Attends)},
    {"log_softmax _log_softmax", kAlongDim, CostRule::FivePerElement},
    {"cumsum cumprod", kAlongDim.with(HasInPlaceForm), CostRule::PerInput},
    {"logcumsumexp", kAlongDim, CostRule::FourPerInput},
    {"renorm", kAlongDim.with(HasInPlaceForm).of(Density::Unknown)},
    {"tril triu", kAlongDim.with(HasInPlaceForm), CostRule::Nothing},

    {"dropout feature_dropout alpha_dropout feature_alpha_dropout",
     Traits{.opClass = OpClass::Dropout,
            .memory = {Sharing::MaybeView},
            .bits = ElementWise | KeepsShape | KeepsDType | KeepsRank | Random | HasInPlaceForm}},
    {"native_dropout", Traits{.memory = {Sharing::MaybeView}, .bits = ElementWise | Random}, CostRule::Nothing},
};

}  // namespace

std::span<const Row> elementwiseRows() { return kRows; }

}  // namespace sonde::operators
