#include "core/ops/support/activation.h"

#include "core/base/number_text.h"
#include "core/base/unicode.h"
#include "core/ops/support/shapes.h"

namespace sonde::ops {

std::string Activation::formula() const {
    const std::string a = base::roundedText(alpha, 9), b = base::roundedText(beta, 9);
    switch (m_kind) {
        case Kind::Sigmoid: return "sigmoid({})";
        case Kind::Tanh: return "tanh({})";
        case Kind::Relu: return "maximum({}, 0)";
        case Kind::LeakyRelu: return "where({} < 0, " + a + " * ({}), {})";
        case Kind::ThresholdedRelu: return "where({} > " + a + ", {}, 0)";
        case Kind::Affine: return "(" + a + " * ({}) + " + b + ")";
        case Kind::ScaledTanh: return "(" + a + " * tanh(" + b + " * ({})))";
        case Kind::HardSigmoid: return "clip(" + a + " * ({}) + " + b + ", 0, 1)";
        case Kind::Elu: return "where({} < 0, " + a + " * expm1({}), {})";
        case Kind::Softsign: return "(({}) / (1 + abs({})))";
        case Kind::Softplus: return "(log1p(exp(-abs({}))) + maximum({}, 0))";
    }
    return "{}";
}

base::Result<void> Activation::resolve() {
    static constexpr struct {
        std::string_view name;
        double alpha, beta;
    } kKnown[] = {{"sigmoid", 0, 0},
                  {"tanh", 0, 0},
                  {"relu", 0, 0},
                  {"leakyrelu", 0.01, 0},
                  {"thresholdedrelu", 1, 0},
                  {"affine", 1, 0},
                  {"scaledtanh", 1, 1},
                  {"hardsigmoid", 0.2, 0.5},
                  {"elu", 1, 0},
                  {"softsign", 0, 0},
                  {"softplus", 0, 0}};
    const std::string lower = base::lowerCase(name);
    for (std::size_t i = 0; i < std::size(kKnown); ++i) {
        if (kKnown[i].name != lower) continue;
        m_kind = static_cast<Kind>(i);
        alpha = kKnown[i].alpha;
        beta = kKnown[i].beta;
        return {};
    }
    return opError("activation '" + name + "' is not supported");
}

}  // namespace sonde::ops
