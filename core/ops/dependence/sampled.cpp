// Images that are sampled at computed places.

#include "core/ops/dependence/heads.h"
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

/// Each weight is what the operator gives if its element is 1 and all others are 0.
base::Result<Dependence> affineGrid(const ElementCall& call) {
    const Tensor& theta = call.context.in(kOperand);
    if (theta.rank() != 3 || call.at.empty()) return opError("theta holds no matrices");
    const std::int64_t columns = theta.dim(2), first = (call.at[0] * theta.dim(1) + call.at.back()) * columns;
    if (first + columns > theta.numel()) return opError("theta does not match the grid");
    Dependence dependence;
    dependence.formula = "sum(w * x)";
    const std::uint32_t part = dependence.listPart("x", "w");
    for (std::int64_t k = 0; k < columns; ++k) {
        SONDE_ASSIGN(Tensor unit, Tensor::zeros(DType::Float64, theta.shape()));
        unit.mutableData<double>()[first + k] = 1;
        SONDE_ASSIGN(unit, unit.cast(theta.dtype()));
        std::vector<Value> inputs = callInputs(call);
        inputs[kOperand] = Value(unit);
        SONDE_ASSIGN(const std::vector<Value> results, ops::call(call.op, inputs, call.context.attributes(), 1,
                                                                 call.context.environment(), call.context.version()));
        addElement(dependence, part, call, kOperand, first + k);
        dependence.terms.back().weight = results.front().tensor().toDouble(call.element);
    }
    return dependence;
}

}  // namespace sonde::ops::dependence
