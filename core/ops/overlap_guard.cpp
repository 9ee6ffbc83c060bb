// The check in front of a write whose elements only a run can tell apart (passes/inplace_overlap.cpp).

#include <algorithm>
#include <numeric>
#include <vector>

#include "core/operators/overlap.h"
#include "core/ops/support/row.h"
#include "core/ops/support/shapes.h"

namespace sonde::ops {

namespace {

std::vector<std::int64_t> elementsOf(const Tensor& tensor) {
    std::vector<std::int64_t> elements(static_cast<std::size_t>(tensor.numel()));
    for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = tensor.toInt64(static_cast<std::int64_t>(i));
    return elements;
}

/// 0, 1, 2, … in the shape of x.
base::Result<void> positions(KernelContext& context) {
    SONDE_ASSIGN(Tensor result, Tensor::allocate(DType::Int64, context.in("x").shape()));
    std::iota(result.mutableData<std::int64_t>(), result.mutableData<std::int64_t>() + result.numel(), 0);
    context.setOutput(Value(std::move(result)));
    return {};
}

base::Result<void> overlapGuard(KernelContext& context) {
    std::vector<std::int64_t> written = elementsOf(context.in("written"));
    const std::string where = "node " + context.value("write").toString() + ": ";
    const bool reads = context.has("read");
    const bool isSame = reads && context.in("written").shape() == context.in("read").shape() &&
                        written == elementsOf(context.in("read"));
    std::ranges::sort(written);
    if (!reads && std::ranges::adjacent_find(written) != written.end()) return opError(where + operators::kRepeatText);
    if (reads && !(isSame && context.value("allows_same").toBool())) {
        for (const std::int64_t element : elementsOf(context.in("read"))) {
            if (std::ranges::binary_search(written, element)) return opError(where + operators::kOverlapText);
        }
    }
    context.setOutput(Value::ofBool(true));
    return {};
}

}  // namespace

void define_overlap_guard(Registry& registry) {
    registry.add(Row("positions", 1, "0, 1, 2, … in the shape of x", Category::Control)
                     .domain("sonde")
                     .strided()
                     .in("x")
                     .out("positions")
                     .runs(positions, [](InferContext& context) -> base::Result<void> {
                         context.set(TypeInfo::tensor(DType::Int64, context.in("x").shape));
                         return {};
                     }));
    registry.add(Row("overlap_guard", 1, "fails if a write would meet what it reads, or itself", Category::Control)
                     .domain("sonde")
                     .strided()
                     .in("written")
                     .optionalIn("read")
                     .anyIn("allows_same")
                     .anyIn("write")
                     .out("holds")
                     .runs(overlapGuard, [](InferContext& context) -> base::Result<void> {
                         TypeInfo type;
                         type.kind = ValueKind::Bool;
                         context.set(std::move(type));
                         return {};
                     }));
}

}  // namespace sonde::ops
