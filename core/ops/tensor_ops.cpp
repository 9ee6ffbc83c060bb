// Joining, splitting, slicing and repeating.

#include <algorithm>
#include <limits>

#include "core/ops/kernels/epilogue.h"
#include "core/ops/kernels/move.h"
#include "core/ops/support/promotion.h"
#include "core/ops/support/row.h"
#include "core/ops/support/shapes.h"

namespace sonde::ops {

namespace {

using tensor::Dim;

base::Result<void> concatAll(KernelContext& context, std::span<const Tensor> parts, std::int64_t axis) {
    if (parts.empty()) return opError("no tensors to concatenate");
    SONDE_ASSIGN(const std::size_t at, axisOf(axis, parts[0].rank()));
    return kernels::concat(context, parts, at);
}

base::Result<void> onnxConcat(KernelContext& context) {
    std::vector<Tensor> parts;
    for (std::size_t i = 0; i < context.inputCount(); ++i) parts.push_back(context.in(i));
    return concatAll(context, parts, context.attributes().getInt("axis", 1));
}

base::Result<void> inferConcatOf(InferContext& context, std::span<const TypeInfo> parts, std::int64_t axis) {
    std::optional<Dims> dims;
    DType dtype = parts.empty() ? DType::Undefined : parts[0].dtype;
    for (const TypeInfo& part : parts) {
        if (!part.shape) {
            context.set(TypeInfo::tensor(dtype));
            return {};
        }
        if (dims && part.shape->size() == 1 && (*part.shape)[0] == Dim::of(0)) continue;  // torch skips empty ones
        SONDE_ASSIGN(const std::size_t at, axisOf(axis, part.shape->size()));
        if (!dims) {
            dims = part.shape;
            continue;
        }
        if (dims->size() != part.shape->size()) return opError("cannot join tensors of different rank");
        for (std::size_t i = 0; i < dims->size(); ++i) {
            Dim& dim = (*dims)[i];
            const Dim& other = (*part.shape)[i];
            if (i == at) dim = (tensor::Symbolic::of(dim) + tensor::Symbolic::of(other)).dim();
            else if (!dim.known() && (other.known() || dim.symbol.empty())) dim = other;
        }
    }
    context.set(TypeInfo::tensor(dtype, std::move(dims)));
    return {};
}

base::Result<void> inferConcat(InferContext& context) {
    std::vector<TypeInfo> parts;
    for (std::size_t i = 0; i < context.inputCount(); ++i) parts.push_back(context.in(i));
    return inferConcatOf(context, parts, context.attributes().getInt("axis", 1));
}

/// cat: dtype promotion; 1-D tensors without elements are left out, as torch does.
base::Result<void> atenCat(KernelContext& context) {
    if (!context.value("tensors").isListLike()) return opError("needs a list of tensors");
    const tensor::ValueList& items = context.value("tensors").items();
    const DType dtype = promoted(items);
    std::vector<Tensor> parts;
    for (const Value& item : items) {
        if (!item.isTensor()) return opError("the list has " + item.typeText());
        if (item.tensor().rank() == 1 && item.tensor().numel() == 0 && items.size() > 1) continue;
        SONDE_ASSIGN(const Tensor part, item.tensor().cast(dtype));
        SONDE_ASSIGN(Tensor whole, part.contiguous());
        parts.push_back(std::move(whole));
    }
    if (parts.empty() && !items.empty()) parts.push_back(items[0].tensor());
    SONDE_ASSIGN(const std::int64_t axis, intOf(context.value("dim")));
    return concatAll(context, parts, axis);
}

base::Result<void> atenStack(KernelContext& context) {
    if (!context.value("tensors").isListLike() || context.value("tensors").items().empty())
        return opError("needs a list of tensors");
    const tensor::ValueList& items = context.value("tensors").items();
    const DType dtype = promoted(items);
    SONDE_ASSIGN(const std::int64_t axis, intOf(context.value("dim")));
    std::vector<Tensor> parts;
    for (const Value& item : items) {
        if (!item.isTensor()) return opError("the list has " + item.typeText());
        SONDE_ASSIGN(const std::size_t at, axisOf(axis, item.tensor().rank() + 1));
        SONDE_ASSIGN(const Tensor part, item.tensor().cast(dtype));
        SONDE_ASSIGN(Tensor whole, part.unsqueezed(at).contiguous());
        parts.push_back(std::move(whole));
    }
    return concatAll(context, parts, axis);
}

/// Sizes of the pieces: given, or as equal as they come with the last one smaller.
base::Result<std::vector<std::int64_t>> splitSizes(const Attributes& attributes, const Value& given,
                                                   std::int64_t dimSize, std::size_t outputs) {
    std::vector<std::int64_t> sizes;
    if (!given.isNone()) {
        SONDE_ASSIGN(sizes, intsOf(given));
    } else {
        sizes = attributes.getInts("split");
    }
    if (sizes.empty()) {
        const std::int64_t count = attributes.getInt("num_outputs", static_cast<std::int64_t>(outputs));
        if (count < 1 || count > 1 << 20) return opError("cannot split into " + std::to_string(count) + " pieces");
        const std::int64_t piece = (dimSize + count - 1) / count;
        for (std::int64_t i = 0; i < count; ++i)
            sizes.push_back(std::clamp<std::int64_t>(dimSize - i * piece, 0, piece));
    }
    std::int64_t total = 0;
    for (std::int64_t size : sizes) {
        if (size < 0 || __builtin_add_overflow(total, size, &total))
            return opError("invalid split sizes " + Shape(sizes).text());
    }
    if (total != dimSize)
        return opError("split sizes " + Shape(sizes).text() + " do not add up to " + std::to_string(dimSize));
    return sizes;
}

base::Result<void> onnxSplit(KernelContext& context) {
    const Tensor& x = context.in("input");
    SONDE_ASSIGN(const std::size_t axis, axisOf(context.attributes().getInt("axis", 0), x.rank()));
    SONDE_ASSIGN(const std::vector<std::int64_t> sizes,
                 splitSizes(context.attributes(), context.has("split") ? context.value("split") : Value(), x.dim(axis),
                            context.outputCount()));
    std::int64_t start = 0;
    for (std::size_t i = 0; i < sizes.size(); start += sizes[i++]) {
        if (context.wants(i)) context.setOutput(i, Value(x.sliced(axis, start, sizes[i])));
    }
    return {};
}

/// The sizes of pieces of a dimension that is not known.
Elements symbolicPieces(InferContext& context, const tensor::Symbolic& dimSize) {
    using tensor::Symbolic;
    Elements sizes;
    for (std::int64_t size : context.attributes().getInts("split")) sizes.push_back(Symbolic::of(size));
    if (!sizes.empty()) return sizes;
    const auto count = static_cast<std::int64_t>(context.outputCount());
    const Symbolic piece = ceilDiv(dimSize, Symbolic::of(context.attributes().getInt("num_outputs", count)));
    for (std::int64_t i = 0; i < count; ++i) {
        const bool isLast = i + 1 == count;
        sizes.push_back(isLast ? dimSize - piece * Symbolic::of(count - 1) : piece);
    }
    return sizes;
}

base::Result<void> inferSplit(InferContext& context) {
    const std::optional<Dims>& in = context.in("input").shape;
    std::optional<Elements> sizes;
    std::size_t axis = 0;
    if (in) {
        SONDE_ASSIGN(axis, axisOf(context.attributes().getInt("axis", 0), in->size()));
        const bool isGiven = context.has("split") && context.inputCount() > 1;
        if ((*in)[axis].known() && (!isGiven || !context.constant("split").isNone())) {
            SONDE_ASSIGN(
                const std::vector<std::int64_t> numbers,
                splitSizes(context.attributes(), context.constant("split"), (*in)[axis].value, context.outputCount()));
            sizes = Elements{};
            for (std::int64_t size : numbers) sizes->push_back(tensor::Symbolic::of(size));
        } else if (isGiven) {
            sizes = context.elements("split");
        } else {
            sizes = symbolicPieces(context, tensor::Symbolic::of((*in)[axis]));
        }
    }
    for (std::size_t i = 0; i < context.outputCount(); ++i) {
        std::optional<Dims> dims = in;
        if (dims) (*dims)[axis] = sizes && i < sizes->size() ? (*sizes)[i].dim() : Dim{};
        setLike(context, "input", std::move(dims), i);
    }
    return {};
}

/// One axis of a slice, clamped as numpy does.
struct Cut {
    std::size_t axis;
    std::int64_t start, count, step;
};

base::Result<Cut> cutOf(std::size_t axis, std::int64_t dimSize, std::int64_t start, std::int64_t end,
                        std::int64_t step) {
    if (step == 0) return opError("a slice cannot have step 0");
    if (step == std::numeric_limits<std::int64_t>::min()) ++step;
    const auto wrap = [&](std::int64_t at) { return at < 0 ? at + dimSize : at; };
    const std::int64_t low = step > 0 ? 0 : -1, high = step > 0 ? dimSize : dimSize - 1;
    start = std::clamp(wrap(start), step > 0 ? std::int64_t{0} : std::int64_t{-1}, high);
    // The end of a backward slice may lie before the first element, which a wrapped -1 is not.
    end = end < -dimSize ? low : std::clamp(wrap(end), low, high + (step > 0 ? 0 : 0));
    const std::int64_t distance = step > 0 ? end - start : start - end;
    const std::int64_t magnitude = step > 0 ? step : -step;
    return Cut{axis, start, distance <= 0 ? 0 : (distance - 1) / magnitude + 1, step};
}

struct SliceRequest {
    std::vector<std::int64_t> starts, ends, axes, steps;
};

base::Result<std::vector<Cut>> cutsOf(SliceRequest request, const std::vector<std::int64_t>& dimSizes) {
    const std::size_t count = request.starts.size();
    if (request.axes.empty()) {
        for (std::size_t i = 0; i < count; ++i) request.axes.push_back(static_cast<std::int64_t>(i));
    }
    if (request.steps.empty()) request.steps.assign(count, 1);
    if (request.ends.size() != count || request.axes.size() != count || request.steps.size() != count)
        return opError("starts, ends, axes and steps differ in length");
    SONDE_ASSIGN(const std::vector<std::size_t> axes, axesOf(request.axes, dimSizes.size()));
    std::vector<Cut> cuts;
    for (std::size_t i = 0; i < count; ++i) {
        if (dimSizes[axes[i]] < 0) {
            cuts.push_back({axes[i], 0, -1, 1});
            continue;
        }
        SONDE_ASSIGN(const Cut cut,
                     cutOf(axes[i], dimSizes[axes[i]], request.starts[i], request.ends[i], request.steps[i]));
        cuts.push_back(cut);
    }
    return cuts;
}

template <typename ValueAt>
base::Result<SliceRequest> sliceRequest(const Attributes& attributes, std::size_t inputs, const ValueAt& valueAt) {
    SliceRequest request;
    if (inputs < 2) {
        request.starts = attributes.getInts("starts");
        request.ends = attributes.getInts("ends");
        request.axes = attributes.getInts("axes");
        return request;
    }
    SONDE_ASSIGN(request.starts, intsOf(valueAt("starts")));
    SONDE_ASSIGN(request.ends, intsOf(valueAt("ends")));
    if (inputs > 3 && !valueAt("axes").isNone()) {
        SONDE_ASSIGN(request.axes, intsOf(valueAt("axes")));
    }
    if (inputs > 4 && !valueAt("steps").isNone()) {
        SONDE_ASSIGN(request.steps, intsOf(valueAt("steps")));
    }
    return request;
}

base::Result<void> onnxSlice(KernelContext& context) {
    SONDE_ASSIGN(SliceRequest request, sliceRequest(context.attributes(), context.inputCount(),
                                                    [&](Name name) { return context.value(name); }));
    SONDE_ASSIGN(const std::vector<Cut> cuts, cutsOf(std::move(request), context.in("data").shape().dims()));
    Tensor view = context.in("data");
    for (const Cut& cut : cuts) view = view.sliced(cut.axis, cut.start, cut.count, cut.step);
    context.setOutput(Value(std::move(view)));
    return {};
}

/// Elements of an input, or of the attribute that older versions have instead.
std::optional<Elements> sliceElements(InferContext& context, const char* name) {
    if (context.inputCount() >= 2) return context.has(name) ? context.elements(name) : std::nullopt;
    if (!context.attributes().has(name)) return std::nullopt;
    Elements result;
    for (std::int64_t number : context.attributes().getInts(name)) result.push_back(tensor::Symbolic::of(number));
    return result;
}

/// start:end:step of a dimension, some of them not known. Negative numbers count from the end.
Dim symbolicCut(const Dim& dim, const tensor::Symbolic& start, const tensor::Symbolic& end, std::int64_t step) {
    using tensor::Symbolic;
    constexpr std::int64_t kFar = std::numeric_limits<std::int32_t>::max() - 1;
    const Symbolic dimSize = Symbolic::of(dim), zero = Symbolic::of(std::int64_t{0});
    const auto bound = [&](const Symbolic& at) {
        const auto number = at.constant();
        if (number && *number >= kFar) return dimSize;
        if (number && *number < -kFar) return zero;
        // An expression such as N-1 counts from the front: it is not negative unless there is nothing to cut.
        const Symbolic place = number && *number < 0 ? dimSize + at : at;
        return number && *number < 0 ? place : smaller(place, dimSize);
    };
    if (step > 0) {
        const Symbolic first = start.constant() == 0 ? zero : bound(start);
        const Symbolic count = bound(end) - first;
        return larger(step == 1 ? count : ceilDiv(count, Symbolic::of(step)), zero).dim();
    }
    // Backwards only the whole of it.
    const bool isAll = step == -1 && start.constant() && (*start.constant() == -1 || *start.constant() >= kFar) &&
                       end.constant() && *end.constant() < -kFar;
    return isAll ? dim : Dim{};
}

base::Result<void> inferSymbolicSlice(InferContext& context, Dims dims) {
    const auto starts = sliceElements(context, "starts"), ends = sliceElements(context, "ends");
    const auto axes = sliceElements(context, "axes"), steps = sliceElements(context, "steps");
    const bool hasAxes = context.inputCount() < 2 ? axes.has_value() : context.has("axes") && context.inputCount() > 3;
    const bool hasSteps = context.inputCount() > 4 && context.has("steps");
    const std::size_t count = starts ? starts->size() : ends ? ends->size() : axes ? axes->size() : dims.size();
    std::vector<std::int64_t> on;
    for (std::size_t i = 0; i < count; ++i) {
        const auto axis = !hasAxes                   ? std::optional(static_cast<std::int64_t>(i))
                          : axes && i < axes->size() ? (*axes)[i].constant()
                                                     : std::nullopt;
        if (!axis) {
            setLike(context, "data", unknownDims(dims.size()));
            return {};
        }
        on.push_back(*axis);
    }
    SONDE_ASSIGN(const std::vector<std::size_t> places, axesOf(on, dims.size()));
    for (std::size_t i = 0; i < count; ++i) {
        const auto entry = [i](const std::optional<Elements>& list) {
            return list && i < list->size() ? (*list)[i] : tensor::Symbolic();
        };
        const auto step = hasSteps ? entry(steps).constant() : std::optional<std::int64_t>(1);
        Dim& dim = dims[places[i]];
        dim = step && *step != 0 ? symbolicCut(dim, entry(starts), entry(ends), *step) : Dim{};
    }
    setLike(context, "data", std::move(dims));
    return {};
}

base::Result<void> inferSlice(InferContext& context) {
    std::optional<Dims> dims = context.in("data").shape;
    if (!dims) {
        setLike(context, "data", std::nullopt);
        return {};
    }
    bool isKnown = true;
    for (std::size_t i = 1; i < context.inputCount(); ++i)
        isKnown = isKnown && !(context.has(i) && context.constant(i).isNone());
    if (!isKnown || !context.in("data").staticShape()) return inferSymbolicSlice(context, std::move(*dims));
    SONDE_ASSIGN(SliceRequest request, sliceRequest(context.attributes(), context.inputCount(),
                                                    [&](Name name) { return context.constant(name); }));
    SONDE_ASSIGN(const std::vector<Cut> cuts, cutsOf(std::move(request), dimSizesOf(*dims)));
    for (const Cut& cut : cuts) (*dims)[cut.axis] = cut.count < 0 ? Dim{} : Dim::of(cut.count);
    setLike(context, "data", std::move(dims));
    return {};
}

base::Result<void> expandTo(KernelContext& context, const std::vector<std::int64_t>& request) {
    SONDE_ASSIGN(const Shape shape, broadcast(context.in("input").shape(), Shape(request)));
    SONDE_ASSIGN(Tensor view, context.in("input").expanded(shape));
    // A view of one number may stand for more elements than there is memory for: whoever reads it copies it.
    SONDE_ASSIGN(Tensor out, context.output(view.dtype(), shape));
    kernels::copyInto(context.pool(), view, out);
    return {};
}

base::Result<void> inferExpand(InferContext& context) {
    const std::optional<Elements> request = context.elements("shape");
    const std::optional<Dims> wanted = request ? dimsOf(*request) : unknownDimsFrom(context.in("shape"));
    if (!context.in("input").shape || !wanted) {
        setLike(context, "input", std::nullopt);
        return {};
    }
    SONDE_ASSIGN(Dims dims, broadcastDims(*context.in("input").shape, *wanted));
    setLike(context, "input", std::move(dims));
    return {};
}

base::Result<void> tileBy(KernelContext& context, std::vector<std::int64_t> repeats) {
    Tensor x = context.in({"input", "self"});
    // torch allows more repeats than dimensions.
    while (x.rank() < repeats.size()) x = x.unsqueezed(0);
    while (repeats.size() < x.rank()) repeats.insert(repeats.begin(), 1);
    Shape shape = x.shape();
    for (std::size_t i = 0; i < repeats.size(); ++i) {
        if (repeats[i] < 0 || __builtin_mul_overflow(shape[i], repeats[i], &shape[i]))
            return opError("cannot repeat " + std::to_string(repeats[i]) + " times");
    }
    SONDE_ASSIGN(Tensor out, context.output(x.dtype(), shape));
    if (out.numel() == 0) return {};
    // Seen as [repeat, dimension] for each dimension, the result is a broadcast of the input.
    std::vector<std::int64_t> dims, strides;
    const std::vector<std::int64_t> own = x.strides();
    for (std::size_t i = 0; i < x.rank(); ++i) {
        dims.insert(dims.end(), {repeats[i], x.dim(i)});
        strides.insert(strides.end(), {0, own[i]});
    }
    const Tensor view = Tensor::onStorage(x.dtype(), Shape(dims), strides, x.storage(), x.offsetElements());
    SONDE_ASSIGN(Tensor target, out.reshaped(Shape(dims)));
    kernels::copyInto(context.pool(), view, target);
    return {};
}

base::Result<void> onnxTile(KernelContext& context) {
    if (context.inputCount() == 3) {
        // Opset 1: how often, along which axis.
        SONDE_ASSIGN(const std::int64_t tiles, intOf(context.value({"tiles", "repeats"})));
        SONDE_ASSIGN(const std::int64_t given, intOf(context.value("axis")));
        SONDE_ASSIGN(const std::size_t axis, axisOf(given, context.in("input").rank()));
        std::vector<std::int64_t> repeats(context.in("input").rank(), 1);
        repeats[axis] = tiles;
        return tileBy(context, std::move(repeats));
    }
    SONDE_ASSIGN(std::vector<std::int64_t> repeats, intsOf(context.value({"tiles", "repeats"})));
    if (repeats.size() != context.in("input").rank())
        return opError("repeats must have " + std::to_string(context.in("input").rank()) + " entries");
    return tileBy(context, std::move(repeats));
}

base::Result<void> inferTile(InferContext& context) {
    std::optional<Dims> dims = context.in("input").shape;
    const std::optional<Elements> repeats = context.elements({"tiles", "repeats"});
    if (dims && repeats && repeats->size() == dims->size() && context.inputCount() == 2) {
        for (std::size_t i = 0; i < dims->size(); ++i) {
            if ((*repeats)[i].constant() != 1) (*dims)[i] = (tensor::Symbolic::of((*dims)[i]) * (*repeats)[i]).dim();
        }
    } else if (dims) {
        dims = unknownDims(dims->size());
    }
    setLike(context, "input", std::move(dims));
    return {};
}

base::Result<void> inferUnknown(InferContext& context) {
    setLike(context, "self", std::nullopt);
    return {};
}

/// Lists of one known type may hold any number of it; tuples and longer lists are as they are.
base::Result<void> inferAtenList(InferContext& context, bool stack) {
    const TypeInfo& list = context.in("tensors");
    context.set(TypeInfo::tensor(list.elements.empty() ? DType::Undefined : list.elements[0].dtype));
    const bool isWhole = list.kind == ValueKind::Tuple || (list.kind == ValueKind::List && list.elements.size() > 1);
    if (!isWhole || list.elements.empty() || context.constant("dim").kind() != ValueKind::Int) return {};
    const DType dtype = promotedTypes(list.elements);
    std::vector<TypeInfo> parts = list.elements;
    for (TypeInfo& part : parts) {
        part.dtype = dtype;
        if (!stack || !part.shape) continue;
        SONDE_ASSIGN(const std::size_t at, axisOf(context.constant("dim").toInt(), part.shape->size() + 1));
        part.shape->insert(part.shape->begin() + static_cast<std::ptrdiff_t>(at), Dim::of(1));
    }
    return inferConcatOf(context, parts, context.constant("dim").toInt());
}

void defineAtenTensor(Registry& registry) {
    kernels::addEpilogueKernel("aten", "cat");
    registry.add(atenRow("cat(Tensor[] tensors, int dim=0) -> Tensor", "tensors concatenated", Category::Tensor,
                         atenCat, [](InferContext& context) { return inferAtenList(context, false); }));
    registry.add(atenRow("stack(Tensor[] tensors, int dim=0) -> Tensor", "tensors along a new dimension",
                         Category::Tensor, atenStack,
                         [](InferContext& context) { return inferAtenList(context, true); }));
    registry.add(atenRow(
        "repeat(Tensor self, int[] repeats) -> Tensor", "repeats along each dimension", Category::Tensor,
        [](KernelContext& context) -> base::Result<void> {
            SONDE_ASSIGN(std::vector<std::int64_t> repeats, intsOf(context.value("repeats")));
            return tileBy(context, std::move(repeats));
        },
        inferUnknown));
}

}  // namespace

void define_tensor_ops(Registry& registry) {
    for (int since : {1, 4}) {
        Row row("Concat", since, "tensors concatenated along an axis", Category::Tensor);
        row.variadicIn("inputs", kAnyDType, "T").out("concat_result");
        if (since == 1) row.attrInt("axis", 1);
        else row.required("axis", AttributeKind::Int);
        registry.add(row.runs(onnxConcat, inferConcat));
        kernels::addEpilogueKernel("", "Concat");
    }
    registry.add(Row("Split", 1, "cuts a tensor in pieces along an axis", Category::Tensor)
                     .in("input")
                     .optionalIn("split")
                     .out("outputs", Arity::Variadic)
                     .attrInt("axis", 0)
                     .attrInts("split")
                     .attr("num_outputs", AttributeKind::Int)
                     .strided()
                     .runs(onnxSplit, inferSplit));
    registry.add(Row("Slice", 1, "a range along each of some axes", Category::Tensor)
                     .in("data")
                     .out("output")
                     .required("starts", AttributeKind::Ints)
                     .required("ends", AttributeKind::Ints)
                     .attrInts("axes")
                     .strided()
                     .runs(onnxSlice, inferSlice));
    registry.add(Row("Slice", 10, "a range along each of some axes", Category::Tensor)
                     .in("data")
                     .in("starts", kIndex)
                     .in("ends", kIndex)
                     .optionalIn("axes", kIndex)
                     .optionalIn("steps", kIndex)
                     .out("output")
                     .strided()
                     .runs(onnxSlice, inferSlice));
    registry.add(Row("Expand", 8, "broadcast to a shape", Category::Tensor)
                     .in("input")
                     .in("shape", kInt64)
                     .out("output")
                     .strided()
                     .runs(
                         [](KernelContext& context) -> base::Result<void> {
                             SONDE_ASSIGN(const std::vector<std::int64_t> request, intsOf(context.value("shape")));
                             return expandTo(context, request);
                         },
                         inferExpand));
    registry.add(Row("Tile", 1, "repeats along each dimension", Category::Tensor)
                     .in("input")
                     .in("tiles")
                     .optionalIn("axis")
                     .out("output")
                     .runs(onnxTile, inferTile));
    registry.add(Row("Tile", 6, "repeats along each dimension", Category::Tensor)
                     .in("input")
                     .in("repeats", kInt64)
                     .out("output")
                     .runs(onnxTile, inferTile));
    defineAtenTensor(registry);
}

}  // namespace sonde::ops
