// Resampling: pictures in other sizes and at other places.

#include <algorithm>
#include <cmath>

#include "core/export/lowering/lowering.h"

namespace sonde::exporting {

namespace {

using Results = std::vector<Argument>;
using C = LoweredCall;
using Ints = std::vector<std::int64_t>;

/// The source of each of `to` elements of an axis by torch's own arithmetic in float32 (aten/native/cpu/
/// UpSampleKernel.cpp); `scale` is what was asked for, if it was.
Ints nearestPlaces(bool exact, std::int64_t from, std::int64_t to, const Value& scale) {
    const float step = scale.isNumber() && scale.number() > 0 ? static_cast<float>(1 / scale.number())
                                                              : static_cast<float>(from) / static_cast<float>(to);
    Ints places;
    for (std::int64_t i = 0; i < to; ++i) {
        const auto at = static_cast<float>(i);
        const float source = exact ? std::max(step * (at + 0.5F) - 0.5F, 0.0F) + 0.5F : at * step;
        places.push_back(std::min(static_cast<std::int64_t>(std::floor(source)), from - 1));
    }
    return places;
}
/// Nearest neighbours: Resize where each element is repeated as often as the next one; else runtimes round otherwise
/// than torch, and the places are written out.
Results nearest(C& c, bool exact) {
    NodeId x = c.tensor(0);
    const Shape from = c.shapeOf(x), to = c.result().shape();
    const bool vec = c.expr().op.name.ends_with(".vec");
    std::vector<Ints> places(from.rank());
    bool repeats = true;
    for (std::size_t axis = 2; axis < from.rank(); ++axis) {
        const std::size_t i = axis - 2;
        Value scale;
        if (vec && c.has(2) && c.value(2).isListLike()) scale = c.value(2).items().at(i);
        else if (!vec && c.has(2 + i)) scale = c.value(2 + i);
        places[axis] = nearestPlaces(exact, from[axis], to[axis], scale);
        const std::int64_t times = from[axis] > 0 ? to[axis] / from[axis] : 0;
        repeats = repeats && times > 0 && times * from[axis] == to[axis];
        for (std::int64_t k = 0; repeats && k < to[axis]; ++k)
            repeats = places[axis][static_cast<std::size_t>(k)] == k / times;
    }
    if (repeats)
        return one(c.make("Resize", {x, NodeId{}, NodeId{}, c.integersNode(to.dims())},
                          {{"mode", std::string("nearest")},
                           {"coordinate_transformation_mode", std::string("asymmetric")},
                           {"nearest_mode", std::string("floor")}}));
    for (std::size_t axis = 2; axis < from.rank(); ++axis) {
        const NodeId at = c.integersNode(places[axis]);
        x = c.make("Gather", {x, at}, {{"axis", static_cast<std::int64_t>(axis)}});
    }
    return one(x);
}

Results resize(C& c, const char* mode, bool antialias) {
    const NodeId x = c.tensor(0);
    const bool align = c.flag(2);
    tensor::Attributes attributes{
        {"mode", std::string(mode)},
        {"coordinate_transformation_mode", std::string(align ? "align_corners" : "half_pixel")}};
    if (std::string_view(mode) == "cubic") attributes.set("cubic_coeff_a", antialias ? -0.5 : -0.75);
    if (antialias) {
        attributes.set("antialias", std::int64_t{1});
        attributes.set("exclude_outside", std::int64_t{1});
    }
    // Factors that are given count, as torch has it, and not the ratio of the dim sizes.
    const bool vec = c.expr().op.name.ends_with(".vec");
    constexpr std::size_t at = 3;
    const Shape from = c.shapeOf(x), to = c.result().shape();
    std::vector<float> scales(from.rank(), 1.0F);
    bool given = !align;
    for (std::size_t i = 2; i < from.rank(); ++i) {
        const bool has =
            vec ? c.has(at) && c.value(at).isListLike() && i - 2 < c.value(at).items().size() : c.has(at + i - 2);
        given = given && has;
        if (has) scales[i] = static_cast<float>(vec ? c.value(at).items()[i - 2].number() : c.number(at + i - 2));
        given = given && std::floor(static_cast<float>(from[i]) * scales[i]) == static_cast<float>(to[i]);
    }
    if (given)
        return one(c.make(
            "Resize",
            {x, NodeId{}, c.constant(Tensor::of<float>(Shape{static_cast<std::int64_t>(scales.size())}, scales))},
            std::move(attributes)));
    return one(c.make("Resize", {x, NodeId{}, NodeId{}, c.integersNode(to.dims())}, std::move(attributes)));
}
Results gridSample(C& c) {
    if (c.shapeOf(c.tensor(0)).rank() != 4) C::fail("sampling of volumes, which ONNX has since version 20 only");
    static const char* const modes[] = {"bilinear", "nearest", "bicubic"};
    static const char* const pads[] = {"zeros", "border", "reflection"};
    const std::int64_t mode = c.integer(2), pad = c.integer(3);
    if (mode < 0 || mode > 2 || pad < 0 || pad > 2) C::fail("unsupported sampling");
    return one(c.make("GridSample", {c.tensor(0), c.tensor(1)},
                      {{"mode", std::string(modes[mode])},
                       {"padding_mode", std::string(pads[pad])},
                       {"align_corners", std::int64_t{c.flag(4)}}}));
}

}  // namespace

void addResamplingRules(LoweringRules& rules) {
    const auto put = [&rules](std::string_view name, LoweringRule rule) { rules.insert_or_assign(name, rule); };
    for (std::string_view name : {"upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d"})
        put(name, [](C& c) { return nearest(c, false); });
    for (std::string_view name :
         {"_upsample_nearest_exact1d", "_upsample_nearest_exact2d", "_upsample_nearest_exact3d"})
        put(name, [](C& c) { return nearest(c, true); });
    for (std::string_view name : {"upsample_linear1d", "upsample_bilinear2d", "upsample_trilinear3d"})
        put(name, [](C& c) { return resize(c, "linear", false); });
    put("upsample_bicubic2d", [](C& c) { return resize(c, "cubic", false); });
    put("_upsample_bilinear2d_aa", [](C& c) { return resize(c, "linear", true); });
    put("_upsample_bicubic2d_aa", [](C& c) { return resize(c, "cubic", true); });
    for (std::string_view name : {"grid_sampler", "grid_sampler_2d", "grid_sampler_3d"}) put(name, gridSample);
}

}  // namespace sonde::exporting
