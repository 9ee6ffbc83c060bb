// com.microsoft: operators that ai.onnx got later or has in another form.

#include <cmath>

#include "core/ops/dependence/region.h"
#include "core/ops/dependence/rules.h"
#include "core/ops/support/contrib.h"
#include "core/ops/support/wide.h"

namespace sonde::ops {

namespace {

EagerResult expandDims(Eager& e) {
    const Tensor x = e.tensor("X");
    const std::int64_t axis = e.integer("axis"), rank = static_cast<std::int64_t>(x.rank());
    if (axis < -rank - 1 || axis > rank)
        e.fail("axis " + std::to_string(axis) + " is outside a tensor of " + std::to_string(rank + 1) + " dimensions");
    return x.unsqueezed(static_cast<std::size_t>(axis < 0 ? axis + rank + 1 : axis));
}

base::Result<void> inferExpandDims(InferContext& context) {
    std::optional<Dims> dims = context.in("X").shape;
    const Value& axis = context.constant("axis");
    if (dims && axis.isNone()) {
        dims = unknownDims(dims->size() + 1);
    } else if (dims) {
        SONDE_ASSIGN(const std::int64_t given, intOf(axis));
        SONDE_ASSIGN(const std::size_t at, axisOf(given, dims->size() + 1));
        dims->insert(dims->begin() + static_cast<std::ptrdiff_t>(at), Dim::of(1));
    }
    setLike(context, "X", std::move(dims));
    return {};
}

/// The different elements in the order in which they appear, which of them each element is, and how often each is
/// there.
EagerResult contribUnique(Eager& e) {
    const std::vector<Value> found = e.all("", "Unique", {Value(e.tensor("x"))}, {{"sorted", std::int64_t{0}}}, 4);
    return std::vector<Value>{found[0], found[2], found[3]};
}

base::Result<void> inferContribUnique(InferContext& context) {
    setLike(context, "x", unknownDims(1));
    context.set("idx", TypeInfo::tensor(DType::Int64, context.in("x").shape));
    context.set("counts", TypeInfo::tensor(DType::Int64, unknownDims(1)));
    return {};
}

EagerResult range(Eager& e) {
    const auto scalar = [&](Name input) { return Value(e.reshape(e.tensor(input), Shape{})); };
    const DType type = e.tensor("start").dtype();
    return e.onnx("Range", {scalar("start"), scalar("limit"),
                            e.has("delta") ? scalar("delta") : Value(e.as(Tensor::scalar<float>(1), type))});
}

base::Result<void> inferLine(InferContext& context) {
    setLike(context, "start", unknownDims(1));
    return {};
}

/// pads may be a matrix of one row.
EagerResult contribPad(Eager& e) {
    const Tensor pads = e.reshape(e.tensor("pads"), Shape{e.tensor("pads").numel()});
    const Value filling = e.has("value") ? Value(e.reshape(e.tensor("value"), Shape{})) : Value();
    return e.onnx("Pad", {Value(e.tensor("data")), Value(pads), filling},
                  {{"mode", e.context().attributes().getString("mode", "constant")}});
}

base::Result<void> inferContribPad(InferContext& context) {
    const auto& dims = context.in("data").shape;
    setLike(context, "data", dims ? std::optional(unknownDims(dims->size())) : std::nullopt);
    return {};
}

EagerResult contribGatherND(Eager& e) {
    return e.onnx("GatherND", {Value(e.tensor("data")), Value(e.as(e.tensor("indices"), DType::Int64))});
}

base::Result<void> inferContribGatherND(InferContext& context) {
    return inferAs(context, "", "GatherND", {"data", "indices"});
}

/// Inverse matrices, of half precision by way of float32.
EagerResult contribInverse(Eager& e) { return e.as(e("linalg_inv", widened(e, "X")), e.tensor("X").dtype()); }

std::int64_t signalRank(Eager& e, std::size_t most) {
    const Attributes& attributes = e.context().attributes();
    const std::int64_t rank = attributes.getInt("signal_ndim", 1);
    if (attributes.getInt("normalized", 0) != 0 || attributes.getInt("onesided", 1) != 1)
        e.fail("only one-sided transforms without normalisation are defined");
    if (rank < 1 || rank > static_cast<std::int64_t>(most))
        e.fail("signal_ndim " + std::to_string(rank) + " does not match " + e.tensor("X").typeText());
    return rank;
}

std::vector<std::int64_t> lastAxes(std::int64_t count) {
    std::vector<std::int64_t> axes;
    for (std::int64_t i = -count; i < 0; ++i) axes.push_back(i);
    return axes;
}

/// The first half of the Fourier transform over the last signal_ndim axes, real and imaginary parts along a new last
/// axis.
EagerResult rfft(Eager& e) {
    const Tensor x = widened(e, "X");
    const Tensor spectrum = e("fft_rfftn", x, nullptr, lastAxes(signalRank(e, x.rank())));
    return e.as(e.get(e("view_as_real", spectrum).contiguous()), e.tensor("X").dtype());
}

/// The inverse of that.
EagerResult irfft(Eager& e) {
    const Tensor pairs = widened(e, "X");
    if (pairs.rank() < 2 || pairs.dim(pairs.rank() - 1) != 2)
        e.fail("expects pairs of real and imaginary parts, but found " + pairs.typeText());
    return e.as(e("fft_irfftn", e("view_as_complex", pairs), nullptr, lastAxes(signalRank(e, pairs.rank() - 1))),
                e.tensor("X").dtype());
}

base::Result<void> inferSpectrum(InferContext& context, bool inverted) {
    std::optional<Dims> dims = context.in("X").shape;
    if (dims && inverted && dims->size() > 1) {
        dims->pop_back();
        dims->back() = dims->back().known() ? Dim::of(2 * (dims->back().value - 1)) : Dim{};
    } else if (dims && !dims->empty()) {
        dims->back() = dims->back().known() ? Dim::of(dims->back().value / 2 + 1) : Dim{};
        dims->push_back(Dim::of(2));
    }
    setLike(context, "X", std::move(dims));
    return {};
}

/// Pairs along the last axis as complex numbers: a·b, or a·conj(b).
EagerResult complexMul(Eager& e, bool conjugate) {
    const auto complex = [&](Name input) {
        const Tensor x = widened(e, input);
        if (x.rank() < 1 || x.dim(x.rank() - 1) != 2)
            e.fail("expects pairs of real and imaginary parts, but found " + x.typeText());
        return e("view_as_complex", x);
    };
    const Tensor b = complex("B");
    const Tensor product = e("mul.Tensor", complex("A"), conjugate ? e("_conj_physical", b) : b);
    return e.as(e.get(e("view_as_real", product).contiguous()), e.tensor("A").dtype());
}

/// Of pairs (x, y) and (u, v); `text`: the formulas of both parts.
base::Result<Dependence> complexTerms(const ElementCall& call) {
    if (call.at.empty()) return opError("the result has no pairs");
    const std::size_t bar = call.text.find(" | ");
    Dependence made;
    made.formula = call.at.back() == 0 ? call.text.substr(0, bar) : call.text.substr(bar + 3);
    for (const auto& [input, names] : {std::pair("A", "xy"), std::pair("B", "uv")}) {
        const std::size_t at = call.context.position(input);
        for (std::int64_t part = 0; part < 2; ++part) {
            std::vector<std::int64_t> index = call.at;
            index.back() = part;
            const std::int64_t element = dependence::broadcastElement(index, call.context.in(at).shape());
            if (element < 0) return opError("the factors do not match");
            dependence::addElement(made, made.part(std::string_view(names).substr(static_cast<std::size_t>(part), 1)),
                                   call, at, element);
        }
    }
    return made;
}

EagerResult distances(Eager& e) {
    const std::string metric = e.context().attributes().getString("metric", "sqeuclidean");
    if (metric != "euclidean" && metric != "sqeuclidean") e.fail("metric '" + metric + "' is not supported");
    const Tensor far = e("cdist", e.tensor("A"), e.tensor("B"));
    return metric == "euclidean" ? far : e("square", far);
}

base::Result<void> inferDistances(InferContext& context) {
    const auto &a = context.in("A").shape, &b = context.in("B").shape;
    setLike(context, "A", Dims{a && a->size() == 2 ? a->front() : Dim{}, b && b->size() == 2 ? b->front() : Dim{}});
    return {};
}

EagerResult contribUnfold(Eager& e) {
    const Attributes& attributes = e.context().attributes();
    const Tensor x = e.tensor("input");
    const std::size_t axis = e.axisOf(attributes.getInt("dim", -1), x.rank());
    return e.get(e("unfold", x, axis, attributes.getInt("size", 1), attributes.getInt("step", 1)).contiguous());
}

base::Result<void> inferContribUnfold(InferContext& context) {
    std::optional<Dims> dims = context.in("input").shape;
    if (dims) {
        SONDE_ASSIGN(const std::size_t axis, axisOf(context.attributes().getInt("dim", -1), dims->size()));
        const std::int64_t size = context.attributes().getInt("size", 1), step = context.attributes().getInt("step", 1);
        Dim& dim = (*dims)[axis];
        dim =
            dim.known() && size >= 0 && step > 0 && dim.value >= size ? Dim::of((dim.value - size) / step + 1) : Dim{};
        dims->push_back(size >= 0 ? Dim::of(size) : Dim{});
    }
    setLike(context, "input", std::move(dims));
    return {};
}

EagerResult embedding(Eager& e) {
    return e.onnx("Gather", {Value(e.tensor("weight")), Value(e.tensor("indices"))}, {{"axis", std::int64_t{0}}});
}

base::Result<void> inferContribEmbedding(InferContext& context) {
    return inferAs(context, "", "Gather", {"weight", "indices"});
}

/// X + Y·gate, the product rounded to the dtype first.
EagerResult gatedAdd(Eager& e) {
    return e("add.Tensor", e.tensor("X"), e("mul.Tensor", e.tensor("Y"), e.tensor("gate")));
}

EagerResult allFinite(Eager& e) {
    const bool onlyInf = e.context().attributes().getInt("isinf_only", 0) != 0,
               onlyNaN = e.context().attributes().getInt("isnan_only", 0) != 0;
    bool good = true;
    for (std::size_t i = 0; i < e.count() && good; ++i) {
        const Tensor x = e.get(wide(e.at(i)));
        for (double v : x.span<double>()) good = good && !((std::isnan(v) && !onlyInf) || (std::isinf(v) && !onlyNaN));
    }
    return Tensor::scalar<bool>(good);
}

base::Result<void> inferFlag(InferContext& context) {
    context.set(TypeInfo::tensor(DType::Bool, Shape{}));
    return {};
}

/// Where a box [y1, x1, y2, x2] of the image is read for place `i` of `count`; corners are aligned. In float32, since
/// places halfway between two elements decide which of them is the nearest.
double cropPlace(double boxBegin, double boxEnd, std::int64_t dimSize, std::int64_t i, std::int64_t count) {
    const auto begin = static_cast<float>(boxBegin), end = static_cast<float>(boxEnd),
               last = static_cast<float>(dimSize - 1);
    if (count < 2) return static_cast<double>(0.5F * (begin + end) * last);
    const float step = (end - begin) * last / static_cast<float>(count - 1);
    return static_cast<double>(begin * last + static_cast<float>(i) * step);
}

struct Crop {
    const double* plane;
    std::int64_t height, width;
    bool nearest;
    double outside;

