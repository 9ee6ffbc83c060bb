// Derivatives of convolutions, pools and sampled images.

#include <algorithm>
#include <numeric>

#include "core/passes/gradient_rules.h"

namespace sonde::passes {

namespace {

using graph::Expr;
using graph::NodeId;

/// The pads [begin…, end…] of a convolution with these dimensions, as they are or as auto_pad has them.
std::vector<std::int64_t> padsOf(const Expr& e, const std::vector<std::int64_t>& x, const std::vector<std::int64_t>& w,
                                 const std::vector<std::int64_t>& y) {
    const std::size_t rank = x.size() - 2;
    std::vector<std::int64_t> pads = e.attributes.getInts("pads");
    const std::string automatic = e.attributes.getString("auto_pad", "NOTSET");
    if (pads.size() != 2 * rank || automatic == "VALID") pads.assign(2 * rank, 0);
    if (!automatic.starts_with("SAME")) return pads;
    const auto strides = e.attributes.getInts("strides"), dilations = e.attributes.getInts("dilations");
    for (std::size_t i = 0; i < rank; ++i) {
        const std::int64_t stride = i < strides.size() ? strides[i] : 1,
                           dilation = i < dilations.size() ? dilations[i] : 1;
        const std::int64_t reach = (y[i + 2] - 1) * stride + (w[i + 2] - 1) * dilation + 1;
        const std::int64_t total = std::max<std::int64_t>(0, reach - x[i + 2]);
        pads[i] = automatic == "SAME_LOWER" ? total - total / 2 : total / 2;
        pads[rank + i] = total - pads[i];
    }
    return pads;
}
/// ConvTranspose of g, so large as x.
NodeId convInputGradient(GradientBuilder& b, const Expr& e, NodeId g) {
    const auto x = b.dimSizesOf(inputOf(e, 0)), w = b.dimSizesOf(inputOf(e, 1)), y = b.dimSizesOf(e.outputs.front());
    if (!x || !w || !y || x->size() < 3 || w->size() != x->size() || y->size() != x->size()) return {};
    const std::size_t rank = x->size() - 2;
    const std::vector<std::int64_t> pads = padsOf(e, *x, *w, *y);
    std::vector<std::int64_t> strides = e.attributes.getInts("strides"), dilations = e.attributes.getInts("dilations"),
                              more;
    strides.resize(rank, 1), dilations.resize(rank, 1);
    for (std::size_t i = 0; i < rank; ++i) {
        more.push_back((*x)[i + 2] + pads[i] + pads[rank + i] - ((*y)[i + 2] - 1) * strides[i] -
                       ((*w)[i + 2] - 1) * dilations[i] - 1);
        if (more.back() < 0 || more.back() >= std::max(strides[i], dilations[i])) return {};
    }
    return b.op("ConvTranspose", {g, inputOf(e, 1)},
                {{"strides", strides},
                 {"dilations", dilations},
                 {"pads", pads},
                 {"output_padding", more},
                 {"group", e.attributes.getInt("group", 1)}});
}
/// Conv of x with g as weights, batches and channels exchanged: as large as w, or larger where strides leave a rest.
NodeId convWeightGradient(GradientBuilder& b, const Expr& e, NodeId g) {
    const auto x = b.dimSizesOf(inputOf(e, 0)), w = b.dimSizesOf(inputOf(e, 1)), y = b.dimSizesOf(e.outputs.front());
    if (!x || !w || !y || x->size() < 3 || w->size() != x->size() || y->size() != x->size() || b.version() < 10 ||
        e.attributes.getInt("group", 1) != 1)
        return {};
    const std::size_t rank = x->size() - 2;
    std::vector<std::int64_t> strides = e.attributes.getInts("strides"), dilations = e.attributes.getInts("dilations"),
                              order(x->size()), axes(rank);
    strides.resize(rank, 1), dilations.resize(rank, 1);
    std::iota(order.begin(), order.end(), 0);
    std::iota(axes.begin(), axes.end(), 2);
    std::swap(order[0], order[1]);
    const auto turned = [&](NodeId a) { return b.op("Transpose", {a}, {{"perm", order}}); };
    const NodeId made = b.op("Conv", {turned(inputOf(e, 0)), turned(g)},
                             {{"strides", dilations}, {"dilations", strides}, {"pads", padsOf(e, *x, *w, *y)}});
    const std::vector<std::int64_t> zeros(rank, 0), ends(w->begin() + 2, w->end());
    return turned(b.op("Slice", {made, b.integers(zeros), b.integers(ends), b.integers(axes)}));
}
void convRule(GradientBuilder& b, const Expr& e) {
    const NodeId x = inputOf(e, 0), w = inputOf(e, 1), g = gradientOf(b, e);
    const NodeId dx = convInputGradient(b, e, g), dw = convWeightGradient(b, e, g);
    std::vector<NodeId> made{dx, dw};
    if (!dx.valid() || !dw.valid()) made = b.prim("grad_conv", {g, x, w}, e.attributes, 2);
    b.give(x, dx.valid() ? dx : made[0]);
    b.give(w, dw.valid() ? dw : made[1]);
    const NodeId bias = inputOf(e, 2);
    const auto rank = b.rankOf(x);
    if (!bias.valid()) return;
    if (!rank) return b.fail("the rank of the input of Conv is unknown");
    std::vector<std::int64_t> axes{0};
    for (std::size_t i = 2; i < *rank; ++i) axes.push_back(static_cast<std::int64_t>(i));
    b.give(bias, b.reshapedTo(b.reduced("ReduceSum", g, axes), bias));
}
/// Of norms: 2 if there is none. It was a real number before version 2.
double powerOf(const Expr& e) {
    const auto* const given = e.attributes.find("p");
    if (given && std::holds_alternative<double>(*given)) return std::get<double>(*given);
    return static_cast<double>(e.attributes.getInt("p", 2));
}
void poolRule(GradientBuilder& b, const Expr& e) {
    tensor::Attributes attributes = e.attributes;
    attributes.set("kind", e.op.name);
    if (e.op.name == "LpPool") attributes.set("p", powerOf(e));
    b.give(inputOf(e, 0), b.prim("grad_pool", {gradientOf(b, e), inputOf(e, 0)}, std::move(attributes), 1).front());
}
/// Every element of the picture has the same share.
void globalAverageRule(GradientBuilder& b, const Expr& e) {
    const NodeId x = inputOf(e, 0);
    b.give(x, b.op("Expand", {b.div(gradientOf(b, e), elementsFor(b, x, e.outputs.front())), b.shapeOf(x)}));
}

/// The adjoint of Conv: dx = Conv(g, w), dw that of <Conv(g, w), x>.
void convTransposeRule(GradientBuilder& b, const Expr& e) {
    const NodeId x = inputOf(e, 0), w = inputOf(e, 1), bias = inputOf(e, 2), g = gradientOf(b, e);
    const auto in = b.dimSizesOf(x), kernel = b.dimSizesOf(w), out = b.dimSizesOf(e.outputs.front());
    if (!in || !kernel || !out || in->size() < 3 || kernel->size() != in->size() || out->size() != in->size())
        return b.fail("the dimensions of ConvTranspose are unknown");
    const std::size_t rank = in->size() - 2;
    std::vector<std::int64_t> strides = e.attributes.getInts("strides"), dilations = e.attributes.getInts("dilations"),
                              pads = e.attributes.getInts("pads"), more = e.attributes.getInts("output_padding");
    strides.resize(rank, 1), dilations.resize(rank, 1), pads.resize(2 * rank, 0), more.resize(rank, 0);
    const std::string automatic = e.attributes.getString("auto_pad", "NOTSET");
    const bool areSame = automatic.starts_with("SAME") || e.attributes.has("output_shape");
    for (std::size_t i = 0; i < rank && areSame; ++i) {
        const std::int64_t whole =
            strides[i] * ((*in)[i + 2] - 1) + more[i] + ((*kernel)[i + 2] - 1) * dilations[i] + 1;
        const std::int64_t total = whole - (*out)[i + 2];
        pads[i] = automatic == "SAME_UPPER" ? total / 2 : total - total / 2;
        pads[rank + i] = total - pads[i];
        if (total < 0) return b.fail("the derivative of ConvTranspose with this output_shape is not supported");
    }
    if (automatic == "VALID") pads.assign(2 * rank, 0);
    const tensor::Attributes window{
        {"strides", strides}, {"dilations", dilations}, {"pads", pads}, {"group", e.attributes.getInt("group", 1)}};
    b.give(x, b.op("Conv", {g, w}, window));
    b.give(w, b.prim("grad_conv", {x, g, w}, window, 2)[1]);
    if (!bias.valid()) return;
    std::vector<std::int64_t> axes{0};
    for (std::size_t i = 2; i < in->size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
    b.give(bias, b.reshapedTo(b.reduced("ReduceSum", g, axes), bias));
}

/// Of GlobalMaxPool and GlobalLpPool: a window over all of the image.
void globalPoolRule(GradientBuilder& b, const Expr& e) {
    const auto dims = b.dimSizesOf(inputOf(e, 0));
    if (!dims || dims->size() < 3) return b.fail("the dimensions of " + e.op.name + " are unknown");
    tensor::Attributes attributes{{"kernel_shape", std::vector<std::int64_t>(dims->begin() + 2, dims->end())},
                                  {"kind", e.op.name.substr(std::string_view("Global").size())},
                                  {"p", powerOf(e)}};
    b.give(inputOf(e, 0), b.prim("grad_pool", {gradientOf(b, e), inputOf(e, 0)}, std::move(attributes), 1).front());
}

void gridSampleRule(GradientBuilder& b, const Expr& e) {
    const NodeId x = inputOf(e, 0), grid = inputOf(e, 1);
    const auto made = b.prim("grad_grid_sample", {gradientOf(b, e), x, grid}, e.attributes, 2);
    b.give(x, made[0]);
    b.give(grid, made[1]);
}

/// Of X, W, offset, B and mask.
void deformedConvGradient(GradientBuilder& b, const Expr& e, const std::vector<NodeId>& inputs,
                          tensor::Attributes attributes) {
    const NodeId g = gradientOf(b, e), bias = inputs[3];
    std::vector<NodeId> given{g, inputs[0], inputs[1], inputs[2]};
    if (inputs[4].valid()) given.push_back(inputs[4]);
    const auto made = b.prim("grad_deform_conv", given, std::move(attributes), given.size() - 1);
    for (const std::size_t i : {0U, 1U, 2U}) b.give(inputs[i], made[i]);
    if (inputs[4].valid()) b.give(inputs[4], made[3]);
    if (bias.valid()) b.give(bias, b.reshapedTo(b.reduced("ReduceSum", g, {0, 2, 3}), bias));
}
void deformConvRule(GradientBuilder& b, const Expr& e) {
    deformedConvGradient(b, e, {inputOf(e, 0), inputOf(e, 1), inputOf(e, 2), inputOf(e, 3), inputOf(e, 4)},
                         e.attributes);
}
/// torchvision's (input, weight, offset, mask, bias, strides, pads, dilations of both axes, groups, offset groups,
/// use_mask).
void deformConv2dRule(GradientBuilder& b, const Expr& e) {
    const auto at = [&](std::size_t index) { return argumentOf(e, index, 1); };
    const bool usesMask = argumentOf(e, 13, 0) != 0;
    deformedConvGradient(
        b, e, {inputOf(e, 0), inputOf(e, 1), inputOf(e, 2), inputOf(e, 4), usesMask ? inputOf(e, 3) : NodeId()},
        {{"strides", std::vector<std::int64_t>{at(5), at(6)}},
         {"pads", std::vector<std::int64_t>{at(7), at(8), at(7), at(8)}},
         {"dilations", std::vector<std::int64_t>{at(9), at(10)}},
         {"group", at(11)},
         {"offset_group", at(12)}});
}

void roiAlignRule(GradientBuilder& b, const Expr& e) {
    tensor::Attributes attributes = e.attributes;
    // What the version takes where nothing is said.
    if (e.op.version >= 16 && !attributes.has("coordinate_transformation_mode"))
        attributes.set("coordinate_transformation_mode", std::string("half_pixel"));
    const std::vector<NodeId> made = b.prim(
        "grad_roi_align", {inputOf(e, 0), inputOf(e, 1), inputOf(e, 2), gradientOf(b, e)}, std::move(attributes), 1);
    b.give(inputOf(e, 0), made.front());
}

}  // namespace

NodeId elementsFor(GradientBuilder& b, NodeId x, NodeId y) {
    const auto dtype = b.graph().node(x).type.dtype;
    return b.op(
        "Cast", {b.op("Div", {b.op("Size", {x}), b.op("Size", {y})})},
        {{"to", static_cast<std::int64_t>(dtype == tensor::DType::Undefined ? tensor::DType::Float32 : dtype)}});
}

void addWindowGradients(GradientRules& rules) {
    rules.insert({{"AveragePool", poolRule},
                  {"Conv", convRule},
                  {"GlobalAveragePool", globalAverageRule},
                  {"MaxPool", poolRule},
                  {"ConvTranspose", convTransposeRule},
                  {"GridSample", gridSampleRule},
                  {"GlobalLpPool", globalPoolRule},
                  {"GlobalMaxPool", globalPoolRule},
                  {"LpPool", poolRule},
                  {"DeformConv", deformConvRule},
                  {"torchvision::deform_conv2d", deformConv2dRule},
                  {"RoiAlign", roiAlignRule}});
}

}  // namespace sonde::passes
