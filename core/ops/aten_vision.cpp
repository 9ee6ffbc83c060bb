// Sampling of images and boxes: ATen's grids, columns of patches, and torchvision's operators.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/ops/dependence/region.h"
#include "core/ops/dependence/rules.h"
#include "core/ops/dependence/windows.h"
#include "core/ops/support/eager.h"
#include "core/ops/support/grid_sampling.h"
#include "core/ops/support/promotion.h"
#include "core/ops/support/shapes.h"
#include "core/ops/support/window.h"

namespace sonde::ops {

namespace {

using Ints = std::vector<std::int64_t>;

Value intTensor(const Ints& numbers) {
    return Value(Tensor::of<std::int64_t>({static_cast<std::int64_t>(numbers.size())}, numbers));
}

/// (input, grid, interpolation_mode, padding_mode, align_corners); the modes are numbers.
EagerResult gridSampler(Eager& e) {
    return e.onnx("GridSample", {e.value("input"), Value(e.as(e.tensor("grid"), e.tensor("input").dtype()))},
                  e.get(GridSampling::attributesOf(e.integer("interpolation_mode"), e.integer("padding_mode"),
                                                   e.flag("align_corners"))));
}

EagerResult affineGrid(Eager& e) {
    return e.onnx("AffineGrid", {e.value("theta"), intTensor(e.integers("size"))},
                  Attributes{{"align_corners", std::int64_t{e.flag("align_corners")}}});
}

/// kernel_size, dilation, padding and stride of an operator on columns.
base::Result<Window> columnWindow(const KernelContext& context) {
    SONDE_ASSIGN(const Ints kernel, spread(context.value("kernel_size"), 2, 1));
    SONDE_ASSIGN(const Ints dilation, spread(context.value("dilation"), 2, 1));
    SONDE_ASSIGN(const Ints padding, spread(context.value("padding"), 2, 0));
    SONDE_ASSIGN(const Ints stride, spread(context.value("stride"), 2, 1));
    Window window{kernel, stride, dilation, padding, padding};
    SONDE_TRY(window.validate());
    return window;
}

/// [N, C, H, W] -> [N, C·kh·kw, places]: a column for each place of the window.
EagerResult im2col(Eager& e) {
    Tensor x = e.tensor("self");
    const bool single = x.rank() == 3;
    if (single) x = x.unsqueezed(0);
    if (x.rank() != 4) e.fail("expected images [N,C,H,W], not " + x.typeText());
    const Window window = e.get(columnWindow(e.context()));
    const Ints &kernel = window.kernel, &dilation = window.dilation, &padding = window.padBegin,
               &stride = window.stride;
    const std::int64_t oh = window.outputDimSize(0, x.dim(2)), ow = window.outputDimSize(1, x.dim(3));
    if (oh < 1 || ow < 1) e.fail("the window does not fit " + x.typeText());
    const Tensor padded = e("constant_pad_nd", x, Ints{padding[1], padding[1], padding[0], padding[0]}, 0);
    std::vector<Tensor> taps;
    for (std::int64_t i = 0; i < kernel[0]; ++i) {
        for (std::int64_t j = 0; j < kernel[1]; ++j)
            taps.push_back(padded.sliced(2, i * dilation[0], oh, stride[0]).sliced(3, j * dilation[1], ow, stride[1]));
    }
    const Tensor y = e.reshape(e("stack", taps, 2), Shape{x.dim(0), x.dim(1) * kernel[0] * kernel[1], oh * ow});
    return single ? y.selected(0, 0) : y;
}

/// (input, output_size, kernel_size, dilation, padding, stride): columns added up to images.
EagerResult columnsToImage(Eager& e) {
    Tensor x = e.tensor("self");
    const bool single = x.rank() == 2;
    if (single) x = x.unsqueezed(0);
    const Ints size = e.get(spread(e.value("output_size"), 2, 1));
    const Window window = e.get(columnWindow(e.context()));
    const Ints& padding = window.padBegin;
    const Tensor y = e.onnx("Col2Im", {Value(x), intTensor(size), intTensor(window.kernel)},
                            Attributes{{"dilations", window.dilation},
                                       {"pads", Ints{padding[0], padding[1], padding[0], padding[1]}},
                                       {"strides", window.stride}});
    return single ? y.selected(0, 0) : y;
}

base::Result<Dependence> columnTerms(const ElementCall& call) {
    SONDE_ASSIGN(const Window window, columnWindow(call.context));
    return dependence::addedColumns(call, window);
}

/// Boxes (x1, y1, x2, y2) that overlap no better one by more than the threshold, best first.
EagerResult nms(Eager& e) {
    const Tensor boxes = e.as(e.tensor("dets"), DType::Float64), scores = e.tensor("scores");
    const double threshold = e.number("iou_threshold");
    if (boxes.rank() != 2 || boxes.dim(1) != 4 || scores.rank() != 1 || scores.dim(0) != boxes.dim(0))
        e.fail("boxes " + e.tensor("dets").typeText() + " and scores " + scores.typeText() + " are incompatible");
    Ints order(static_cast<std::size_t>(boxes.dim(0)));
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, [&](std::int64_t a, std::int64_t b) {  // NaN is the best score, as in sort()
        const double left = scores.toDouble(a), right = scores.toDouble(b);
        return left > right || (std::isnan(left) && !std::isnan(right));
    });
    const auto at = [&](std::int64_t i) { return boxes.data<double>() + i * 4; };
    const auto area = [&](std::int64_t i) { return (at(i)[2] - at(i)[0]) * (at(i)[3] - at(i)[1]); };
    Ints kept;
    for (std::int64_t i : order) {
        if (e.context().cancelled()) break;
        const bool covered = std::ranges::any_of(kept, [&](std::int64_t k) {
            const double w = std::max(0.0, std::min(at(i)[2], at(k)[2]) - std::max(at(i)[0], at(k)[0]));
            const double h = std::max(0.0, std::min(at(i)[3], at(k)[3]) - std::max(at(i)[1], at(k)[1]));
            return w * h / (area(i) + area(k) - w * h) > threshold;
        });
        if (!covered) kept.push_back(i);
    }
    return Tensor::of<std::int64_t>({static_cast<std::int64_t>(kept.size())}, kept);
}

/// rois [K, 5] (image, x1, y1, x2, y2) as boxes and image numbers.
std::pair<Tensor, Tensor> regions(Eager& e) {
    const Tensor rois = e.tensor("rois");
    if (rois.rank() != 2 || rois.dim(1) != 5) e.fail("expected regions [K,5], not " + rois.typeText());
    return {e.get(rois.sliced(1, 1, 4).contiguous()), e.as(e.get(rois.selected(1, 0).contiguous()), DType::Int64)};
}

/// (input, rois, spatial_scale, pooled_height, pooled_width, sampling_ratio, aligned)
dependence::OnnxCall alignedRegions(Eager& e) {
    const auto [boxes, images] = regions(e);
    return {"RoiAlign",
            {e.value("input"), Value(boxes), Value(images)},
            Attributes{{"spatial_scale", e.number("spatial_scale")},
                       {"output_height", e.integer("pooled_height")},
                       {"output_width", e.integer("pooled_width")},
                       {"sampling_ratio", std::max<std::int64_t>(e.integer("sampling_ratio"), 0)},
                       {"coordinate_transformation_mode",
                        std::string(e.flag("aligned") ? "half_pixel" : "output_half_pixel")}},
            {kOperand, kRight, kRight}};
}

EagerResult computedBy(Eager& e, const dependence::OnnxCall& call) {
    return e.onnx(call.name, call.inputs, call.attributes);
}
EagerResult roiAlign(Eager& e) { return computedBy(e, alignedRegions(e)); }

/// (input, weight, offset, mask, bias, stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w, groups, offset_groups,
/// use_mask)
dependence::OnnxCall deformedConv(Eager& e) {
    const std::int64_t padHeight = e.integer("pad_h"), padWidth = e.integer("pad_w");
    dependence::OnnxCall made{"DeformConv",
                              {e.value("input"), e.value("weight"), e.value("offset"), e.value("bias"),
                               e.flag("use_mask") ? e.value("mask") : Value()},
                              Attributes{{"strides", Ints{e.integer("stride_h"), e.integer("stride_w")}},
                                         {"pads", Ints{padHeight, padWidth, padHeight, padWidth}},
                                         {"dilations", Ints{e.integer("dilation_h"), e.integer("dilation_w")}},
                                         {"group", e.integer("groups")},
                                         {"offset_group", e.integer("offset_groups")}}};
    for (const char* name : {"input", "weight", "offset", "bias", "mask"})
        made.places.push_back(e.context().position(name));
    return made;
}
EagerResult deformConv(Eager& e) { return computedBy(e, deformedConv(e)); }

/// The rules of the ONNX operators that compute them.
base::Result<Dependence> deformedConvTerms(const ElementCall& call) {
    std::optional<dependence::OnnxCall> onnx;
    SONDE_TRY(runEager(call.context, [&](Eager& e) -> EagerResult {
        onnx = deformedConv(e);
        return std::vector<Value>();
    }));
    return dependence::asOnnx(call, *onnx);
}

/// Boxes stand behind the number of their image in a row of the regions.
base::Result<Dependence> alignedRegionTerms(const ElementCall& call) {
    std::optional<dependence::OnnxCall> onnx;
    SONDE_TRY(runEager(call.context, [&](Eager& e) -> EagerResult {
        onnx = alignedRegions(e);
        return std::vector<Value>();
    }));
    SONDE_ASSIGN(Dependence made, dependence::asOnnx(call, *onnx));
    for (DependenceTerm& term : made.terms)
        if (term.input == kRight) term.element += term.element / 4 + 1;
    return made;
}

EagerResult maxUnpool(Eager& e) {
    const Tensor x = e.tensor("self"), places = e.tensor("indices");
    const Ints size = e.integers("output_size");
    if (x.rank() < size.size() || x.shape() != places.shape())
        e.fail(x.typeText() + " and " + places.typeText() + " are incompatible");
    Ints dims(x.shape().begin(), x.shape().end() - static_cast<std::ptrdiff_t>(size.size()));
    std::int64_t planes = 1;
    for (std::int64_t dimSize : dims) planes *= dimSize;
    dims.insert(dims.end(), size.begin(), size.end());
    const Shape shape(dims);
    if (!shape.checkedNumel()) e.fail("no tensor has the shape " + shape.text());
    const std::int64_t plane = planes > 0 ? shape.numel() / planes : 0;
    const Tensor flat = e.get(Tensor::zeros(x.dtype(), Shape{planes, plane}));
    const std::int64_t each = planes > 0 ? x.numel() / planes : 0;
    return e.reshape(
        e("scatter.src", flat, 1, e.reshape(places, Shape{planes, each}), e.reshape(x, Shape{planes, each})), shape);
}

OpDef visionRow(std::string_view schema, std::string_view summary, Category category, EagerKernel kernel) {
    OpDef def = eagerRow(schema, summary, category, std::move(kernel));
    def.domain = "torchvision";
    return def;
}

}  // namespace

