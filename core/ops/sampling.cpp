// Sampling images at computed places: GridSample, AffineGrid, DeformConv, unpooling.

#include "core/ops/dependence/region.h"
#include "core/ops/dependence/rules.h"
#include "core/ops/support/grid_sampling.h"
#include "core/ops/support/invoke.h"
#include "core/ops/support/row.h"
#include "core/ops/support/shapes.h"
#include "core/ops/support/wide.h"
#include "core/ops/support/window.h"

namespace sonde::ops {

namespace {

using tensor::Dim;

base::Result<void> gridSample(KernelContext& context) {
    const Tensor &x = context.in("X"), &grid = context.in("grid");
    SONDE_ASSIGN(const GridSampling sampling, GridSampling::of(x, grid, context.attributes()));
    SONDE_ASSIGN(const Tensor image, wide(x));
    SONDE_ASSIGN(const Tensor places, wide(grid));
    SONDE_ASSIGN(Tensor y, wideZeros(sampling.result));
    const std::int64_t points = sampling.points, rank = static_cast<std::int64_t>(sampling.axes.size());
    context.pool().parallelFor(
        static_cast<std::size_t>(x.dim(0) * points), 64, [&](std::size_t begin, std::size_t end) {
            std::vector<double> positions(sampling.axes.size());
            for (auto p = static_cast<std::int64_t>(begin); p < static_cast<std::int64_t>(end); ++p) {
                sampling.place(places.data<double>() + p * rank, positions);
                const std::vector<SampledElement> taps = tapsAt(sampling.axes, positions, sampling.mode);
                const std::int64_t n = p / points;
                for (std::int64_t c = 0; c < x.dim(1); ++c) {
                    const double* plane = image.data<double>() + (n * x.dim(1) + c) * sampling.pixels;
                    double sum = 0;
                    for (const SampledElement& tap : taps) sum += tap.weight * plane[tap.offset];
                    y.mutableData<double>()[(n * x.dim(1) + c) * points + p % points] = sum;
                }
            }
        });
    return setNarrow(context, 0, y, x.dtype());
}

base::Result<void> inferGridSample(InferContext& context) {
    const auto &x = context.in("X").shape, &grid = context.in("grid").shape;
    std::optional<Dims> dims;
    if (x && grid && x->size() == grid->size() && x->size() > 2) {
        dims = Dims{(*x)[0], (*x)[1]};
        dims->insert(dims->end(), grid->begin() + 1, grid->end() - 1);
    }
    setLike(context, "X", std::move(dims));
    return {};
}

/// theta [N, r, r+1] applied to evenly spaced places of a box [-1, 1]^r.
base::Result<void> affineGrid(KernelContext& context) {
    SONDE_ASSIGN(const std::vector<std::int64_t> size, intsOf(context.value("size")));
    const Tensor& theta = context.in("theta");
    const std::size_t rank = size.size() >= 2 ? size.size() - 2 : 0;
    if (rank < 1 || theta.rank() != 3 || theta.dim(0) != size[0] || theta.dim(1) != static_cast<std::int64_t>(rank) ||
        theta.dim(2) != static_cast<std::int64_t>(rank) + 1) {
        return opError("theta " + theta.typeText() + " does not match the size");
    }
    const bool align = context.attributes().getInt("align_corners", 0) != 0;
    std::vector<std::int64_t> dims{size[0]};
    dims.insert(dims.end(), size.begin() + 2, size.end());
    std::int64_t points = 1;
    for (std::size_t i = 2; i < size.size(); ++i) {
        if (size[i] < 0 || __builtin_mul_overflow(points, size[i], &points))
            return opError("invalid size " + Shape(size).text());
    }
    dims.push_back(static_cast<std::int64_t>(rank));
    SONDE_ASSIGN(const Tensor matrix, wide(theta));
    SONDE_ASSIGN(Tensor y, wideZeros(Shape(std::move(dims))));
    std::vector<double> place(rank + 1, 1.0);
    for (std::int64_t i = 0; i < size[0] * points; ++i) {
        std::int64_t rest = i % points;
        for (std::size_t d = 0; d < rank; ++d) {  // innermost axis first
            const std::int64_t dimSize = size[size.size() - 1 - d], at = rest % dimSize;
            rest /= dimSize;
            const auto n = static_cast<double>(dimSize), p = static_cast<double>(at);
            place[d] = align ? (dimSize > 1 ? -1 + 2 * p / (n - 1) : -1) : (2 * p + 1) / n - 1;
        }
        for (std::size_t row = 0; row < rank; ++row) {
            double sum = 0;
            for (std::size_t k = 0; k <= rank; ++k) {
                sum += matrix.data<double>()[static_cast<std::size_t>(i / points) * rank * (rank + 1) +
                                             row * (rank + 1) + k] *
                       place[k];
            }
            y.mutableData<double>()[static_cast<std::size_t>(i) * rank + row] = sum;
        }
    }
    return setNarrow(context, 0, y, theta.dtype());
}

/// Convolution whose taps are moved by offsets [N, G·taps·2, H', W'] and weighted by a mask [N, G·taps, H', W'].
base::Result<void> deformConv(KernelContext& context) {
    const Tensor &x = context.in("X"), &w = context.in("W"), &offset = context.in("offset");
    const std::int64_t groups = context.attributes().getInt("group", 1),
                       offsetGroups = context.attributes().getInt("offset_group", 1);
    if (x.rank() != 4 || w.rank() != 4 || offset.rank() != 4 || groups < 1 || offsetGroups < 1 || x.dim(1) % groups ||
        w.dim(0) % groups || w.dim(1) * groups != x.dim(1) || x.dim(1) % offsetGroups) {
        return opError("input " + x.typeText() + ", weights " + w.typeText() + " and offsets " + offset.typeText() +
                       " are incompatible");
    }
    SONDE_ASSIGN(const Window window, windowFromAttributes(context.attributes(), std::span(w.shape().dims()).subspan(2),
                                                           std::span(x.shape().dims()).subspan(2)));
    const auto spatial = std::span(x.shape().dims()).subspan(2);
    SONDE_TRY(window.checkOutput(spatial, 0));
    const Shape shape = window.outputShape(x.dim(0), w.dim(0), spatial);
    const std::int64_t taps = window.taps(), points = shape[2] * shape[3];
    const bool fits = offset.shape() == Shape{x.dim(0), offsetGroups * taps * 2, shape[2], shape[3]} &&
                      (!context.has("B") || context.in("B").numel() == w.dim(0)) &&
                      (!context.has("mask") ||
                       context.in("mask").shape() == Shape{x.dim(0), offsetGroups * taps, shape[2], shape[3]});
    if (!fits) return opError("offsets, bias or mask do not match the output " + shape.text());
    SONDE_ASSIGN(const Tensor image, wide(x));
    SONDE_ASSIGN(const Tensor weights, wide(w));
    SONDE_ASSIGN(const Tensor moves, wide(offset));
    Tensor mask;
    if (context.has("mask")) {
        SONDE_ASSIGN(mask, wide(context.in("mask")));
    }
    SONDE_ASSIGN(Tensor y, wideZeros(shape));
    const SampledAxis rows{x.dim(2), Border::Zeros, true}, columns{x.dim(3), Border::Zeros, true};
    const SampledAxis axes[] = {rows, columns};
    const std::int64_t groupIn = w.dim(1), groupOut = w.dim(0) / groups, perOffset = x.dim(1) / offsetGroups;
    context.pool().parallelFor(static_cast<std::size_t>(x.dim(0) * points), 8, [&](std::size_t begin, std::size_t end) {
        for (auto p = static_cast<std::int64_t>(begin); p < static_cast<std::int64_t>(end); ++p) {
            const std::int64_t n = p / points, at = p % points, oy = at / shape[3], ox = at % shape[3];
            for (std::int64_t k = 0; k < w.dim(0) && context.has("B"); ++k)
                y.mutableData<double>()[(n * w.dim(0) + k) * points + at] = context.in("B").toDouble(k);
            for (std::int64_t c = 0; c < x.dim(1); ++c) {
                const std::int64_t g = c / groupIn, og = c / perOffset;
                for (std::int64_t t = 0; t < taps; ++t) {
                    const double* move = moves.data<double>() + ((n * offsetGroups + og) * taps + t) * 2 * points + at;
                    const double positions[] = {static_cast<double>(oy * window.stride[0] - window.padBegin[0] +
                                                                    t / window.kernel[1] * window.dilation[0]) +
                                                    move[0],
                                                static_cast<double>(ox * window.stride[1] - window.padBegin[1] +
                                                                    t % window.kernel[1] * window.dilation[1]) +
                                                    move[points]};
                    double value = 0;
                    for (const SampledElement& tap : tapsAt(axes, positions, "linear"))
                        value +=
                            tap.weight * image.data<double>()[(n * x.dim(1) + c) * x.dim(2) * x.dim(3) + tap.offset];
                    if (mask.defined())
                        value *= mask.data<double>()[((n * offsetGroups + og) * taps + t) * points + at];
                    for (std::int64_t k = g * groupOut; k < (g + 1) * groupOut; ++k) {
                        y.mutableData<double>()[(n * w.dim(0) + k) * points + at] +=
                            value * weights.data<double>()[(k * groupIn + c % groupIn) * taps + t];
                    }
                }
            }
        }
    });
    return setNarrow(context, 0, y, x.dtype());
}

/// Taps at their moved places, weighted by the mask too.
base::Result<Dependence> deformedTerms(const ElementCall& call) {
    const KernelContext& context = call.context;
    const Tensor &x = context.in("X"), &w = context.in("W"), &offset = context.in("offset");
    const std::int64_t groups = context.attributes().getInt("group", 1),
                       offsetGroups = context.attributes().getInt("offset_group", 1);
    SONDE_ASSIGN(const Window window, windowFromAttributes(context.attributes(), std::span(w.shape().dims()).subspan(2),
                                                           std::span(x.shape().dims()).subspan(2)));
    const Tensor* const mask = context.optionalIn("mask");
    const SampledAxis axes[] = {{x.dim(2), Border::Zeros, true}, {x.dim(3), Border::Zeros, true}};
    const std::int64_t taps = window.taps(), points = call.result.dim(2) * call.result.dim(3), groupIn = w.dim(1),
                       group = call.at[1] / (w.dim(0) / groups), n = call.at[0],
                       at = call.at[2] * call.result.dim(3) + call.at[3], perOffset = x.dim(1) / offsetGroups;
    SONDE_TRY(dependence::checkTerms(7 * groupIn * taps));
    Dependence made;
    const std::uint32_t part = made.listPart("x", "w");
    std::vector<std::pair<std::string_view, std::int64_t>> acting;  // through the weights: inputs and their elements
    for (std::int64_t c = group * groupIn; c < (group + 1) * groupIn; ++c) {
        for (std::int64_t t = 0; t < taps; ++t) {
            const std::int64_t own = (n * offsetGroups + c / perOffset) * taps + t, move = own * 2 * points + at;
            const double positions[] = {static_cast<double>(call.at[2] * window.stride[0] - window.padBegin[0] +
                                                            t / window.kernel[1] * window.dilation[0]) +
                                            offset.toDouble(move),
                                        static_cast<double>(call.at[3] * window.stride[1] - window.padBegin[1] +
                                                            t % window.kernel[1] * window.dilation[1]) +
                                            offset.toDouble(move + points)};
            const double weight = w.toDouble((call.at[1] * groupIn + c % groupIn) * taps + t) *
                                  (mask ? mask->toDouble(own * points + at) : 1);
            for (const SampledElement& tap : tapsAt(axes, positions, "linear")) {
                if (tap.weight == 0) continue;
                dependence::addElement(made, part, call, context.position("X"),
                                       (n * x.dim(1) + c) * x.dim(2) * x.dim(3) + tap.offset);
                made.terms.back().weight = weight * tap.weight;
            }
            if (c % perOffset != 0 && c != group * groupIn) continue;  // channels share them
            acting.emplace_back("offset", move), acting.emplace_back("offset", move + points);
            if (mask) acting.emplace_back("mask", own * points + at);
        }
    }
    made.formula = "sum(w * x)";
    if (context.has("B")) {
        dependence::addElement(made, made.part("bias"), call, context.position("B"), call.at[1]);
        made.formula += " + bias";
    }
    for (const auto& [name, element] : acting) {
        dependence::addElement(made, made.listPart(name), call, context.position(Name(name)), element);
        made.terms.back().weight = 0;
    }
    return made;
}

/// Puts values back where MaxPool took them from; zeros elsewhere.
base::Result<void> maxUnpool(KernelContext& context) {
    const Tensor &x = context.in("X"), &indices = context.in("I");
    if (x.rank() < 3 || indices.shape() != x.shape())
        return opError("indices " + indices.typeText() + " do not match " + x.typeText());
    SONDE_ASSIGN(const Window window,
                 windowFromAttributes(context.attributes(), {}, std::span(x.shape().dims()).subspan(2)));
    Shape natural{x.dim(0), x.dim(1)};
    for (std::size_t d = 0; d < window.rank(); ++d)
        natural.push_back((x.dim(d + 2) - 1) * window.stride[d] + window.kernel[d] - window.padBegin[d] -
                          window.padEnd[d]);
    Shape shape = natural;
    if (context.has("output_shape")) {
        SONDE_ASSIGN(std::vector<std::int64_t> asked, intsOf(context.value("output_shape")));
        shape = Shape(std::move(asked));
        if (shape.rank() != natural.rank()) return opError("output_shape does not match " + x.typeText());
    }
    SONDE_ASSIGN(const Tensor values, wide(x));
    SONDE_ASSIGN(Tensor y, wideZeros(shape));
    for (std::int64_t i = 0; i < x.numel(); ++i) {
        // The index counts in the natural shape.
        std::int64_t rest = indices.toInt64(i), target = 0, step = 1;
        for (std::size_t d = shape.rank(); d-- > 0;) {
            if (rest < 0 || natural[d] <= 0)
                return opError("index " + std::to_string(indices.toInt64(i)) + " is out of range");
            target += (d == 0 ? rest : rest % natural[d]) * step;
            step *= shape[d];
            rest /= natural[d];
        }
        if (target >= y.numel()) return opError("index " + std::to_string(indices.toInt64(i)) + " is out of range");
        y.mutableData<double>()[target] = values.data<double>()[i];
    }
    return setNarrow(context, 0, y, x.dtype());
}

/// [size[0], size[2]…, rank]
base::Result<void> inferAffineGrid(InferContext& context) {
    std::optional<Dims> dims;
    if (!context.constant("size").isNone()) {
        SONDE_ASSIGN(const std::vector<std::int64_t> size, intsOf(context.constant("size")));
        dims = Dims{};
        for (std::size_t i = 0; i < size.size(); ++i) {
            if (i != 1) dims->push_back(size[i] < 0 ? Dim{} : Dim::of(size[i]));
        }
        dims->push_back(Dim::of(size.size() > 2 ? static_cast<std::int64_t>(size.size()) - 2 : 0));
    }
    setLike(context, "theta", std::move(dims));
    return {};
}

/// As Conv gives it for X and W.
base::Result<void> inferDeformConv(InferContext& context) { return inferAs(context, "", "Conv", {"X", "W"}); }

base::Result<void> inferMaxUnpool(InferContext& context) {
    const auto& x = context.in("X").shape;
    std::optional<Dims> dims = x ? std::optional(unknownDims(x->size())) : std::nullopt;
    if (context.has("output_shape")) {
        if (!context.constant("output_shape").isNone()) {
            SONDE_ASSIGN(const std::vector<std::int64_t> asked, intsOf(context.constant("output_shape")));
            dims = dimsOf(Shape(asked));
        }
    } else if (x && x->size() > 2) {
        SONDE_ASSIGN(const Window window, windowFromAttributes(context.attributes(), {}, dimSizesFrom(*x, 2)));
        (*dims)[0] = (*x)[0], (*dims)[1] = (*x)[1];
        for (std::size_t d = 0; d < window.rank() && d + 2 < x->size(); ++d) {
            const Dim& in = (*x)[d + 2];
            if (in.known())
                (*dims)[d + 2] = Dim::of((in.value - 1) * window.stride[d] + window.kernel[d] - window.padBegin[d] -
                                         window.padEnd[d]);
        }
    }
    setLike(context, "X", std::move(dims));
    return {};
}

}  // namespace

void define_sampling(Registry& registry) {
    for (int since : {16, 20}) {
        registry.add(Row("GridSample", since, "samples an image at the positions of a grid", Category::Transform)
                         .in("X")
                         .in("grid", kFloats)
                         .out("Y")
                         .attrInt("align_corners", 0)
                         .attrString("mode", since == 16 ? "bilinear" : "linear")
                         .attrString("padding_mode", "zeros")
                         .runs(gridSample, inferGridSample));
    }
    registry.add(Row("AffineGrid", 20, "the positions of a grid after an affine transform", Category::Transform)
                     .in("theta", kFloats)
                     .in("size", kInt64)
                     .out("grid")
                     .attrInt("align_corners", 0)
                     .runs(affineGrid, inferAffineGrid));
    registry.add(Row("DeformConv", 19, "convolution whose taps are moved by offsets", Category::Layer)
                     .in("X", kFloats)
                     .in("W", kFloats)
                     .in("offset", kFloats)
                     .optionalIn("B", kFloats)
                     .optionalIn("mask", kFloats)
                     .out("Y")
                     .attrInts("dilations")
                     .attrInt("group", 1)
                     .attrInts("kernel_shape")
                     .attrInt("offset_group", 1)
                     .attrInts("pads")
                     .attrInts("strides")
                     .runs(deformConv, inferDeformConv));
    registry.add(Row("MaxUnpool", 9, "puts values back where MaxPool took them from", Category::Pool)
                     .in("X", kFloats)
                     .in("I", kInt64)
                     .optionalIn("output_shape", kInt64)
                     .out("output")
                     .required("kernel_shape", AttributeKind::Ints)
                     .attrInts("pads")
                     .attrInts("strides")
                     .runs(maxUnpool, inferMaxUnpool));
    explain("", "MaxUnpool", dependence::moved, "X");
    explain("", "GridSample", dependence::gridSampled);
    explain("", "DeformConv", deformedTerms);
    explain("", "AffineGrid", dependence::affineGrid);
}

}  // namespace sonde::ops
