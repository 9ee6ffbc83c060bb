// The counting of Python's `for i in range(start, end, step)` as TorchScript writes it: how often the loop runs, and
// the value of its variable in an iteration.

#include <limits>

#include "core/ops/support/row.h"
#include "core/ops/support/shapes.h"

namespace sonde::ops {

namespace {

base::Result<std::int64_t> rangeLength(std::int64_t start, std::int64_t end, std::int64_t step) {
    if (step == 0) return opError("range() arg 3 must not be zero");
    if (step > 0 ? start >= end : start <= end) return std::int64_t{0};
    // Differences of integers of 64 bits fit into 64 bits without a sign.
    const auto unsignedOf = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
    const std::uint64_t span = step > 0 ? unsignedOf(end) - unsignedOf(start) : unsignedOf(start) - unsignedOf(end);
    const std::uint64_t stride = step > 0 ? unsignedOf(step) : 0 - unsignedOf(step);
    const std::uint64_t length = (span - 1) / stride + 1;
    if (length > unsignedOf(std::numeric_limits<std::int64_t>::max()))
        return opError("the range has too many elements");
    return static_cast<std::int64_t>(length);
}

base::Result<std::int64_t> derivedIndex(std::int64_t index, std::int64_t start, std::int64_t step) {
    std::int64_t result = 0;
    if (__builtin_mul_overflow(index, step, &result) || __builtin_add_overflow(result, start, &result))
        return opError("integer overflow");
    return result;
}

using Count = base::Result<std::int64_t> (*)(std::int64_t, std::int64_t, std::int64_t);

base::Result<void> run(KernelContext& context, Count count) {
    SONDE_ASSIGN(const std::int64_t first, intOf(context.value({"index", "lo"})));
    SONDE_ASSIGN(const std::int64_t second, intOf(context.value({"start", "hi"})));
    SONDE_ASSIGN(const std::int64_t third, intOf(context.value("step")));
    SONDE_ASSIGN(const std::int64_t result, count(first, second, third));
    context.setOutput(Value::ofInt(result));
    return {};
}

base::Result<void> infer(InferContext& context, Count count) {
    TypeInfo type;
    type.kind = ValueKind::Int;
    context.set(std::move(type));
    if (!context.constant({"index", "lo"}).isNumber() || !context.constant({"start", "hi"}).isNumber() ||
        !context.constant("step").isNumber())
        return {};
    SONDE_ASSIGN(const std::int64_t first, intOf(context.constant({"index", "lo"})));
    SONDE_ASSIGN(const std::int64_t second, intOf(context.constant({"start", "hi"})));
    SONDE_ASSIGN(const std::int64_t third, intOf(context.constant("step")));
    if (const auto known = count(first, second, third)) context.setKnown(Value::ofInt(*known));
    return {};
}

}  // namespace

void define_aten_range(Registry& registry) {
    const auto add = [&registry](std::string_view schema, std::string_view summary, Count count) {
        OpDef def = atenRow(
            schema, summary, Category::Shape, [count](KernelContext& context) { return run(context, count); },
            [count](InferContext& context) { return infer(context, count); });
        def.acceptsStrided = true;
        registry.add(std::move(def));
    };
    add("__range_length(int lo, int hi, int step) -> int", "number of elements of range(lo, hi, step)", rangeLength);
    add("__derive_index(int index, int start, int step) -> int", "start + index * step, the element of a range",
        derivedIndex);
}

}  // namespace sonde::ops
