// Boxes in images: RoiAlign, MaxRoiPool, NonMaxSuppression.

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "core/ops/dependence/region.h"
#include "core/ops/support/row.h"
#include "core/ops/support/shapes.h"
#include "core/ops/support/wide.h"

namespace sonde::ops {

namespace {

using tensor::Dim;

/// The four elements around a place, left and right above, left and right below, and the weight of each; nothing for a
/// place more than one element outside.
struct CornerPlaces {
    std::array<std::int64_t, 4> offsets;
    std::array<double, 4> weights;

    static std::optional<CornerPlaces> of(std::int64_t height, std::int64_t width, double y, double x) {
        if (y < -1 || y > static_cast<double>(height) || x < -1 || x > static_cast<double>(width)) return std::nullopt;
        y = std::clamp(y, 0.0, static_cast<double>(height - 1));
        x = std::clamp(x, 0.0, static_cast<double>(width - 1));
        const auto y0 = static_cast<std::int64_t>(y), x0 = static_cast<std::int64_t>(x);
        const std::int64_t y1 = std::min(y0 + 1, height - 1), x1 = std::min(x0 + 1, width - 1);
        const double dy = y - static_cast<double>(y0), dx = x - static_cast<double>(x0);
        return CornerPlaces{{y0 * width + x0, y0 * width + x1, y1 * width + x0, y1 * width + x1},
                            {(1 - dy) * (1 - dx), (1 - dy) * dx, dy * (1 - dx), dy * dx}};
    }
};

double bilinear(const double* plane, std::int64_t height, std::int64_t width, double y, double x) {
    const auto corners = CornerPlaces::of(height, width, y, x);
    double sum = 0;
    for (std::size_t i = 0; corners && i < 4; ++i) sum += corners->weights[i] * plane[corners->offsets[i]];
    return sum;
}

/// The largest weighted corner of the four around a place: what RoiAlign's mode "max" compares.
double bilinearMax(const double* plane, std::int64_t height, std::int64_t width, double y, double x) {
    const auto corners = CornerPlaces::of(height, width, y, x);
    if (!corners) return 0;
    double best = -std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < 4; ++i) best = std::max(best, corners->weights[i] * plane[corners->offsets[i]]);
    return best;
}

/// A region as RoiAlign divides it: where it begins, the size of its cells, and how many samples each has.
struct AlignedRegion {
    std::int64_t batch = 0, countX = 0, countY = 0;
    double x0 = 0, y0 = 0, binW = 0, binH = 0;

    static base::Result<AlignedRegion> of(const KernelContext& context, std::int64_t region) {
        const Tensor &x = context.in("X"), &rois = context.in("rois"), &batch = context.in("batch_indices");
        const Attributes& attributes = context.attributes();
        // Before opset 16 pixels were at whole numbers.
        const bool halfPixel = attributes.getString("coordinate_transformation_mode", "") == "half_pixel";
        const double scale = attributes.getFloat("spatial_scale", 1), offset = halfPixel ? 0.5 : 0;
        const std::int64_t ratio = attributes.getInt("sampling_ratio", 0);
        AlignedRegion made;
        made.batch = batch.toInt64(region);
        if (made.batch < 0 || made.batch >= x.dim(0))
            return opError("batch index " + std::to_string(made.batch) + " is outside " + x.typeText());
        const auto edge = [&](std::int64_t i) { return rois.toDouble(region * 4 + i) * scale - offset; };
        made.x0 = edge(0), made.y0 = edge(1);
        double w = edge(2) - made.x0, h = edge(3) - made.y0;
        if (!halfPixel) w = std::max(w, 1.0), h = std::max(h, 1.0);
        if (!(std::fabs(w) < 1e6 && std::fabs(h) < 1e6)) return opError("a region is out of range");
        made.binW = w / static_cast<double>(attributes.getInt("output_width", 1));
        made.binH = h / static_cast<double>(attributes.getInt("output_height", 1));
        const auto samples = [&](double bin) {
            return ratio > 0 ? ratio : std::max<std::int64_t>(0, static_cast<std::int64_t>(std::ceil(bin)));
        };
        made.countX = samples(made.binW), made.countY = samples(made.binH);
        // No cell needs millions of samples; a file could ask for so many that the sum never ends.
        if (static_cast<double>(made.countX) * static_cast<double>(made.countY) > 1 << 24)
            return opError("a region needs " + std::to_string(made.countX) + " by " + std::to_string(made.countY) +
                           " samples in each cell");
        return made;
    }

