// Resize, Upsample and ATen's upsampling.

#include "core/ops/kernels/resize.h"

#include <cmath>

#include "core/ops/dependence/region.h"
#include "core/ops/support/row.h"
#include "core/ops/support/shapes.h"
#include "core/ops/support/window.h"

namespace sonde::ops {

namespace {

using kernels::AxisResize;
using kernels::ResizeOptions;
using tensor::Dim;

base::Result<std::vector<double>> numbersOf(const Value& value) {
    std::vector<double> numbers;
    if (value.isNone()) return numbers;
    if (!value.isTensor() || value.tensor().rank() > 1)
        return opError("expected a list of numbers, but found " + value.typeText());
    for (std::int64_t i = 0; i < value.tensor().numel(); ++i) numbers.push_back(value.tensor().toDouble(i));
    return numbers;
}

/// What Resize asks for, from inputs or attributes of any version.
struct Request {
    std::vector<double> scales, roi;
    std::vector<std::int64_t> sizes;
    std::optional<std::vector<std::int64_t>> axes;
    std::string policy = "stretch";
};

/// The dimensions of every axis; those that stay as they are have scale 1 and the same dimension.
base::Result<std::vector<AxisResize>> planAxes(const Request& request, const std::vector<std::int64_t>& input,
                                               bool crop) {
    const std::size_t rank = input.size();
    std::vector<AxisResize> plan(rank);
    for (std::size_t d = 0; d < rank; ++d) plan[d].input = plan[d].output = input[d];
    std::vector<std::size_t> on(rank);
    for (std::size_t d = 0; d < rank; ++d) on[d] = d;
    if (request.axes) {
        SONDE_ASSIGN(on, axesOf(*request.axes, rank));
    }
    if (request.scales.empty() == request.sizes.empty())
        return opError("exactly one of scales and sizes must be given");
    const std::size_t count = request.scales.empty() ? request.sizes.size() : request.scales.size();
    if (count != on.size())
        return opError("scales or sizes have " + std::to_string(count) + " entries for " + std::to_string(on.size()) +
                       " axes");
    double common = 0;
    for (std::size_t i = 0; i < on.size() && !request.sizes.empty(); ++i) {
        const double ratio =
            static_cast<double>(request.sizes[i]) / static_cast<double>(std::max<std::int64_t>(input[on[i]], 1));
        common = i == 0 ? ratio : request.policy == "not_larger" ? std::min(common, ratio) : std::max(common, ratio);
    }
    for (std::size_t i = 0; i < on.size(); ++i) {
        AxisResize& axis = plan[on[i]];
        if (crop && request.roi.size() == 2 * on.size()) {
            axis.roiStart = request.roi[i];
            axis.roiEnd = request.roi[on.size() + i];
        }
        const auto dimSize = static_cast<double>(axis.input);
        if (!request.scales.empty()) {
            axis.scale = request.scales[i];
            // Scales are float32, and so is their product: 10 by 2.3 is 23.
            const auto part = static_cast<float>(crop ? axis.roiEnd - axis.roiStart : 1.0);
            const double output = std::floor(static_cast<float>(axis.input) * static_cast<float>(axis.scale) * part);
            if (!(output >= 0 && output < 1e12))
                return opError("scale " + std::to_string(axis.scale) + " is out of range");
            axis.output = static_cast<std::int64_t>(output);
        } else if (request.policy == "stretch") {
            axis.output = request.sizes[i];
            axis.scale = static_cast<double>(axis.output) / dimSize;
        } else {
            axis.scale = common;
            axis.output = static_cast<std::int64_t>(std::floor(common * dimSize + 0.5));
        }
        if (axis.output < 0 || axis.output > std::int64_t{1} << 40)
            return opError("invalid output size " + std::to_string(axis.output));
    }
    return plan;
}

/// How an image is resampled, in the terms of the kernel that all operators here share.
struct Resampling {
    std::vector<AxisResize> axes;
    ResizeOptions options;

