// Gradients of sampling, which ONNX has no operators for: domain prim, made by passes/gradient_rules_windows.cpp.

#include "core/ops/support/grid_sampling.h"
#include "core/ops/support/row.h"
#include "core/ops/support/shapes.h"
#include "core/ops/support/wide.h"
#include "core/ops/support/window.h"

namespace sonde::ops {

namespace {

using Lines = std::vector<std::vector<SampledElement>>;

/// Calls visit(offset, weight, slopes) for every element of the image that a place reads: its part in the value, and
/// how much that changes with the position on each axis.
template <typename Visit>
void forEachTap(const Lines& lines, std::span<const SampledAxis> axes, const Visit& visit) {
    std::vector<std::size_t> at(lines.size(), 0);
    std::vector<double> slopes(lines.size());
    for (const auto& line : lines)
        if (line.empty()) return;
    for (;;) {
        std::int64_t offset = 0;
        double weight = 1;
        for (std::size_t d = 0; d < lines.size(); ++d) {
            offset = offset * axes[d].dimSize + lines[d][at[d]].offset;
            weight *= lines[d][at[d]].weight;
            slopes[d] = lines[d][at[d]].slope;
            for (std::size_t other = 0; other < lines.size(); ++other)
                if (other != d) slopes[d] *= lines[other][at[other]].weight;
        }
        visit(offset, weight, slopes);
        std::size_t d = lines.size();
        while (d > 0 && ++at[d - 1] == lines[d - 1].size()) at[--d] = 0;
        if (d == 0) return;
    }
}

/// y[n,c,p] = Σ w(p,t)·x[n,c,t]: dx[n,c,t] += w·g[n,c,p], dgrid[n,p,·] = Σ g·x·dw/dgrid.
base::Result<void> gridSampleGradient(KernelContext& context) {
    const Tensor &g = context.in("g"), &x = context.in("x"), &grid = context.in("grid");
    SONDE_ASSIGN(const GridSampling sampling, GridSampling::of(x, grid, context.attributes()));
    if (g.shape() != sampling.result) return opError("a gradient " + g.typeText() + " does not match the result");
    SONDE_ASSIGN(const Tensor wideG, wide(g));
    SONDE_ASSIGN(const Tensor image, wide(x));
    SONDE_ASSIGN(const Tensor places, wide(grid));
    SONDE_ASSIGN(Tensor dx, wideZeros(x.shape()));
    SONDE_ASSIGN(Tensor dgrid, wideZeros(grid.shape()));
    const std::size_t rank = sampling.axes.size();
    std::vector<double> positions(rank);
    Lines lines(rank);
    for (std::int64_t p = 0; p < x.dim(0) * sampling.points; ++p) {
        if (p % 1024 == 0 && context.cancelled()) return base::cancelled();
        sampling.place(places.data<double>() + p * static_cast<std::int64_t>(rank), positions);
        for (std::size_t d = 0; d < rank; ++d) lines[d] = elementsAt(sampling.axes[d], positions[d], sampling.mode);
        double* const moved = dgrid.mutableData<double>() + p * static_cast<std::int64_t>(rank);
        const std::int64_t first = p / sampling.points * x.dim(1);
        forEachTap(lines, sampling.axes, [&](std::int64_t offset, double weight, const std::vector<double>& slopes) {
            double product = 0;
            for (std::int64_t c = first; c < first + x.dim(1); ++c) {
                const double share = wideG.data<double>()[c * sampling.points + p % sampling.points];
                const std::int64_t element = c * sampling.pixels + offset;
                product += share * image.data<double>()[element];
                dx.mutableData<double>()[element] += share * weight;
            }
            // The grid names the innermost axis first.
            for (std::size_t d = 0; d < rank; ++d)
                moved[rank - 1 - d] += product * slopes[d] * sampling.axes[d].positionSlope();
        });
    }
    SONDE_TRY(setNarrow(context, 0, dx, x.dtype()));
    return setNarrow(context, 1, dgrid, grid.dtype());
}

/// A call of DeformConv: what its kernel has checked.
struct DeformedCall {
    const Tensor &x, &w, &offset;
    Window window;
    std::int64_t taps, offsetGroups, perOffset, groupIn, groupOut;
    Shape result;

