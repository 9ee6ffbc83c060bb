// Sorting, counting, running sums, and what depends on the values for its shape.

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "core/ops/dependence/rules.h"
#include "core/ops/kernels/move.h"
#include "core/ops/support/row.h"
#include "core/ops/support/shapes.h"
#include "core/ops/support/wide.h"
#include "core/tensor/dispatch.h"

namespace sonde::ops {

namespace {

using tensor::Dim;

/// An axis between what lies outside and inside of it.
struct Line {
    std::int64_t outer = 1, n = 1, inner = 1;
    std::int64_t at(std::int64_t line) const { return line / inner * n * inner + line % inner; }
};
Line lineOf(const Shape& shape, std::size_t axis) {
    Line line;
    for (std::size_t i = 0; i < shape.rank(); ++i) (i < axis ? line.outer : i > axis ? line.inner : line.n) *= shape[i];
    return line;
}

/// x[0] ∘ x[1] ∘ … up to each position; exclusive leaves the position itself out.
base::Result<void> cumulate(KernelContext& context, bool product, std::int64_t axis, bool exclusive, bool reverse) {
    const Tensor& x = context.in("x");
    SONDE_ASSIGN(const std::size_t at, axisOf(axis, std::max<std::size_t>(x.rank(), 1)));
    SONDE_ASSIGN(Tensor y, context.output(x.dtype(), x.shape()));
    if (x.numel() == 0) return {};
    const Line line = lineOf(x.shape(), at);
    const bool done = tensor::dispatchNumbers(x.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        using Sum = std::conditional_t<std::is_integral_v<T>, std::uint64_t, double>;
        for (std::int64_t l = 0; l < line.outer * line.inner; ++l) {
            const T* in = x.data<T>() + line.at(l);
            T* out = y.mutableData<T>() + line.at(l);
            Sum sum = product ? 1 : 0;
            for (std::int64_t i = 0; i < line.n; ++i) {
                const std::int64_t p = (reverse ? line.n - 1 - i : i) * line.inner;
                const Sum before = sum;
                sum = product ? static_cast<Sum>(sum * static_cast<Sum>(in[p]))
                              : static_cast<Sum>(sum + static_cast<Sum>(in[p]));
                out[p] = static_cast<T>(exclusive ? before : sum);
            }
        }
    });
    return done ? base::Result<void>() : opError("is not defined for " + x.typeText());
}

base::Result<void> onnxCumulate(KernelContext& context, bool product) {
    SONDE_ASSIGN(const std::int64_t axis, intOf(context.value("axis")));
    return cumulate(context, product, axis, context.attributes().getInt("exclusive", 0) != 0,
                    context.attributes().getInt("reverse", 0) != 0);
}

/// Keeps the part on and above (or below) diagonal k; the rest is zero.
base::Result<void> triangle(KernelContext& context, bool upper, std::int64_t k) {
    const Tensor& x = context.in("input");
    if (x.rank() < 2) return opError("needs a matrix, but has " + x.typeText());
    SONDE_ASSIGN(Tensor y, context.output(x.dtype(), x.shape()));
    const std::int64_t rows = x.dim(x.rank() - 2), columns = x.dim(x.rank() - 1);
    k = std::clamp<std::int64_t>(k, -rows - 1, columns + 1);
    const bool done = tensor::dispatchSize(x.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        for (std::int64_t i = 0; i < x.numel(); ++i) {
            const std::int64_t diagonal = i % columns - i / columns % rows;
            y.mutableData<T>()[i] = (upper ? diagonal >= k : diagonal <= k) ? x.data<T>()[i] : T{};
        }
    });
    return done ? base::Result<void>() : opError("is not defined for " + x.typeText());
}

struct Selection {
    std::int64_t k = 0;
    std::size_t axis = 0;
    bool largest = true;
};

