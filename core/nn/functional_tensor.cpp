#include "core/nn/functional.h"

// Shapes, sizes and methods of tensors.

namespace sonde::nn {

using trace::callFunction;
using trace::callMethod;
using trace::Function;

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

Var onesLike(const Var& x) { return callFunction(Function{"ones_like", "ones_like", "torch.ones_like"}, {x}); }
Var arange(const Var& start, const Var& end, const Var& step) {
    return callFunction(Function{"arange.start_step", "arange", "torch.arange"}, {start, end, step});
}

Var interpolate(const Var& x, double scale, const std::string& mode, const Var& alignCorners) {
    return interpolate(x, Var(), Var::list({scale, scale}), mode, alignCorners);
}

namespace {

/// The number of spatial axes, if the mode or what is given per axis tells it; else 0.
std::size_t spatialAxes(const Var& size, const Var& scaleFactor, const std::string& mode) {
    if (mode == "linear") return 1;
    if (mode == "bilinear" || mode == "bicubic") return 2;
    if (mode == "trilinear") return 3;
    for (const Var& given : {size, scaleFactor}) {
        if (given.kind() == Var::Kind::List || given.kind() == Var::Kind::Tuple) return given.items().size();
        if (given.kind() == Var::Kind::Value && given.value().isListLike()) return given.value().items().size();
    }
    return 0;
}

Var perAxis(const Var& given, std::size_t axes) {
    const bool isNumber = given.kind() == Var::Kind::Value && given.value().isNumber();
    return isNumber ? Var::list(std::vector<Var>(axes, given)) : given;
}

std::string_view upsampleOperator(const std::string& mode, std::size_t axes) {
    constexpr std::string_view kNearest[] = {"upsample_nearest1d.vec", "upsample_nearest2d.vec",
                                             "upsample_nearest3d.vec"};
    constexpr std::string_view kExact[] = {"_upsample_nearest_exact1d.vec", "_upsample_nearest_exact2d.vec",
                                           "_upsample_nearest_exact3d.vec"};
    constexpr std::string_view kLinear[] = {"upsample_linear1d.vec", "upsample_bilinear2d.vec",
                                            "upsample_trilinear3d.vec"};
    if (axes < 1 || axes > 3) return {};
    if (mode == "nearest") return kNearest[axes - 1];
    if (mode == "nearest-exact") return kExact[axes - 1];
    if (mode == "bicubic") return "upsample_bicubic2d.vec";
    return mode.ends_with("linear") ? kLinear[axes - 1] : std::string_view{};
}

}  // namespace

Var interpolate(const Var& x, const Var& size, const Var& scaleFactor, const std::string& mode,
                const Var& alignCorners) {
    constexpr std::string_view kTarget = "torch.nn.functional.interpolate";
    const std::size_t axes = spatialAxes(size, scaleFactor, mode);
    const std::string_view op = upsampleOperator(mode, axes);
    // "nearest" with one factor fits signals, images and volumes: the operator is then chosen in the run.
    if (op.empty())
        return callFunction(Function{"interpolate", "interpolate", kTarget, true, "prim"},
                            {x, size, scaleFactor, mode, alignCorners});
    std::vector<Var> arguments{x, perAxis(size, axes)};
    if (!mode.starts_with("nearest")) arguments.emplace_back(!alignCorners.isNone() && alignCorners.toBool());
    arguments.push_back(perAxis(scaleFactor, axes));
    return callFunction(Function{op, "interpolate", kTarget}, std::move(arguments));
}

Var pixelShuffle(const Var& x, std::int64_t factor) {
    return callFunction(Function{"pixel_shuffle", "pixel_shuffle", "torch.pixel_shuffle"}, {x, factor});
}
Var pixelUnshuffle(const Var& x, std::int64_t factor) {
    return callFunction(Function{"pixel_unshuffle", "pixel_unshuffle", "torch.pixel_unshuffle"}, {x, factor});
}
Var channelShuffle(const Var& x, std::int64_t groups) {
    return callFunction(Function{"channel_shuffle", "channel_shuffle", "torch.channel_shuffle"}, {x, groups});
}

Var pad(const Var& x, const Ints& padding, const std::string& mode, const Var& value) {
    return callFunction(Function{"pad", "pad", "torch.nn.functional.pad"}, {x, padding, mode, value});
}

Var unfold(const Var& x, const Sizes& kernel, const Sizes& dilation, const Sizes& padding, const Sizes& stride) {
    return callFunction(Function{"im2col", "unfold", "torch.nn.functional.unfold"},
                        {x, kernel.of(2), dilation.of(2), padding.of(2), stride.of(2)});
}

Var fold(const Var& x, const Sizes& outputSize, const Sizes& kernel, const Sizes& dilation, const Sizes& padding,
         const Sizes& stride) {
    return callFunction(Function{"col2im", "fold", "torch.nn.functional.fold"},
                        {x, outputSize.of(2), kernel.of(2), dilation.of(2), padding.of(2), stride.of(2)});
}

Var view(const Var& x, std::vector<Var> shape) {
    return callMethod(Function{"view", "view", "view"}, {x, Var::list(std::move(shape))});
}
Var reshape(const Var& x, std::vector<Var> shape) { return reshapeTo(x, Var::list(std::move(shape))); }
Var reshapeTo(const Var& x, const Var& shape) {
    return callMethod(Function{"reshape", "reshape", "reshape"}, {x, shape});
}
Var unflatten(const Var& x, std::int64_t dim, const Var& sizes) {
    return callMethod(Function{"unflatten.int", "unflatten", "unflatten"}, {x, dim, sizes});
}
Var narrow(const Var& x, std::int64_t dim, const Var& start, const Var& length) {
    return callMethod(Function{"narrow", "narrow", "narrow"}, {x, dim, start, length});
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
Var unsqueeze(const Var& x, std::int64_t dim) {
    return callMethod(Function{"unsqueeze", "unsqueeze", "unsqueeze"}, {x, dim});
}
Var squeeze(const Var& x, std::int64_t dim) {
    return callMethod(Function{"squeeze.dim", "squeeze", "squeeze"}, {x, dim});
}
Var expand(const Var& x, std::vector<Var> shape) {
    return callMethod(Function{"expand", "expand", "expand"}, {x, Var::list(std::move(shape))});
}
Var newZeros(const Var& x, const Var& shape) {
    return callMethod(Function{"new_zeros", "new_zeros", "new_zeros"}, {x, shape});
}
Var pow(const Var& x, double exponent) {
    return callMethod(Function{"pow.Tensor_Scalar", "pow", "pow"}, {x, exponent});
}

}  // namespace sonde::nn