void define_aten_vision(Registry& registry) {
    for (
        std::string_view schema :
        {"grid_sampler(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) -> Tensor",
         "grid_sampler_2d(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) -> Tensor",
         "grid_sampler_3d(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) -> Tensor"}) {
        registry.add(eagerRow(schema, "samples an image at the positions of a grid", kMove, gridSampler));
    }
    registry.add(eagerRow("affine_grid_generator(Tensor theta, int[] size, bool align_corners) -> Tensor",
                          "the positions of a grid after an affine transform", kMove, affineGrid));
    registry.add(
        eagerRow("im2col(Tensor self, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride) -> Tensor",
                 "windows of images as columns", kMove, im2col));
    registry.add(eagerRow(
        "col2im(Tensor self, int[2] output_size, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride) -> Tensor",
        "columns added up to images", kMove, columnsToImage));
    registry.add(eagerRow("max_unpool2d(Tensor self, Tensor indices, int[2] output_size) -> Tensor",
                          "values back where the pool took them from", Category::Pool, maxUnpool));
    registry.add(eagerRow(
        "max_unpool3d(Tensor self, Tensor indices, int[3] output_size, int[3] stride, int[3] padding) -> Tensor",
        "values back where the pool took them from", Category::Pool, maxUnpool));
    registry.add(visionRow("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
                           "the best boxes that do not overlap too much", Category::Other, nms));
    registry.add(visionRow(
        "roi_align(Tensor input, Tensor rois, float spatial_scale, int pooled_height, int pooled_width, int sampling_ratio, bool aligned) -> Tensor",
        "mean of samples in each cell of regions", Category::Pool, roiAlign));
    registry.add(visionRow(
        "deform_conv2d(Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, int stride_h, int stride_w, int pad_h, int pad_w, int dilation_h, int dilation_w, int groups, int offset_groups, bool use_mask) -> Tensor",
        "convolution whose taps are moved by offsets", Category::Layer, deformConv));
    explain("torchvision", "deform_conv2d", deformedConvTerms);
    explain("torchvision", "roi_align", alignedRegionTerms);
    explain("aten", "grid_sampler grid_sampler_2d grid_sampler_3d", dependence::gridSampled);
    explain("aten", "im2col", dependence::moved, "self");
    explain("aten", "col2im", columnTerms);
    explain("aten", "max_unpool2d max_unpool3d", dependence::moved, "self");
    explain("aten", "affine_grid_generator", dependence::affineGrid);
}

}  // namespace sonde::ops
