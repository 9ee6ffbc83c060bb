// Rearranging blocks of images, and small operators on matrices.

#include <algorithm>
#include <cmath>

#include "core/ops/dependence/rules.h"
#include "core/ops/dependence/windows.h"
#include "core/ops/kernels/attention.h"
#include "core/ops/kernels/elementwise.h"
#include "core/ops/kernels/matmul.h"
#include "core/ops/kernels/move.h"
#include "core/ops/kernels/normalize.h"
#include "core/ops/kernels/patches.h"
#include "core/ops/kernels/reduce.h"
#include "core/ops/support/row.h"
#include "core/ops/support/shapes.h"
#include "core/ops/support/wide.h"

namespace sonde::ops {

namespace {

using tensor::Dim;

base::Result<void> rearrange(KernelContext& context, const Shape& split, std::span<const std::size_t> order,
                             const Shape& result) {
    SONDE_ASSIGN(const Tensor parts, context.in("input").reshaped(split));
    SONDE_ASSIGN(const Tensor moved, kernels::packed(context.pool(), parts.permuted(order)));
    SONDE_ASSIGN(Tensor shaped, moved.reshaped(result));
    context.setOutput(Value(std::move(shaped)));
    return {};
}

base::Result<std::int64_t> blockSize(const Tensor& x, const Attributes& attributes) {
    const std::int64_t b = attributes.getInt("blocksize", 0);
    if (x.rank() != 4 || b < 1 || b > 1 << 20)
        return opError("blocksize " + std::to_string(b) + " does not match " + x.typeText());
    return b;
}

base::Result<void> depthToSpace(KernelContext& context) {
    const Tensor& x = context.in("input");
    SONDE_ASSIGN(const std::int64_t b, blockSize(x, context.attributes()));
    if (x.dim(1) % (b * b)) return opError("blocksize " + std::to_string(b) + " does not match " + x.typeText());
    const std::int64_t n = x.dim(0), c = x.dim(1) / (b * b), h = x.dim(2), w = x.dim(3);
    const Shape result{n, c, h * b, w * b};
    if (context.attributes().getString("mode", "DCR") == "CRD")
        return rearrange(context, Shape{n, c, b, b, h, w}, std::vector<std::size_t>{0, 1, 4, 2, 5, 3}, result);
    return rearrange(context, Shape{n, b, b, c, h, w}, std::vector<std::size_t>{0, 3, 4, 1, 5, 2}, result);
}

base::Result<void> spaceToDepth(KernelContext& context) {
    const Tensor& x = context.in("input");
    SONDE_ASSIGN(const std::int64_t b, blockSize(x, context.attributes()));
    if (x.dim(2) % b || x.dim(3) % b)
        return opError("blocksize " + std::to_string(b) + " does not match " + x.typeText());
    const std::int64_t n = x.dim(0), c = x.dim(1), h = x.dim(2) / b, w = x.dim(3) / b;
    return rearrange(context, Shape{n, c, h, b, w, b}, std::vector<std::size_t>{0, 3, 5, 1, 2, 4},
                     Shape{n, c * b * b, h, w});
}

base::Result<void> inferBlocks(InferContext& context, bool toSpace) {
    std::optional<Dims> dims = context.in("input").shape;
    const std::int64_t b = context.attributes().getInt("blocksize", 0);
    if (dims && dims->size() == 4 && b > 0 && b < 1 << 20) {
        const auto scaled = [&](const Dim& dim, bool up, std::int64_t by) {
            const auto dimSize = tensor::Symbolic::of(dim), factor = tensor::Symbolic::of(by);
            return (up ? dimSize * factor : floorDiv(dimSize, factor)).dim();
        };
        (*dims)[1] = scaled((*dims)[1], !toSpace, b * b);
        (*dims)[2] = scaled((*dims)[2], toSpace, b);
        (*dims)[3] = scaled((*dims)[3], toSpace, b);
    }
    setLike(context, "input", std::move(dims));
    return {};
}

base::Result<void> centerCropPad(KernelContext& context) {
    const Tensor& x = context.in("input_data");
    SONDE_ASSIGN(const std::vector<std::int64_t> target, intsOf(context.value("shape")));
    std::vector<std::int64_t> given = context.attributes().getInts("axes");
    if (!context.attributes().has("axes")) {
        for (std::size_t i = 0; i < x.rank(); ++i) given.push_back(static_cast<std::int64_t>(i));
    }
    SONDE_ASSIGN(const std::vector<std::size_t> axes, axesOf(given, x.rank()));
    if (axes.size() != target.size()) return opError("shape must have " + std::to_string(axes.size()) + " entries");
    std::vector<std::int64_t> before(x.rank(), 0), after(x.rank(), 0);
    Tensor cropped = x;
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const std::int64_t have = x.dim(axes[i]), want = target[i];
        if (want < 0) return opError("invalid dimension size " + std::to_string(want));
        if (want < have) {
            cropped = cropped.sliced(axes[i], (have - want) / 2, want);
        } else {
            before[axes[i]] = (want - have) / 2;
            after[axes[i]] = want - have - before[axes[i]];
        }
    }
    SONDE_ASSIGN(const Tensor packed, cropped.contiguous());
    return kernels::pad(context, packed, before, after, kernels::PadMode::Constant, Tensor());
}

/// Columns [N, C·taps, L] of an image's blocks, added up where they overlap.
base::Result<void> col2im(KernelContext& context) {
    const Tensor& x = context.in("input");
    SONDE_ASSIGN(const std::vector<std::int64_t> image, intsOf(context.value("image_shape")));
    SONDE_ASSIGN(const std::vector<std::int64_t> block, intsOf(context.value("block_shape")));
    if (image.empty() || block.size() != image.size())
        return opError("image_shape and block_shape must have the same length");
    SONDE_ASSIGN(const Window window, windowFromAttributes(context.attributes(), block, image));
    const Shape grid = window.outputShape(1, 1, image);
    const std::vector<std::int64_t> positions(grid.begin() + 2, grid.end());
    if (!Shape(image).checkedNumel() || x.rank() != 3 || x.dim(1) % window.taps() ||
        x.dim(2) != Shape(positions).numel())
        return opError("columns " + x.typeText() + " do not fit an image of " + Shape(image).text());
    std::vector<std::int64_t> dims{x.dim(0), x.dim(1) / window.taps()};
    dims.insert(dims.end(), image.begin(), image.end());
    SONDE_ASSIGN(const Tensor columns, wide(x));
    SONDE_ASSIGN(Tensor y, wideZeros(Shape(dims)));
    const kernels::Patches patches(window, image, positions);
    for (std::int64_t n = 0; n < x.dim(0); ++n) {
        for (std::int64_t k = 0; k < x.dim(1); ++k) {
            patches.addRow(columns.data<double>() + (n * x.dim(1) + k) * x.dim(2), k,
                           y.mutableData<double>() + n * dims[1] * patches.inputSize());
        }
    }
    return setNarrow(context, 0, y, x.dtype());
}

base::Result<Dependence> columnImageTerms(const ElementCall& call) {
    SONDE_ASSIGN(const std::vector<std::int64_t> image, intsOf(call.context.value("image_shape")));
    SONDE_ASSIGN(const std::vector<std::int64_t> block, intsOf(call.context.value("block_shape")));
    SONDE_ASSIGN(const Window window, windowFromAttributes(call.context.attributes(), block, image));
    return dependence::addedColumns(call, window);
}

base::Result<void> inferCol2Im(InferContext& context) {
    const auto image = context.elements("image_shape"), block = context.elements("block_shape");
    std::optional<Dims> dims;
    if (image) {
        tensor::Symbolic taps = tensor::Symbolic::of(std::int64_t{1});
        for (std::size_t i = 0; block && i < block->size(); ++i) taps = taps * (*block)[i];
        const bool hasRows = context.in("input").shape && context.in("input").shape->size() == 3;
        dims = Dims{hasRows ? context.in("input").shape->front() : tensor::Dim{}, {}};
        if (hasRows && block && taps.constant() != 0)
            (*dims)[1] = floorDiv(tensor::Symbolic::of((*context.in("input").shape)[1]), taps).dim();
        for (const tensor::Symbolic& dimSize : *image) dims->push_back(dimSize.dim());
    }
    setLike(context, "input", std::move(dims));
    return {};
}

/// (x − mean) / deviation over the axes.
base::Result<void> meanVariance(KernelContext& context) {
    const Tensor& x = context.in("X");
    SONDE_ASSIGN(const std::vector<std::size_t> axes,
                 axesOf(context.attributes().getInts("axes", {0, 2, 3}), x.rank()));
    SONDE_ASSIGN(const Tensor in, wide(x));
    const auto mean = [&](const Tensor& values) -> base::Result<Tensor> {
        const Value inputs[] = {Value(values)};
        KernelContext inner(inputs, context.attributes(), 1, context.environment());
        SONDE_TRY(kernels::reduce(inner, kernels::Reduce::Mean, values, axes, true));
        return inner.takeOutputs()[0].tensor();
    };
    SONDE_ASSIGN(const Tensor centre, mean(in));
    SONDE_ASSIGN(Tensor moved, kernels::arithmeticTensor(context.pool(), kernels::Arithmetic::Sub, in, centre));
    SONDE_ASSIGN(const Tensor squares,
                 kernels::arithmeticTensor(context.pool(), kernels::Arithmetic::Mul, moved, moved));
    SONDE_ASSIGN(Tensor variance, mean(squares));
    for (double& v : variance.mutableSpan<double>()) v = std::sqrt(v) + 1e-9;
    SONDE_ASSIGN(const Tensor result,
                 kernels::arithmeticTensor(context.pool(), kernels::Arithmetic::Div, moved, variance));
    return setNarrow(context, 0, result, x.dtype());
}

/// x, or slope·x below 0. Before 7 a slope with one number for each channel was lined up with axis 1.
base::Result<void> prelu(KernelContext& context, bool byChannel) {
    const Tensor& x = context.in("X");
    Tensor slope = context.in("slope");
    if (byChannel && slope.rank() == 1 && slope.numel() > 1 && x.rank() > 1) {
        std::vector<std::int64_t> dims(x.rank() - 1, 1);
        dims[0] = slope.numel();
        SONDE_ASSIGN(slope, slope.reshaped(Shape(dims)));
    }
    SONDE_ASSIGN(const Tensor below, kernels::arithmeticTensor(context.pool(), kernels::Arithmetic::Mul, x, slope));
    if (below.shape() != x.shape())
        return opError("slope " + context.in("slope").typeText() + " does not match " + x.typeText());
    SONDE_ASSIGN(const Tensor zero, Tensor::zeros(x.dtype(), Shape{}));
    const Value inputs[] = {Value(x), Value(zero)};
    KernelContext inner(inputs, context.attributes(), 1, context.environment());
    SONDE_TRY(kernels::compare(inner, kernels::Comparison::Less, x, zero));
    const std::vector<Value> negative = inner.takeOutputs();
    return kernels::where(context, negative[0].tensor(), below, x);
}

/// A cache with an update written at each batch's own place along the axis.
base::Result<void> tensorScatter(KernelContext& context) {
    const Tensor &cache = context.in("past_cache"), &update = context.in("update");
    SONDE_ASSIGN(const std::size_t axis, axisOf(context.attributes().getInt("axis", -2), cache.rank()));
    bool fits = axis > 0 && update.rank() == cache.rank();
    for (std::size_t i = 0; fits && i < cache.rank(); ++i)
        fits = i == axis ? update.dim(i) <= cache.dim(i) : update.dim(i) == cache.dim(i);
    const Tensor* places = context.optionalIn("write_indices");
    if (!fits || (places && places->numel() != cache.dim(0)))
        return opError("an update " + update.typeText() + " does not match " + cache.typeText());
    const bool circular = context.attributes().getString("mode", "linear") == "circular";
    SONDE_ASSIGN(Tensor y, context.output(cache.dtype(), cache.shape()));
    kernels::copyInto(context.pool(), cache, y);
    const std::int64_t length = cache.dim(axis);
    for (std::int64_t b = 0; b < cache.dim(0); ++b) {
        const std::int64_t start = places ? places->toInt64(b) : 0;
        for (std::int64_t s = 0; s < update.dim(axis); ++s) {
            std::int64_t at = start + s;
            if (circular) at = (at % length + length) % length;
            if (at < 0 || at >= length)
                return opError("place " + std::to_string(at) + " is outside a cache of " + std::to_string(length));
            kernels::copyInto(context.pool(), update.sliced(0, b, 1).sliced(axis, s, 1),
                              y.sliced(0, b, 1).sliced(axis, at, 1));
        }
    }
    return {};
}

/// Attention with bodies that change the scores and the probabilities. Q, K, V [B, H, S, d].
/// Q [N,H,L,E], V [N,G,S,F] -> [N,H,L,F]
base::Result<void> inferFlexAttention(InferContext& context) {
    const auto &q = context.in("Q").shape, &v = context.in("V").shape;
    std::optional<Dims> dims = q;
    if (dims && dims->size() == 4) (*dims)[3] = v && v->size() == 4 ? (*v)[3] : tensor::Dim{};
    setLike(context, "Q", std::move(dims));
    return {};
}

base::Result<void> flexAttention(KernelContext& context) {
    const Tensor &q = context.in("Q"), &k = context.in("K"), &v = context.in("V");
    const bool fits = q.rank() == 4 && k.rank() == 4 && v.rank() == 4 && k.dim(1) > 0 && q.dim(1) % k.dim(1) == 0 &&
                      q.dim(3) == k.dim(3) && k.dim(2) == v.dim(2) && k.dim(1) == v.dim(1) && q.dim(0) == k.dim(0) &&
                      q.dim(0) == v.dim(0);
    if (!fits)
        return opError("queries " + q.typeText() + ", keys " + k.typeText() + " and values " + v.typeText() +
                       " are incompatible");
    const std::int64_t precision = context.attributes().getInt("softmax_precision", 0);
    const DType type = precision > 0 && precision < tensor::kDTypeCount ? static_cast<DType>(precision)
                       : q.dtype() == DType::Float64                    ? DType::Float64
                                                                        : DType::Float32;
    const std::int64_t repeat = q.dim(1) / k.dim(1);
    /// Key heads repeated for each query head of their group, in the type of the computation.
    const auto shared = [&](const Tensor& x) -> base::Result<Tensor> {
        SONDE_ASSIGN(const Tensor typed, x.cast(type));
        SONDE_ASSIGN(const Tensor five,
                     typed.unsqueezed(2).expanded(Shape{x.dim(0), x.dim(1), repeat, x.dim(2), x.dim(3)}));
        return five.reshaped(Shape{x.dim(0), x.dim(1) * repeat, x.dim(2), x.dim(3)});
    };
    SONDE_ASSIGN(const Tensor queries, q.cast(type));
    SONDE_ASSIGN(const Tensor keys, shared(k));
    SONDE_ASSIGN(const Tensor values, shared(v));
    KernelContext inner({}, context.attributes(), 1, context.environment());
    SONDE_ASSIGN(const Tensor keysT, kernels::packed(context.pool(), keys.transposed(2, 3)));
    SONDE_ASSIGN(const Tensor product, kernels::matmul(inner, queries, keysT));
    const double factor = context.attributes().has("scale") ? context.attributes().getFloat("scale", 1)
                                                            : 1 / std::sqrt(static_cast<double>(q.dim(3)));
    SONDE_ASSIGN(const Tensor scale, Tensor::scalar<double>(factor).cast(type));
    SONDE_ASSIGN(Tensor scores, kernels::arithmeticTensor(context.pool(), kernels::Arithmetic::Mul, product, scale));
    const auto modified = [&](const char* name, Tensor x) -> base::Result<Tensor> {
        const auto* body = context.attributes().find(name);
        if (!body || !std::holds_alternative<tensor::BodyRef>(*body) || !context.bodies()) return x;
        const Value inputs[] = {Value(x)};
        SONDE_ASSIGN(const std::vector<Value> results,
                     context.bodies()->run(std::get<tensor::BodyRef>(*body).index, inputs, 0));
        if (results.size() != 1 || !results[0].isTensor() || results[0].tensor().shape() != x.shape())
            return opError(std::string(name) + " must give one tensor of the shape " + x.shape().text());
        return results[0].tensor().contiguous();
    };
    SONDE_ASSIGN(scores, modified("score_mod", scores));
    KernelContext forSoftmax({}, context.attributes(), 1, context.environment());
    SONDE_TRY(kernels::softmax(forSoftmax, scores, 3, false));
    SONDE_ASSIGN(const Tensor weights, modified("prob_mod", forSoftmax.takeOutputs()[0].tensor()));
    SONDE_ASSIGN(const Tensor typedWeights, weights.cast(type));
    KernelContext last({}, context.attributes(), 1, context.environment());
    SONDE_ASSIGN(const Tensor y, kernels::matmul(last, typedWeights, values));
    return setNarrow(context, 0, y, q.dtype());
}

}  // namespace