    /// Calls sample(y, x) for each place in a cell.
    template <typename Sample>
    void forSamples(std::int64_t row, std::int64_t column, Sample sample) const {
        for (std::int64_t iy = 0; iy < countY; ++iy)
            for (std::int64_t ix = 0; ix < countX; ++ix)
                sample(y0 + static_cast<double>(row) * binH +
                           (static_cast<double>(iy) + 0.5) * binH / static_cast<double>(countY),
                       x0 + static_cast<double>(column) * binW +
                           (static_cast<double>(ix) + 0.5) * binW / static_cast<double>(countX));
    }
    double count() const { return static_cast<double>(std::max<std::int64_t>(countX * countY, 1)); }
};

base::Result<void> checkAligned(const KernelContext& context) {
    const Tensor &x = context.in("X"), &rois = context.in("rois");
    const Attributes& attributes = context.attributes();
    if (x.rank() != 4 || rois.rank() != 2 || rois.dim(1) != 4 || context.in("batch_indices").numel() != rois.dim(0) ||
        attributes.getInt("output_height", 1) < 1 || attributes.getInt("output_width", 1) < 1 ||
        attributes.getInt("sampling_ratio", 0) < 0 || x.numel() == 0)
        return opError("regions " + rois.typeText() + " do not match " + x.typeText());
    return {};
}

base::Result<void> roiAlign(KernelContext& context) {
    const Tensor &x = context.in("X"), &rois = context.in("rois");
    const Attributes& attributes = context.attributes();
    const std::int64_t height = attributes.getInt("output_height", 1), width = attributes.getInt("output_width", 1);
    SONDE_TRY(checkAligned(context));
    const bool average = attributes.getString("mode", "avg") != "max";
    SONDE_ASSIGN(const Tensor image, wide(x));
    SONDE_ASSIGN(Tensor y, wideZeros(Shape{rois.dim(0), x.dim(1), height, width}));
    for (std::int64_t r = 0; r < rois.dim(0); ++r) {
        SONDE_ASSIGN(const AlignedRegion region, AlignedRegion::of(context, r));
        for (std::int64_t c = 0; c < x.dim(1); ++c) {
            const double* plane = image.data<double>() + (region.batch * x.dim(1) + c) * x.dim(2) * x.dim(3);
            for (std::int64_t cell = 0; cell < height * width; ++cell) {
                if (context.cancelled()) return base::cancelled();
                double sum = 0, best = -std::numeric_limits<double>::infinity();
                region.forSamples(cell / width, cell % width, [&](double py, double px) {
                    if (average) sum += bilinear(plane, x.dim(2), x.dim(3), py, px);
                    else best = std::max(best, bilinearMax(plane, x.dim(2), x.dim(3), py, px));
                });
                y.mutableData<double>()[(r * x.dim(1) + c) * height * width + cell] = average ? sum / region.count()
                                                                                      : std::isinf(best) ? 0
                                                                                                         : best;
            }
        }
    }
    return setNarrow(context, 0, y, x.dtype());
}

/// Each cell's gradient goes to the corners that its value is of: in their shares to those of all samples or, in mode
/// "max", to the largest one, the first of several. Regions have none, as in PyTorch.
base::Result<void> roiAlignGradient(KernelContext& context) {
    SONDE_TRY(checkAligned(context));
    const Tensor &x = context.in("X"), &rois = context.in("rois");
    const Attributes& attributes = context.attributes();
    const std::int64_t height = attributes.getInt("output_height", 1), width = attributes.getInt("output_width", 1),
                       pixels = x.dim(2) * x.dim(3);
    const bool average = attributes.getString("mode", "avg") != "max";
    if (context.in("g").shape() != Shape{rois.dim(0), x.dim(1), height, width})
        return opError("the gradient " + context.in("g").typeText() + " does not match the regions");
    SONDE_ASSIGN(const Tensor g, wide(context.in("g")));
    SONDE_ASSIGN(const Tensor image, wide(x));
    SONDE_ASSIGN(Tensor dx, wideZeros(x.shape()));
    for (std::int64_t r = 0; r < rois.dim(0); ++r) {
        SONDE_ASSIGN(const AlignedRegion region, AlignedRegion::of(context, r));
        for (std::int64_t at = 0; at < x.dim(1) * height * width; ++at) {
            if (context.cancelled()) return base::cancelled();
            const std::int64_t c = at / (height * width), cell = at % (height * width),
                               plane = (region.batch * x.dim(1) + c) * pixels;
            const double given = g.data<double>()[r * x.dim(1) * height * width + at];
            // Beyond the image a sample is 0, which may be the largest.
            double best = -std::numeric_limits<double>::infinity(), weight = 0;
            std::int64_t place = 0;
            region.forSamples(cell / width, cell % width, [&](double py, double px) {
                const std::optional<CornerPlaces> corners = CornerPlaces::of(x.dim(2), x.dim(3), py, px);
                if (!corners && best < 0) best = 0, weight = 0;
                for (std::size_t i = 0; corners && i < 4; ++i) {
                    const std::int64_t element = plane + corners->offsets[i];
                    const double share = corners->weights[i], value = share * image.data<double>()[element];
                    if (average) dx.mutableData<double>()[element] += given * share / region.count();
                    else if (value > best) best = value, weight = share, place = element;
                }
            });
            if (!average) dx.mutableData<double>()[place] += given * weight;
        }
    }
    return setNarrow(context, 0, dx, x.dtype());
}

/// Corners of all samples: their mean, or the largest of them.
base::Result<Dependence> roiAlignTerms(const ElementCall& call) {
    const KernelContext& context = call.context;
    const Tensor& x = context.in("X");
    SONDE_ASSIGN(const AlignedRegion region, AlignedRegion::of(context, call.at[0]));
    const std::int64_t height = x.dim(2), width = x.dim(3),
                       plane = (region.batch * x.dim(1) + call.at[1]) * height * width;
    SONDE_TRY(dependence::checkTerms(4 * region.countX * region.countY));
    const bool average = context.attributes().getString("mode", "avg") != "max";
    Dependence made;
    const std::uint32_t part = made.listPart("x", "w");
    bool isBeyond = region.countX * region.countY == 0;
    const double share = average ? 1 / region.count() : 1;
    region.forSamples(call.at[2], call.at[3], [&](double y, double at) {
        const std::optional<CornerPlaces> corners = CornerPlaces::of(height, width, y, at);
        isBeyond = isBeyond || !corners;
        for (std::size_t i = 0; corners && i < 4; ++i) {
            if (average && corners->weights[i] == 0) continue;
            dependence::addElement(made, part, call, context.position("X"), plane + corners->offsets[i]);
            made.terms.back().weight = share * corners->weights[i];
        }
    });
    const bool isNone = made.terms.empty();
    made.formula = average ? "sum(w * x)" : isNone ? "0" : isBeyond ? "maximum(max(w * x), 0)" : "max(w * x)";
    const std::uint32_t place = made.listPart("region");
    for (std::int64_t i = 0; i < 4; ++i) {  // it takes no part, but tells where the samples are
        dependence::addElement(made, place, call, context.position("rois"), call.at[0] * 4 + i);
        made.terms.back().weight = 0;
    }
    return made;
}

/// The pixels of an image from a corner on that a cell of a region [batch, x1, y1, x2, y2] has; none may be there.
struct RegionCell {
    std::int64_t batch, y0, y1, x0, x1;

