// Images that are sampled at computed places.

#include "core/ops/dependence/region.h"
#include "core/ops/dependence/rules.h"
#include "core/ops/support/grid_sampling.h"
#include "core/ops/support/shapes.h"

namespace sonde::ops::dependence {

namespace {

base::Result<Attributes> samplingAttributes(const ElementCall& call) {
    const Value *kind = argumentOf(call, "interpolation_mode"), *outside = argumentOf(call, "padding_mode"),
                *isAligned = argumentOf(call, "align_corners");
    if (!kind || !outside || !isAligned) return call.context.attributes();
    SONDE_ASSIGN(const std::int64_t mode, intOf(*kind));
    SONDE_ASSIGN(const std::int64_t border, intOf(*outside));
    return GridSampling::attributesOf(mode, border, isAligned->number() != 0);
}

}  // namespace

base::Result<Dependence> gridSampled(const ElementCall& call) {
    const Tensor &x = call.context.in(kLeft), &grid = call.context.in(kRight);
    SONDE_ASSIGN(const Attributes attributes, samplingAttributes(call));
    SONDE_ASSIGN(const GridSampling sampling, GridSampling::of(x, grid, attributes));
    const std::int64_t channels = x.dim(1), plane = call.element / sampling.points,
                       point = plane / channels * sampling.points + call.element % sampling.points;
    const auto rank = static_cast<std::int64_t>(sampling.axes.size());
    std::vector<double> place, positions(sampling.axes.size());
    for (std::int64_t d = 0; d < rank; ++d) place.push_back(grid.toDouble(point * rank + d));
    sampling.place(place.data(), positions);
    Dependence dependence;
    dependence.formula = "sum(w * x)";
    const std::uint32_t part = dependence.listPart("x", "w");
    for (const SampledElement& tap : tapsAt(sampling.axes, positions, sampling.mode)) {
        if (tap.weight == 0) continue;
        addElement(dependence, part, call, kLeft, plane * sampling.pixels + tap.offset);
        dependence.terms.back().weight = tap.weight;
    }
    // It takes no part in the sum, but the weights follow from it.
    const std::uint32_t at = dependence.listPart("grid");
    for (std::int64_t d = 0; d < rank; ++d) {
        addElement(dependence, at, call, kRight, point * rank + d);
        dependence.terms.back().weight = 0;
    }
    return dependence;
}

}  // namespace sonde::ops::dependence