void define_blocks(Registry& registry) {
    registry.add(Row("DepthToSpace", 1, "channels to blocks of pixels", Category::Transform)
                     .in("input")
                     .out("output")
                     .required("blocksize", AttributeKind::Int)
                     .attrString("mode", "DCR")
                     .runs(depthToSpace, [](InferContext& context) { return inferBlocks(context, true); }));
    registry.add(Row("SpaceToDepth", 1, "blocks of pixels to channels", Category::Transform)
                     .in("input")
                     .out("output")
                     .required("blocksize", AttributeKind::Int)
                     .runs(spaceToDepth, [](InferContext& context) { return inferBlocks(context, false); }));
    registry.add(Row("CenterCropPad", 18, "cuts or pads to a size, keeping the middle", Category::Transform)
                     .in("input_data")
                     .in("shape", kIndex)
                     .out("output_data")
                     .attrInts("axes")
                     .runs(centerCropPad, [](InferContext& context) -> base::Result<void> {
                         std::optional<Dims> dims = context.in("input_data").shape;
                         if (dims) {
                             std::vector<std::int64_t> given = context.attributes().getInts("axes");
                             for (std::size_t i = 0; i < dims->size() && !context.attributes().has("axes"); ++i)
                                 given.push_back(static_cast<std::int64_t>(i));
                             SONDE_ASSIGN(const std::vector<std::size_t> axes, axesOf(given, dims->size()));
                             const auto target = context.elements("shape");
                             for (std::size_t i = 0; i < axes.size(); ++i)
                                 (*dims)[axes[i]] = target && i < target->size() ? (*target)[i].dim() : Dim{};
                         }
                         setLike(context, "input_data", std::move(dims));
                         return {};
                     }));
    registry.add(Row("Col2Im", 18, "adds columns of blocks up to an image", Category::Transform)
                     .in("input", kNumbers)
                     .in("image_shape", kInt64)
                     .in("block_shape", kInt64)
                     .out("output")
                     .attrInts("dilations")
                     .attrInts("pads")
                     .attrInts("strides")
                     .runs(col2im, inferCol2Im));
    registry.add(Row("MeanVarianceNormalization", 9, "mean 0 and variance 1 over axes", Category::Normalization)
                     .in("X", kFloats)
                     .out("Y")
                     .attrInts("axes")
                     .runs(meanVariance, inferSame));
    registry.add(Row("PRelu", 1, "x, or slope·x below 0", Category::Activation)
                     .in("X", kNumbers, "T")
                     .in("slope", kNumbers, "T")
                     .out("Y")
                     .runs([](KernelContext& context) { return prelu(context, true); }, inferSame));
    registry.add(Row("PRelu", 7, "x, or slope·x below 0", Category::Activation)
                     .in("X", kNumbers, "T")
                     .in("slope", kNumbers, "T")
                     .out("Y")
                     .runs([](KernelContext& context) { return prelu(context, false); }, inferSame));
    registry.add(Row("TensorScatter", 24, "a cache with an update written into it", Category::Tensor)
                     .in("past_cache", kAnyDType, "T")
                     .in("update", kAnyDType, "T")
                     .optionalIn("write_indices", kInt64)
                     .out("present_cache")
                     .attrInt("axis", -2)
                     .attrString("mode", "linear")
                     .runs(tensorScatter, inferSame));
    registry.add(
        Row("FlexAttention", 1, "attention whose scores and probabilities bodies may change", Category::Attention)
            .domain("ai.onnx.preview")
            .in("Q", kFloats, "T")
            .in("K", kFloats, "T")
            .in("V", kFloats, "T")
            .out("Y")
            .attr("score_mod", AttributeKind::Body)
            .attr("prob_mod", AttributeKind::Body)
            .attr("scale", AttributeKind::Float)
            .attr("softmax_precision", AttributeKind::Int)
            .runs(flexAttention, inferFlexAttention));
    explain("", "CenterCropPad", dependence::moved, "input_data");
    explain("", "Col2Im", columnImageTerms);
    explain("", "MeanVarianceNormalization", dependence::meanVarianceNormalised);
}

}  // namespace sonde::ops
