// x[index] and x.attribute on values whose kind is only known in a run.

#include "core/ops/dependence/rules.h"
#include "core/ops/support/invoke.h"
#include "core/ops/support/prim_row.h"
#include "core/ops/support/promotion.h"
#include "core/ops/support/shapes.h"
#include "core/ops/support/views.h"
#include "core/tensor/ellipsis_value.h"
#include "core/tensor/slice_value.h"

namespace sonde::ops {

namespace {

const tensor::SliceValue* asSlice(const Value& value) {
    return value.kind() == ValueKind::Object ? dynamic_cast<const tensor::SliceValue*>(value.object().get()) : nullptr;
}
bool isEllipsis(const Value& value) {
    return value.kind() == ValueKind::Object && dynamic_cast<const tensor::EllipsisValue*>(value.object().get());
}

base::Result<std::size_t> elementAt(const Value& index, std::size_t size) {
    SONDE_ASSIGN(const std::int64_t given, indexOf(index));
    const auto count = static_cast<std::int64_t>(size);
    if (given < -count || given >= count)
        return opError("index " + std::to_string(given) + " is out of range for " + std::to_string(size) + " elements");
    return static_cast<std::size_t>(given < 0 ? given + count : given);
}

base::Result<Value> ofList(const Value& list, const Value& index) {
    const tensor::ValueList& items = list.items();
    if (const tensor::SliceValue* slice = asSlice(index)) {
        SONDE_ASSIGN(const SliceRange range,
                     sliceRange(static_cast<std::int64_t>(items.size()), slice->start(), slice->stop(), slice->step()));
        tensor::ValueList part;
        for (std::int64_t i = 0; i < range.count; ++i)
            part.push_back(items[static_cast<std::size_t>(range.start + i * range.step)]);
        return list.kind() == ValueKind::Tuple ? Value::tuple(std::move(part)) : Value::list(std::move(part));
    }
    SONDE_ASSIGN(const std::size_t at, elementAt(index, items.size()));
    return items[at];
}

base::Result<Value> ofDict(const Value& dict, const Value& key) {
    for (const auto& [known, value] : dict.dictItems()) {
        if (tensor::identical(known, key)) return value;
    }
    return opError("there is no key " + key.text());
}

/// A bool, or a tensor of one: a mask of a new dimension of size 1, as PyTorch has it.
bool isBool(const Value& part) {
    return part.kind() == ValueKind::Bool ||
           (part.isTensor() && part.tensor().rank() == 0 && part.tensor().dtype() == DType::Bool);
}

/// How many dimensions a part of an index takes.
std::size_t dimensionsOf(const Value& part) {
    if (part.isNone() || isEllipsis(part) || isBool(part)) return 0;
    const bool isMask = part.isTensor() && part.tensor().dtype() == DType::Bool;
    return isMask ? part.tensor().rank() : 1;
}

/// The parts of an index in order: an int selects, a slice cuts, None adds an axis, ... skips. Tensors, lists of ints,
/// bools and masks gather all together in the end: x[[0, 1], [2, 3]] is two elements.
base::Result<Tensor> ofTensor(KernelContext& context, Tensor x, const Value& index) {
    const tensor::ValueList parts = index.kind() == ValueKind::Tuple ? index.items() : tensor::ValueList{index};
    std::size_t used = 0;
    for (const Value& part : parts) used += dimensionsOf(part);
    if (used > x.rank()) return opError("too many indices for " + x.typeText());
    std::size_t axis = 0;
    std::size_t masked = 0;  // dimensions that masks take beside their place in the list
    tensor::ValueList gathered;
    const auto gather = [&](Value by) {
        const std::size_t count = dimensionsOf(by);
        gathered.resize(axis - masked);
        gathered.push_back(std::move(by));
        axis += count;
        masked += count - 1;
    };
    for (const Value& part : parts) {
        if (isEllipsis(part)) {
            // What the rest of the index does not need is skipped.
            std::size_t behind = 0;
            for (const Value* at = &part + 1; at != parts.data() + parts.size(); ++at) behind += dimensionsOf(*at);
            axis = x.rank() - behind;
        } else if (part.isNone()) {
            x = x.unsqueezed(axis++);
        } else if (isBool(part)) {
            x = x.unsqueezed(axis);
            const bool isTrue = part.isTensor() ? part.tensor().toDouble(0) != 0 : part.toBool();
            gather(Value(isTrue ? Tensor::of<std::int64_t>({1}, {0}) : Tensor::of<std::int64_t>({0}, {})));
        } else if (axis >= x.rank()) {
            return opError("too many indices for " + x.typeText());
        } else if (const tensor::SliceValue* slice = asSlice(part)) {
            SONDE_ASSIGN(x, slicedView(x, axis++, slice->start(), slice->stop(), slice->step()));
        } else if (part.isTensor() && part.tensor().rank() > 0) {
            gather(part);
        } else if (part.isListLike()) {
            SONDE_ASSIGN(const std::vector<std::int64_t> numbers, intsOf(part));
            gather(Value(Tensor::of<std::int64_t>({static_cast<std::int64_t>(numbers.size())}, numbers)));
        } else {
            SONDE_ASSIGN(const std::int64_t at, indexOf(part));
            SONDE_ASSIGN(x, selectedView(x, axis, at));
        }
    }
    if (gathered.empty()) return x;
    SONDE_ASSIGN(Tensor packed, x.contiguous());
    return invokeAten(context, "index.Tensor", {Value(std::move(packed)), Value::list(std::move(gathered))});
}

base::Result<void> getItem(KernelContext& context) {
    const Value& x = context.value("self");
    if (x.isTensor()) {
        SONDE_ASSIGN(Tensor part, ofTensor(context, x.tensor(), context.value("index")));
        context.setOutput(Value(std::move(part)));
        return {};
    }
    base::Result<Value> part = opError(x.typeText() + " cannot be indexed");
    if (x.isListLike()) part = ofList(x, context.value("index"));
    else if (x.kind() == ValueKind::Dict) part = ofDict(x, context.value("index"));
    if (!part) return part.error();
    context.setOutput(std::move(*part));
    return {};
}

/// Shape of x[index] if the index is known and gathers nothing; nothing if it cannot be told.
std::optional<std::vector<Dim>> indexedShape(const std::vector<Dim>& dims, const Value& index) {
    const tensor::ValueList parts = index.kind() == ValueKind::Tuple ? index.items() : tensor::ValueList{index};
    std::size_t used = 0;
    for (const Value& part : parts) used += !part.isNone() && !isEllipsis(part) ? 1 : 0;
    if (used > dims.size()) return std::nullopt;
    std::vector<Dim> result;
    std::size_t axis = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const Value& part = parts[i];
        if (isEllipsis(part)) {
            std::size_t behind = 0;
            for (std::size_t k = i + 1; k < parts.size(); ++k)
                behind += !parts[k].isNone() && !isEllipsis(parts[k]) ? 1 : 0;
            while (axis < dims.size() - behind) result.push_back(dims[axis++]);
        } else if (part.isNone()) {
            result.push_back(Dim::of(1));
        } else if (const tensor::SliceValue* slice = asSlice(part)) {
            const Dim& dim = dims[axis++];
            const bool whole = slice->start().isNone() && slice->stop().isNone() && slice->step().isNone();
            if (whole || !dim.known()) {
                result.push_back(whole ? dim : Dim{});
                continue;
            }
            const auto range = sliceRange(dim.value, slice->start(), slice->stop(), slice->step());
            if (!range) return std::nullopt;
            result.push_back(Dim::of(range->count));
        } else if (part.kind() == ValueKind::Int) {
            ++axis;
        } else {
            return std::nullopt;
        }
    }
    while (axis < dims.size()) result.push_back(dims[axis++]);
    return result;
}

base::Result<void> inferGetItem(InferContext& context) {
    const Value& known = context.constant("self");
    const Value& index = context.constant("index");
    if (known.isListLike() && (index.kind() == ValueKind::Int || asSlice(index))) {
        if (const auto item = ofList(known, index)) {
            context.setKnown(*item);
            context.set(TypeInfo::of(*item));
        }
        return {};
    }
    const TypeInfo& type = context.in("self");
    // Part of a size that is known in part.
    if (const auto elements = type.isTensor() ? std::nullopt : context.elements("self"); elements && asSlice(index)) {
        tensor::ValueList places;
        for (std::size_t i = 0; i < elements->size(); ++i) places.push_back(Value::ofInt(static_cast<std::int64_t>(i)));
        const auto part = ofList(Value::list(std::move(places)), index);
        if (!part) return {};
        TypeInfo list;
        list.kind = type.kind;
        Elements some;
        for (const Value& place : part->items()) {
            const auto at = static_cast<std::size_t>(place.toInt());
            some.push_back((*elements)[at]);
            if (at < type.elements.size()) list.elements.push_back(type.elements[at]);
        }
        context.set(std::move(list));
        context.setElements(std::move(some));
        return {};
    }
    if (const auto elements = type.isTensor() ? std::nullopt : context.elements("self");
        elements && index.kind() == ValueKind::Int) {
        if (const auto at = elementAt(index, elements->size())) context.setElements({(*elements)[*at]});
    }
    const bool hasAll = type.kind == ValueKind::Tuple || (type.kind == ValueKind::List && type.elements.size() > 1);
    if (hasAll && index.kind() == ValueKind::Int && !type.elements.empty()) {
        const auto at = elementAt(index, type.elements.size());
        if (at) context.set(type.elements[*at]);
    } else if (type.kind == ValueKind::List && type.elements.size() == 1) {
        context.set(type.elements.front());
    } else if (type.isTensor()) {
        std::optional<std::vector<Dim>> shape;
        if (type.shape && !index.isNone()) shape = indexedShape(*type.shape, index);
        context.set(TypeInfo::tensor(type.dtype, std::move(shape)));
    }
    return {};
}

/// The attributes of tensors that models read.
base::Result<void> getAttribute(KernelContext& context) {
    if (!context.value("self").isTensor() || context.value("name").kind() != ValueKind::String)
        return opError("attributes are read from tensors");
    const Tensor& x = context.in("self");
    const std::string& name = context.value("name").toString();
    Value result;
    if (name == "shape") {
        tensor::ValueList dims;
        for (std::int64_t dim : x.shape()) dims.push_back(Value::ofInt(dim));
        result = Value::tuple(std::move(dims));
    } else if (name == "ndim") {
        result = Value::ofInt(static_cast<std::int64_t>(x.rank()));
    } else if (name == "dtype") {
        result = Value::ofInt(torchFromDType(x.dtype()));
    } else if (name == "device") {
        result = Value(std::string("cpu"));
    } else if (name == "data") {
        result = Value(x);
    } else if (name == "mT") {
        if (x.rank() < 2) return opError("mT of " + x.typeText() + ": it takes two dimensions");
        result = Value(x.transposed(x.rank() - 2, x.rank() - 1));
    } else if (name == "T") {
        std::vector<std::size_t> axes;
        for (std::size_t i = x.rank(); i-- > 0;) axes.push_back(i);
        result = Value(x.permuted(axes));
    } else if (name == "is_cuda" || name == "requires_grad" || name == "is_nested" || name == "is_sparse" ||
               name == "is_quantized") {
        result = Value::ofBool(false);
    } else {
        return opError("a tensor has no attribute '" + name + "' here");
    }
    context.setOutput(std::move(result));
    return {};
}

base::Result<void> inferAttribute(InferContext& context) {
    const TypeInfo& type = context.in("self");
    if (!type.isTensor() || context.constant("name").kind() != ValueKind::String) return {};
    const std::string& name = context.constant("name").toString();
    const auto setKnown = [&](const Value& value) {
        context.set(TypeInfo::of(value));
        context.setKnown(value);
    };
    if (name == "dtype" && type.dtype != DType::Undefined) {
        setKnown(Value::ofInt(torchFromDType(type.dtype)));
    } else if (name == "device") {
        setKnown(Value(std::string("cpu")));
    } else if (name == "is_cuda" || name == "requires_grad" || name == "is_nested" || name == "is_sparse" ||
               name == "is_quantized") {
        setKnown(Value::ofBool(false));
    } else if (name == "data") {
        context.set(type);
    } else if (name == "T" && type.shape) {
        context.set(TypeInfo::tensor(type.dtype, std::vector<Dim>(type.shape->rbegin(), type.shape->rend())));
    } else if (name == "ndim" && type.shape) {
        setKnown(Value::ofInt(static_cast<std::int64_t>(type.shape->size())));
    } else if (name == "shape" && type.shape) {
        TypeInfo size;
        size.kind = ValueKind::Tuple;
        Elements elements;
        tensor::ValueList numbers;
        for (const Dim& dim : *type.shape) {
            size.elements.push_back(TypeInfo::of(Value::ofInt(0)));
            elements.push_back(tensor::Symbolic::of(dim));
            if (dim.known()) numbers.push_back(Value::ofInt(dim.value));
        }
        if (numbers.size() == elements.size()) context.setKnown(Value::tuple(std::move(numbers)));
        context.set(std::move(size));
        context.setElements(std::move(elements));
    }
    return {};
}

void addPrim(Registry& registry, std::string_view schema, std::string_view summary, Category category,
             base::Result<void> (*kernel)(KernelContext&), base::Result<void> (*infer)(InferContext&)) {
    OpDef def = primRow(schema, summary, category, kernel,
                        infer ? std::function<base::Result<void>(InferContext&)>(infer) : nullptr);
    def.acceptsStrided = true;
    registry.add(std::move(def));
}

}  // namespace

void define_prim_getitem(Registry& registry) {
    addPrim(registry, "getitem(t self, t index) -> t", "part of a tensor, element of a list, entry of a dict",
            Category::Tensor, getItem, inferGetItem);
    addPrim(registry, "getattr(t self, str name) -> t", "shape, dtype … of a tensor", Category::Shape, getAttribute,
            inferAttribute);
    explain("prim", "getitem", dependence::moved);
}

}  // namespace sonde::ops