/// The k first elements in order of value (equal ones in order of place) along an axis: values and places.
base::Result<void> select(KernelContext& context, const Selection& selection) {
    const Tensor& x = context.in({"X", "self"});
    if (selection.k < 0 || selection.k > x.dim(selection.axis)) {
        return opError("k " + std::to_string(selection.k) + " is outside an axis of " +
                       std::to_string(x.dim(selection.axis)));
    }
    Shape shape = x.shape();
    shape[selection.axis] = selection.k;
    SONDE_ASSIGN(Tensor values, context.output(x.dtype(), shape));
    SONDE_ASSIGN(Tensor places, context.output(1, DType::Int64, shape));
    if (x.numel() == 0 || selection.k == 0) return {};
    const Line from = lineOf(x.shape(), selection.axis), to = lineOf(shape, selection.axis);
    const bool done = tensor::dispatchNumbers(x.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        context.pool().parallelFor(
            static_cast<std::size_t>(from.outer * from.inner), 16, [&](std::size_t begin, std::size_t end) {
                std::vector<std::int64_t> order(static_cast<std::size_t>(from.n));
                for (auto l = static_cast<std::int64_t>(begin); l < static_cast<std::int64_t>(end); ++l) {
                    const T* in = x.data<T>() + from.at(l);
                    std::iota(order.begin(), order.end(), 0);
                    const auto before = [&](std::int64_t a, std::int64_t b) {
                        const T p = in[a * from.inner], q = in[b * from.inner];
                        // NaN counts as larger than everything, so that the order is one.
                        const bool pn = p != p, qn = q != q;
                        if (pn || qn) return pn == qn ? a < b : pn == selection.largest;
                        if (p == q) return a < b;
                        return selection.largest ? p > q : p < q;
                    };
                    std::partial_sort(order.begin(), order.begin() + selection.k, order.end(), before);
                    for (std::int64_t i = 0; i < selection.k; ++i) {
                        values.mutableData<T>()[to.at(l) + i * to.inner] =
                            in[order[static_cast<std::size_t>(i)] * from.inner];
                        places.mutableData<std::int64_t>()[to.at(l) + i * to.inner] =
                            order[static_cast<std::size_t>(i)];
                    }
                }
            });
    });
    return done ? base::Result<void>() : opError("is not defined for " + x.typeText());
}

base::Result<void> topK(KernelContext& context) {
    Selection selection;
    selection.k = context.attributes().getInt("k", 0);
    if (context.has("K")) {
        SONDE_ASSIGN(selection.k, intOf(context.value("K")));
    }
    SONDE_ASSIGN(selection.axis, axisOf(context.attributes().getInt("axis", -1), context.in("X").rank()));
    selection.largest = context.attributes().getInt("largest", 1) != 0;
    return select(context, selection);
}

base::Result<void> inferTopK(InferContext& context) {
    std::optional<Dims> dims = context.in("X").shape;
    if (dims) {
        SONDE_ASSIGN(const std::size_t axis, axisOf(context.attributes().getInt("axis", -1), dims->size()));
        if (context.attributes().has("k")) (*dims)[axis] = Dim::of(context.attributes().getInt("k", 0));
        else if (const auto k = context.elements("K"); k && k->size() == 1) (*dims)[axis] = k->front().dim();
        else (*dims)[axis] = Dim{};
    }
    setLike(context, "X", dims);
    context.set("Indices", TypeInfo::tensor(DType::Int64, std::move(dims)));
    return {};
}

base::Result<void> nonZero(KernelContext& context) {
    const Tensor& x = context.in("X");
    std::vector<std::int64_t> found;
    if (x.dtype() == DType::String) {  // text is something unless it is empty
        for (std::int64_t i = 0; i < x.numel(); ++i) {
            if (!x.strings()[static_cast<std::size_t>(i)].empty()) found.push_back(i);
        }
    } else {
        SONDE_ASSIGN(const Tensor condition, x.cast(DType::Bool));
        for (std::int64_t i = 0; i < x.numel(); ++i) {
            if (condition.data<bool>()[i]) found.push_back(i);
        }
    }
    const auto count = static_cast<std::int64_t>(found.size());
    SONDE_ASSIGN(Tensor y, context.output(DType::Int64, Shape{static_cast<std::int64_t>(x.rank()), count}));
    for (std::int64_t j = 0; j < count; ++j) {
        std::int64_t rest = found[static_cast<std::size_t>(j)];
        for (std::size_t d = x.rank(); d-- > 0;) {
            y.mutableData<std::int64_t>()[static_cast<std::int64_t>(d) * count + j] = rest % x.dim(d);
            rest /= x.dim(d);
        }
    }
    return {};
}

/// Input 0 and its attribute axis; without one all elements in a row, and axis 0.
base::Result<Tensor> alongAxis(KernelContext& context, std::size_t& axis) {
    const Tensor& x = context.in({"X", "input"});
    if (!context.attributes().has("axis")) return x.reshaped(Shape{x.numel()});
    SONDE_ASSIGN(axis, axisOf(context.attributes().getInt("axis", 0), x.rank()));
    return x;
}