    static RegionCell of(const Tensor& rois, std::int64_t region, double scale, std::span<const std::int64_t> cells,
                         std::int64_t row, std::int64_t column, const Shape& image) {
        const auto corner = [&](std::int64_t i) {
            return static_cast<std::int64_t>(
                std::clamp(std::round(rois.toDouble(region * 5 + 1 + i) * scale), -1e9, 1e9));
        };
        const auto edge = [](std::int64_t start, std::int64_t end, std::int64_t index, std::int64_t count,
                             std::int64_t dimSize, bool isEnd) {
            const auto length = static_cast<double>(std::max<std::int64_t>(end - start + 1, 1));
            const double at = static_cast<double>(index + (isEnd ? 1 : 0)) * length / static_cast<double>(count);
            return std::clamp<std::int64_t>(static_cast<std::int64_t>(isEnd ? std::ceil(at) : std::floor(at)) + start,
                                            0, dimSize);
        };
        return {rois.toInt64(region * 5), edge(corner(1), corner(3), row, cells[0], image[2], false),
                edge(corner(1), corner(3), row, cells[0], image[2], true),
                edge(corner(0), corner(2), column, cells[1], image[3], false),
                edge(corner(0), corner(2), column, cells[1], image[3], true)};
    }
};

/// Largest value of each cell of each region [batch, x1, y1, x2, y2].
base::Result<void> maxRoiPool(KernelContext& context) {
    const Tensor &x = context.in("X"), &rois = context.in("rois");
    const std::vector<std::int64_t> pooled = context.attributes().getInts("pooled_shape");
    if (x.rank() != 4 || rois.rank() != 2 || rois.dim(1) != 5 || pooled.size() != 2 || pooled[0] < 1 || pooled[1] < 1)
        return opError("regions " + rois.typeText() + " do not match " + x.typeText());
    const double scale = context.attributes().getFloat("spatial_scale", 1);
    SONDE_ASSIGN(const Tensor image, wide(x));
    SONDE_ASSIGN(Tensor y, wideZeros(Shape{rois.dim(0), x.dim(1), pooled[0], pooled[1]}));
    for (std::int64_t r = 0; r < rois.dim(0); ++r) {
        const std::int64_t b = rois.toInt64(r * 5);
        if (b < 0 || b >= x.dim(0)) return opError("batch index " + std::to_string(b) + " is outside " + x.typeText());
        for (std::int64_t cell = 0; cell < pooled[0] * pooled[1]; ++cell) {
            const RegionCell area =
                RegionCell::of(rois, r, scale, pooled, cell / pooled[1], cell % pooled[1], x.shape());
            for (std::int64_t c = 0; c < x.dim(1); ++c) {
                const double* plane = image.data<double>() + (b * x.dim(1) + c) * x.dim(2) * x.dim(3);
                double best = -std::numeric_limits<double>::infinity();
                for (std::int64_t py = area.y0; py < area.y1; ++py)
                    for (std::int64_t px = area.x0; px < area.x1; ++px)
                        best = std::max(best, plane[py * x.dim(3) + px]);
                y.mutableData<double>()[(r * x.dim(1) + c) * pooled[0] * pooled[1] + cell] =
                    std::isinf(best) ? 0 : best;
            }
        }
    }
    return setNarrow(context, 0, y, x.dtype());
}

base::Result<Dependence> maxRoiTerms(const ElementCall& call) {
    const KernelContext& context = call.context;
    const Tensor &x = context.in("X"), &rois = context.in("rois");
    const std::vector<std::int64_t> pooled = context.attributes().getInts("pooled_shape");
    if (x.rank() != 4 || pooled.size() != 2 || call.at.size() != 4 || call.at[0] * 5 + 5 > rois.numel())
        return opError("the regions do not match the result");
    const RegionCell area = RegionCell::of(rois, call.at[0], context.attributes().getFloat("spatial_scale", 1), pooled,
                                           call.at[2], call.at[3], x.shape());
    if (area.y0 >= area.y1 || area.x0 >= area.x1) return dependence::constantElement(0);
    Dependence dependence;
    dependence.formula = "max(x)";
    const std::uint32_t part = dependence.listPart("x"), where = dependence.listPart("region");
    SONDE_TRY(dependence::addRegion(
        dependence, part, call, context.position("X"),
        {{area.batch, call.at[1], area.y0, area.x0}, {area.batch + 1, call.at[1] + 1, area.y1, area.x1}}));
    dependence::weighChosen(dependence, part, true);
    for (std::int64_t i = 0; i < 5; ++i) {  // they take no part in the value, but tell which pixels it is of
        dependence::addElement(dependence, where, call, context.position("rois"), call.at[0] * 5 + i);
        dependence.terms.back().weight = 0;
    }
    return dependence;
}

struct Box {
    double y1, x1, y2, x2;
    double area() const { return (y2 - y1) * (x2 - x1); }
};

double overlap(const Box& a, const Box& b) {
    const double h = std::min(a.y2, b.y2) - std::max(a.y1, b.y1), w = std::min(a.x2, b.x2) - std::max(a.x1, b.x1);
    if (h <= 0 || w <= 0) return 0;
    const double common = h * w, all = a.area() + b.area() - common;
    return all > 0 ? common / all : 0;
}

/// Greedy: the best box stays, those that overlap it too much go.
base::Result<void> nonMaxSuppression(KernelContext& context) {
    const Tensor &boxes = context.in("boxes"), &scores = context.in("scores");
    if (boxes.rank() != 3 || scores.rank() != 3 || boxes.dim(2) != 4 || boxes.dim(0) != scores.dim(0) ||
        boxes.dim(1) != scores.dim(2)) {
        return opError("boxes " + boxes.typeText() + " do not match scores " + scores.typeText());
    }
    std::int64_t most = 0;
    double iou = 0, threshold = -std::numeric_limits<double>::infinity();
    if (context.has("max_output_boxes_per_class")) {
        SONDE_ASSIGN(most, intOf(context.value("max_output_boxes_per_class")));
    }
    if (context.has("iou_threshold")) {
        SONDE_ASSIGN(iou, numberOf(context.value("iou_threshold")));
    }
    if (context.has("score_threshold")) {
        SONDE_ASSIGN(threshold, numberOf(context.value("score_threshold")));
    }
    const bool centred = context.attributes().getInt("center_point_box", 0) != 0;
    const auto boxAt = [&](std::int64_t batch, std::int64_t i) {
        const float* b = boxes.data<float>() + (batch * boxes.dim(1) + i) * 4;
        const double p[] = {static_cast<double>(b[0]), static_cast<double>(b[1]), static_cast<double>(b[2]),
                            static_cast<double>(b[3])};
        if (centred) return Box{p[1] - p[3] / 2, p[0] - p[2] / 2, p[1] + p[3] / 2, p[0] + p[2] / 2};
        return Box{std::min(p[0], p[2]), std::min(p[1], p[3]), std::max(p[0], p[2]), std::max(p[1], p[3])};
    };
    std::vector<std::int64_t> selected;
    for (std::int64_t line = 0; line < scores.dim(0) * scores.dim(1); ++line) {
        if (context.cancelled()) return base::cancelled();
        const std::int64_t batch = line / scores.dim(1);
        const float* row = scores.data<float>() + line * scores.dim(2);
        std::vector<std::int64_t> order;
        for (std::int64_t i = 0; i < scores.dim(2); ++i) {
            if (static_cast<double>(row[i]) > threshold) order.push_back(i);
        }
        std::ranges::stable_sort(order, [&](std::int64_t a, std::int64_t b) { return row[a] > row[b]; });
        std::vector<Box> kept;
        for (std::int64_t i : order) {
            if (static_cast<std::int64_t>(kept.size()) >= most) break;
            const Box box = boxAt(batch, i);
            if (std::ranges::any_of(kept, [&](const Box& other) { return overlap(box, other) > iou; })) continue;
            kept.push_back(box);
            selected.insert(selected.end(), {batch, line % scores.dim(1), i});
        }
    }
    context.setOutput(
        Value(Tensor::of<std::int64_t>(Shape{static_cast<std::int64_t>(selected.size() / 3), 3}, selected)));
    return {};
}

/// [regions, C, height, width]
base::Result<void> inferRegions(InferContext& context, std::int64_t height, std::int64_t width) {
    const auto &x = context.in("X").shape, &rois = context.in("rois").shape;
    const auto dimSize = [](std::int64_t n) { return n < 0 ? Dim{} : Dim::of(n); };
    setLike(context, "X",
            Dims{rois && !rois->empty() ? rois->front() : Dim{}, x && x->size() == 4 ? (*x)[1] : Dim{}, dimSize(height),
                 dimSize(width)});
    return {};
}

base::Result<void> inferRoiAlign(InferContext& context) {
    return inferRegions(context, context.attributes().getInt("output_height", 1),
                        context.attributes().getInt("output_width", 1));
}

base::Result<void> inferMaxRoiPool(InferContext& context) {
    const std::vector<std::int64_t> pooled = context.attributes().getInts("pooled_shape");
    return pooled.size() == 2 ? inferRegions(context, pooled[0], pooled[1]) : inferRegions(context, -1, -1);
}

}  // namespace

