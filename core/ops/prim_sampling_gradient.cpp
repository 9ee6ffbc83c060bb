// Gradients of sampling, which ONNX has no operators for: domain prim, made by passes/gradient_rules_windows.cpp.

#include "core/ops/support/grid_sampling.h"
#include "core/ops/support/row.h"
#include "core/ops/support/shapes.h"
#include "core/ops/support/wide.h"

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
}

}  // namespace sonde::ops