base::Result<void> compress(KernelContext& context) {
    std::size_t axis = 0;
    SONDE_ASSIGN(const Tensor x, alongAxis(context, axis));
    std::vector<std::int64_t> kept;
    const Tensor& condition = context.in("condition");
    for (std::int64_t i = 0; i < std::min(condition.numel(), x.dim(axis)); ++i) {
        if (condition.data<bool>()[i]) kept.push_back(i);
    }
    return kernels::gather(context, x, Tensor::of<std::int64_t>(Shape{static_cast<std::int64_t>(kept.size())}, kept),
                           axis);
}

/// How many are kept depends on the data.
base::Result<void> inferCompress(InferContext& context) {
    std::optional<Dims> dims = Dims{tensor::Dim{}};
    if (context.attributes().has("axis")) {
        dims = context.in({"X", "input"}).shape;
        if (dims) {
            SONDE_ASSIGN(const std::size_t axis, axisOf(context.attributes().getInt("axis", 0), dims->size()));
            (*dims)[axis] = tensor::Dim{};
        }
    }
    setLike(context, {"X", "input"}, std::move(dims));
    return {};
}

/// How many are different depends on the data; there is a place for each of the original ones.
base::Result<void> inferUnique(InferContext& context) {
    SONDE_TRY(inferCompress(context));
    const auto& shape = context.in("X").shape;
    tensor::Dim all;
    if (shape && context.attributes().has("axis")) {
        SONDE_ASSIGN(const std::size_t axis, axisOf(context.attributes().getInt("axis", 0), shape->size()));
        all = (*shape)[axis];
    } else if (shape) {
        all = tensor::product(*shape).dim();
    }
    for (const std::size_t output : {1, 2, 3})
        context.set(output, TypeInfo::tensor(DType::Int64, Dims{output == 2 ? all : tensor::Dim{}}));
    return {};
}

/// Order of two slices of a tensor, element by element; text by text.
struct SliceLess {
    const Tensor& x;  ///< [n, size], float64 or string
    std::int64_t size;
    bool operator()(std::int64_t a, std::int64_t b) const {
        for (std::int64_t i = 0; i < size; ++i) {
            if (x.dtype() == DType::String) {
                const int order = x.strings()[static_cast<std::size_t>(a * size + i)].compare(
                    x.strings()[static_cast<std::size_t>(b * size + i)]);
                if (order != 0) return order < 0;
            } else {
                const double p = x.data<double>()[a * size + i], q = x.data<double>()[b * size + i];
                if (p != q) return p < q;
            }
        }
        return false;
    }
};

base::Result<void> unique(KernelContext& context) {
    std::size_t axis = 0;
    SONDE_ASSIGN(const Tensor x, alongAxis(context, axis));
    std::vector<std::size_t> order{axis};
    for (std::size_t i = 0; i < x.rank(); ++i) {
        if (i != axis) order.push_back(i);
    }
    SONDE_ASSIGN(Tensor rows, x.permuted(order).contiguous());
    if (rows.dtype() != DType::String) {
        SONDE_ASSIGN(rows, rows.cast(DType::Float64));
    }
    const std::int64_t n = x.dim(axis), size = n ? x.numel() / n : 0;
    // Groups of equal slices in ascending order; then, unless sorted, in order of first appearance.
    std::map<std::int64_t, std::vector<std::int64_t>, SliceLess> groups(SliceLess{rows, size});
    for (std::int64_t i = 0; i < n; ++i) groups[i].push_back(i);
    std::vector<const std::vector<std::int64_t>*> members;
    for (const auto& [first, all] : groups) members.push_back(&all);
    if (context.attributes().getInt("sorted", 1) == 0) {
        std::ranges::sort(members, [](const auto* a, const auto* b) { return a->front() < b->front(); });
    }
    std::vector<std::int64_t> firsts, counts, inverse(static_cast<std::size_t>(n));
    for (std::size_t g = 0; g < members.size(); ++g) {
        firsts.push_back(members[g]->front());
        counts.push_back(static_cast<std::int64_t>(members[g]->size()));
        for (std::int64_t i : *members[g]) inverse[static_cast<std::size_t>(i)] = static_cast<std::int64_t>(g);
    }
    const auto vectorOf = [](const std::vector<std::int64_t>& values) {
        return Value(Tensor::of<std::int64_t>(Shape{static_cast<std::int64_t>(values.size())}, values));
    };
    SONDE_TRY(kernels::gather(context, x, vectorOf(firsts).tensor(), axis));
    if (context.wants("indices")) context.setOutput("indices", vectorOf(firsts));
    if (context.wants("inverse_indices")) context.setOutput("inverse_indices", vectorOf(inverse));
    if (context.wants("counts")) context.setOutput("counts", vectorOf(counts));
    return {};
}

