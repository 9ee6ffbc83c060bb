// Derivatives of Fourier transforms, grids, unpooling and gated units.

#include <algorithm>

#include "core/passes/gradient_rules.h"

namespace sonde::passes {

namespace {

using graph::Expr;
using graph::NodeId;
using tensor::Tensor;
using Dims = std::vector<std::int64_t>;

/// Along an axis the first `count` elements, or zeros behind them.
NodeId fitted(GradientBuilder& b, NodeId x, Dims& dims, std::size_t axis, std::int64_t count) {
    const std::int64_t own = dims[axis];
    if (own == count) return x;
    dims[axis] = count;
    if (own > count) {
        return b.sized(
            b.op("Slice", {x, b.integers({0}), b.integers({count}), b.integers({static_cast<std::int64_t>(axis)})}),
            dims);
    }
    Dims pads(2 * dims.size(), 0);
    pads[dims.size() + axis] = count - own;
    return b.sized(b.op("Pad", {x, b.integers(pads)}), dims);
}

/// The adjoint of a transform is the one the other way, without its factor or with it. What a one-sided spectrum leaves
/// out has no gradient; of real numbers the real parts count.
void fourierRule(GradientBuilder& b, const Expr& e) {
    const NodeId x = inputOf(e, 0);
    const auto dims = b.dimSizesOf(x);
    const bool isInverse = e.attributes.getInt("inverse", 0) != 0, isOneSided = e.attributes.getInt("onesided", 0) != 0;
    const std::vector<double> asked = constantNumbers(b, inputOf(e, 1)), along = constantNumbers(b, inputOf(e, 2));
    if (!dims || dims->size() < 2 || b.version() < 18 || (isInverse && isOneSided))
        return b.fail("the derivative of " + e.op.name + " needs known dimensions, and no one-sided inverse");
    const auto rank = static_cast<std::int64_t>(dims->size());
    std::int64_t axis = !along.empty()       ? static_cast<std::int64_t>(along.front())
                        : e.op.version >= 20 ? -2
                                             : e.attributes.getInt("axis", 1);
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank - 1) return b.fail("the axis of " + e.op.name + " is out of range");
    const auto at = static_cast<std::size_t>(axis);
    const std::int64_t length = asked.empty() ? (*dims)[at] : static_cast<std::int64_t>(asked.front());
    Dims spectrum = *dims;
    spectrum.back() = 2, spectrum[at] = isOneSided ? length / 2 + 1 : length;
    const NodeId g = fitted(b, b.sized(gradientOf(b, e), spectrum), spectrum, at, length);
    const NodeId back = b.op("DFT", {g}, {{"axis", axis}, {"inverse", std::int64_t{isInverse ? 0 : 1}}});
    const NodeId factor = b.number(static_cast<double>(length), x);
    const NodeId scaled = b.sized(isInverse ? b.div(back, factor) : b.mul(back, factor), spectrum);
    b.give(x, fitted(b, fitted(b, scaled, spectrum, at, (*dims)[at]), spectrum, dims->size() - 1, dims->back()));
}

/// Transforms of frames [B, frames, length, 1 or 2], times the window.
void framesRule(GradientBuilder& b, const Expr& e) {
    const NodeId signal = inputOf(e, 0), window = inputOf(e, 2);
    const auto dims = b.dimSizesOf(signal), own = window.valid() ? b.dimSizesOf(window) : std::nullopt;
    const std::vector<double> hop = constantNumbers(b, inputOf(e, 1)), given = constantNumbers(b, inputOf(e, 3));
    if (!dims || dims->size() != 3 || hop.empty() || (window.valid() && !own))
        return b.fail("the derivative of " + e.op.name + " needs known dimensions and steps");
    const std::int64_t step = static_cast<std::int64_t>(hop.front()),
                       length = !given.empty() ? static_cast<std::int64_t>(given.front())
                                : own          ? own->front()
                                               : (*dims)[1];
    if (step < 1 || length < 1 || length > (*dims)[1]) return b.fail("the frames of " + e.op.name + " do not match");
    const std::int64_t count = ((*dims)[1] - length) / step + 1;
    Dims places;
    for (std::int64_t f = 0; f < count; ++f)
        for (std::int64_t t = 0; t < length; ++t) places.push_back(f * step + t);
    b.through(e, [&]() -> std::vector<NodeId> {
        const Dims size{(*dims)[0], count, length, dims->back()};
        const NodeId at = b.constant(Tensor::of<std::int64_t>({count, length}, places));
        NodeId frames = b.sized(b.op("Gather", {signal, at}, {{"axis", std::int64_t{1}}}), size);
        if (window.valid())
            frames =
                b.sized(b.mul(frames, b.sized(b.op("Reshape", {window, b.integers({length, 1})}), {length, 1})), size);
        return {b.op("DFT", {frames}, {{"axis", std::int64_t{2}}, {"onesided", e.attributes.getInt("onesided", 1)}})};
    });
}

/// Each position is a product of a row of theta with (x, y, 1): the positions that the unit matrix gives.
void affineGridRule(GradientBuilder& b, const Expr& e) {
    const NodeId theta = inputOf(e, 0), g = gradientOf(b, e);
    const auto dims = b.dimSizesOf(theta);
    if (!dims || dims->size() != 3) return b.fail("the dimensions of theta are unknown");
    const std::int64_t batches = (*dims)[0], rows = (*dims)[1], columns = (*dims)[2];
    std::vector<double> unit(static_cast<std::size_t>(batches * rows * columns), 0);
    for (std::int64_t n = 0; n < batches; ++n)
        for (std::int64_t i = 0; i < rows; ++i) unit[static_cast<std::size_t>((n * rows + i) * columns + i)] = 1;
    const NodeId same =
        b.constant(Tensor::of<double>({batches, rows, columns}, unit).cast(b.graph().node(theta).type.dtype).value());
    const NodeId places =
        b.op("Reshape", {b.like(e, {same, inputOf(e, 1)}, e.attributes), b.integers({batches, -1, rows})});
    const NodeId turned =
        b.op("Transpose", {b.op("Reshape", {g, b.integers({batches, -1, rows})})}, {{"perm", Dims{0, 2, 1}}});
    // The last column of theta is added everywhere.
    const NodeId product = b.op("MatMul", {turned, places}), sum = b.reduced("ReduceSum", turned, {2});
    b.give(theta, b.op("Concat", {product, sum}, {{"axis", std::int64_t{2}}}));
}

/// Values come back from where they were put.
void unpoolRule(GradientBuilder& b, const Expr& e) {
    if (inputOf(e, 2).valid()) return b.fail("the derivative of " + e.op.name + " with output_shape is not supported");
    const NodeId x = inputOf(e, 0), flat = b.integers({-1});
    const NodeId g = b.op("Reshape", {gradientOf(b, e), flat}), places = b.op("Reshape", {inputOf(e, 1), flat});
    b.give(x, b.reshapedTo(b.op("Gather", {g, places}, {{"axis", std::int64_t{0}}}), x));
}

/// a · σ(alpha · a) · b.
void gatedUnitRule(GradientBuilder& b, const Expr& e) {
    const NodeId left = inputOf(e, 0), alpha = b.number(e.attributes.getFloat("alpha", 1), left);
    b.through(e, [&]() -> std::vector<NodeId> {
        return {b.mul(b.mul(left, b.op("Sigmoid", {b.mul(alpha, left)})), inputOf(e, 1))};
    });
}

void affineRule(GradientBuilder& b, const Expr& e) {
    b.give(inputOf(e, 0), b.mul(gradientOf(b, e), b.number(e.attributes.getFloat("alpha", 1), inputOf(e, 0))));
}
void imageScalerRule(GradientBuilder& b, const Expr& e) {
    b.give(inputOf(e, 0), b.mul(gradientOf(b, e), b.number(e.attributes.getFloat("scale", 1), inputOf(e, 0))));
}

/// alpha · f(beta · x).
void scaledFunction(GradientBuilder& b, const Expr& e, const char* function) {
    const NodeId x = inputOf(e, 0);
    b.through(e, [&]() -> std::vector<NodeId> {
        const NodeId inner = b.mul(x, b.number(e.attributes.getFloat("beta", 1), x));
        return {b.mul(b.op(function, {inner}), b.number(e.attributes.getFloat("alpha", 1), x))};
    });
}
void scaledTanhRule(GradientBuilder& b, const Expr& e) { scaledFunction(b, e, "Tanh"); }
void parametricSoftplusRule(GradientBuilder& b, const Expr& e) { scaledFunction(b, e, "Softplus"); }

}  // namespace

void addSignalGradients(GradientRules& rules) {
    rules.insert({{"Affine", affineRule},
                  {"AffineGrid", affineGridRule},
                  {"DFT", fourierRule},
                  {"ImageScaler", imageScalerRule},
                  {"MaxUnpool", unpoolRule},
                  {"ParametricSoftplus", parametricSoftplusRule},
                  {"STFT", framesRule},
                  {"ScaledTanh", scaledTanhRule},
                  {"SwiGLU", gatedUnitRule}});
}

}  // namespace sonde::passes
