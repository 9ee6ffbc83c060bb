// Reading and writing by index.

#include "core/ops/dependence/rules.h"
#include "core/ops/kernels/move.h"
#include "core/ops/support/indices.h"
#include "core/ops/support/row.h"
#include "core/ops/support/shapes.h"

namespace sonde::ops {

namespace {

using tensor::Dim;

base::Result<void> gather(KernelContext& context) {
    SONDE_ASSIGN(const std::size_t axis, axisOf(context.attributes().getInt("axis", 0), context.in("data").rank()));
    return kernels::gather(context, context.in("data"), context.in("indices"), axis);
}

base::Result<void> inferGather(InferContext& context) {
    const auto &x = context.in("data").shape, &indices = context.in("indices").shape;
    if (!x || !indices) {
        setLike(context, "data", std::nullopt);
        return {};
    }
    SONDE_ASSIGN(const std::size_t axis, axisOf(context.attributes().getInt("axis", 0), x->size()));
    Dims dims(x->begin(), x->begin() + static_cast<std::ptrdiff_t>(axis));
    dims.insert(dims.end(), indices->begin(), indices->end());
    dims.insert(dims.end(), x->begin() + static_cast<std::ptrdiff_t>(axis) + 1, x->end());
    setLike(context, "data", std::move(dims));
    return {};
}

base::Result<void> gatherElements(KernelContext& context) {
    SONDE_ASSIGN(const std::size_t axis, axisOf(context.attributes().getInt("axis", 0), context.in("data").rank()));
    return kernels::gatherElements(context, context.in("data"), context.in("indices"), axis);
}

base::Result<void> scatterElements(KernelContext& context) {
    SONDE_ASSIGN(const std::size_t axis, axisOf(context.attributes().getInt("axis", 0), context.in("data").rank()));
    SONDE_ASSIGN(const kernels::Reduction reduction,
                 kernels::reductionOf(context.attributes().getString("reduction", "none")));
    return kernels::scatterElements(context, context.in("data"), context.in("indices"), context.in("updates"), axis,
                                    reduction);
}

base::Result<void> gatherND(KernelContext& context) {
    const std::int64_t batch = context.attributes().getInt("batch_dims", 0);
    if (batch < 0 || batch > static_cast<std::int64_t>(context.in("data").rank()))
        return opError("batch_dims " + std::to_string(batch) + " is out of range");
    return kernels::gatherND(context, context.in("data"), context.in("indices"), static_cast<std::size_t>(batch));
}

base::Result<void> inferGatherND(InferContext& context) {
    const auto &x = context.in("data").shape, &indices = context.in("indices").shape;
    const std::int64_t batch = context.attributes().getInt("batch_dims", 0);
    if (!x || !indices || indices->empty() || !indices->back().known() || batch < 0 ||
        indices->back().value + batch > static_cast<std::int64_t>(x->size())) {
        setLike(context, "data", std::nullopt);
        return {};
    }
    Dims dims(indices->begin(), indices->end() - 1);
    dims.insert(dims.end(), x->begin() + indices->back().value + batch, x->end());
    setLike(context, "data", std::move(dims));
    return {};
}

base::Result<void> scatterND(KernelContext& context) {
    SONDE_ASSIGN(const kernels::Reduction reduction,
                 kernels::reductionOf(context.attributes().getString("reduction", "none")));
    return kernels::scatterND(context, context.in("data"), context.in("indices"), context.in("updates"), reduction);
}

base::Result<void> inferLikeIndices(InferContext& context) {
    setLike(context, "data", context.in("indices").shape);
    return {};
}

}  // namespace

void define_gather_ops(Registry& registry) {
    registry.add(Row("Gather", 1, "the slices that indices name along an axis", Category::Tensor)
                     .in("data")
                     .in("indices", kIndex)
                     .out("output")
                     .attrInt("axis", 0)
                     .runs(gather, inferGather));
    registry.add(Row("GatherElements", 11, "single elements that indices name along an axis", Category::Tensor)
                     .in("data")
                     .in("indices", kIndex)
                     .out("output")
                     .attrInt("axis", 0)
                     .runs(gatherElements, inferLikeIndices));
    registry.add(Row("GatherND", 11, "the slices that rows of indices name", Category::Tensor)
                     .in("data")
                     .in("indices", kInt64)
                     .out("output")
                     .attrInt("batch_dims", 0)
                     .runs(gatherND, inferGatherND));
    for (std::string_view name : {"ScatterElements", "Scatter"}) {
        registry.add(Row(name, name == "Scatter" ? 9 : 11,
                         "a copy with single elements replaced or combined by index along an axis", Category::Tensor)
                         .in("data", kAnyDType, "T")
                         .in("indices", kIndex)
                         .in("updates", kAnyDType, "T")
                         .out("output")
                         .attrInt("axis", 0)
                         .attrString("reduction", "none")
                         .runs(scatterElements, inferSame));
    }
    registry.add(Row("ScatterND", 11, "a copy with slices replaced or combined by rows of indices", Category::Tensor)
                     .in("data", kAnyDType, "T")
                     .in("indices", kInt64)
                     .in("updates", kAnyDType, "T")
                     .out("output")
                     .attrString("reduction", "none")
                     .runs(scatterND, inferSame));
    registry.add(atenRow(
        "embedding(Tensor weight, Tensor indices, int padding_idx=-1, bool scale_grad_by_freq=False, bool sparse=False) -> Tensor",
        "rows of a table", Category::Layer,
        [](KernelContext& context) -> base::Result<void> {
            if (context.in("weight").rank() < 1) return opError("the table is a scalar");
            SONDE_TRY(checkFromStart(context.in("indices"), context.in("weight").dim(0)));
            return kernels::gather(context, context.in("weight"), context.in("indices"), 0);
        },
        [](InferContext& context) -> base::Result<void> {
            const auto &x = context.in("weight").shape, &indices = context.in("indices").shape;
            std::optional<Dims> dims;
            if (x && indices && !x->empty()) {
                dims = *indices;
                dims->insert(dims->end(), x->begin() + 1, x->end());
            }
            setLike(context, "weight", std::move(dims));
            return {};
        }));
    explain("", "Gather", dependence::gathered, "axis");
    explain("aten", "embedding", dependence::gathered);
    explain("", "ScatterElements Scatter", dependence::scattered, "GatherElements");
    explain("", "ScatterND", dependence::scattered, "GatherND");
}

}  // namespace sonde::ops
