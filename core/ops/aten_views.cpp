// ATen's views: slices, selections, expansions, pieces. They share memory with their input where they can.

#include <algorithm>

#include "core/ops/dependence/rules.h"
#include "core/ops/support/invoke.h"
#include "core/ops/support/promotion.h"
#include "core/ops/support/row.h"
#include "core/ops/support/shapes.h"
#include "core/ops/support/views.h"

namespace sonde::ops {

namespace {

base::Result<void> give(KernelContext& context, Tensor tensor) {
    context.setOutput(Value(std::move(tensor)));
    return {};
}

/// slice(x, dim, start, end, step)
base::Result<void> slice(KernelContext& context) {
    const Tensor& x = context.in("self");
    SONDE_ASSIGN(const std::int64_t dim, intOf(context.value("dim")));
    SONDE_ASSIGN(const std::size_t axis, axisOf(dim, x.rank()));
    SONDE_ASSIGN(Tensor view, slicedView(x, axis, context.value("start"), context.value("end"), context.value("step")));
    return give(context, std::move(view));
}

base::Result<void> inferSliceView(InferContext& context) {
    if (!context.in("self").shape || context.constant("dim").isNone()) return {};
    Dims dims = *context.in("self").shape;
    SONDE_ASSIGN(const std::int64_t dim, intOf(context.constant("dim")));
    SONDE_ASSIGN(const std::size_t axis, axisOf(dim, dims.size()));
    const auto isFree = [&](Name name) {
        return context.in(name).kind && context.has(name) && context.constant(name).isNone();
    };
    if (dims[axis].known() && !isFree("start") && !isFree("end")) {
        SONDE_ASSIGN(const SliceRange range, sliceRange(dims[axis].value, context.constant("start"),
                                                        context.constant("end"), context.constant("step")));
        dims[axis] = Dim::of(range.count);
    } else {
        dims[axis] = Dim{};
    }
    setLike(context, "self", std::move(dims));
    return {};
}

base::Result<void> select(KernelContext& context) {
    const Tensor& x = context.in("self");
    SONDE_ASSIGN(const std::int64_t dim, intOf(context.value("dim")));
    SONDE_ASSIGN(const std::size_t axis, axisOf(dim, x.rank()));
    SONDE_ASSIGN(const std::int64_t index, intOf(context.value("index")));
    SONDE_ASSIGN(Tensor view, selectedView(x, axis, index));
    return give(context, std::move(view));
}

base::Result<void> inferSelect(InferContext& context) {
    if (!context.in("self").shape || context.constant("dim").isNone()) return {};
    Dims dims = *context.in("self").shape;
    SONDE_ASSIGN(const std::int64_t dim, intOf(context.constant("dim")));
    SONDE_ASSIGN(const std::size_t axis, axisOf(dim, dims.size()));
    dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
    setLike(context, "self", std::move(dims));
    return {};
}

base::Result<void> narrow(KernelContext& context) {
    const Tensor& x = context.in("self");
    SONDE_ASSIGN(const std::int64_t dim, intOf(context.value("dim")));
    SONDE_ASSIGN(const std::size_t axis, axisOf(dim, x.rank()));
    SONDE_ASSIGN(const std::int64_t start, intOf(context.value("start")));
    SONDE_ASSIGN(const std::int64_t length, intOf(context.value("length")));
    const std::int64_t size = x.dim(axis), from = start < 0 ? start + size : start;  // from the back, as an index
    if (from < 0 || length < 0 || from > size - length) return opError("narrow reaches beyond " + x.typeText());
    return give(context, x.sliced(axis, from, length));
}

base::Result<void> inferNarrow(InferContext& context) {
    if (!context.in("self").shape || context.constant("dim").isNone()) return {};
    Dims dims = *context.in("self").shape;
    SONDE_ASSIGN(const std::int64_t dim, intOf(context.constant("dim")));
    SONDE_ASSIGN(const std::size_t axis, axisOf(dim, dims.size()));
    const auto length = context.elements("length");
    dims[axis] = length && length->size() == 1 ? length->front().dim() : Dim{};
    setLike(context, "self", std::move(dims));
    return {};
}

/// -1 keeps the dimension.
base::Result<void> expand(KernelContext& context) {
    const Tensor& x = context.in("self");
    std::vector<std::int64_t> wanted;
    if (context.value({"size", "other"}).isTensor()) {
        wanted = context.in({"size", "other"}).shape().dims();
    } else {
        SONDE_ASSIGN(wanted, intsOf(context.value({"size", "other"})));
    }
    if (wanted.size() < x.rank()) return opError("cannot expand " + x.typeText() + " to " + Shape(wanted).text());
    const std::size_t added = wanted.size() - x.rank();
    for (std::size_t i = added; i < wanted.size(); ++i) {
        if (wanted[i] == -1) wanted[i] = x.dim(i - added);
    }
    SONDE_ASSIGN(Tensor view, x.expanded(Shape(wanted)));
    return give(context, std::move(view));
}

base::Result<void> viewAs(KernelContext& context) {
    SONDE_ASSIGN(Tensor view, context.in("self").reshaped(context.in("other").shape()));
    return give(context, std::move(view));
}

base::Result<void> inferLikeOther(InferContext& context) {
    setLike(context, "self", context.in("other").shape);
    return {};
}

base::Result<void> pieces(KernelContext& context, std::size_t axis, const std::vector<std::int64_t>& lengths) {
    tensor::ValueList list;
    std::int64_t start = 0;
    for (std::int64_t length : lengths) {
        list.emplace_back(context.in("self").sliced(axis, start, length));
        start += length;
    }
    context.setOutput(Value::list(std::move(list)));
    return {};
}

/// Parts of `size`, the last one may be shorter. chunk: size = ceil(dimension / chunks).
base::Result<void> split(KernelContext& context, bool isChunk) {
    const Tensor& x = context.in("self");
    SONDE_ASSIGN(const std::int64_t dim, intOf(context.value("dim")));
    SONDE_ASSIGN(const std::size_t axis, axisOf(dim, x.rank()));
    SONDE_ASSIGN(std::int64_t size, intOf(context.value({"chunks", "split_size"})));
    if (size <= 0) return opError("parts must be larger than 0");
    if (isChunk) size = std::max<std::int64_t>((x.dim(axis) + size - 1) / size, 1);
    std::vector<std::int64_t> lengths;
    for (std::int64_t start = 0; start < x.dim(axis); start += size)
        lengths.push_back(std::min(size, x.dim(axis) - start));
    if (lengths.empty()) lengths.push_back(0);
    return pieces(context, axis, lengths);
}

base::Result<void> splitWithSizes(KernelContext& context) {
    SONDE_ASSIGN(const std::int64_t dim, intOf(context.value("dim")));
    SONDE_ASSIGN(const std::size_t axis, axisOf(dim, context.in("self").rank()));
    SONDE_ASSIGN(const std::vector<std::int64_t> lengths, intsOf(context.value({"split_sizes", "split_size"})));
    std::int64_t sum = 0;
    for (std::int64_t length : lengths) {
        if (length < 0 || length > context.in("self").dim(axis) - sum)
            return opError("the parts do not add up to " + context.in("self").typeText());
        sum += length;
    }
    if (sum != context.in("self").dim(axis))
        return opError("the parts do not add up to " + context.in("self").typeText());
    return pieces(context, axis, lengths);
}

base::Result<void> unbind(KernelContext& context) {
    const Tensor& x = context.in("self");
    SONDE_ASSIGN(const std::int64_t dim, intOf(context.value("dim")));
    SONDE_ASSIGN(const std::size_t axis, axisOf(dim, x.rank()));
    tensor::ValueList list;
    for (std::int64_t i = 0; i < x.dim(axis); ++i) list.emplace_back(x.selected(axis, i));
    context.setOutput(Value::list(std::move(list)));
    return {};
}

/// Parts of these lengths along an axis; one part of open dimension stands for any number of them.
void setParts(InferContext& context, std::size_t axis, const Elements& lengths) {
    TypeInfo list;
    list.kind = ValueKind::List;
    for (const tensor::Symbolic& length : lengths) {
        Dims dims = *context.in("self").shape;
        dims[axis] = length.dim();
        list.elements.push_back(TypeInfo::tensor(context.in("self").dtype, std::move(dims)));
    }
    context.set(std::move(list));
}

void setOpenParts(InferContext& context, bool dropsAxis) {
    TypeInfo list;
    list.kind = ValueKind::List;
    list.elements = {TypeInfo::tensor(context.in("self").dtype)};
    if (context.in("self").shape && context.in("self").shape->size() >= (dropsAxis ? 1 : 0))
        list.elements.front().shape = unknownDims(context.in("self").shape->size() - (dropsAxis ? 1 : 0));
    context.set(std::move(list));
}

constexpr std::int64_t kMaxParts = 256;

base::Result<void> inferSplitViews(InferContext& context, bool isChunk) {
    setOpenParts(context, false);
    if (!context.in("self").shape || context.constant({"chunks", "split_size"}).kind() != ValueKind::Int ||
        context.constant("dim").isNone())
        return {};
    SONDE_ASSIGN(const std::int64_t dim, intOf(context.constant("dim")));
    SONDE_ASSIGN(const std::size_t axis, axisOf(dim, context.in("self").shape->size()));
    std::int64_t size = context.constant({"chunks", "split_size"}).toInt();
    const Dim& dimSize = (*context.in("self").shape)[axis];
    if (!dimSize.known() || size <= 0) return {};
    if (isChunk) size = std::max<std::int64_t>((dimSize.value - 1) / size + 1, 1);
    if (dimSize.value / size >= kMaxParts) return {};
    Elements lengths;
    for (std::int64_t start = 0; start < dimSize.value; start += size)
        lengths.push_back(tensor::Symbolic::of(std::min(size, dimSize.value - start)));
    if (lengths.empty()) lengths.push_back(tensor::Symbolic::of(std::int64_t{0}));
    setParts(context, axis, lengths);
    return {};
}

base::Result<void> inferSplitWithSizes(InferContext& context) {
    setOpenParts(context, false);
    const auto lengths = context.elements({"split_sizes", "split_size"});
    if (!context.in("self").shape || !lengths || context.constant("dim").isNone()) return {};
    SONDE_ASSIGN(const std::int64_t dim, intOf(context.constant("dim")));
    SONDE_ASSIGN(const std::size_t axis, axisOf(dim, context.in("self").shape->size()));
    setParts(context, axis, *lengths);
    return {};
}

base::Result<void> inferUnbind(InferContext& context) {
    setOpenParts(context, true);
    if (!context.in("self").shape || context.in("self").shape->empty() || context.constant("dim").isNone()) return {};
    SONDE_ASSIGN(const std::int64_t dim, intOf(context.constant("dim")));
    SONDE_ASSIGN(const std::size_t axis, axisOf(dim, context.in("self").shape->size()));
    Dims dims = *context.in("self").shape;
    const Dim dimSize = dims[axis];
    dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
    TypeInfo list;
    list.kind = ValueKind::List;
    // All are alike, and a loop over them wants no more than one.
    const bool isFew = dimSize.known() && dimSize.value > 0 && dimSize.value <= kMaxParts;
    list.elements.assign(isFew ? static_cast<std::size_t>(dimSize.value) : 1,
                         TypeInfo::tensor(context.in("self").dtype, dims));
    context.set(std::move(list));
    return {};
}

base::Result<void> size(KernelContext& context) {
    tensor::ValueList dims;
    for (std::int64_t dim : context.in("self").shape()) dims.push_back(Value::ofInt(dim));
    context.setOutput(Value::tuple(std::move(dims)));
    return {};
}

base::Result<void> inferSizeQuery(InferContext& context) {
    TypeInfo type;
    type.kind = ValueKind::Tuple;
    if (context.in("self").shape) {
        tensor::ValueList numbers;
        Elements elements;
        for (const Dim& dim : *context.in("self").shape) {
            type.elements.push_back(TypeInfo::of(Value::ofInt(0)));
            elements.push_back(tensor::Symbolic::of(dim));
            if (dim.known()) numbers.push_back(Value::ofInt(dim.value));
        }
        if (numbers.size() == elements.size()) context.setKnown(Value::tuple(std::move(numbers)));
        context.setElements(std::move(elements));
    }
    context.set(std::move(type));
    return {};
}

base::Result<void> sizeOf(KernelContext& context) {
    SONDE_ASSIGN(const std::int64_t dim, intOf(context.value("dim")));
    SONDE_ASSIGN(const std::size_t axis, axisOf(dim, context.in("self").rank()));
    context.setOutput(Value::ofInt(context.in("self").dim(axis)));
    return {};
}

base::Result<void> inferSizeOf(InferContext& context) {
    TypeInfo type;
    type.kind = ValueKind::Int;
    context.set(std::move(type));
    if (!context.in("self").shape || context.constant("dim").isNone()) return {};
    SONDE_ASSIGN(const std::int64_t dim, intOf(context.constant("dim")));
    SONDE_ASSIGN(const std::size_t axis, axisOf(dim, context.in("self").shape->size()));
    const Dim& dimSize = (*context.in("self").shape)[axis];
    if (dimSize.known()) context.setKnown(Value::ofInt(dimSize.value));
    context.setElements({tensor::Symbolic::of(dimSize)});
    return {};
}

base::Result<void> inferNumel(InferContext& context) {
    TypeInfo type;
    type.kind = ValueKind::Int;
    context.set(std::move(type));
    if (!context.in("self").shape) return {};
    const tensor::Symbolic count = tensor::product(*context.in("self").shape);
    if (count.known()) context.setElements({count});
    if (const auto known = count.constant()) context.setKnown(Value::ofInt(*known));
    return {};
}

/// -1 keeps the dimension.
base::Result<void> inferExpandView(InferContext& context) {
    const auto wanted = context.elements("size");
    const auto& from = context.in("self").shape;
    if (!wanted) {
        setLike(context, "self", std::nullopt);
        return {};
    }
    Dims dims = dimsOf(*wanted);
    if (from && from->size() <= dims.size()) {
        const std::size_t added = dims.size() - from->size();
        for (std::size_t i = 0; i < from->size(); ++i) {
            const Dim& own = (*from)[i];
            const bool keeps = (*wanted)[added + i].constant() == -1;
            if (keeps || (own.known() && own.value != 1) ||
                (!dims[added + i].known() && dims[added + i].symbol.empty() && own.value != 1))
                dims[added + i] = own;
        }
    }
    setLike(context, "self", std::move(dims));
    return {};
}

/// One dimension as several; one of them may be -1.
base::Result<void> inferUnflatten(InferContext& context) {
    const auto sizes = context.elements("sizes");
    if (!context.in("self").shape || !sizes || context.constant("dim").isNone()) {
        setLike(context, "self", std::nullopt);
        return {};
    }
    Dims dims = *context.in("self").shape;
    SONDE_ASSIGN(const std::int64_t dim, intOf(context.constant("dim")));
    SONDE_ASSIGN(const std::size_t axis, axisOf(dim, dims.size()));
    tensor::Symbolic others = tensor::Symbolic::of(std::int64_t{1});
    for (const tensor::Symbolic& size : *sizes) others = size.constant() == -1 ? others : others * size;
    Dims parts = dimsOf(*sizes);
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if ((*sizes)[i].constant() == -1)
            parts[i] = others.constant() == 0 ? Dim{} : (tensor::Symbolic::of(dims[axis]) / others).dim();
    }
    const auto at = dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
    dims.insert(at, parts.begin(), parts.end());
    setLike(context, "self", std::move(dims));
    return {};
}

base::Result<void> rankOf(KernelContext& context) {
    context.setOutput(Value::ofInt(static_cast<std::int64_t>(context.in("self").rank())));
    return {};
}

base::Result<void> inferRank(InferContext& context) {
    TypeInfo type;
    type.kind = ValueKind::Int;
    context.set(std::move(type));
    if (context.in("self").shape)
        context.setKnown(Value::ofInt(static_cast<std::int64_t>(context.in("self").shape->size())));
    return {};
}

base::Result<void> numel(KernelContext& context) {
    context.setOutput(Value::ofInt(context.in("self").numel()));
    return {};
}

/// The dtype that an argument names: a number of c10::ScalarType, or another tensor's.
base::Result<void> convert(KernelContext& context, Name from) {
    const Value& wanted = context.value(from);
    std::optional<DType> dtype;
    if (wanted.isTensor()) dtype = wanted.tensor().dtype();
    else if (wanted.kind() == ValueKind::Int) dtype = dtypeFromTorch(wanted.toInt());
    else dtype = context.in("self").dtype();  // a device alone
    if (!dtype) return opError("there is no element type " + wanted.text());
    SONDE_ASSIGN(Tensor converted, context.in("self").cast(*dtype));
    return give(context, std::move(converted));
}

base::Result<void> inferConvert(InferContext& context, Name from) {
    const Value& wanted = context.constant(from);
    DType dtype = context.in(from).isTensor() ? context.in(from).dtype : context.in("self").dtype;
    if (wanted.kind() == ValueKind::Int) dtype = dtypeFromTorch(wanted.toInt()).value_or(DType::Undefined);
    context.set(TypeInfo::tensor(dtype, context.in("self").shape));
    return {};
}

/// The element of a tensor that has just one, as it is or as another kind of number.
base::Result<void> itemAs(KernelContext& context, std::optional<ValueKind> kind) {
    const Tensor& x = context.in({"a", "self"});
    if (x.numel() != 1) return opError("only a tensor with one element is a number, not " + x.typeText());
    if (!kind)
        kind = x.dtype() == DType::Bool        ? ValueKind::Bool
               : tensor::isFloating(x.dtype()) ? ValueKind::Float
                                               : ValueKind::Int;
    if (*kind == ValueKind::Bool) context.setOutput(Value::ofBool(x.toDouble(0) != 0));
    else if (*kind == ValueKind::Float) context.setOutput(Value::ofFloat(x.toDouble(0)));
    else
        context.setOutput(Value::ofInt(tensor::isFloating(x.dtype())
                                           ? static_cast<std::int64_t>(std::clamp(x.toDouble(0), -9.2e18, 9.2e18))
                                           : x.toInt64(0)));
    return {};
}

base::Result<void> unflatten(KernelContext& context) {
    const Tensor& x = context.in("self");
    SONDE_ASSIGN(const std::int64_t dim, intOf(context.value("dim")));
    SONDE_ASSIGN(const std::size_t axis, axisOf(dim, x.rank()));
    SONDE_ASSIGN(std::vector<std::int64_t> sizes, intsOf(context.value("sizes")));
    std::vector<Value> request;
    tensor::ValueList shape;
    for (std::size_t i = 0; i < x.rank(); ++i) {
        if (i != axis) shape.push_back(Value::ofInt(x.dim(i)));
        else
            for (std::int64_t part : sizes) shape.push_back(Value::ofInt(part));
    }
    SONDE_ASSIGN(Tensor view, invokeAten(context, "view", {context.value("self"), Value::list(std::move(shape))}));
    return give(context, std::move(view));
}

void addView(Registry& registry, std::string_view schema, std::string_view summary,
             std::function<base::Result<void>(KernelContext&)> kernel,
             std::function<base::Result<void>(InferContext&)> infer = {}, Category category = Category::Tensor) {
    OpDef def = atenRow(schema, summary, category, std::move(kernel), std::move(infer));
    def.acceptsStrided = true;
    for (Formal& input : def.inputs) input.tensorOnly = false;
    registry.add(std::move(def));
}

}  // namespace