base::Result<void> oneHot(KernelContext& context) {
    const Tensor &indices = context.in("indices"), &values = context.in("values");
    SONDE_ASSIGN(const std::int64_t depth, intOf(context.value("depth")));
    SONDE_ASSIGN(const std::size_t axis, axisOf(context.attributes().getInt("axis", -1), indices.rank() + 1));
    if (depth < 0 || values.numel() != 2)
        return opError("depth " + std::to_string(depth) + " or values " + values.typeText() + " are out of range");
    std::vector<std::int64_t> dims = indices.shape().dims();
    dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis), depth);
    SONDE_ASSIGN(const Tensor chosen, Tensor::zeros(DType::Int64, Shape(dims)));
    Tensor which = chosen;
    std::int64_t inner = 1;
    for (std::size_t i = axis; i < indices.rank(); ++i) inner *= indices.dim(i);
    for (std::int64_t i = 0; i < indices.numel(); ++i) {
        std::int64_t at = indices.toInt64(i);
        if (at < -depth || at >= depth) continue;
        if (at < 0) at += depth;
        which.mutableData<std::int64_t>()[(i / inner * depth + at) * inner + i % inner] = 1;
    }
    SONDE_ASSIGN(const Tensor flat, values.reshaped(Shape{2}));
    return kernels::gather(context, flat, which, 0);
}

base::Result<void> inferOneHot(InferContext& context) {
    std::optional<Dims> dims = context.in("indices").shape;
    if (dims) {
        SONDE_ASSIGN(const std::size_t axis, axisOf(context.attributes().getInt("axis", -1), dims->size() + 1));
        const auto depth = context.elements("depth");
        dims->insert(dims->begin() + static_cast<std::ptrdiff_t>(axis),
                     depth && depth->size() == 1 ? depth->front().dim() : Dim{});
    }
    context.set(TypeInfo::tensor(context.in("values").dtype, std::move(dims)));
    return {};
}

/// The first lengths[b] elements of each batch along time, backwards.
base::Result<void> reverseSequence(KernelContext& context) {
    const Tensor &x = context.in("input"), &lengths = context.in("sequence_lens");
    const std::int64_t batchAxis = context.attributes().getInt("batch_axis", 1),
                       timeAxis = context.attributes().getInt("time_axis", 0);
    if (x.rank() < 2 || batchAxis + timeAxis != 1 || batchAxis < 0 || batchAxis > 1)
        return opError("batch_axis and time_axis must be 0 and 1");
    const std::int64_t batches = x.dim(static_cast<std::size_t>(batchAxis)),
                       steps = x.dim(static_cast<std::size_t>(timeAxis));
    if (lengths.numel() != batches)
        return opError("sequence_lens " + lengths.typeText() + " does not match " + x.typeText());
    SONDE_ASSIGN(Tensor y, context.output(x.dtype(), x.shape()));
    const std::int64_t size = x.numel() > 0 ? x.numel() / (batches * steps) : 0;
    std::vector<std::int64_t> rows;
    for (std::int64_t i = 0; i < x.dim(0); ++i) {
        for (std::int64_t j = 0; j < x.dim(1); ++j) {
            const std::int64_t b = batchAxis == 0 ? i : j, t = batchAxis == 0 ? j : i, length = lengths.toInt64(b);
            if (length < 0 || length > steps)
                return opError("a length of " + std::to_string(length) + " is outside " + std::to_string(steps) +
                               " steps");
            const std::int64_t source = t < length ? length - 1 - t : t;
            rows.push_back(batchAxis == 0 ? b * steps + source : source * batches + b);
        }
    }
    const Shape flat{x.dim(0) * x.dim(1), size};
    SONDE_ASSIGN(const Tensor matrix, x.reshaped(flat));
    SONDE_TRY(kernels::gather(context, matrix,
                              Tensor::of<std::int64_t>(Shape{static_cast<std::int64_t>(rows.size())}, rows), 0));
    std::vector<Value> outputs = context.takeOutputs();
    SONDE_ASSIGN(Tensor shaped, outputs[0].tensor().reshaped(x.shape()));
    outputs[0] = Value(std::move(shaped));
    context.setOutputs(std::move(outputs));
    return {};
}

base::Result<void> inferNonZero(InferContext& context) {
    const auto& in = context.in("X").shape;
    context.set(
        TypeInfo::tensor(DType::Int64, Dims{in ? Dim::of(static_cast<std::int64_t>(in->size())) : Dim{}, Dim{}}));
    return {};
}

}  // namespace

