// Sequences and optionals. https://onnx.ai/onnx/operators/ (Sequence*, SplitToSequence, ConcatFromSequence, Optional*).

#include <algorithm>

#include "core/ops/dependence/rules.h"
#include "core/ops/kernels/move.h"
#include "core/ops/support/common_type.h"
#include "core/ops/support/row.h"
#include "core/ops/support/shapes.h"

namespace sonde::ops {

namespace {

using tensor::ValueList;

TypeInfo sequenceType(TypeInfo element = {}) {
    TypeInfo type;
    type.kind = ValueKind::Sequence;
    type.elements = {std::move(element)};
    return type;
}

base::Result<void> inferEmpty(InferContext& context) {
    TypeInfo type = sequenceType();
    type.elements.clear();
    context.set(std::move(type));
    return {};
}
base::Result<void> inferSequenceConstruct(InferContext& context) {
    TypeInfo element = context.in("inputs");
    for (std::size_t i = 1; i < context.inputCount(); ++i) element = commonType(element, context.in(i));
    context.set(sequenceType(std::move(element)));
    return {};
}
base::Result<void> inferInsert(InferContext& context) {
    const TypeInfo& sequence = context.in("input_sequence");
    if (sequence.kind != ValueKind::Sequence) return {};
    context.set(sequenceType(sequence.elements.empty() ? context.in("tensor")
                                                       : commonType(sequence.elements.front(), context.in("tensor"))));
    return {};
}
base::Result<void> inferChunks(InferContext& context) {
    TypeInfo element = TypeInfo::tensor(context.in("input").dtype, context.in("input").shape);
    if (element.shape) {
        SONDE_ASSIGN(const std::size_t axis, axisOf(context.attributes().getInt("axis", 0), element.shape->size()));
        const bool isGiven = context.inputCount() > 1 && context.has("split");
        if (isGiven) (*element.shape)[axis] = tensor::Dim{};
        else if (context.attributes().getInt("keepdims", 1) != 0) (*element.shape)[axis] = tensor::Dim::of(1);
        else element.shape->erase(element.shape->begin() + static_cast<std::ptrdiff_t>(axis));
    }
    context.set(sequenceType(std::move(element)));
    return {};
}
base::Result<void> inferJoined(InferContext& context) {
    if (context.in("input_sequence").elements.size() != 1 || !context.in("input_sequence").elements.front().isTensor())
        return {};
    TypeInfo type = context.in("input_sequence").elements.front();
    if (type.shape) {
        const bool isNew = context.attributes().getInt("new_axis", 0) != 0;
        SONDE_ASSIGN(const std::size_t axis,
                     axisOf(context.attributes().getInt("axis", 0), type.shape->size() + (isNew ? 1 : 0)));
        if (isNew) type.shape->insert(type.shape->begin() + static_cast<std::ptrdiff_t>(axis), tensor::Dim{});
        else (*type.shape)[axis] = tensor::Dim{};
    }
    context.set(std::move(type));
    return {};
}
base::Result<void> inferSameSequence(InferContext& context) {
    context.set(context.in("input_sequence"));
    return {};
}
base::Result<void> inferLength(InferContext& context) {
    context.set(TypeInfo::tensor(DType::Int64, Shape{}));
    return {};
}
base::Result<void> inferElement(InferContext& context) {
    if (!context.in("input_sequence").elements.empty()) context.set(context.in("input_sequence").elements.front());
    return {};
}

base::Result<const ValueList*> sequenceOf(const Value& value) {
    if (value.kind() == ValueKind::Optional && value.items().size() == 1) return sequenceOf(value.items().front());
    if (value.kind() != ValueKind::Sequence) return opError("needs a sequence, not " + value.typeText());
    return &value.items();
}

/// A position counted from the end if negative; `end` may be allowed to stand behind the last.
base::Result<std::size_t> positionOf(const Value& value, std::size_t length, bool endAllowed) {
    SONDE_ASSIGN(std::int64_t position, intOf(value));
    const auto count = static_cast<std::int64_t>(length);
    const std::int64_t last = endAllowed ? count : count - 1;
    if (position < 0) position += count;
    if (position < 0 || position > last) {
        return opError("position " + std::to_string(position) + " is outside a sequence of " + std::to_string(count));
    }
    return static_cast<std::size_t>(position);
}

base::Result<void> empty(KernelContext& context) {
    context.setOutput(Value::sequence({}));
    return {};
}

base::Result<void> constructSequence(KernelContext& context) {
    ValueList items;
    for (std::size_t i = 0; i < context.inputCount(); ++i) items.push_back(context.value(i));
    context.setOutput(Value::sequence(std::move(items)));
    return {};
}

base::Result<void> insert(KernelContext& context) {
    SONDE_ASSIGN(const ValueList* sequence, sequenceOf(context.value("input_sequence")));
    ValueList items = *sequence;
    std::size_t at = items.size();
    if (context.has("position")) {
        SONDE_ASSIGN(at, positionOf(context.value("position"), items.size(), true));
    }
    items.insert(items.begin() + static_cast<std::ptrdiff_t>(at), context.value("tensor"));
    context.setOutput(Value::sequence(std::move(items)));
    return {};
}

base::Result<void> erase(KernelContext& context) {
    SONDE_ASSIGN(const ValueList* sequence, sequenceOf(context.value("input_sequence")));
    ValueList items = *sequence;
    if (items.empty()) return opError("cannot erase from an empty sequence");
    std::size_t at = items.size() - 1;
    if (context.has("position")) {
        SONDE_ASSIGN(at, positionOf(context.value("position"), items.size(), false));
    }
    items.erase(items.begin() + static_cast<std::ptrdiff_t>(at));
    context.setOutput(Value::sequence(std::move(items)));
    return {};
}

base::Result<void> at(KernelContext& context) {
    SONDE_ASSIGN(const ValueList* sequence, sequenceOf(context.value("input_sequence")));
    SONDE_ASSIGN(const std::size_t position, positionOf(context.value("position"), sequence->size(), false));
    context.setOutput((*sequence)[position]);
    return {};
}

base::Result<void> length(KernelContext& context) {
    SONDE_ASSIGN(const ValueList* sequence, sequenceOf(context.value("input_sequence")));
    context.setOutput(Value(Tensor::scalar<std::int64_t>(static_cast<std::int64_t>(sequence->size()))));
    return {};
}

/// Chunk sizes along an axis: given one by one, as one size for all (the last may be smaller), or 1.
base::Result<std::vector<std::int64_t>> chunkSizes(const KernelContext& context, std::int64_t dimSize) {
    std::vector<std::int64_t> sizes;
    std::int64_t step = 1;
    if (context.has("split")) {
        SONDE_ASSIGN(const std::vector<std::int64_t> given, intsOf(context.value("split")));
        if (context.in("split").rank() == 1) {
            std::int64_t total = 0;
            for (std::int64_t size : given) {
                if (size < 0 || __builtin_add_overflow(total, size, &total))
                    return opError("a chunk of " + std::to_string(size));
            }
            if (total != dimSize)
                return opError("chunks of together " + std::to_string(total) + " from a dimension of size " +
                               std::to_string(dimSize));
            return given;
        }
        step = given.empty() ? 0 : given.front();
    }
    if (step < 1) return opError("chunks of " + std::to_string(step));
    for (std::int64_t start = 0; start < dimSize; start += step) sizes.push_back(std::min(step, dimSize - start));
    return sizes;
}

base::Result<void> splitToSequence(KernelContext& context) {
    const Tensor& x = context.in("input");
    SONDE_ASSIGN(const std::size_t axis, axisOf(context.attributes().getInt("axis", 0), x.rank()));
    SONDE_ASSIGN(const std::vector<std::int64_t> sizes, chunkSizes(context, x.dim(axis)));
    const bool drops = !context.has("split") && context.attributes().getInt("keepdims", 1) == 0;
    ValueList items;
    std::int64_t start = 0;
    for (std::int64_t size : sizes) {
        SONDE_ASSIGN(Tensor part, (drops ? x.selected(axis, start) : x.sliced(axis, start, size)).contiguous());
        items.emplace_back(std::move(part));
        start += size;
    }
    context.setOutput(Value::sequence(std::move(items)));
    return {};
}

base::Result<void> concatFromSequence(KernelContext& context) {
    SONDE_ASSIGN(const ValueList* sequence, sequenceOf(context.value("input_sequence")));
    if (sequence->empty()) return opError("cannot join an empty sequence");
    const bool isNew = context.attributes().getInt("new_axis", 0) != 0;
    std::vector<Tensor> parts;
    std::size_t axis = 0;
    for (const Value& item : *sequence) {
        if (!item.isTensor()) return opError("the sequence has " + item.typeText());
        const Tensor& part = item.tensor();
        SONDE_ASSIGN(axis, axisOf(context.attributes().getInt("axis", 0), part.rank() + (isNew ? 1 : 0)));
        SONDE_ASSIGN(Tensor whole, (isNew ? part.unsqueezed(axis) : part).contiguous());
        if (!parts.empty() && (whole.rank() != parts.front().rank() || whole.dtype() != parts.front().dtype())) {
            return opError("cannot join " + whole.typeText() + " to " + parts.front().typeText());
        }
        parts.push_back(std::move(whole));
    }
    return kernels::concat(context, parts, axis);
}

base::Result<void> makeOptional(KernelContext& context) {
    context.setOutput(context.has("input") ? Value::optional({context.value("input")}) : Value::optional({}));
    return {};
}

bool holdsSomething(const KernelContext& context) {
    if (!context.has("input")) return false;
    const Value& value = context.value("input");
    return value.kind() != ValueKind::Optional || !value.items().empty();
}

base::Result<void> hasElement(KernelContext& context) {
    context.setOutput(Value(Tensor::scalar<bool>(holdsSomething(context))));
    return {};
}

base::Result<void> getElement(KernelContext& context) {
    if (!holdsSomething(context)) return opError("the optional is empty");
    const Value& value = context.value("input");
    context.setOutput(value.kind() == ValueKind::Optional ? value.items().front() : value);
    return {};
}

base::Result<void> inferHasElement(InferContext& context) {
    context.set(TypeInfo::tensor(DType::Bool, Shape{}));
    return {};
}

base::Result<void> inferOptional(InferContext& context) {
    TypeInfo type;
    type.kind = ValueKind::Optional;
    if (context.has("input") && context.in("input").kind) type.elements = {context.in("input")};
    context.set(std::move(type));
    return {};
}

base::Result<void> inferHeld(InferContext& context) {
    const TypeInfo& type = context.in("input");
    if (type.kind != ValueKind::Optional) context.set(type);
    else if (!type.elements.empty()) context.set(type.elements.front());
    return {};
}

}  // namespace

void define_sequence(Registry& registry) {
    const auto row = [](std::string_view name, int since, std::string_view summary) {
        return Row(name, since, summary, Category::Sequence);
    };
    registry.add(row("SequenceEmpty", 11, "A sequence without elements")
                     .out("output")
                     .attr("dtype", AttributeKind::Int)
                     .runs(empty, inferEmpty));
    registry.add(row("SequenceConstruct", 11, "A sequence of the inputs")
                     .variadicIn("inputs")
                     .out("output")
                     .runs(constructSequence, inferSequenceConstruct));
    registry.add(row("SequenceInsert", 11, "The sequence with a tensor put in at a position")
                     .anyIn("input_sequence")
                     .in("tensor")
                     .optionalIn("position", kIndex)
                     .out("output_sequence")
                     .runs(insert, inferInsert));
    registry.add(row("SequenceErase", 11, "The sequence without the element at a position")
                     .anyIn("input_sequence")
                     .optionalIn("position", kIndex)
                     .out("output_sequence")
                     .runs(erase, inferSameSequence));
    registry.add(row("SequenceAt", 11, "The element at a position")
                     .anyIn("input_sequence")
                     .in("position", kIndex)
                     .out("tensor")
                     .runs(at, inferElement));
    registry.add(row("SequenceLength", 11, "Number of elements")
                     .anyIn("input_sequence")
                     .out("length")
                     .runs(length, inferLength));
    for (int since : {11, 24}) {
        registry.add(row("SplitToSequence", since, "Cuts a tensor along an axis into a sequence")
                         .in("input")
                         .optionalIn("split", kIndex)
                         .out("output_sequence")
                         .attrInt("axis", 0)
                         .attrInt("keepdims", 1)
                         .runs(splitToSequence, inferChunks));
    }
    registry.add(row("ConcatFromSequence", 11, "Joins the elements along an axis, or stacks them on a new one")
                     .anyIn("input_sequence")
                     .out("concat_result")
                     .required("axis", AttributeKind::Int)
                     .attrInt("new_axis", 0)
                     .runs(concatFromSequence, inferJoined));
    registry.add(row("Optional", 15, "Wraps a value, or nothing")
                     .anyIn("input", Arity::Optional)
                     .out("output")
                     .attr("type", AttributeKind::Type)
                     .runs(makeOptional, inferOptional));
    for (int since : {15, 18}) {
        registry.add(row("OptionalHasElement", since, "Whether an optional has a value")
                         .anyIn("input", Arity::Optional)
                         .out("output")
                         .runs(hasElement, inferHasElement));
        registry.add(row("OptionalGetElement", since, "The value of an optional")
                         .anyIn("input")
                         .out("output")
                         .runs(getElement, inferHeld));
    }
    explain("", "SequenceAt ConcatFromSequence SequenceErase SplitToSequence", dependence::moved);
    explain("", "SequenceConstruct", dependence::moved, "inputs");
    explain("", "SequenceInsert", dependence::moved, "input_sequence tensor");
    explain("", "SequenceLength", dependence::fixed);
}

}  // namespace sonde::ops
