// ATen's scatters, fills and choices by index, over the shared moves.

#include <algorithm>

#include "core/ops/dependence/region.h"
#include "core/ops/dependence/rules.h"
#include "core/ops/kernels/move.h"
#include "core/ops/support/eager.h"
#include "core/ops/support/indices.h"
#include "core/ops/support/promotion.h"
#include "core/ops/support/shapes.h"

namespace sonde::ops {

namespace {

using kernels::Reduction;
using Ints = std::vector<std::int64_t>;

/// A copy of x with updates at index along an axis; both may be smaller than x in every dimension. Indices count from
/// the start alone, as PyTorch's scatters and index_add have it.
Tensor scattered(Eager& e, const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& updates,
                 Reduction how) {
    if (index.numel() == 0) return x;
    if (x.rank() == 0)
        return e.reshape(scattered(e, e.reshape(x, Shape{1}), 0, e.reshape(index, Shape{index.numel()}),
                                   e.reshape(updates, Shape{updates.numel()}), how),
                         Shape{});
    const std::size_t axis = e.axisOf(dim, x.rank());
    if (index.rank() != x.rank() || updates.rank() != x.rank())
        e.fail("index " + index.typeText() + " does not go with " + x.typeText());
    // Only the part of the updates that the index covers counts.
    Tensor part = updates;
    for (std::size_t i = 0; i < x.rank(); ++i) {
        if (index.dim(i) > part.dim(i) || (i != axis && index.dim(i) > x.dim(i)))
            e.fail("index " + index.typeText() + " does not go with " + updates.typeText());
        if (index.dim(i) < part.dim(i)) part = part.sliced(i, 0, index.dim(i));
    }
    e.check(checkFromStart(index, x.dim(axis)));
    const Tensor values = e.as(e.get(part.contiguous()), x.dtype());
    e.check(kernels::scatterElements(e.context(), x, e.as(index, DType::Int64), values, axis, how));
    return e.taken();
}

Tensor filledLike(Eager& e, const Tensor& index, const Value& number, DType dtype) {
    return e.get(e.get(e.get(asTensor(number, dtype)).expanded(index.shape())).contiguous());
}

Reduction namedReduction(Eager& e, const std::string& name) {
    if (name == "add" || name == "sum") return Reduction::Add;
    if (name == "multiply" || name == "prod") return Reduction::Mul;
    if (name == "amax") return Reduction::Max;
    if (name == "amin") return Reduction::Min;
    e.fail("there is no reduction '" + name + "'");
}

/// scatter_reduce: sum, prod, mean, amax, amin; without the element itself if it is to be left out.
EagerResult scatterReduce(Eager& e) {
    const Tensor x = e.tensor("self"), index = e.tensor("index"), source = e.tensor("src");
    const std::int64_t dim = e.integer("dim");
    const std::string name = e.text("reduce");
    const bool withSelf = e.flag("include_self");
    const Reduction how = name == "mean" ? Reduction::Add : namedReduction(e, name);
    Tensor start = x;
    if (!withSelf) {
        double neutral = how == Reduction::Mul ? 1 : 0;
        if (how == Reduction::Max)
            neutral = tensor::isFloating(x.dtype()) ? -INFINITY
                                                    : static_cast<double>(std::numeric_limits<std::int32_t>::min());
        if (how == Reduction::Min)
            neutral = tensor::isFloating(x.dtype()) ? INFINITY
                                                    : static_cast<double>(std::numeric_limits<std::int32_t>::max());
        start = scattered(e, x, dim, index, filledLike(e, index, Value::ofFloat(neutral), x.dtype()), Reduction::None);
    }
    const Tensor result = scattered(e, start, dim, index, source, how);
    if (name != "mean") return result;
    const Tensor ones = filledLike(e, index, Value::ofInt(1), x.dtype());
    const Tensor counts =
        scattered(e, withSelf ? e("ones_like", x) : e("zeros_like", x), dim, index, ones, Reduction::Add);
    const Tensor divisor = e("clamp_min", counts, 1);
    return tensor::isFloating(x.dtype()) ? e("div.Tensor", result, divisor) : e("floor_divide", result, divisor);
}

/// The index repeated over the other dimensions, so that slices become elements.
Tensor spreadIndex(Eager& e, const Tensor& x, std::size_t axis, const Tensor& index) {
    Ints dims(x.rank(), 1);
    dims[axis] = index.numel();
    Shape shape = x.shape();
    shape[axis] = index.numel();
    return e.get(e.get(e.reshape(index, Shape(dims)).expanded(shape)).contiguous());
}

/// index_add, index_copy, index_fill (self, dim, index, source, …): slices of source to the places that index names.
Tensor indexed(Eager& e, const Tensor& index, const Tensor& source, Reduction how) {
    const Tensor self = e.tensor("self"), x = self.rank() == 0 ? e.reshape(self, Shape{1}) : self;
    const std::size_t axis = e.axis("dim", x.rank());
    Shape shape = x.shape();
    shape[axis] = index.numel();
    const Tensor values = source.rank() == 0 ? e.get(source.expanded(shape)) : source;
    if (values.shape() != shape)
        e.fail("the source " + source.typeText() + " does not match " + std::to_string(index.numel()) + " slices of " +
               x.typeText());
    const Tensor result = scattered(e, x, static_cast<std::int64_t>(axis), spreadIndex(e, x, axis, index),
                                    e.get(values.contiguous()), how);
    return self.rank() == 0 ? e.reshape(result, Shape{}) : result;
}

EagerResult indexFill(Eager& e) {
    const Tensor x = e.tensor("self");
    const std::int64_t size = x.rank() == 0 ? 1 : x.dim(e.axis("dim", x.rank()));
    return indexed(e, e.get(countedFromStart(e.tensor("index"), size)), e.get(asTensor(e.value("value"), x.dtype())),
                   Reduction::None);
}

Tensor flat(Eager& e, const Tensor& x) { return e.reshape(x, Shape{x.numel()}); }

/// torch.take counts negative indices from the end, as index_select does not.
EagerResult take(Eager& e) {
    const Tensor x = e.tensor("self"), index = e.tensor("index");
    const Tensor from = e.get(countedFromStart(flat(e, index), x.numel()));
    return e.reshape(e("index_select", flat(e, x), 0, from), index.shape());
}

EagerResult takeAlong(Eager& e) {
    if (!e.has("dim")) return e("gather", flat(e, e.tensor("self")), 0, flat(e, e.tensor("indices")));
    Tensor x = e.tensor("self"), index = e.tensor("indices");
    const std::size_t axis = e.axis("dim", x.rank());
    if (index.rank() != x.rank()) e.fail("index " + index.typeText() + " does not go with " + x.typeText());
    Shape xs = x.shape(), is = index.shape();
    xs[axis] = is[axis] = 1;
    Shape common = e.get(broadcast(xs, is)), mine = common, theirs = common;
    mine[axis] = x.dim(axis);
    theirs[axis] = index.dim(axis);
    return e("gather", e.get(e.get(x.expanded(mine)).contiguous()), axis,
             e.get(e.get(index.expanded(theirs)).contiguous()));
}

EagerResult maskedSelect(Eager& e) {
    const Shape shape = e.get(broadcast(e.tensor("self").shape(), e.tensor("mask").shape()));
    const Tensor x = e.get(e.get(e.tensor("self").expanded(shape)).contiguous()),
                 mask = e.get(e.get(e.tensor("mask").expanded(shape)).contiguous());
    Ints places;
    for (std::int64_t i = 0; i < mask.numel(); ++i) {
        if (mask.toInt64(i) != 0) places.push_back(i);
    }
    return e("index_select", flat(e, x), 0,
             Tensor::of<std::int64_t>({static_cast<std::int64_t>(places.size())}, places));
}

/// The elements of source, in their order, where the mask is true.
EagerResult maskedScatter(Eager& e) {
    const Tensor x = e.tensor("self"), source = e.as(e.get(e.tensor("source").contiguous()), e.tensor("self").dtype());
    const Tensor mask = e.get(e.get(e.tensor("mask").expanded(x.shape())).contiguous());
    Tensor y = e.get(x.clone());
    const std::size_t item = tensor::itemSize(x.dtype());
    std::int64_t next = 0;
    for (std::int64_t i = 0; i < x.numel(); ++i) {
        if (mask.toInt64(i) == 0) continue;
        if (next >= source.numel()) e.fail("the mask has more true elements than the source has elements");
        std::copy_n(source.bytes() + static_cast<std::size_t>(next++) * item, item,
                    y.mutableBytes() + static_cast<std::size_t>(i) * item);
    }
    return y;
}

/// put: source's elements at places of the flattened tensor; negative ones count from its end.
EagerResult put(Eager& e) {
    const Tensor x = e.tensor("self");
    const Tensor index = e.get(countedFromStart(flat(e, e.tensor("index")), x.numel()));
    return e.reshape(scattered(e, flat(e, x), 0, index, flat(e, e.tensor("source")),
                               e.flag("accumulate") ? Reduction::Add : Reduction::None),
                     x.shape());
}

/// Rows of the weight summed, averaged or reduced to the largest, in bags that begin at offsets (mode 0, 1, 2).
EagerResult embeddingBag(Eager& e) {
    const Tensor weight = e.tensor("weight"), indices = e.as(flat(e, e.tensor("indices")), DType::Int64),
                 offsets = e.as(e.tensor("offsets"), DType::Int64);
    const Tensor weights = e.has("per_sample_weights") ? flat(e, e.tensor("per_sample_weights")) : Tensor();
    const std::int64_t mode = e.integer("mode");
    const bool lastOffset = e.flag("include_last_offset");
    const std::int64_t padding = e.has("padding_idx") ? e.integer("padding_idx") : -1;
    const std::int64_t bags = std::max<std::int64_t>(offsets.numel() - (lastOffset ? 1 : 0), 0);
    if (weight.rank() != 2 || mode < 0 || mode > 2)
        e.fail("bags of " + weight.typeText() + " in mode " + std::to_string(mode));
    std::vector<Tensor> rows;
    Ints bagOf(static_cast<std::size_t>(indices.numel()), -1), sizes;
    for (std::int64_t bag = 0; bag < bags; ++bag) {
        const std::int64_t begin = offsets.data<std::int64_t>()[bag];
        const std::int64_t end = bag + 1 < offsets.numel() ? offsets.data<std::int64_t>()[bag + 1] : indices.numel();
        if (begin < 0 || end < begin || end > indices.numel()) e.fail("the offsets of the bags are out of order");
        Ints kept, places;
        for (std::int64_t i = begin; i < end; ++i) {
            bagOf[static_cast<std::size_t>(i)] = bag;
            if (indices.data<std::int64_t>()[i] == padding) continue;
            kept.push_back(indices.data<std::int64_t>()[i]);
            places.push_back(i);
        }
        sizes.push_back(static_cast<std::int64_t>(kept.size()));
        if (kept.empty()) {
            rows.push_back(e.get(Tensor::zeros(weight.dtype(), Shape{weight.dim(1)})));
            continue;
        }
        Tensor part = e("index_select", weight, 0, Tensor::of<std::int64_t>({sizes.back()}, kept));
        if (weights.defined()) {
            const Tensor factors = e("index_select", weights, 0, Tensor::of<std::int64_t>({sizes.back()}, places));
            part = e("mul.Tensor", part, factors.unsqueezed(1));
        }
        rows.push_back(mode == 0   ? e("sum.dim_IntList", part, Ints{0})
                       : mode == 1 ? e("mean.dim", part, Ints{0})
                                   : e("amax", part, Ints{0}));
    }
    const Tensor result =
        rows.empty() ? e.get(Tensor::zeros(weight.dtype(), Shape{0, weight.dim(1)})) : e("stack", rows);
    const Tensor members = Tensor::of<std::int64_t>({static_cast<std::int64_t>(bagOf.size())}, bagOf);
    const Tensor counts = Tensor::of<std::int64_t>({bags}, sizes);
    return std::vector<Value>{Value(result), Value(members), Value(counts), Value(counts)};
}

/// The rows of a bag, added, averaged, or the largest of each column.
base::Result<Dependence> bagTerms(const ElementCall& call) {
    const KernelContext& context = call.context;
    if (call.output != 0 || call.at.size() != 2) return opError("places and counts of bags have no formula");
    const Tensor &table = context.in("weight"), &indices = context.in("indices"),
                 &offsets = context.in(call.op.position("offsets"));
    SONDE_ASSIGN(const std::int64_t mode, intOf(context.value("mode")));
    std::int64_t padding = -1;
    if (context.has(call.op.position("padding_idx"))) {
        SONDE_ASSIGN(padding, intOf(context.value(call.op.position("padding_idx"))));
    }
    const std::int64_t bag = call.at[0], begin = offsets.toInt64(bag),
                       end = bag + 1 < offsets.numel() ? offsets.toInt64(bag + 1) : indices.numel();
    if (begin < 0 || end > indices.numel()) return opError("the offsets do not match the indices");
    const bool isWeighted = context.has(call.op.position("per_sample_weights"));
    Dependence made;
    const std::uint32_t part = made.listPart("x", isWeighted ? "w" : ""), index = made.listPart("index");
    for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t row = indices.toInt64(i);
        if (row == padding) continue;
        if (row < 0 || row >= table.dim(0)) return opError("an index is out of range");
        dependence::addElement(made, part, call, context.position("weight"), row * table.dim(1) + call.at[1]);
        if (isWeighted) {
            DependenceTerm& term = made.terms.back();
            term.weightInput = static_cast<std::uint32_t>(call.op.position("per_sample_weights"));
            term.weightElement = i;
            term.weight = context.in(call.op.position("per_sample_weights")).toDouble(i);
        }
        dependence::addElement(made, index, call, context.position("indices"), i);
        made.terms.back().weight = 0;
    }
    if (made.terms.empty()) return dependence::constantElement(0);
    made.formula = isWeighted ? "sum(w * x)" : mode == 0 ? "sum(x)" : mode == 1 ? "mean(x)" : "max(x)";
    if (mode == 2) dependence::weighChosen(made, part, true);
    return made;
}

}  // namespace

