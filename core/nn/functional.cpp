#include "core/nn/functional.h"

namespace sonde::nn {

using trace::callFunction;
using trace::callMethod;
using trace::Function;

Var relu(const Var& x) { return callFunction(Function{"relu", "relu", "torch.nn.functional.relu"}, {x}); }
Var sigmoid(const Var& x) { return callFunction(Function{"sigmoid", "sigmoid", "torch.sigmoid"}, {x}); }
Var tanh(const Var& x) { return callFunction(Function{"tanh", "tanh", "torch.tanh"}, {x}); }
Var gelu(const Var& x) { return callFunction(Function{"gelu", "gelu", "torch.nn.functional.gelu"}, {x}); }
Var exp(const Var& x) { return callFunction(Function{"exp", "exp", "torch.exp"}, {x}); }
Var sum(const Var& x) { return callMethod(Function{"sum", "sum", "sum"}, {x}); }

Var softmax(const Var& x, std::int64_t dim) {
    return callFunction(Function{"softmax.int", "softmax", "torch.nn.functional.softmax"}, {x}, {{"dim", dim}});
}

Var logSoftmax(const Var& x, std::int64_t dim) {
    return callFunction(Function{"log_softmax.int", "log_softmax", "torch.nn.functional.log_softmax"}, {x}, {{"dim", dim}});
}

Var linear(const Var& x, const Var& weight, const Var& bias) {
    return callFunction(Function{"linear", "linear", "torch.nn.functional.linear"}, {x, weight, bias});
}

Var flatten(const Var& x, std::int64_t startDim, std::int64_t endDim) {
    std::vector<Var> arguments{x, startDim};
    if (endDim != -1) arguments.emplace_back(endDim);
    return callFunction(Function{"flatten.using_ints", "flatten", "torch.flatten"}, std::move(arguments));
}

Var cat(std::vector<Var> tensors, std::int64_t dim) { return cat(Var::list(std::move(tensors)), dim); }
Var cat(const Var& tensors, std::int64_t dim) {
    return callFunction(Function{"cat", "cat", "torch.cat"}, {tensors}, {{"dim", dim}});
}

Var stack(std::vector<Var> tensors, std::int64_t dim) {
    return callFunction(Function{"stack", "stack", "torch.stack"}, {Var::list(std::move(tensors))}, {{"dim", dim}});
}

Var where(const Var& condition, const Var& x, const Var& y) {
    return callFunction(Function{"where.self", "where", "torch.where"}, {condition, x, y});
}

Var clamp(const Var& x, const Var& min, const Var& max) {
    return callFunction(Function{"clamp", "clamp", "torch.clamp"}, {x}, {{"min", min}, {"max", max}});
}

Var dropout(const Var& x, double p, bool training) {
    return callFunction(Function{"dropout", "dropout", "torch.nn.functional.dropout"}, {x, p, training});
}

Var interpolate(const Var& x, double scale, const std::string& mode, const Var& alignCorners) {
    const Var scales = Var::list({scale, scale});
    if (mode == "nearest") {
        return callFunction(Function{"upsample_nearest2d.vec", "interpolate", "torch.nn.functional.interpolate"},
                            {x, Var::none(), scales});
    }
    const std::string_view op = mode == "bicubic" ? "upsample_bicubic2d.vec" : "upsample_bilinear2d.vec";
    const bool corners = !alignCorners.isNone() && alignCorners.toBool();
    return callFunction(Function{op, "interpolate", "torch.nn.functional.interpolate"}, {x, Var::none(), corners, scales});
}

Var maskedFill(const Var& x, const Var& mask, double value) {
    return callMethod(Function{"masked_fill.Scalar", "masked_fill", "masked_fill"}, {x, mask, value});
}

Var onesLike(const Var& x) { return callFunction(Function{"ones_like", "ones_like", "torch.ones_like"}, {x}); }
Var sqrt(const Var& number) { return callFunction(Function{"sqrt", "sqrt", "math.sqrt", false, "prim"}, {number}); }

Var view(const Var& x, std::vector<Var> shape) {
    return callMethod(Function{"view", "view", "view"}, {x, Var::list(std::move(shape))});
}
Var reshape(const Var& x, std::vector<Var> shape) {
    return callMethod(Function{"reshape", "reshape", "reshape"}, {x, Var::list(std::move(shape))});
}
Var permute(const Var& x, const Ints& dims) { return callMethod(Function{"permute", "permute", "permute"}, {x, dims}); }
Var transpose(const Var& x, std::int64_t a, std::int64_t b) {
    return callMethod(Function{"transpose.int", "transpose", "transpose"}, {x, a, b});
}
Var contiguous(const Var& x) { return callMethod(Function{"contiguous", "contiguous", "contiguous"}, {x}); }
Var size(const Var& x, std::int64_t dim) { return callMethod(Function{"size.int", "size", "size", false}, {x, dim}); }
Var size(const Var& x) { return callMethod(Function{"size", "size", "size", false}, {x}); }
Var chunk(const Var& x, std::int64_t chunks, std::int64_t dim) {
    return callMethod(Function{"chunk", "chunk", "chunk", false}, {x, chunks}, {{"dim", dim}});
}
Var mean(const Var& x, const Ints& dims, bool keepDim) {
    Keywords keywords{{"dim", dims}};
    if (keepDim) keywords.emplace_back("keepdim", true);
    return callMethod(Function{"mean.dim", "mean", "mean"}, {x}, std::move(keywords));
}
Var unsqueeze(const Var& x, std::int64_t dim) { return callMethod(Function{"unsqueeze", "unsqueeze", "unsqueeze"}, {x, dim}); }
Var squeeze(const Var& x, std::int64_t dim) { return callMethod(Function{"squeeze.dim", "squeeze", "squeeze"}, {x, dim}); }
Var expand(const Var& x, std::vector<Var> shape) {
    return callMethod(Function{"expand", "expand", "expand"}, {x, Var::list(std::move(shape))});
}

}  // namespace sonde::nn