    static base::Result<DeformedCall> of(const KernelContext& context) {
        const Tensor &x = context.in("X"), &w = context.in("W"), &offset = context.in("offset"), &g = context.in("g");
        const std::int64_t groups = context.attributes().getInt("group", 1),
                           offsetGroups = context.attributes().getInt("offset_group", 1);
        if (x.rank() != 4 || w.rank() != 4 || offset.rank() != 4 || groups < 1 || offsetGroups < 1 ||
            w.dim(0) % groups != 0 || w.dim(1) * groups != x.dim(1) || x.dim(1) % offsetGroups != 0)
            return opError("input " + x.typeText() + ", weights " + w.typeText() + " and offsets " + offset.typeText() +
                           " are incompatible");
        const auto spatial = std::span(x.shape().dims()).subspan(2);
        SONDE_ASSIGN(const Window window,
                     windowFromAttributes(context.attributes(), std::span(w.shape().dims()).subspan(2), spatial));
        SONDE_TRY(window.checkOutput(spatial, 0));
        DeformedCall made{x,
                          w,
                          offset,
                          window,
                          window.taps(),
                          offsetGroups,
                          x.dim(1) / offsetGroups,
                          w.dim(1),
                          w.dim(0) / groups,
                          window.outputShape(x.dim(0), w.dim(0), spatial)};
        const Shape& y = made.result;
        const bool fits =
            g.shape() == y && offset.shape() == Shape{y[0], offsetGroups * made.taps * 2, y[2], y[3]} &&
            (!context.has("mask") || context.in("mask").shape() == Shape{y[0], offsetGroups * made.taps, y[2], y[3]});
        if (!fits) return opError("a gradient " + g.typeText() + " does not match the result");
        return made;
    }
};

/// y[k,p] = Σ w[k,c,t]·m[t,p]·v, v = x[c] at the place of tap t, moved by offset[t,p]: with s = Σk g[k,p]·w[k,c,t]
/// dx at the corners of the place += s·m·their weights, dw[k,c,t] += g·m·v, doffset = Σc s·m·dv/dplace, dm = Σc s·v.
base::Result<void> deformConvGradient(KernelContext& context) {
    SONDE_ASSIGN(const DeformedCall call, DeformedCall::of(context));
    const Tensor &x = call.x, &w = call.w;
    const bool hasMask = context.has("mask");
    SONDE_ASSIGN(const Tensor g, wide(context.in("g")));
    SONDE_ASSIGN(const Tensor image, wide(x));
    SONDE_ASSIGN(const Tensor weights, wide(w));
    SONDE_ASSIGN(const Tensor moves, wide(call.offset));
    SONDE_ASSIGN(Tensor dx, wideZeros(x.shape()));
    SONDE_ASSIGN(Tensor dw, wideZeros(w.shape()));
    SONDE_ASSIGN(Tensor doffset, wideZeros(call.offset.shape()));
    Tensor mask, dmask;
    if (hasMask) {
        SONDE_ASSIGN(mask, wide(context.in("mask")));
        SONDE_ASSIGN(dmask, wideZeros(mask.shape()));
    }
    const SampledAxis axes[] = {{x.dim(2), Border::Zeros, true}, {x.dim(3), Border::Zeros, true}};
    const Window& window = call.window;
    const std::int64_t width = call.result[3], points = call.result[2] * width, pixels = x.dim(2) * x.dim(3);
    Lines lines(2);
    for (std::int64_t p = 0; p < x.dim(0) * points; ++p) {
        if (p % 64 == 0 && context.cancelled()) return base::cancelled();
        const std::int64_t n = p / points, at = p % points;
        for (std::int64_t c = 0; c < x.dim(1); ++c) {
            const std::int64_t group = c / call.groupIn, first = (n * x.dim(1) + c) * pixels;
            for (std::int64_t t = 0; t < call.taps; ++t) {
                const std::int64_t own = (n * call.offsetGroups + c / call.perOffset) * call.taps + t,
                                   move = own * 2 * points + at;
                for (std::size_t d = 0; d < 2; ++d) {
                    const std::int64_t step = d == 0 ? t / window.kernel[1] : t % window.kernel[1],
                                       start = (d == 0 ? at / width : at % width) * window.stride[d];
                    const auto whole = static_cast<double>(start - window.padBegin[d] + step * window.dilation[d]);
                    const double moved = moves.data<double>()[move + static_cast<std::int64_t>(d) * points];
                    lines[d] = elementsAt(axes[d], whole + moved, "linear");
                }
                const double factor = hasMask ? mask.data<double>()[own * points + at] : 1;
                double share = 0, value = 0, slopes[2] = {};
                const auto weightAt = [&](std::int64_t k) {
                    return (k * call.groupIn + c % call.groupIn) * call.taps + t;
                };
                const auto gradientAt = [&](std::int64_t k) {
                    return g.data<double>()[(n * w.dim(0) + k) * points + at];
                };
                for (std::int64_t k = group * call.groupOut; k < (group + 1) * call.groupOut; ++k)
                    share += gradientAt(k) * weights.data<double>()[weightAt(k)];
                forEachTap(lines, axes, [&](std::int64_t offset, double weight, const std::vector<double>& slope) {
                    const double element = image.data<double>()[first + offset];
                    value += weight * element;
                    slopes[0] += slope[0] * element, slopes[1] += slope[1] * element;
                    dx.mutableData<double>()[first + offset] += share * factor * weight;
                });
                for (std::int64_t k = group * call.groupOut; k < (group + 1) * call.groupOut; ++k)
                    dw.mutableData<double>()[weightAt(k)] += gradientAt(k) * factor * value;
                doffset.mutableData<double>()[move] += share * factor * slopes[0];
                doffset.mutableData<double>()[move + points] += share * factor * slopes[1];
                if (hasMask) dmask.mutableData<double>()[own * points + at] += share * value;
            }
        }
    }
    SONDE_TRY(setNarrow(context, 0, dx, x.dtype()));
    SONDE_TRY(setNarrow(context, 1, dw, w.dtype()));
    SONDE_TRY(setNarrow(context, 2, doffset, call.offset.dtype()));
    return hasMask ? setNarrow(context, 3, dmask, context.in("mask").dtype()) : base::Result<void>();
}

base::Result<void> inferDeformConvGradient(InferContext& context) {
    context.set(context.in("X"));
    context.set("dW", context.in("W"));
    context.set("doffset", context.in("offset"));
    context.set("dmask", context.in("mask"));
    return {};
}

base::Result<void> inferGridSampleGradient(InferContext& context) {
    context.set(context.in("x"));
    context.set("dgrid", context.in("grid"));
    return {};
}

}  // namespace

void define_prim_sampling_gradient(Registry& registry) {
    registry.add(Row("grad_grid_sample", 0, "Gradient of a sampled image and of the places in it", Category::Other)
                     .domain("prim")
                     .in("g", kFloats)
                     .in("x")
                     .in("grid", kFloats)
                     .out("dx")
                     .out("dgrid")
                     .attrInt("align_corners", 0)
                     .attrString("mode", "linear")
                     .attrString("padding_mode", "zeros")
                     .runs(gridSampleGradient, inferGridSampleGradient));
    registry.add(
        Row("grad_deform_conv", 0, "Gradients of a convolution whose taps are moved by offsets", Category::Other)
            .domain("prim")
            .in("g", kFloats)
            .in("X", kFloats)
            .in("W", kFloats)
            .in("offset", kFloats)
            .optionalIn("mask", kFloats)
            .out("dX")
            .out("dW")
            .out("doffset")
            .out("dmask", Arity::Optional)
            .attrInts("dilations")
            .attrInt("group", 1)
            .attrInts("kernel_shape")
            .attrInt("offset_group", 1)
            .attrInts("pads")
            .attrInts("strides")
            .runs(deformConvGradient, inferDeformConvGradient));
}

}  // namespace sonde::ops