    double at(double y, double x) const {
        if (!(y >= 0 && y <= static_cast<double>(height - 1) && x >= 0 && x <= static_cast<double>(width - 1)))
            return outside;
        if (nearest)
            return plane[static_cast<std::int64_t>(std::round(y)) * width + static_cast<std::int64_t>(std::round(x))];
        const auto top = static_cast<std::int64_t>(std::floor(y)), left = static_cast<std::int64_t>(std::floor(x));
        const std::int64_t bottom = std::min(top + 1, height - 1), right = std::min(left + 1, width - 1);
        const double dy = y - static_cast<double>(top), dx = x - static_cast<double>(left);
        const double upper = plane[top * width + left] * (1 - dx) + plane[top * width + right] * dx;
        const double lower = plane[bottom * width + left] * (1 - dx) + plane[bottom * width + right] * dx;
        return upper * (1 - dy) + lower * dy;
    }
};

/// X [N, C, H, W], rois [R, 4] as fractions of the image, batch indices [R], crop size [2] -> [R, C, h, w].
EagerResult cropAndResize(Eager& e) {
    const Attributes& attributes = e.context().attributes();
    const Tensor image = e.get(wide(e.tensor("X"))), boxes = e.get(wide(e.tensor("rois")));
    const std::vector<std::int64_t> batches = e.integers("batch_indices"), size = e.integers("crop_size");
    const std::string mode = attributes.getString("mode", "bilinear");
    if (mode != "bilinear" && mode != "nearest") e.fail("mode '" + mode + "' is not supported");
    if (image.rank() != 4 || boxes.rank() != 2 || boxes.dim(1) != 4 ||
        static_cast<std::int64_t>(batches.size()) != boxes.dim(0) || size.size() != 2 || size[0] < 1 || size[1] < 1) {
        e.fail("boxes " + boxes.typeText() + " do not match " + image.typeText());
    }
    const std::int64_t channels = image.dim(1), height = image.dim(2), width = image.dim(3);
    Tensor y = e.get(wideZeros(Shape{boxes.dim(0), channels, size[0], size[1]}));
    for (std::int64_t r = 0; r < boxes.dim(0); ++r) {
        const std::int64_t n = batches[static_cast<std::size_t>(r)];
        if (n < 0 || n >= image.dim(0)) e.fail("there is no image " + std::to_string(n) + " in " + image.typeText());
        const double* box = boxes.data<double>() + r * 4;
        for (std::int64_t c = 0; c < channels && height > 0 && width > 0; ++c) {
            const Crop crop{image.data<double>() + (n * channels + c) * height * width, height, width,
                            mode == "nearest", attributes.getFloat("extrapolation_value", 0)};
            for (std::int64_t i = 0; i < size[0] * size[1]; ++i) {
                y.mutableData<double>()[(r * channels + c) * size[0] * size[1] + i] =
                    crop.at(cropPlace(box[0], box[2], height, i / size[1], size[0]),
                            cropPlace(box[1], box[3], width, i % size[1], size[1]));
            }
        }
    }
    return e.as(y, e.tensor("X").dtype());
}

/// The pixels around the place in the box; the box, which tells the place, has no weight.
base::Result<Dependence> cropTerms(const ElementCall& call) {
    const KernelContext& context = call.context;
    const Tensor &image = context.in("X"), &boxes = context.in("rois");
    if (image.rank() != 4 || call.at.size() != 4 || call.at[0] * 4 + 4 > boxes.numel())
        return opError("the boxes do not match the result");
    SONDE_ASSIGN(const std::vector<std::int64_t> batches, intsOf(context.value(call.op.position("batch_indices"))));
    const std::int64_t height = image.dim(2), width = image.dim(3), box = call.at[0] * 4,
                       plane =
                           (batches[static_cast<std::size_t>(call.at[0])] * image.dim(1) + call.at[1]) * height * width;
    const double y = cropPlace(boxes.toDouble(box), boxes.toDouble(box + 2), height, call.at[2], call.result.dim(2)),
                 x = cropPlace(boxes.toDouble(box + 1), boxes.toDouble(box + 3), width, call.at[3], call.result.dim(3));
    const bool isInside =
        y >= 0 && y <= static_cast<double>(height - 1) && x >= 0 && x <= static_cast<double>(width - 1);
    if (!isInside) return dependence::constantElement(context.attributes().getFloat("extrapolation_value", 0));
    Dependence made;
    made.formula = "sum(w * x)";
    const std::uint32_t part = made.listPart("x", "w"), where = made.listPart("box");
    const auto add = [&](std::int64_t row, std::int64_t column, double weight) {
        if (weight == 0) return;
        dependence::addElement(made, part, call, context.position("X"), plane + row * width + column);
        made.terms.back().weight = weight;
    };
    if (context.attributes().getString("mode", "bilinear") == "nearest") {
        add(static_cast<std::int64_t>(std::round(y)), static_cast<std::int64_t>(std::round(x)), 1);
    } else {
        const auto top = static_cast<std::int64_t>(std::floor(y)), left = static_cast<std::int64_t>(std::floor(x));
        const double dy = y - static_cast<double>(top), dx = x - static_cast<double>(left);
        add(top, left, (1 - dy) * (1 - dx)), add(top, left + 1, (1 - dy) * dx);
        add(top + 1, left, dy * (1 - dx)), add(top + 1, left + 1, dy * dx);
    }
    for (std::int64_t i = 0; i < 4; ++i) {
        dependence::addElement(made, where, call, context.position("rois"), box + i);
        made.terms.back().weight = 0;
    }
    return made;
}

base::Result<void> inferCrop(InferContext& context) {
    const auto &image = context.in("X").shape, &boxes = context.in("rois").shape;
    Dims dims{boxes && !boxes->empty() ? boxes->front() : Dim{}, image && image->size() == 4 ? (*image)[1] : Dim{},
              Dim{}, Dim{}};
    if (!context.constant("crop_size").isNone()) {
        SONDE_ASSIGN(const std::vector<std::int64_t> size, intsOf(context.constant("crop_size")));
        if (size.size() == 2) dims[2] = Dim::of(size[0]), dims[3] = Dim::of(size[1]);
    }
    setLike(context, "X", std::move(dims));
    return {};
}

/// Rows that are those of ai.onnx under the other domain: the row of that version, delegated to at run time.
void addAlias(Registry& registry, Row row, std::string_view onnx, int version) {
    registry.add(row.runs(
        [onnx, version](KernelContext& context) { return context.runAs(*Registry::all().find("", onnx, version)); },
        [onnx, version](InferContext& context) { return context.inferAs(*Registry::all().find("", onnx, version)); }));
}

}  // namespace

void define_contrib_tensor(Registry& registry) {
    const auto kTensor = Category::Tensor;
    addAlias(registry, contribRow("Gelu", "x · Φ(x)", Category::Activation).in("X", kFloats, "T").out("Y"), "Gelu", 20);
    explain("com.microsoft", "Gelu", dependence::gelu);
    addAlias(registry,
             contribRow("Trilu", "the upper or lower triangle of matrices", kTensor)
                 .in("X")
                 .optionalIn("k", kInt64)
                 .out("Y")
                 .attrInt("upper", 1),
             "Trilu", 14);
    addAlias(registry,
             contribRow("GridSample", "samples an image at the positions of a grid", Category::Transform)
                 .in("X")
                 .in("Grid", kFloats)
                 .out("Y")
                 .attrInt("align_corners", 0)
                 .attrString("mode", "bilinear")
                 .attrString("padding_mode", "zeros"),
             "GridSample", 16);
    registry.add(contribRow("ExpandDims", "a dimension of size 1 at an axis", Category::Shape)
                     .in("X")
                     .in("axis", kInt32)
                     .out("Y")
                     .runs(expandDims, inferExpandDims));
    registry.add(contribRow("Unique", "the different elements in the order they appear", kTensor)
                     .in("x")
                     .out("y")
                     .out("idx")
                     .out("counts")
                     .runs(contribUnique, inferContribUnique));
    registry.add(contribRow("Range", "start, start + delta, … below limit", Category::Data)
                     .in("start", kNumbers, "T")
                     .in("limit", kNumbers, "T")
                     .optionalIn("delta", kNumbers, "T")
                     .out("Y")
                     .runs(range, inferLine));
    registry.add(contribRow("Pad", "adds elements at the ends of each dimension, or cuts", Category::Transform)
                     .in("data", kFloats, "T")
                     .in("pads", kInt64)
                     .optionalIn("value", kFloats, "T")
                     .out("output")
                     .attrString("mode", "constant")
                     .runs(contribPad, inferContribPad));
    registry.add(contribRow("GatherND", "the slices that rows of indices name", kTensor)
                     .in("data")
                     .in("indices", kIndex)
                     .out("output")
                     .runs(contribGatherND, inferContribGatherND));
    registry.add(contribRow("Inverse", "inverse matrices", Category::Layer)
                     .in("X", kFloats)
                     .out("Y")
                     .runs(contribInverse, inferSame));
    registry.add(contribRow("Rfft", "first half of the Fourier transform of real numbers", Category::Transform)
                     .in("X", kFloats)
                     .out("Y")
                     .attrInt("normalized", 0)
                     .attrInt("onesided", 1)
                     .attrInt("signal_ndim", 1)
                     .runs(rfft, [](InferContext& context) { return inferSpectrum(context, false); }));
    registry.add(contribRow("Irfft", "real numbers from half of a Fourier transform", Category::Transform)
                     .in("X", kFloats)
                     .out("Y")
                     .attrInt("normalized", 0)
                     .attrInt("onesided", 1)
                     .required("signal_ndim", AttributeKind::Int)
                     .runs(irfft, [](InferContext& context) { return inferSpectrum(context, true); }));
    registry.add(contribRow("ComplexMul", "product of pairs as complex numbers", Category::Elementwise)
                     .in("A", kFloats, "T")
                     .in("B", kFloats, "T")
                     .out("C")
                     .runs([](Eager& e) { return complexMul(e, false); }, inferBroadcast));
    registry.add(contribRow("ComplexMulConj", "a·conj(b) of pairs as complex numbers", Category::Elementwise)
                     .in("A", kFloats, "T")
                     .in("B", kFloats, "T")
                     .out("C")
                     .runs([](Eager& e) { return complexMul(e, true); }, inferBroadcast));
    registry.add(contribRow("CDist", "distances of all pairs of rows", Category::Layer)
                     .in("A", kFloats, "T")
                     .in("B", kFloats, "T")
                     .out("C")
                     .attrString("metric", "sqeuclidean")
                     .runs(distances, inferDistances));
    registry.add(contribRow("UnfoldTensor", "all windows along a dimension", kTensor)
                     .in("input")
                     .out("output")
                     .attrInt("dim", -1)
                     .required("size", AttributeKind::Int)
                     .attrInt("step", 1)
                     .runs(contribUnfold, inferContribUnfold));
    registry.add(contribRow("TorchEmbedding", "rows of a table", Category::Layer)
                     .in("weight")
                     .in("indices", kInt64)
                     .optionalIn("padding_idx", kInt64)
                     .optionalIn("scale_grad_by_freq", kBool)
                     .out("Y")
                     .runs(embedding, inferContribEmbedding));
    registry.add(contribRow("GatedAdd", "X + Y·gate", Category::Elementwise)
                     .in("X", kFloats, "T")
                     .in("Y", kFloats, "T")
                     .in("gate", kFloats, "T")
                     .out("output")
                     .runs(gatedAdd, inferSame));
    registry.add(contribRow("IsAllFinite", "whether no element of any input is infinite or missing", Category::Logic)
                     .variadicIn("input", kFloats)
                     .out("output")
                     .attrInt("isinf_only", 0)
                     .attrInt("isnan_only", 0)
                     .runs(allFinite, inferFlag));
    registry.add(contribRow("CropAndResize", "regions of images, resized", Category::Transform)
                     .in("X", kFloats, "T")
                     .in("rois", kFloats, "T")
                     .in("batch_indices", kInt32)
                     .in("crop_size", kInt32)
                     .out("Y")
                     .attrFloat("extrapolation_value", 0)
                     .attrString("mode", "bilinear")
                     .runs(cropAndResize, inferCrop));
    explain("com.microsoft", "Trilu ExpandDims UnfoldTensor", dependence::moved);
    explain("com.microsoft", "GatherND", dependence::moved, "data");
    explain("com.microsoft", "Pad", dependence::moved, "data value");
    explain("com.microsoft", "TorchEmbedding", dependence::gathered);
    explain("com.microsoft", "GridSample", dependence::gridSampled);
    explain("com.microsoft", "Unique", dependence::firstEqual);
    explain("com.microsoft", "Range", dependence::fixed);
    explain("com.microsoft", "Inverse", dependence::inverted);
    explain("com.microsoft", "GatedAdd", dependence::elementWise, "x + y * z");
    explain("com.microsoft", "ComplexMul", complexTerms, "x * u - y * v | x * v + y * u");
    explain("com.microsoft", "ComplexMulConj", complexTerms, "x * u + y * v | y * u - x * v");
    explain("com.microsoft", "CDist", dependence::distance);
    explain("com.microsoft", "CropAndResize", cropTerms);
}

}  // namespace sonde::ops
