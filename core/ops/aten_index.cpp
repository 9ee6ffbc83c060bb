// ATen's gathers, masks and Boolean tables, over the shared kernels.

#include <algorithm>
#include <numeric>

#include "core/ops/dependence/rules.h"
#include "core/ops/kernels/move.h"
#include "core/ops/support/indices.h"
#include "core/ops/support/invoke.h"
#include "core/ops/support/promotion.h"
#include "core/ops/support/row.h"
#include "core/ops/support/shapes.h"
#include "core/tensor/dispatch.h"

namespace sonde::ops {

namespace {

base::Result<void> indexSelect(KernelContext& context) {
    SONDE_ASSIGN(const std::int64_t dim, intOf(context.value("dim")));
    SONDE_ASSIGN(const std::size_t axis, axisOf(dim, context.in("self").rank()));
    Tensor index = context.in("index");
    SONDE_TRY(checkFromStart(index, context.in("self").rank() == 0 ? 1 : context.in("self").dim(axis)));
    // The axis stays, even for a single number.
    if (index.rank() == 0 && context.in("self").rank() > 0) {
        SONDE_ASSIGN(index, index.reshaped({1}));
    }
    return kernels::gather(context, context.in("self"), index, axis);
}

base::Result<void> inferIndexSelect(InferContext& context) {
    if (!context.in("self").shape || context.constant("dim").isNone()) return {};
    SONDE_ASSIGN(const std::int64_t dim, intOf(context.constant("dim")));
    Dims dims = *context.in("self").shape;
    SONDE_ASSIGN(const std::size_t axis, axisOf(dim, dims.size()));
    const auto& index = context.in("index").shape;
    if (!dims.empty())
        dims[axis] = !index ? Dim{} : index->empty() ? Dim::of(1) : index->size() == 1 ? index->front() : Dim{};
    setLike(context, "self", std::move(dims));
    return {};
}

base::Result<void> atenGather(KernelContext& context) {
    SONDE_ASSIGN(const std::int64_t dim, intOf(context.value("dim")));
    SONDE_ASSIGN(const std::size_t axis, axisOf(dim, context.in("self").rank()));
    SONDE_TRY(checkFromStart(context.in("index"), context.in("self").rank() == 0 ? 1 : context.in("self").dim(axis)));
    return kernels::gatherElements(context, context.in("self"), context.in("index"), axis);
}

base::Result<void> inferAtenGather(InferContext& context) {
    setLike(context, "self", context.in("index").shape);
    return {};
}

/// A mask as the positions of its true elements, one vector per dimension.
base::Result<std::vector<Tensor>> positions(const Tensor& mask) {
    std::vector<std::vector<std::int64_t>> found(mask.rank());
    const std::vector<std::int64_t> strides = mask.shape().contiguousStrides();
    for (std::int64_t i = 0; i < mask.numel(); ++i) {
        if (mask.toInt64(i) == 0) continue;
        std::int64_t rest = i;
        for (std::size_t axis = 0; axis < mask.rank(); ++axis) {
            found[axis].push_back(rest / strides[axis]);
            rest %= strides[axis];
        }
    }
    std::vector<Tensor> result;
    for (const auto& list : found)
        result.push_back(Tensor::of<std::int64_t>({static_cast<std::int64_t>(list.size())}, list));
    return result;
}

/// Index tensors by dimension (undefined: all of it), masks taken apart, all of one shape.
struct Indices {
    std::vector<Tensor> tensors;
    std::vector<std::size_t> axes;  ///< that are indexed, rising
};

base::Result<Indices> readIndices(const Tensor& x, const Value& list) {
    if (!list.isListLike()) return opError("indices are a list");
    Indices result;
    std::size_t axis = 0;
    Shape shape;
    for (const Value& item : list.items()) {
        if (item.isNone()) {
            ++axis;
            continue;
        }
        if (!item.isTensor()) return opError("an index is " + item.typeText());
        std::vector<Tensor> parts{item.tensor()};
        if (item.tensor().dtype() == DType::Bool || item.tensor().dtype() == DType::UInt8) {
            for (std::size_t i = 0; i < item.tensor().rank(); ++i) {
                if (axis + i >= x.rank() || x.dim(axis + i) != item.tensor().dim(i))
                    return opError("the mask " + item.typeText() + " does not match " + x.typeText());
            }
            SONDE_ASSIGN(parts, positions(item.tensor()));
        }
        for (Tensor& part : parts) {
            if (axis >= x.rank()) return opError("too many indices for " + x.typeText());
            SONDE_ASSIGN(shape, broadcast(shape, part.shape()));
            SONDE_ASSIGN(Tensor whole, part.cast(DType::Int64));
            result.tensors.push_back(std::move(whole));
            result.axes.push_back(axis++);
        }
    }
    for (std::size_t i = 0; i < result.tensors.size(); ++i) {
        SONDE_ASSIGN(const Tensor wide, result.tensors[i].expanded(shape));
        SONDE_ASSIGN(Tensor packed, wide.contiguous());
        for (std::int64_t k = 0; k < packed.numel(); ++k) {
            const std::int64_t at = packed.data<std::int64_t>()[k];
            const std::int64_t dimSize = x.dim(result.axes[i]);
            if (at < -dimSize || at >= dimSize)
                return opError("index " + std::to_string(at) + " is out of range for dimension " +
                               std::to_string(result.axes[i]) + " of " + x.typeText());
        }
        result.tensors[i] = std::move(packed);
    }
    return result;
}

/// For indices [i1, i2, …] on axes that stand next to each other: x[.., i1, i2, .., :]. The indexed axes are replaced
/// by the indices' dimensions; if they are not neighbours, these come first (numpy's rule).
struct IndexPlan {
    Indices indices;
    std::vector<std::size_t> order;  ///< x's axes with the indexed ones in front
    Shape rest;                      ///< dimensions of the others
    std::size_t place = 0;           ///< where the indices' dimensions go
};

base::Result<IndexPlan> planIndex(const Tensor& x, const Value& list) {
    IndexPlan plan;
    SONDE_ASSIGN(plan.indices, readIndices(x, list));
    plan.order = plan.indices.axes;
    for (std::size_t axis = 0; axis < x.rank(); ++axis) {
        if (std::ranges::find(plan.indices.axes, axis) != plan.indices.axes.end()) continue;
        plan.order.push_back(axis);
        plan.rest.push_back(x.dim(axis));
    }
    const std::vector<std::size_t>& axes = plan.indices.axes;
    if (!axes.empty() && axes.back() - axes.front() + 1 == axes.size()) plan.place = axes.front();
    return plan;
}

/// Row number in the front axes for each element of the indices.
std::vector<std::int64_t> rowNumbers(const Tensor& x, const IndexPlan& plan) {
    std::vector<std::int64_t> rows(
        plan.indices.tensors.empty() ? 1 : static_cast<std::size_t>(plan.indices.tensors.front().numel()), 0);
    for (std::size_t i = 0; i < plan.indices.tensors.size(); ++i) {
        const std::int64_t dimSize = x.dim(plan.indices.axes[i]);
        const std::int64_t* at = plan.indices.tensors[i].data<std::int64_t>();
        for (std::size_t k = 0; k < rows.size(); ++k)
            rows[k] = rows[k] * dimSize + (at[k] < 0 ? at[k] + dimSize : at[k]);
    }
    return rows;
}

/// The dimensions of indices [0, n) moved to where they belong.
Tensor placed(const Tensor& front, std::size_t n, std::size_t place) {
    std::vector<std::size_t> axes;
    for (std::size_t i = 0; i < place; ++i) axes.push_back(n + i);
    for (std::size_t i = 0; i < n; ++i) axes.push_back(i);
    for (std::size_t i = n + place; i < front.rank(); ++i) axes.push_back(i);
    return front.permuted(axes);
}

base::Result<void> index(KernelContext& context) {
    const Tensor& x = context.in("self");
    SONDE_ASSIGN(const IndexPlan plan, planIndex(x, context.value("indices")));
    if (plan.indices.tensors.empty()) {
        context.setOutput(context.value("self"));
        return {};
    }
    SONDE_ASSIGN(const Tensor source, x.permuted(plan.order).contiguous());
    const std::vector<std::int64_t> rows = rowNumbers(x, plan);
    Shape shape = plan.indices.tensors.front().shape();
    const std::size_t n = shape.rank();
    for (std::int64_t dimSize : plan.rest) shape.push_back(dimSize);
    SONDE_ASSIGN(Tensor result, Tensor::allocate(x.dtype(), shape));
    const std::size_t bytes = static_cast<std::size_t>(plan.rest.numel()) * tensor::itemSize(x.dtype());
    for (std::size_t k = 0; k < rows.size(); ++k) {
        std::copy_n(source.bytes() + static_cast<std::size_t>(rows[k]) * bytes, bytes,
                    result.mutableBytes() + k * bytes);
    }
    SONDE_ASSIGN(Tensor packed, placed(result, n, plan.place).contiguous());
    context.setOutput(Value(std::move(packed)));
    return {};
}

/// target[rows[k]] += values[k], rows of `width` elements.
base::Result<void> addRows(Tensor& target, const Tensor& values, const std::vector<std::int64_t>& rows,
                           std::int64_t width) {
    const bool done = tensor::dispatchNumbers(target.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        for (std::size_t k = 0; k < rows.size(); ++k) {
            T* to = target.mutableData<T>() + rows[k] * width;
            const T* from = values.data<T>() + static_cast<std::int64_t>(k) * width;
            for (std::int64_t i = 0; i < width; ++i) to[i] = static_cast<T>(to[i] + from[i]);
        }
    });
    return done ? base::Result<void>() : opError("cannot add to " + target.typeText());
}

/// A copy of x with x[indices] = values (or += values).
base::Result<void> indexPut(KernelContext& context) {
    const Tensor& x = context.in("self");
    SONDE_ASSIGN(const IndexPlan plan, planIndex(x, context.value("indices")));
    SONDE_ASSIGN(const double accumulate, numberOf(context.value("accumulate")));
    if (plan.indices.tensors.empty()) return opError("index_put without an index");
    const std::vector<std::int64_t> rows = rowNumbers(x, plan);
    SONDE_ASSIGN(Tensor target, x.permuted(plan.order).clone());
    Shape front = plan.indices.tensors.front().shape();
    const std::size_t n = front.rank();
    for (std::int64_t dimSize : plan.rest) front.push_back(dimSize);
    // Values are laid out as the indexing's result is; bring the indices' dimensions back to the front.
    std::vector<std::int64_t> resultDims;
    for (std::size_t i = 0; i < plan.place; ++i) resultDims.push_back(front[n + i]);
    for (std::size_t i = 0; i < n; ++i) resultDims.push_back(front[i]);
    for (std::size_t i = n + plan.place; i < front.rank(); ++i) resultDims.push_back(front[i]);
    std::vector<std::size_t> back;
    for (std::size_t i = 0; i < n; ++i) back.push_back(plan.place + i);
    for (std::size_t i = 0; i < plan.place; ++i) back.push_back(i);
    for (std::size_t i = plan.place + n; i < front.rank(); ++i) back.push_back(i);
    SONDE_ASSIGN(const Tensor converted, asTensor(context.value("values"), x.dtype()));
    SONDE_ASSIGN(const Tensor wide, converted.expanded(Shape(resultDims)));
    SONDE_ASSIGN(const Tensor values, wide.permuted(back).contiguous());
    const std::size_t bytes = static_cast<std::size_t>(plan.rest.numel()) * tensor::itemSize(x.dtype());
    if (accumulate != 0) {
        SONDE_TRY(addRows(target, values, rows, plan.rest.numel()));
    } else {
        for (std::size_t k = 0; k < rows.size(); ++k) {
            std::copy_n(values.bytes() + k * bytes, bytes,
                        target.mutableBytes() + static_cast<std::size_t>(rows[k]) * bytes);
        }
    }
    std::vector<std::size_t> inverse(plan.order.size());
    for (std::size_t i = 0; i < plan.order.size(); ++i) inverse[plan.order[i]] = i;
    SONDE_ASSIGN(Tensor result, target.permuted(inverse).contiguous());
    context.setOutput(Value(std::move(result)));
    return {};
}

/// mask ? value : x
base::Result<void> maskedFill(KernelContext& context) {
    const Tensor& x = context.in("self");
    SONDE_ASSIGN(Tensor value, asTensor(context.value("value"), x.dtype()));
    SONDE_ASSIGN(Tensor result, invokeAten(context, "where.self",
                                           {context.value("mask"), Value(std::move(value)), context.value("self")}));
    context.setOutput(Value(std::move(result)));
    return {};
}

/// Any kind of element counts as true if it is not 0.
base::Result<void> logical(KernelContext& context, std::string_view name) {
    std::vector<Value> operands;
    for (std::size_t i = 0; i < context.inputCount(); ++i) {
        SONDE_ASSIGN(Tensor condition, asTensor(context.value(i), DType::Bool));
        operands.emplace_back(std::move(condition));
    }
    SONDE_ASSIGN(auto results, invoke(context, "", name, std::move(operands)));
    context.setOutput(std::move(results.front()));
    return {};
}

/// Bits of integers; of bools as the logical ones.
base::Result<void> bitwiseNot(KernelContext& context) {
    if (context.in("self").dtype() == DType::Bool) return logical(context, "Not");
    SONDE_ASSIGN(auto results, invoke(context, "", "BitwiseNot", {context.value("self")}));
    context.setOutput(std::move(results.front()));
    return {};
}

/// Elements move by `shifts` along `dims` and come in again at the other end.
base::Result<void> roll(KernelContext& context) {
    Tensor x = context.in("self");
    SONDE_ASSIGN(const std::vector<std::int64_t> shifts, intsOf(context.value("shifts")));
    SONDE_ASSIGN(const std::vector<std::int64_t> dims, intsOf(context.value("dims")));
    if (dims.empty() && shifts.size() == 1) {  // all elements in one line
        SONDE_ASSIGN(Tensor line, x.reshaped(Shape{x.numel()}));
        SONDE_ASSIGN(
            line, invokeAten(context, "roll", {Value(line), context.value("shifts"), Value::list({Value::ofInt(0)})}));
        SONDE_ASSIGN(Tensor result, line.reshaped(x.shape()));
        context.setOutput(Value(std::move(result)));
        return {};
    }
    if (shifts.size() != dims.size()) return opError("roll needs a shift for each dimension");
    for (std::size_t i = 0; i < dims.size(); ++i) {
        SONDE_ASSIGN(const std::size_t axis, axisOf(dims[i], x.rank()));
        const std::int64_t dimSize = x.dim(axis);
        if (dimSize == 0) continue;
        const std::int64_t shift = ((shifts[i] % dimSize) + dimSize) % dimSize;
        const Value parts =
            Value::list({Value(x.sliced(axis, dimSize - shift, shift)), Value(x.sliced(axis, 0, dimSize - shift))});
        SONDE_ASSIGN(x, invokeAten(context, "cat", {parts, Value::ofInt(static_cast<std::int64_t>(axis))}));
    }
    context.setOutput(Value(std::move(x)));
    return {};
}

void add(Registry& registry, std::string_view schema, std::string_view summary, Category category,
         std::function<base::Result<void>(KernelContext&)> kernel,
         std::function<base::Result<void>(InferContext&)> infer = {}) {
    OpDef def = atenRow(schema, summary, category, std::move(kernel), std::move(infer));
    for (Formal& input : def.inputs) input.tensorOnly = false;
    registry.add(std::move(def));
}

}  // namespace

