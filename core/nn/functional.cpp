#include "core/nn/functional.h"

// Functions of numbers and along axes, products.

namespace sonde::nn {

using trace::callFunction;
using trace::callMethod;
using trace::Function;

Var relu(const Var& x) { return callFunction(Function{"relu", "relu", "torch.nn.functional.relu"}, {x}); }
Var relu6(const Var& x) { return callFunction(Function{"relu6", "relu6", "torch.nn.functional.relu6"}, {x}); }
Var hardtanh(const Var& x, double low, double high) {
    return callFunction(Function{"hardtanh", "hardtanh", "torch.nn.functional.hardtanh"}, {x, low, high});
}
Var leakyRelu(const Var& x, double slope) {
    return callFunction(Function{"leaky_relu", "leaky_relu", "torch.nn.functional.leaky_relu"}, {x, slope});
}
Var prelu(const Var& x, const Var& weight) {
    return callFunction(Function{"prelu", "prelu", "torch.prelu"}, {x, weight});
}
Var rrelu(const Var& x, double lower, double upper, bool training) {
    return callFunction(Function{"rrelu", "rrelu", "torch.nn.functional.rrelu"}, {x, lower, upper, training});
}
Var elu(const Var& x, double alpha) {
    return callFunction(Function{"elu", "elu", "torch.nn.functional.elu"}, {x, alpha});
}
Var celu(const Var& x, double alpha) {
    return callFunction(Function{"celu", "celu", "torch.nn.functional.celu"}, {x, alpha});
}
Var selu(const Var& x) { return callFunction(Function{"selu", "selu", "torch.nn.functional.selu"}, {x}); }
Var gelu(const Var& x, const std::string& approximate) {
    const Function function{"gelu", "gelu", "torch.nn.functional.gelu"};
    if (approximate == "none") return callFunction(function, {x});
    return callFunction(function, {x}, {{"approximate", approximate}});
}
Var silu(const Var& x) { return callFunction(Function{"silu", "silu", "torch.nn.functional.silu"}, {x}); }
Var mish(const Var& x) { return callFunction(Function{"mish", "mish", "torch.nn.functional.mish"}, {x}); }
Var sigmoid(const Var& x) { return callFunction(Function{"sigmoid", "sigmoid", "torch.sigmoid"}, {x}); }
Var logSigmoid(const Var& x) {
    return callFunction(Function{"log_sigmoid", "logsigmoid", "torch.nn.functional.logsigmoid"}, {x});
}
Var hardsigmoid(const Var& x) {
    return callFunction(Function{"hardsigmoid", "hardsigmoid", "torch.nn.functional.hardsigmoid"}, {x});
}
Var hardswish(const Var& x) {
    return callFunction(Function{"hardswish", "hardswish", "torch.nn.functional.hardswish"}, {x});
}
Var tanh(const Var& x) { return callFunction(Function{"tanh", "tanh", "torch.tanh"}, {x}); }
Var tanhshrink(const Var& x) { return x - tanh(x); }
Var softplus(const Var& x, double beta, double threshold) {
    return callFunction(Function{"softplus", "softplus", "torch.nn.functional.softplus"}, {x, beta, threshold});
}
Var softsign(const Var& x) { return x / (abs(x) + 1); }
Var softshrink(const Var& x, double lambda) {
    return callFunction(Function{"softshrink", "softshrink", "torch.nn.functional.softshrink"}, {x, lambda});
}
Var hardshrink(const Var& x, double lambda) {
    return callFunction(Function{"hardshrink", "hardshrink", "torch.hardshrink"}, {x, lambda});
}
Var threshold(const Var& x, double threshold, double value) {
    return callFunction(Function{"threshold", "threshold", "torch.nn.functional.threshold"}, {x, threshold, value});
}
Var exp(const Var& x) { return callFunction(Function{"exp", "exp", "torch.exp"}, {x}); }
Var log(const Var& x) { return callFunction(Function{"log", "log", "torch.log"}, {x}); }
Var abs(const Var& x) { return callFunction(Function{"abs", "abs", "torch.abs"}, {x}); }
Var sign(const Var& x) { return callFunction(Function{"sign", "sign", "torch.sign"}, {x}); }
Var sqrt(const Var& number) { return callFunction(Function{"sqrt", "sqrt", "math.sqrt", false, "prim"}, {number}); }

Var clamp(const Var& x, const Var& min, const Var& max) {
    return callFunction(Function{"clamp", "clamp", "torch.clamp"}, {x}, {{"min", min}, {"max", max}});
}

Var maskedFill(const Var& x, const Var& mask, double value) {
    return callMethod(Function{"masked_fill.Scalar", "masked_fill", "masked_fill"}, {x, mask, value});
}

Var where(const Var& condition, const Var& x, const Var& y) {
    const auto isNumber = [](const Var& var) { return var.kind() == Var::Kind::Value && var.value().isNumber(); };
    const std::string_view op = isNumber(x)   ? (isNumber(y) ? "where.Scalar" : "where.ScalarSelf")
                                : isNumber(y) ? "where.ScalarOther"
                                              : "where.self";
    return callFunction(Function{op, "where", "torch.where"}, {condition, x, y});
}

Var glu(const Var& x, std::int64_t dim) {
    return callFunction(Function{"glu", "glu", "torch.nn.functional.glu"}, {x, dim});
}

Var softmax(const Var& x, std::int64_t dim) {
    return callFunction(Function{"softmax.int", "softmax", "torch.nn.functional.softmax"}, {x}, {{"dim", dim}});
}

Var softmin(const Var& x, std::int64_t dim) { return softmax(-x, dim); }

Var logSoftmax(const Var& x, std::int64_t dim) {
    return callFunction(Function{"log_softmax.int", "log_softmax", "torch.nn.functional.log_softmax"}, {x},
                        {{"dim", dim}});
}

Var sum(const Var& x) { return callMethod(Function{"sum", "sum", "sum"}, {x}); }

Var normalize(const Var& x, double p, std::int64_t dim, double eps) {
    const Var norm = callMethod(Function{"norm.ScalarOpt_dim", "norm", "norm"}, {x, p, Ints{dim}, true});
    return x / callMethod(Function{"clamp_min", "clamp_min", "clamp_min"}, {norm, eps});
}

Var cosineSimilarity(const Var& a, const Var& b, std::int64_t dim, double eps) {
    return callFunction(Function{"cosine_similarity", "cosine_similarity", "torch.cosine_similarity"},
                        {a, b, dim, eps});
}

Var pairwiseDistance(const Var& a, const Var& b, double p, double eps, bool keepDim) {
    return callFunction(Function{"pairwise_distance", "pairwise_distance", "torch.pairwise_distance"},
                        {a, b, p, eps, keepDim});
}

Var linear(const Var& x, const Var& weight, const Var& bias) {
    return callFunction(Function{"linear", "linear", "torch.nn.functional.linear"}, {x, weight, bias});
}

Var bilinear(const Var& a, const Var& b, const Var& weight, const Var& bias) {
    return callFunction(Function{"bilinear", "bilinear", "torch.bilinear"}, {a, b, weight, bias});
}

Var embedding(const Var& ids, const Var& weight, std::int64_t paddingIndex) {
    return callFunction(Function{"embedding", "embedding", "torch.nn.functional.embedding"},
                        {weight, ids, paddingIndex});
}

Var embeddingBag(const Var& ids, const Var& weight, const Var& offsets, const std::string& mode, const Var& scales,
                 bool includeLastOffset, std::int64_t paddingIndex) {
    const int modeNumber = mode == "sum" ? 0 : mode == "mean" ? 1 : 2;
    const Function function{
        "embedding_bag.padding_idx", "embedding_bag", "torch.nn.functional.embedding_bag", true, "aten", 4};
    const Var padding = paddingIndex < 0 ? Var() : Var(paddingIndex);
    return callFunction(function,
                        {weight, ids, offsets, false, modeNumber, false, scales, includeLastOffset, padding})[0];
}

Var scaledDotProductAttention(const Var& q, const Var& k, const Var& v, const Var& mask, double dropout, bool causal) {
    constexpr std::string_view kName = "scaled_dot_product_attention";
    return callFunction(Function{kName, kName, "torch.nn.functional.scaled_dot_product_attention"},
                        {q, k, v, mask, dropout, causal});
}

}  // namespace sonde::nn