void define_ordering(Registry& registry) {
    registry.add(Row("CumSum", 11, "running sums along an axis", Category::Reduction)
                     .in("x", kNumbers)
                     .in("axis", kIndex)
                     .out("y")
                     .attrInt("exclusive", 0)
                     .attrInt("reverse", 0)
                     .runs([](KernelContext& context) { return onnxCumulate(context, false); }, inferSame));
    registry.add(Row("CumProd", 26, "running products along an axis", Category::Reduction)
                     .in("x", kNumbers)
                     .in("axis", kIndex)
                     .out("y")
                     .attrInt("exclusive", 0)
                     .attrInt("reverse", 0)
                     .runs([](KernelContext& context) { return onnxCumulate(context, true); }, inferSame));
    registry.add(Row("Trilu", 14, "the upper or lower triangle of matrices", Category::Tensor)
                     .in("input")
                     .optionalIn("k", kInt64)
                     .out("output")
                     .attrInt("upper", 1)
                     .runs(
                         [](KernelContext& context) -> base::Result<void> {
                             std::int64_t k = 0;
                             if (context.has("k")) {
                                 SONDE_ASSIGN(k, intOf(context.value("k")));
                             }
                             return triangle(context, context.attributes().getInt("upper", 1) != 0, k);
                         },
                         inferSame));
    registry.add(Row("TopK", 1, "the k largest elements along an axis and where they are", Category::Reduction)
                     .in("X", kNumbers)
                     .out("Values")
                     .out("Indices")
                     .attrInt("axis", -1)
                     .required("k", AttributeKind::Int)
                     .runs(topK, inferTopK));
    registry.add(
        Row("TopK", 10, "the k largest or smallest elements along an axis and where they are", Category::Reduction)
            .in("X", kNumbers)
            .in("K", kInt64)
            .out("Values")
            .out("Indices")
            .attrInt("axis", -1)
            .attrInt("largest", 1)
            .attrInt("sorted", 1)
            .runs(topK, inferTopK));
    registry.add(Row("NonZero", 9, "indices of all elements that are not zero", Category::Tensor)
                     .in("X")
                     .out("Y")
                     .runs(nonZero, inferNonZero));
    registry.add(Row("Compress", 9, "the slices where a condition is true", Category::Tensor)
                     .in("input")
                     .in("condition", kBool)
                     .out("output")
                     .attr("axis", AttributeKind::Int)
                     .runs(compress, inferCompress));
    registry.add(Row("Unique", 11, "the different elements or slices, where they are, and how often", Category::Tensor)
                     .in("X")
                     .out("Y")
                     .out("indices", Arity::Optional)
                     .out("inverse_indices", Arity::Optional)
                     .out("counts", Arity::Optional)
                     .attr("axis", AttributeKind::Int)
                     .attrInt("sorted", 1)
                     .runs(unique, inferUnique));
    registry.add(Row("OneHot", 9, "one value at each index along a new axis, another elsewhere", Category::Tensor)
                     .in("indices", kNumbers)
                     .in("depth", kNumbers)
                     .in("values")
                     .out("output")
                     .attrInt("axis", -1)
                     .runs(oneHot, inferOneHot));
    registry.add(Row("ReverseSequence", 10, "turns sequences of different length round", Category::Tensor)
                     .in("input")
                     .in("sequence_lens", kInt64)
                     .out("Y")
                     .attrInt("batch_axis", 1)
                     .attrInt("time_axis", 0)
                     .runs(reverseSequence, inferSame));
    registry.add(atenRow(
        "topk(Tensor self, int k, int dim=-1, bool largest=True, bool sorted=True) -> (Tensor, Tensor)",
        "the k largest elements and where they are", Category::Reduction,
        [](KernelContext& context) -> base::Result<void> {
            Selection selection;
            SONDE_ASSIGN(selection.k, intOf(context.value("k")));
            SONDE_ASSIGN(const std::int64_t axis, intOf(context.value("dim")));
            SONDE_ASSIGN(selection.axis, axisOf(axis, context.in("self").rank()));
            selection.largest = context.value("largest").kind() != ValueKind::Bool || context.value("largest").toBool();
            return select(context, selection);
        }));
    explain("", "CumSum", dependence::running, "sum(x)");
    explain("", "CumProd", dependence::running, "prod(x)");
    explain("", "TopK", dependence::selected, "axis");
    explain("", "OneHot", dependence::moved, "values");
    explain("", "Unique", dependence::firstEqual);
}

}  // namespace sonde::ops