void define_aten_index(Registry& registry) {
    add(registry, "index_select(Tensor self, int dim, Tensor index) -> Tensor", "slices of x by number",
        Category::Tensor, indexSelect, inferIndexSelect);
    add(registry, "gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor",
        "y[i][j] = x[index[i][j]][j]", Category::Tensor, atenGather, inferAtenGather);
    add(registry, "index.Tensor(Tensor self, Tensor?[] indices) -> Tensor",
        "x[i, j, …] with tensors or masks as indices", Category::Tensor, index);
    for (std::string_view schema :
         {"index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor",
          "_unsafe_index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor"}) {
        add(registry, schema, "x with x[i, j, …] = values", Category::Tensor, indexPut, inferSame);
    }
    for (std::string_view schema : {"masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> Tensor",
                                    "masked_fill.Tensor(Tensor self, Tensor mask, Tensor value) -> Tensor"}) {
        add(registry, schema, "a number where the mask is true, x elsewhere", Category::Tensor, maskedFill, inferSame);
    }
    add(
        registry, "logical_and(Tensor self, Tensor other) -> Tensor", "both are not 0", Category::Logic,
        [](KernelContext& c) { return logical(c, "And"); }, inferBroadcastBool);
    add(
        registry, "logical_or(Tensor self, Tensor other) -> Tensor", "one of them is not 0", Category::Logic,
        [](KernelContext& c) { return logical(c, "Or"); }, inferBroadcastBool);
    add(
        registry, "logical_xor(Tensor self, Tensor other) -> Tensor", "just one of them is not 0", Category::Logic,
        [](KernelContext& c) { return logical(c, "Xor"); }, inferBroadcastBool);
    add(
        registry, "logical_not(Tensor self) -> Tensor", "is 0", Category::Logic,
        [](KernelContext& c) { return logical(c, "Not"); }, inferBroadcastBool);
    add(registry, "bitwise_not(Tensor self) -> Tensor", "bits inverted", Category::Logic, bitwiseNot, inferSame);
    add(registry, "roll(Tensor self, int[1] shifts, int[1] dims=[]) -> Tensor", "elements moved round",
        Category::Tensor, roll, inferSame);
    explain("aten", "index_select", dependence::gathered, "dim");
    explain("aten", "index take take_along_dim masked_select", dependence::moved, "self");
    explain("aten", "index_put", dependence::moved, "self values");
    explain("aten", "index_copy masked_scatter", dependence::moved, "self source");
    explain("aten", "index_fill", dependence::moved, "self value");
    explain("aten", "put", dependence::moved, "self source");
    explain("aten", "_unsafe_index_put", dependence::moved, "self values");
}

}  // namespace sonde::ops