    bool isSame(std::size_t d) const {
        return axes[d].input == axes[d].output && axes[d].scale == 1 && options.coordinates != "tf_crop_and_resize";
    }
};

base::Result<void> resample(KernelContext& context, const Tensor& x, const Resampling& how) {
    const auto& [plan, options] = how;
    std::vector<std::vector<kernels::Taps>> taps(x.rank());
    Shape shape = x.shape();
    for (std::size_t d = 0; d < x.rank(); ++d) shape[d] = plan[d].output;
    if (!shape.checkedNumel()) return opError("the result " + shape.text() + " is too large");
    for (std::size_t d = 0; d < x.rank(); ++d) {
        if (how.isSame(d)) continue;
        SONDE_ASSIGN(taps[d], kernels::tapsOf(plan[d], options));
        if (taps[d].empty())
            return [&]() -> base::Result<void> {
                SONDE_TRY(context.output(x.dtype(), shape));
                return {};
            }();
    }
    return kernels::resize(context, x, taps, options);
}

template <typename ValueAt>
base::Result<Request> onnxRequest(const Attributes& attributes, std::size_t inputs, const ValueAt& valueAt) {
    Request request;
    if (attributes.has("axes")) request.axes = attributes.getInts("axes");
    request.policy = attributes.getString("keep_aspect_ratio_policy", "stretch");
    if (inputs < 2) {
        request.scales = attributes.getFloats("scales");
    } else if (inputs == 2) {
        SONDE_ASSIGN(request.scales, numbersOf(valueAt("scales")));
    } else {
        SONDE_ASSIGN(request.roi, numbersOf(valueAt("roi")));
        SONDE_ASSIGN(request.scales, numbersOf(valueAt("scales")));
        if (inputs > 3 && !valueAt("sizes").isNone()) {
            SONDE_ASSIGN(request.sizes, intsOf(valueAt("sizes")));
            if (!request.sizes.empty()) request.scales.clear();
        }
    }
    return request;
}

ResizeOptions onnxOptions(const Attributes& attributes) {
    ResizeOptions options;
    options.mode = attributes.getString("mode", "nearest");
    options.coordinates = attributes.getString("coordinate_transformation_mode", "half_pixel");
    options.nearest = attributes.getString("nearest_mode", "round_prefer_floor");
    options.cubicA = attributes.getFloat("cubic_coeff_a", -0.75);
    options.excludeOutside = attributes.getInt("exclude_outside", 0) != 0;
    options.antialias = attributes.getInt("antialias", 0) != 0;
    options.extrapolation = attributes.getFloat("extrapolation_value", 0);
    return options;
}

/// An element is a sum of those of its neighbourhood, weighted along each axis.
base::Result<Dependence> resampledTerms(const ElementCall& call, const Resampling& how) {
    const Tensor& x = call.context.in(kOperand);
    if (how.axes.size() != x.rank() || call.at.size() != x.rank()) return opError("the sizes do not match the input");
    std::vector<kernels::Taps> taps(x.rank());
    tensor::Shape shape;
    for (std::size_t d = 0; d < x.rank(); ++d) {
        taps[d] = {{call.at[d]}, {1.0}, false};
        if (!how.isSame(d)) {
            SONDE_ASSIGN(const std::vector<kernels::Taps> all, kernels::tapsOf(how.axes[d], how.options));
            if (call.at[d] >= static_cast<std::int64_t>(all.size()))
                return opError("the sizes do not match the result");
            taps[d] = all[static_cast<std::size_t>(call.at[d])];
        }
        if (taps[d].outside) return dependence::constantElement(how.options.extrapolation);
        shape.push_back(static_cast<std::int64_t>(taps[d].indices.size()));
    }
    const auto region = dependence::Region::all(shape);
    SONDE_TRY(dependence::checkTerms(region.count()));
    Dependence dependence;
    dependence.formula = "sum(w * x)";
    const std::uint32_t part = dependence.listPart("x", "w");
    dependence::forEach(region, shape, [&](const std::vector<std::int64_t>& tap, std::int64_t) {
        std::vector<std::int64_t> index;
        double weight = 1;
        for (std::size_t d = 0; d < x.rank(); ++d) {
            index.push_back(taps[d].indices[static_cast<std::size_t>(tap[d])]);
            weight *= taps[d].weights[static_cast<std::size_t>(tap[d])];
        }
        dependence::addElement(dependence, part, call, kOperand, dependence::elementAt(index, x.shape()));
        dependence.terms.back().weight = weight;
    });
    return dependence;
}

base::Result<Resampling> onnxResampling(const KernelContext& context) {
    Resampling how;
    how.options = onnxOptions(context.attributes());
    SONDE_ASSIGN(const Request request, onnxRequest(context.attributes(), context.inputCount(),
                                                    [&](Name name) { return context.value(name); }));
    SONDE_ASSIGN(how.axes,
                 planAxes(request, context.in("X").shape().dims(), how.options.coordinates == "tf_crop_and_resize"));
    return how;
}

/// Before 11: pixel i of the result is pixel floor(i / scale), or the line between its neighbours.
base::Result<Resampling> oldResampling(const KernelContext& context) {
    Resampling how;
    ResizeOptions& options = how.options;
    options.mode = context.attributes().getString("mode", "nearest");
    if (options.mode == "bilinear") options.mode = "linear";
    options.coordinates = "asymmetric";
    options.nearest = "floor";
    SONDE_ASSIGN(Request request, onnxRequest(context.attributes(), context.inputCount(),
                                              [&](Name name) { return context.value(name); }));
    if (context.attributes().has("height_scale")) {
        request.scales = {1, 1, context.attributes().getFloat("height_scale", 1),
                          context.attributes().getFloat("width_scale", 1)};
    }
    SONDE_ASSIGN(how.axes, planAxes(request, context.in("X").shape().dims(), false));
    return how;
}

template <base::Result<Resampling> (*resamplingOf)(const KernelContext&)>
base::Result<void> onnxResize(KernelContext& context) {
    SONDE_ASSIGN(const Resampling how, resamplingOf(context));
    return resample(context, context.in("X"), how);
}

base::Result<Dependence> onnxResizeTerms(const ElementCall& call) {
    const bool isOld = call.op.name == "Upsample" || call.op.since < 11;
    SONDE_ASSIGN(const Resampling how, isOld ? oldResampling(call.context) : onnxResampling(call.context));
    return resampledTerms(call, how);
}

base::Result<void> inferResize(InferContext& context) {
    const std::optional<Dims>& in = context.in("X").shape;
    bool known = in.has_value();
    const std::size_t inputs = context.inputCount();
    for (std::size_t i = inputs == 2 ? 1 : 2; known && i < inputs; ++i)
        known = !context.has(i) || !context.constant(i).isNone();
    if (!known) {
        const std::optional<Elements> sizes =
            in && inputs > 3 && context.has("sizes") ? context.elements("sizes") : std::nullopt;
        const bool isWhole = sizes && sizes->size() == in->size() && !context.attributes().has("axes") &&
                             context.attributes().getString("keep_aspect_ratio_policy", "stretch") == "stretch";
        setLike(context, "X",
                isWhole ? std::optional(dimsOf(*sizes))
                : in    ? std::optional(unknownDims(in->size()))
                        : std::nullopt);
        return {};
    }
    SONDE_ASSIGN(Request request,
                 onnxRequest(context.attributes(), inputs, [&](Name name) { return context.constant(name); }));
    if (context.attributes().has("height_scale")) {
        request.scales = {1, 1, context.attributes().getFloat("height_scale", 1),
                          context.attributes().getFloat("width_scale", 1)};
    }
    const bool crop = context.attributes().getString("coordinate_transformation_mode", "") == "tf_crop_and_resize";
    if (crop && request.roi.empty() && !request.scales.empty()) {
        setLike(context, "X", unknownDims(in->size()));
        return {};
    }
    std::vector<std::int64_t> dimSizes = dimSizesOf(*in);
    for (std::int64_t& dimSize : dimSizes) dimSize = std::max<std::int64_t>(dimSize, 0);
    SONDE_ASSIGN(const auto plan, planAxes(request, dimSizes, crop));
    Dims dims;
    for (std::size_t d = 0; d < in->size(); ++d) {
        if ((*in)[d].known()) dims.push_back(Dim::of(plan[d].output));
        else if (request.sizes.empty() ? plan[d].scale == 1 : false) dims.push_back((*in)[d]);
        else if (request.sizes.empty())
            dims.push_back(crop ? Dim{}
                                : floor(tensor::Symbolic::of((*in)[d]) * tensor::Symbolic::of(plan[d].scale)).dim());
        else dims.push_back(request.policy == "stretch" ? Dim::of(plan[d].output) : Dim{});
    }
    setLike(context, "X", std::move(dims));
    return {};
}

// ATen: sizes of the spatial axes, or factors for them.

struct AtenUpsample {
    const char* mode;
    std::size_t rank;
    bool vec;                ///< (input, output_size?, [align_corners], scale_factors?)
    bool exact = false;      ///< nearest to the middle of the output's pixel
    bool antialias = false;  ///< wider filters where it gets smaller; the cubic one is then PIL's
};

/// The scale factor of a dimension of the image; None if it is not given.
Value scaleOf(const KernelContext& context, const AtenUpsample& row, std::size_t dim) {
    if (row.vec) {
        const Value given = context.has("scale_factors") ? context.value("scale_factors") : Value();
        return given.isListLike() && dim < given.items().size() ? given.items()[dim] : Value();
    }
    constexpr const char* kNames[] = {"scales_d", "scales_h", "scales_w"};
    const Name name = row.rank == 1 ? "scales" : kNames[std::size(kNames) - row.rank + dim];
    return context.has(name) ? context.value(name) : Value();
}

base::Result<Resampling> atenResampling(const KernelContext& context, const AtenUpsample& row) {
    const Tensor& x = context.in({"self", "input"});
    if (x.rank() != row.rank + 2) return opError("cannot upsample " + x.typeText());
    Resampling how;
    auto& [plan, options] = how;
    options.mode = row.mode;
    options.nearest = "floor";
    const bool align = context.has("align_corners") && context.value("align_corners").kind() == ValueKind::Bool &&
                       context.value("align_corners").toBool();
    options.coordinates = align                                     ? "align_corners"
                          : options.mode == "nearest" && !row.exact ? "asymmetric"
                                                                    : "half_pixel";
    if (row.exact) options.nearest = "round_prefer_ceil";
    if (row.antialias) {
        options.antialias = options.excludeOutside = true;
        options.cubicA = -0.5;
    }
    plan.resize(x.rank());
    for (std::size_t d = 0; d < x.rank(); ++d) plan[d].input = plan[d].output = x.dim(d);
    for (std::size_t i = 0; i < row.rank; ++i) {
        AxisResize& axis = plan[i + 2];
        if (context.has("output_size")) {
            SONDE_ASSIGN(const std::vector<std::int64_t> sizes, spread(context.value("output_size"), row.rank, 1));
            axis.output = sizes[i];
            axis.scale = static_cast<double>(axis.output) / static_cast<double>(axis.input);
        }
        const Value factor = scaleOf(context, row, i);
        if (!factor.isNone()) {
            SONDE_ASSIGN(axis.scale, numberOf(factor));
            if (!context.has("output_size"))
                axis.output = static_cast<std::int64_t>(std::floor(static_cast<double>(axis.input) * axis.scale));
        } else if (!context.has("output_size")) {
            return opError("neither a size nor scale factors are given");
        }
        if (align && axis.input > 0) axis.scale = static_cast<double>(axis.output) / static_cast<double>(axis.input);
        if (axis.output < 0 || !(axis.scale > 0)) return opError("invalid output size " + std::to_string(axis.output));
    }
    return how;
}

base::Result<void> atenUpsample(KernelContext& context, const AtenUpsample& row) {
    SONDE_ASSIGN(const Resampling how, atenResampling(context, row));
    return resample(context, context.in({"self", "input"}), how);
}

base::Result<void> inferAtenUpsample(InferContext& context, const AtenUpsample& row) {
    std::optional<Dims> dims = context.in({"self", "input"}).shape;
    if (dims && dims->size() == row.rank + 2) {
        const auto sizes = context.elements("output_size");
        const Value& factors = context.constant("scale_factors");
        for (std::size_t i = 0; i < row.rank; ++i) {
            Dim& dim = (*dims)[i + 2];
            const bool isGiven = context.in("output_size").kind && *context.in("output_size").kind != ValueKind::None;
            const bool scales = row.vec && !isGiven && context.in("output_size").kind && factors.isListLike() &&
                                i < factors.items().size() && factors.items()[i].isNumber();
            if (isGiven) dim = sizes && sizes->size() == row.rank ? (*sizes)[i].dim() : Dim{};
            else if (scales)
                dim = floor(tensor::Symbolic::of(dim) * tensor::Symbolic::of(factors.items()[i].number())).dim();
            else dim = {};
        }
    }
    setLike(context, {"self", "input"}, std::move(dims));
    return {};
}

struct AtenRow {
    std::string_view schema;
    AtenUpsample row;
};

std::span<const AtenRow> atenRows() {
    static constexpr AtenRow kRows[] = {
        {"upsample_nearest1d(Tensor self, int[1] output_size, float? scales=None) -> Tensor", {"nearest", 1, false}},
        {"upsample_nearest2d(Tensor self, int[2] output_size, float? scales_h=None, float? scales_w=None) -> Tensor",
         {"nearest", 2, false}},
        {"upsample_nearest3d(Tensor self, int[3] output_size, float? scales_d=None, float? scales_h=None, float? scales_w=None) -> Tensor",
         {"nearest", 3, false}},
        {"upsample_nearest1d.vec(Tensor input, int[]? output_size, float[]? scale_factors) -> Tensor",
         {"nearest", 1, true}},
        {"upsample_nearest2d.vec(Tensor input, int[]? output_size, float[]? scale_factors) -> Tensor",
         {"nearest", 2, true}},
        {"upsample_nearest3d.vec(Tensor input, int[]? output_size, float[]? scale_factors) -> Tensor",
         {"nearest", 3, true}},
        {"upsample_linear1d(Tensor self, int[1] output_size, bool align_corners, float? scales=None) -> Tensor",
         {"linear", 1, false}},
        {"upsample_bilinear2d(Tensor self, int[2] output_size, bool align_corners, float? scales_h=None, float? scales_w=None) -> Tensor",
         {"linear", 2, false}},
        {"upsample_bicubic2d(Tensor self, int[2] output_size, bool align_corners, float? scales_h=None, float? scales_w=None) -> Tensor",
         {"cubic", 2, false}},
        {"_upsample_nearest_exact1d(Tensor self, int[1] output_size, float? scales=None) -> Tensor",
         {"nearest", 1, false, true}},
        {"_upsample_nearest_exact2d(Tensor self, int[2] output_size, float? scales_h=None, float? scales_w=None) -> Tensor",
         {"nearest", 2, false, true}},
        {"_upsample_nearest_exact3d(Tensor self, int[3] output_size, float? scales_d=None, float? scales_h=None, float? scales_w=None) -> Tensor",
         {"nearest", 3, false, true}},
        {"_upsample_nearest_exact1d.vec(Tensor input, int[]? output_size, float[]? scale_factors) -> Tensor",
         {"nearest", 1, true, true}},
        {"_upsample_nearest_exact2d.vec(Tensor input, int[]? output_size, float[]? scale_factors) -> Tensor",
         {"nearest", 2, true, true}},
        {"_upsample_nearest_exact3d.vec(Tensor input, int[]? output_size, float[]? scale_factors) -> Tensor",
         {"nearest", 3, true, true}},
        {"upsample_trilinear3d(Tensor self, int[3] output_size, bool align_corners, float? scales_d=None, float? scales_h=None, float? scales_w=None) -> Tensor",
         {"linear", 3, false}},
        {"upsample_trilinear3d.vec(Tensor input, int[]? output_size, bool align_corners, float[]? scale_factors) -> Tensor",
         {"linear", 3, true}},
        {"_upsample_bilinear2d_aa(Tensor self, int[2] output_size, bool align_corners, float? scales_h=None, float? scales_w=None) -> Tensor",
         {"linear", 2, false, false, true}},
        {"_upsample_bilinear2d_aa.vec(Tensor input, int[]? output_size, bool align_corners, float[]? scale_factors) -> Tensor",
         {"linear", 2, true, false, true}},
        {"_upsample_bicubic2d_aa(Tensor self, int[2] output_size, bool align_corners, float? scales_h=None, float? scales_w=None) -> Tensor",
         {"cubic", 2, false, false, true}},
        {"_upsample_bicubic2d_aa.vec(Tensor input, int[]? output_size, bool align_corners, float[]? scale_factors) -> Tensor",
         {"cubic", 2, true, false, true}},
        {"upsample_linear1d.vec(Tensor input, int[]? output_size, bool align_corners, float[]? scale_factors) -> Tensor",
         {"linear", 1, true}},
        {"upsample_bilinear2d.vec(Tensor input, int[]? output_size, bool align_corners, float[]? scale_factors) -> Tensor",
         {"linear", 2, true}},
        {"upsample_bicubic2d.vec(Tensor input, int[]? output_size, bool align_corners, float[]? scale_factors) -> Tensor",
         {"cubic", 2, true}},
    };
    return kRows;
}

base::Result<Dependence> atenUpsampleTerms(const ElementCall& call) {
    for (const AtenRow& row : atenRows()) {
        if (row.schema.substr(0, row.schema.find('(')) != call.op.name) continue;
        SONDE_ASSIGN(const Resampling how, atenResampling(call.context, row.row));
        return resampledTerms(call, how);
    }
    return opError("there is no formula for " + std::string(call.op.name));
}

void defineAtenResize(Registry& registry) {
    for (const AtenRow& row : atenRows()) {
        registry.add(atenRow(
            row.schema, "resamples an image to another size", Category::Transform,
            [upsample = row.row](KernelContext& context) { return atenUpsample(context, upsample); },
            [upsample = row.row](InferContext& context) { return inferAtenUpsample(context, upsample); }));
    }
}

}  // namespace

void define_resize(Registry& registry) {
    registry.add(Row("Upsample", 1, "resamples to a larger size", Category::Transform)
                     .in("X")
                     .out("Y")
                     .attrFloat("height_scale", 1)
                     .attrFloat("width_scale", 1)
                     .attrString("mode", "nearest")
                     .runs(onnxResize<oldResampling>, inferResize));
    registry.add(Row("Upsample", 7, "resamples to a larger size", Category::Transform)
                     .in("X")
                     .out("Y")
                     .required("scales", AttributeKind::Floats)
                     .attrString("mode", "nearest")
                     .runs(onnxResize<oldResampling>, inferResize));
    registry.add(Row("Upsample", 9, "resamples to a larger size", Category::Transform)
                     .in("X")
                     .in("scales", kFloat32)
                     .out("Y")
                     .attrString("mode", "nearest")
                     .runs(onnxResize<oldResampling>, inferResize));
    registry.add(Row("Resize", 10, "resamples to another size", Category::Transform)
                     .in("X")
                     .in("scales", kFloat32)
                     .out("Y")
                     .attrString("mode", "nearest")
                     .runs(onnxResize<oldResampling>, inferResize));
    registry.add(Row("Resize", 11, "resamples to another size", Category::Transform)
                     .in("X")
                     .optionalIn("roi", kFloats)
                     .optionalIn("scales", kFloat32)
                     .optionalIn("sizes", kInt64)
                     .out("Y")
                     .attrInt("antialias", 0)
                     .attrInts("axes")
                     .attrString("coordinate_transformation_mode", "half_pixel")
                     .attrFloat("cubic_coeff_a", -0.75)
                     .attrInt("exclude_outside", 0)
                     .attrFloat("extrapolation_value", 0)
                     .attrString("keep_aspect_ratio_policy", "stretch")
                     .attrString("mode", "nearest")
                     .attrString("nearest_mode", "round_prefer_floor")
                     .runs(onnxResize<onnxResampling>, inferResize));
    defineAtenResize(registry);
    explain("", "Resize Upsample", onnxResizeTerms);
    explain(
        "aten",
        "upsample_nearest1d upsample_nearest2d upsample_nearest3d _upsample_nearest_exact1d _upsample_nearest_exact2d "
        "_upsample_nearest_exact3d upsample_linear1d upsample_bilinear2d upsample_trilinear3d upsample_bicubic2d "
        "_upsample_bilinear2d_aa _upsample_bicubic2d_aa",
        atenUpsampleTerms);
}

}  // namespace sonde::ops