void define_regions(Registry& registry) {
    registry.add(Row("RoiAlign", 10, "mean or maximum of a grid of samples in each cell of regions", Category::Pool)
                     .in("X", kFloats)
                     .in("rois", kFloats)
                     .in("batch_indices", kInt64)
                     .out("Y")
                     .attrString("mode", "avg")
                     .attrInt("output_height", 1)
                     .attrInt("output_width", 1)
                     .attrInt("sampling_ratio", 0)
                     .attrFloat("spatial_scale", 1)
                     .runs(roiAlign, inferRoiAlign));
    registry.add(Row("RoiAlign", 16, "mean or maximum of a grid of samples in each cell of regions", Category::Pool)
                     .in("X", kFloats)
                     .in("rois", kFloats)
                     .in("batch_indices", kInt64)
                     .out("Y")
                     .attrString("mode", "avg")
                     .attrInt("output_height", 1)
                     .attrInt("output_width", 1)
                     .attrInt("sampling_ratio", 0)
                     .attrFloat("spatial_scale", 1)
                     .attrString("coordinate_transformation_mode", "half_pixel")
                     .runs(roiAlign, inferRoiAlign));
    explain("", "RoiAlign", roiAlignTerms);
    registry.add(Row("grad_roi_align", 0, "Gradient of the image that RoiAlign samples", Category::Other)
                     .domain("prim")
                     .in("X", kFloats)
                     .in("rois", kFloats)
                     .in("batch_indices", kInt64)
                     .in("g", kFloats)
                     .out("dx")
                     .attrString("mode", "avg")
                     .attrInt("output_height", 1)
                     .attrInt("output_width", 1)
                     .attrInt("sampling_ratio", 0)
                     .attrFloat("spatial_scale", 1)
                     .attrString("coordinate_transformation_mode", "")
                     .runs(roiAlignGradient, [](InferContext& context) -> base::Result<void> {
                         context.set(context.in("X"));
                         return {};
                     }));
    registry.add(Row("MaxRoiPool", 1, "largest value of each cell of regions", Category::Pool)
                     .in("X", kFloats)
                     .in("rois", kFloats)
                     .out("Y")
                     .required("pooled_shape", AttributeKind::Ints)
                     .attrFloat("spatial_scale", 1)
                     .runs(maxRoiPool, inferMaxRoiPool));
    explain("", "MaxRoiPool", maxRoiTerms);
    registry.add(Row("NonMaxSuppression", 10, "the best boxes that do not overlap too much", Category::Other)
                     .in("boxes", kFloat32)
                     .in("scores", kFloat32)
                     .optionalIn("max_output_boxes_per_class", kInt64)
                     .optionalIn("iou_threshold", kFloat32)
                     .optionalIn("score_threshold", kFloat32)
                     .out("selected_indices")
                     .attrInt("center_point_box", 0)
                     .runs(nonMaxSuppression, [](InferContext& context) -> base::Result<void> {
                         context.set(TypeInfo::tensor(DType::Int64, Dims{Dim{}, Dim::of(3)}));
                         return {};
                     }));
}

}  // namespace sonde::ops