void define_aten_gather(Registry& registry) {
    registry.add(eagerRow(
        "scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor", "x with y[index[i][j]][j] = src[i][j]",
        kTensor,
        [](Eager& e) -> EagerResult {
            return scattered(e, e.tensor("self"), e.integer("dim"), e.tensor("index"), e.tensor("src"),
                             Reduction::None);
        },
        inferSame));
    registry.add(eagerRow(
        "scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor", "x with y[index[i][j]][j] = value",
        kTensor,
        [](Eager& e) -> EagerResult {
            return scattered(e, e.tensor("self"), e.integer("dim"), e.tensor("index"),
                             filledLike(e, e.tensor("index"), e.value("value"), e.tensor("self").dtype()),
                             Reduction::None);
        },
        inferSame));
    registry.add(eagerRow(
        "scatter.reduce(Tensor self, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor",
        "x with sources added or multiplied in", kTensor,
        [](Eager& e) -> EagerResult {
            return scattered(e, e.tensor("self"), e.integer("dim"), e.tensor("index"), e.tensor("src"),
                             namedReduction(e, e.text("reduce")));
        },
        inferSame));
    registry.add(eagerRow(
        "scatter.value_reduce(Tensor self, int dim, Tensor index, Scalar value, *, str reduce) -> Tensor",
        "x with a number added or multiplied in", kTensor,
        [](Eager& e) -> EagerResult {
            return scattered(e, e.tensor("self"), e.integer("dim"), e.tensor("index"),
                             filledLike(e, e.tensor("index"), e.value("value"), e.tensor("self").dtype()),
                             namedReduction(e, e.text("reduce")));
        },
        inferSame));
    registry.add(eagerRow(
        "scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
        "x with y[index[i][j]][j] += src[i][j]", kTensor,
        [](Eager& e) -> EagerResult {
            return scattered(e, e.tensor("self"), e.integer("dim"), e.tensor("index"), e.tensor("src"), Reduction::Add);
        },
        inferSame));
    registry.add(eagerRow(
        "scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True) -> Tensor",
        "x with sources combined in", kTensor, scatterReduce, inferSame));
    registry.add(eagerRow(
        "index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor",
        "x with slices added at indices", kTensor,
        [](Eager& e) -> EagerResult {
            const Tensor source = e.tensor("source");
            return indexed(e, e.tensor("index"),
                           e.number("alpha") == 1 ? source : e("mul.Scalar", source, e.value("alpha")), Reduction::Add);
        },
        inferSame));
    registry.add(eagerRow(
        "index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor", "x with slices replaced at indices",
        kTensor,
        [](Eager& e) -> EagerResult { return indexed(e, e.tensor("index"), e.tensor("source"), Reduction::None); },
        inferSame));
    registry.add(eagerRow("index_fill.int_Scalar(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
                          "x with one number in slices", kTensor, indexFill, inferSame));
    registry.add(eagerRow("index_fill.int_Tensor(Tensor self, int dim, Tensor index, Tensor value) -> Tensor",
                          "x with one number in slices", kTensor, indexFill, inferSame));
    registry.add(eagerRow("take(Tensor self, Tensor index) -> Tensor", "elements by their number", kTensor, take));
    registry.add(eagerRow("take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor",
                          "y[i][j] = x[index[i][j]][j]", kTensor, takeAlong));
    registry.add(eagerRow("put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor",
                          "x with elements replaced by number", kTensor, put, inferSame));
    registry.add(eagerRow("masked_select(Tensor self, Tensor mask) -> Tensor", "the elements where the mask is true",
                          kTensor, maskedSelect));
    registry.add(eagerRow("masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor",
                          "x with elements of source where the mask is true", kTensor, maskedScatter, inferSame));
    registry.add(eagerRow(
        "embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int mode=0, bool sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False) -> (Tensor, Tensor, Tensor, Tensor)",
        "rows of a table, summed in bags", Category::Layer, embeddingBag));
    registry.add(eagerRow(
        "embedding_bag.padding_idx(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq, int mode, bool sparse, Tensor? per_sample_weights, bool include_last_offset, int? padding_idx) -> (Tensor, Tensor, Tensor, Tensor)",
        "rows of a table, summed in bags", Category::Layer, embeddingBag));
    explain("aten", "scatter.src scatter.value", dependence::moved, "self src value");
    explain("aten", "scatter_add", dependence::scattered, "gather add");
    explain("aten", "scatter_reduce scatter.reduce", dependence::scattered, "gather");
    explain("aten", "index_add", dependence::scattered, "index_select add");
    explain("aten", "embedding_bag", bagTerms);
}

}  // namespace sonde::ops