void define_aten_views(Registry& registry) {
    addView(registry, "slice.Tensor(Tensor self, int dim=0, int? start=None, int? end=None, int step=1) -> Tensor",
            "x[.., start:end:step, ..]", slice, inferSliceView);
    addView(registry, "select.int(Tensor self, int dim, int index) -> Tensor", "x[.., index, ..]", select, inferSelect);
    addView(registry, "narrow(Tensor self, int dim, int start, int length) -> Tensor", "x[.., start:start+length, ..]",
            narrow, inferNarrow);
    addView(registry, "expand(Tensor self, int[] size, *, bool implicit=False) -> Tensor",
            "x repeated along dimensions of size 1, without a copy", expand, inferExpandView);
    addView(registry, "expand_as(Tensor self, Tensor other) -> Tensor", "x in the shape of another tensor", expand,
            inferLikeOther);
    addView(registry, "view_as(Tensor self, Tensor other) -> Tensor", "x in the shape of another tensor", viewAs,
            inferLikeOther, Category::Shape);
    addView(
        registry, "chunk(Tensor self, int chunks, int dim=0) -> Tensor[]", "x in a number of parts",
        [](KernelContext& c) { return split(c, true); }, [](InferContext& c) { return inferSplitViews(c, true); });
    addView(
        registry, "split.Tensor(Tensor self, int split_size, int dim=0) -> Tensor[]", "x in parts of a size",
        [](KernelContext& c) { return split(c, false); }, [](InferContext& c) { return inferSplitViews(c, false); });
    addView(registry, "split_with_sizes(Tensor self, int[] split_sizes, int dim=0) -> Tensor[]",
            "x in parts of given sizes", splitWithSizes, inferSplitWithSizes);
    addView(registry, "split.sizes(Tensor self, int[] split_size, int dim=0) -> Tensor[]", "x in parts of given sizes",
            splitWithSizes, inferSplitWithSizes);
    addView(registry, "unbind.int(Tensor self, int dim=0) -> Tensor[]", "x without one dimension, part by part", unbind,
            inferUnbind);
    addView(registry, "size(Tensor self) -> int[]", "all dimensions", size, inferSizeQuery, Category::Shape);
    addView(registry, "size.int(Tensor self, int dim) -> int", "one dimension", sizeOf, inferSizeOf, Category::Shape);
    addView(registry, "dim(Tensor self) -> int", "number of dimensions", rankOf, inferRank, Category::Shape);
    addView(registry, "numel(Tensor self) -> int", "number of elements", numel, inferNumel, Category::Shape);
    for (std::string_view schema : {"item(Tensor self) -> Scalar", "ScalarImplicit(Tensor a) -> Scalar",
                                    "_local_scalar_dense(Tensor self) -> Scalar"}) {
        addView(
            registry, schema, "the one element as a number", [](KernelContext& c) { return itemAs(c, std::nullopt); },
            {}, Category::Shape);
    }
    for (std::string_view schema : {"Float.Tensor(Tensor a) -> float", "FloatImplicit(Tensor a) -> float"}) {
        addView(
            registry, schema, "the one element as a number",
            [](KernelContext& c) { return itemAs(c, ValueKind::Float); }, {}, Category::Shape);
    }
    for (std::string_view schema : {"Int.Tensor(Tensor a) -> int", "IntImplicit(Tensor a) -> int"}) {
        addView(
            registry, schema, "the only element as an integer",
            [](KernelContext& c) { return itemAs(c, ValueKind::Int); }, {}, Category::Shape);
    }
    addView(
        registry, "Bool.Tensor(Tensor a) -> bool", "whether the one element is not 0",
        [](KernelContext& c) { return itemAs(c, ValueKind::Bool); }, {}, Category::Shape);
    addView(
        registry, "is_floating_point(Tensor self) -> bool", "whether x has a floating point",
        [](KernelContext& c) -> base::Result<void> {
            c.setOutput(Value::ofBool(tensor::isFloating(c.in("self").dtype())));
            return {};
        },
        {}, Category::Shape);
    addView(registry, "unflatten.int(Tensor self, int dim, int[] sizes) -> Tensor", "one dimension as several",
            unflatten, inferUnflatten, Category::Shape);
    for (
        std::string_view schema :
        {"to.dtype(Tensor self, ScalarType dtype, bool non_blocking=False, bool copy=False, MemoryFormat? memory_format=None) -> Tensor",
         "type_as(Tensor self, Tensor other) -> Tensor",
         "to.other(Tensor self, Tensor other, bool non_blocking=False, bool copy=False, MemoryFormat? memory_format=None) -> Tensor"}) {
        addView(
            registry, schema, "x with another element type",
            [](KernelContext& c) {
                return convert(c, {"dtype", "other"});
            },
            [](InferContext& c) {
                return inferConvert(c, {"dtype", "other"});
            },
            Category::Transform);
    }
    const struct {
        std::string_view schema;
        DType dtype;
    } casts[] = {
        {"_cast_Float(Tensor self, bool non_blocking=False) -> Tensor", DType::Float32},
        {"_cast_Double(Tensor self, bool non_blocking=False) -> Tensor", DType::Float64},
        {"_cast_Half(Tensor self, bool non_blocking=False) -> Tensor", DType::Float16},
        {"_cast_Long(Tensor self, bool non_blocking=False) -> Tensor", DType::Int64},
        {"_cast_Int(Tensor self, bool non_blocking=False) -> Tensor", DType::Int32},
        {"_cast_Short(Tensor self, bool non_blocking=False) -> Tensor", DType::Int16},
        {"_cast_Char(Tensor self, bool non_blocking=False) -> Tensor", DType::Int8},
        {"_cast_Byte(Tensor self, bool non_blocking=False) -> Tensor", DType::UInt8},
        // Methods of PyTorch's Tensor class.
        {"float(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor", DType::Float32},
        {"double(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor", DType::Float64},
        {"half(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor", DType::Float16},
        {"bfloat16(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor", DType::BFloat16},
        {"long(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor", DType::Int64},
        {"int(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor", DType::Int32},
        {"short(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor", DType::Int16},
        {"char(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor", DType::Int8},
        {"byte(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor", DType::UInt8},
        {"bool(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor", DType::Bool},
    };
    for (const auto& row : casts) {
        addView(
            registry, row.schema, "x with another element type",
            [dtype = row.dtype](KernelContext& c) -> base::Result<void> {
                SONDE_ASSIGN(Tensor converted, c.in("self").cast(dtype));
                return give(c, std::move(converted));
            },
            [dtype = row.dtype](InferContext& c) -> base::Result<void> {
                c.set(TypeInfo::tensor(dtype, c.in("self").shape));
                return {};
            },
            Category::Transform);
    }
    for (
        std::string_view schema :
        {"to.dtype_layout(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, bool non_blocking=False, bool copy=False, MemoryFormat? memory_format=None) -> Tensor",
         "_to_copy(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, bool non_blocking=False, MemoryFormat? memory_format=None) -> Tensor",
         "to.prim_dtype(Tensor self, int? dtype=None, bool non_blocking=False, bool copy=False) -> Tensor"}) {
        addView(
            registry, schema, "x with another element type",
            [](KernelContext& c) {
                return convert(c, {"dtype", "other"});
            },
            [](InferContext& c) {
                return inferConvert(c, {"dtype", "other"});
            },
            Category::Transform);
    }
    addView(
        registry, "to.prim_other(Tensor self, bool non_blocking=False, bool copy=False) -> Tensor", "x itself",
        [](KernelContext& c) { return give(c, c.in("self")); }, inferSame, Category::Transform);
    addView(
        registry, "cpu(Tensor self) -> Tensor", "x itself", [](KernelContext& c) { return give(c, c.in("self")); },
        inferSame, Category::Transform);
    addView(
        registry,
        "to.device(Tensor self, Device device, ScalarType dtype, bool non_blocking=False, bool copy=False, MemoryFormat? memory_format=None) -> Tensor",
        "x with another element type", [](KernelContext& c) { return convert(c, "dtype"); },
        [](InferContext& c) { return inferConvert(c, "dtype"); }, Category::Transform);
    addView(
        registry,
        "to.prim_Device(Tensor self, Device? device, int? dtype=None, bool non_blocking=False, bool copy=False) -> Tensor",
        "x with another element type", [](KernelContext& c) { return convert(c, "dtype"); },
        [](InferContext& c) { return inferConvert(c, "dtype"); }, Category::Transform);
    explain("aten", "size dim", dependence::fixed);
    explain("aten", "to type_as float double half bfloat16 int long short char byte bool cpu", dependence::converted);
    explain("aten", "numel stride is_complex is_floating_point", dependence::fixed);
    explain("aten",
            "_to_copy _cast_Byte _cast_Char _cast_Double _cast_Float _cast_Half _cast_Int _cast_Long _cast_Short",
            dependence::converted);
    explain("aten",
            "Float FloatImplicit ScalarImplicit item _local_scalar_dense conj _conj _conj_physical conj_physical",
            dependence::elementWise, "x");
    explain("aten", "Int IntImplicit", dependence::elementWise, "trunc(x)");
    explain("aten", "Bool is_nonzero", dependence::elementWise, "x != 0");
}

}  // namespace sonde::ops
