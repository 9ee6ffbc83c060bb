// ATen's ways to turn, repeat and shuffle tensors, their diagonals and windows, made of views.

#if defined(__GNUC__) && !defined(__clang__)
// With -O2 GCC 12 takes a vector that grows from nothing for one that never grew.
#pragma GCC diagnostic ignored "-Warray-bounds"
#endif

#include <algorithm>
#include <numeric>

#include "core/ops/dependence/rules.h"
#include "core/ops/kernels/move.h"
#include "core/ops/support/eager.h"
#include "core/ops/support/promotion.h"
#include "core/ops/support/shapes.h"
#include "core/ops/support/views.h"

namespace sonde::ops {

namespace {

using Ints = std::vector<std::int64_t>;

Tensor flipped(const Tensor& x, std::size_t axis) {
    return x.dim(axis) > 0 ? x.sliced(axis, x.dim(axis) - 1, x.dim(axis), -1) : x;
}

EagerResult flip(Eager& e, const Ints& dims) {
    Tensor x = e.tensor("self");
    for (std::int64_t dim : dims) x = flipped(x, e.axisOf(dim, x.rank()));
    return e.get(x.contiguous());
}

/// k quarter turns from the first axis toward the second.
EagerResult rot90(Eager& e) {
    Tensor x = e.tensor("self");
    const Ints dims = e.integers("dims");
    if (dims.size() != 2) e.fail("a rotation needs two dimensions");
    const std::size_t a = e.axisOf(dims[0], x.rank()), b = e.axisOf(dims[1], x.rank());
    const std::int64_t turns = ((e.integer("k") % 4) + 4) % 4;
    if (turns == 2) x = flipped(flipped(x, a), b);
    if (turns == 1) x = flipped(x.transposed(a, b), a);
    if (turns == 3) x = flipped(x, a).transposed(a, b);
    return e.get(x.contiguous());
}

Tensor moved(Eager& e, const Tensor& x, const Ints& from, const Ints& to) {
    if (from.size() != to.size()) e.fail("source and destination must have the same length");
    std::vector<std::size_t> order(x.rank(), x.rank());
    std::vector<bool> used(x.rank());
    for (std::size_t i = 0; i < from.size(); ++i) {
        const std::size_t source = e.axisOf(from[i], x.rank()), target = e.axisOf(to[i], x.rank());
        if (used[source] || order[target] != x.rank()) e.fail("a dimension is moved twice");
        order[target] = source;
        used[source] = true;
    }
    std::size_t next = 0;
    for (std::size_t& axis : order) {
        if (axis != x.rank()) continue;
        while (used[next]) ++next;
        axis = next++;
    }
    return x.permuted(order);
}

/// 0 repeats[0] times, 1 repeats[1] times …
Tensor repeatedIndex(Eager& e, const Tensor& repeats, std::int64_t n) {
    if (repeats.numel() != n && repeats.numel() != 1)
        e.fail("repeats " + repeats.typeText() + " do not match " + std::to_string(n) + " elements");
    std::vector<std::int64_t> index;
    for (std::int64_t i = 0; i < n; ++i) {
        const std::int64_t times = repeats.toInt64(repeats.numel() == 1 ? 0 : i);
        if (times < 0 || times > 500'000'000 - static_cast<std::int64_t>(index.size()))
            e.fail("an element cannot be repeated " + std::to_string(times) + " times");
        index.insert(index.end(), static_cast<std::size_t>(times), i);
    }
    return Tensor::of<std::int64_t>({static_cast<std::int64_t>(index.size())}, index);
}

EagerResult repeatInterleave(Eager& e) {
    Tensor x = e.tensor("self");
    if (!e.has("dim")) x = e.reshape(x, Shape{x.numel()});
    const std::size_t axis = e.has("dim") ? e.axis("dim", x.rank()) : 0;
    return e("index_select", x, axis, repeatedIndex(e, e.tensor("repeats"), x.dim(axis)));
}

EagerResult tile(Eager& e) {
    Ints times = e.integers("dims");
    while (times.size() < e.tensor("self").rank()) times.insert(times.begin(), 1);
    return e("repeat", e.tensor("self"), times);
}

/// y[.., w, .., i] = x[.., w·step + i, ..]: all windows of a size along a dimension, as a last one.
EagerResult unfoldAxis(Eager& e) {
    const Tensor x = e.tensor("self");
    const std::int64_t size = e.integer("size"), step = e.integer("step");
    if (x.rank() == 0) e.fail("a number has no windows");
    const std::size_t axis = e.axis("dimension", x.rank());
    if (size < 0 || step < 1 || size > x.dim(axis))
        e.fail("windows of " + std::to_string(size) + " every " + std::to_string(step) + " do not fit " + x.typeText());
    Shape shape = x.shape();
    Ints strides = x.strides();
    shape[axis] = (x.dim(axis) - size) / step + 1;
    shape.push_back(size);
    strides.push_back(strides[axis]);
    strides[axis] *= step;
    return Tensor::onStorage(x.dtype(), shape, strides, x.storage(), x.offsetElements());
}

/// A view by size and strides, checked against the memory that it is of.
EagerResult asStrided(Eager& e) {
    const Tensor x = e.tensor("self");
    const Ints size = e.integers("size"), strides = e.integers("stride");
    const std::int64_t offset = e.has("storage_offset") ? e.integer("storage_offset") : 0;
    if (size.size() != strides.size() || !Shape(size).checkedNumel()) e.fail("size and strides are incompatible");
    std::int64_t last = offset;
    bool good = offset >= 0;
    for (std::size_t i = 0; i < size.size(); ++i) {
        if (strides[i] < 0 || strides[i] > (std::int64_t{1} << 40) || size[i] > (std::int64_t{1} << 40)) good = false;
        else last += (size[i] - 1) * strides[i];
        if (last > (std::int64_t{1} << 45)) good = false;
    }
    if (Shape(size).numel() > 0 && (!good || last >= x.numel())) e.fail("the strides lead out of " + x.typeText());
    return Tensor::onStorage(x.dtype(), Shape(size), strides, x.storage(), x.offsetElements() + offset);
}

/// [.., C·r², H, W] -> [.., C, H·r, W·r], or back.
EagerResult pixelShuffle(Eager& e, bool back) {
    const Tensor x = e.tensor("self");
    const std::int64_t r = e.integer({"upscale_factor", "downscale_factor"});
    if (x.rank() < 3 || r < 1 || r > 10'000) e.fail("blocks of " + std::to_string(r) + " in " + x.typeText());
    const std::size_t n = x.rank() - 3;
    const std::int64_t c = x.dim(n), h = x.dim(n + 1), w = x.dim(n + 2);
    if (back ? h % r != 0 || w % r != 0 : c % (r * r) != 0)
        e.fail("blocks of " + std::to_string(r) + " do not match " + x.typeText());
    Ints parted(x.shape().begin(), x.shape().begin() + static_cast<std::ptrdiff_t>(n)), whole = parted;
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), 0);
    if (back) {
        parted.insert(parted.end(), {c, h / r, r, w / r, r});
        whole.insert(whole.end(), {c * r * r, h / r, w / r});
        for (std::size_t axis : {0, 2, 4, 1, 3}) order.push_back(n + axis);
    } else {
        parted.insert(parted.end(), {c / (r * r), r, r, h, w});
        whole.insert(whole.end(), {c / (r * r), h * r, w * r});
        for (std::size_t axis : {0, 3, 1, 4, 2}) order.push_back(n + axis);
    }
    return e.reshape(e.reshape(x, Shape(parted)).permuted(order), Shape(whole));
}

EagerResult channelShuffle(Eager& e) {
    const Tensor x = e.tensor("self");
    const std::int64_t groups = e.integer("groups");
    if (x.rank() < 3 || groups < 1 || x.dim(1) % groups != 0)
        e.fail(std::to_string(groups) + " groups do not match the channels of " + x.typeText());
    Ints parted(x.shape().begin(), x.shape().end());
    parted[1] /= groups;
    parted.insert(parted.begin() + 1, groups);
    return e.reshape(e.reshape(x, Shape(parted)).transposed(1, 2), x.shape());
}

/// The diagonal of two dimensions as a last one.
EagerResult diagonal(Eager& e, std::int64_t offset, std::int64_t dim1, std::int64_t dim2) {
    const Tensor x = e.tensor({"self", "A"});
    const std::size_t a = e.axisOf(dim1, x.rank()), b = e.axisOf(dim2, x.rank());
    if (a == b) e.fail("a diagonal needs two dimensions");
    const std::int64_t rows = x.dim(a), columns = x.dim(b);
    const std::int64_t length = std::max<std::int64_t>(offset >= 0 ? std::min(rows, columns - std::min(offset, columns))
                                                                   : std::min(rows + std::max(offset, -rows), columns),
                                                       0);
    Shape shape;
    Ints strides;
    for (std::size_t i = 0; i < x.rank(); ++i) {
        if (i == a || i == b) continue;
        shape.push_back(x.dim(i));
        strides.push_back(x.strides()[i]);
    }
    shape.push_back(length);
    strides.push_back(x.strides()[a] + x.strides()[b]);
    const std::int64_t start = length == 0 ? 0 : offset >= 0 ? offset * x.strides()[b] : -offset * x.strides()[a];
    return Tensor::onStorage(x.dtype(), shape, strides, x.storage(), x.offsetElements() + start);
}

/// Zeros with x on a diagonal of two new dimensions.
EagerResult diagonalEmbedded(Eager& e, std::int64_t offset, std::int64_t dim1, std::int64_t dim2) {
    const Tensor x = e.tensor("self");
    const std::int64_t n = x.dim(x.rank() - 1), shift = std::abs(offset), side = n + shift;
    Shape shape = x.shape();
    shape[x.rank() - 1] = side;
    shape.push_back(side);
    Tensor y = e.get(Tensor::zeros(x.dtype(), shape));
    const std::size_t item = tensor::itemSize(x.dtype());
    const std::int64_t row = offset < 0 ? shift : 0, column = offset > 0 ? shift : 0;
    for (std::int64_t i = 0; i < x.numel(); ++i) {
        const std::int64_t matrix = i / n, at = i % n;
        std::copy_n(
            x.bytes() + static_cast<std::size_t>(i) * item, item,
            y.mutableBytes() + static_cast<std::size_t>((matrix * side + row + at) * side + column + at) * item);
    }
    return e.get(moved(e, y, {-2, -1}, {dim1, dim2}).contiguous());
}

/// Row and column numbers of a triangle: [2, count].
EagerResult triangleIndices(Eager& e, bool lower) {
    const std::int64_t rows = e.integer("row"), columns = e.integer("col"), offset = e.integer("offset");
    if (rows < 0 || columns < 0 || rows > 100'000 || columns > 100'000)
        e.fail("a triangle of " + std::to_string(rows) + " by " + std::to_string(columns));
    std::vector<std::int64_t> r, c;
    for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t j = 0; j < columns; ++j) {
            if (lower ? j - i > offset : j - i < offset) continue;
            r.push_back(i);
            c.push_back(j);
        }
    }
    const auto n = static_cast<std::int64_t>(r.size());
    r.insert(r.end(), c.begin(), c.end());
    return e.as(Tensor::of<std::int64_t>({2, n}, r), e.dtype("dtype", DType::Int64));
}

void defineDiagonals(Registry& registry) {
    registry.add(eagerRow(
        "diagonal(Tensor self, int offset=0, int dim1=0, int dim2=1) -> Tensor", "the diagonal of two dimensions",
        kTensor, [](Eager& e) { return diagonal(e, e.integer("offset"), e.integer("dim1"), e.integer("dim2")); }));
    registry.add(eagerRow("linalg_diagonal(Tensor A, *, int offset=0, int dim1=-2, int dim2=-1) -> Tensor",
                          "the diagonal of two dimensions", kTensor, [](Eager& e) {
                              return diagonal(e, e.integer("offset"), e.integer("dim1"), e.integer("dim2"));
                          }));
    registry.add(eagerRow("diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor",
                          "zeros with x on the diagonal", kTensor, [](Eager& e) {
                              return diagonalEmbedded(e, e.integer("offset"), e.integer("dim1"), e.integer("dim2"));
                          }));
    registry.add(eagerRow("diag(Tensor self, int diagonal=0) -> Tensor", "the diagonal of a matrix, or a matrix of one",
                          kTensor, [](Eager& e) {
                              return e.tensor("self").rank() == 1 ? diagonalEmbedded(e, e.integer("diagonal"), -2, -1)
                                                                  : diagonal(e, e.integer("diagonal"), 0, 1);
                          }));
    registry.add(eagerRow("diagflat(Tensor self, int offset=0) -> Tensor", "a matrix with all elements on the diagonal",
                          kTensor, [](Eager& e) -> EagerResult {
                              return e("diag", e.reshape(e.tensor("self"), Shape{e.tensor("self").numel()}),
                                       e.integer("offset"));
                          }));
    registry.add(eagerRow("trace(Tensor self) -> Tensor", "sum of the diagonal", Category::Reduction,
                          [](Eager& e) -> EagerResult { return e("sum", e("diagonal", e.tensor("self"))); }));
    registry.add(eagerRow(
        "tril_indices(int row, int col, int offset=0, *, ScalarType? dtype=long, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        "indices of the lower triangle", kTensor, [](Eager& e) { return triangleIndices(e, true); }));
    registry.add(eagerRow(
        "triu_indices(int row, int col, int offset=0, *, ScalarType? dtype=long, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        "indices of the upper triangle", kTensor, [](Eager& e) { return triangleIndices(e, false); }));
}

/// A copy of x with a part replaced by `source`; the part is a view of the copy.
template <typename View>
Tensor withPart(Eager& e, const Tensor& source, View&& view) {
    const Tensor x = e.tensor("self");
    Tensor y = e.get(x.clone());
    const Tensor part = view(y);
    if (part.numel() == 0 && source.numel() != 0)
        e.fail("a part of " + x.typeText() + " without elements cannot take " + source.typeText());
    const Tensor values = e.get(e.as(source, x.dtype()).expanded(part.shape()));
    kernels::copyInto(e.context().pool(), e.get(values.contiguous()), part);
    return y;
}

void defineScatters(Registry& registry) {
    registry.add(eagerRow(
        "select_scatter(Tensor self, Tensor src, int dim, int index) -> Tensor", "x with one slice replaced", kTensor,
        [](Eager& e) -> EagerResult {
            const std::size_t axis = e.axis("dim", e.tensor("self").rank());
            return withPart(e, e.tensor("src"),
                            [&](const Tensor& y) { return e.get(selectedView(y, axis, e.integer("index"))); });
        },
        inferSame));
    registry.add(eagerRow(
        "slice_scatter(Tensor self, Tensor src, int dim=0, int? start=None, int? end=None, int step=1) -> Tensor",
        "x with a range replaced", kTensor,
        [](Eager& e) -> EagerResult {
            const std::size_t axis = e.axis("dim", e.tensor("self").rank());
            return withPart(e, e.tensor("src"), [&](const Tensor& y) {
                return e.get(slicedView(y, axis, e.value("start"), e.value("end"), e.value("step")));
            });
        },
        inferSame));
    registry.add(eagerRow(
        "diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1) -> Tensor",
        "x with a diagonal replaced", kTensor,
        [](Eager& e) -> EagerResult {
            return withPart(e, e.tensor("src"), [&](const Tensor& y) {
                const std::vector<Value> part =
                    e.all("aten", "diagonal", {Value(y), e.value("offset"), e.value("dim1"), e.value("dim2")}, {}, 1);
                return part.front().tensor();
            });
        },
        inferSame));
    registry.add(eagerRow(
        "copy(Tensor self, Tensor src, bool non_blocking=False) -> Tensor", "another tensor in x's shape and type",
        kTensor,
        [](Eager& e) -> EagerResult {
            return e.get(
                e.get(e.as(e.tensor("src"), e.tensor("self").dtype()).expanded(e.tensor("self").shape())).clone());
        },
        inferSame));
    registry.add(eagerRow(
        "zero(Tensor self) -> Tensor", "zeros in x's shape and type", Category::Data,
        [](Eager& e) -> EagerResult { return e("zeros_like", e.tensor("self")); }, inferSame));
    for (std::string_view schema :
         {"fill.Scalar(Tensor self, Scalar value) -> Tensor", "fill.Tensor(Tensor self, Tensor value) -> Tensor"}) {
        registry.add(eagerRow(
            schema, "one number in x's shape and type", Category::Data,
            [](Eager& e) -> EagerResult {
                return e.get(
                    e.get(
                         e.get(asTensor(e.value("value"), e.tensor("self").dtype())).expanded(e.tensor("self").shape()))
                        .clone());
            },
            inferSame));
    }
    registry.add(eagerRow(
        "fill_diagonal(Tensor self, Scalar fill_value, bool wrap=False) -> Tensor", "x with one number on the diagonal",
        kTensor,
        [](Eager& e) -> EagerResult {
            return e("diagonal_scatter", e.tensor("self"),
                     e.get(asTensor(e.value("fill_value"), e.tensor("self").dtype())));
        },
        inferSame));
}

/// The last two dimensions exchanged; complex numbers conjugated if `conjugates`.
Tensor transposedMatrices(Eager& e, const std::string& name, bool conjugates) {
    const Tensor x = e.tensor("self");
    if (x.rank() < 2)
        e.fail(name + " is only supported on matrices or batches of matrices. Got " + std::to_string(x.rank()) +
               "-D tensor.");
    const Tensor transposed = x.transposed(x.rank() - 2, x.rank() - 1);
    return conjugates && tensor::isComplex(x.dtype()) ? e("conj_physical", transposed) : transposed;
}

void defineTurns(Registry& registry) {
    registry.add(eagerRow(
        "flip(Tensor self, int[] dims) -> Tensor", "x reversed along dimensions", kMove,
        [](Eager& e) { return flip(e, e.integers("dims")); }, inferSame));
    registry.add(eagerRow(
        "fliplr(Tensor self) -> Tensor", "x reversed from left to right", kMove, [](Eager& e) { return flip(e, {1}); },
        inferSame));
    registry.add(eagerRow(
        "flipud(Tensor self) -> Tensor", "x reversed from top to bottom", kMove, [](Eager& e) { return flip(e, {0}); },
        inferSame));
    registry.add(eagerRow("rot90(Tensor self, int k=1, int[] dims=[0,1]) -> Tensor",
                          "x rotated by multiples of 90 degrees", kMove, rot90));
    registry.add(eagerRow("movedim.int(Tensor self, int source, int destination) -> Tensor", "x with a dimension moved",
                          kMove, [](Eager& e) -> EagerResult {
                              return moved(e, e.tensor("self"), {e.integer("source")}, {e.integer("destination")});
                          }));
    registry.add(eagerRow("movedim.intlist(Tensor self, int[] source, int[] destination) -> Tensor",
                          "x with dimensions moved", kMove, [](Eager& e) -> EagerResult {
                              return moved(e, e.tensor("self"), e.integers("source"), e.integers("destination"));
                          }));
    const auto reversed = [](Eager& e) -> EagerResult {
        std::vector<std::size_t> order(e.tensor("self").rank());
        std::iota(order.rbegin(), order.rend(), 0);
        return e.tensor("self").permuted(order);
    };
    registry.add(eagerRow("numpy_T(Tensor self) -> Tensor", "x with its dimensions in reverse", kMove, reversed));
    registry.add(eagerRow("mT(Tensor self) -> Tensor", "transposed matrices", kMove,
                          [](Eager& e) -> EagerResult { return transposedMatrices(e, "tensor.mT", false); }));
    registry.add(eagerRow("mH(Tensor self) -> Tensor", "transposed matrices, conjugated", kMove,
                          [](Eager& e) -> EagerResult { return transposedMatrices(e, "tensor.mH", true); }));
    registry.add(eagerRow("adjoint(Tensor self) -> Tensor", "transposed matrices, conjugated", kMove,
                          [](Eager& e) -> EagerResult { return transposedMatrices(e, "tensor.adjoint()", true); }));
    registry.add(eagerRow("matrix_H(Tensor self) -> Tensor", "a transposed matrix, conjugated", kMove,
                          [](Eager& e) -> EagerResult {
                              if (e.tensor("self").rank() != 2) {
                                  e.fail("tensor.H is only supported on matrices (2-D tensors). Got " +
                                         std::to_string(e.tensor("self").rank()) +
                                         "-D tensor. For batches of matrices, consider using tensor.mH");
                              }
                              return transposedMatrices(e, "tensor.H", true);
                          }));
    registry.add(eagerRow(
        "repeat_interleave.self_int(Tensor self, int repeats, int? dim=None, *, int? output_size=None) -> Tensor",
        "each element several times", kTensor, repeatInterleave));
    registry.add(eagerRow(
        "repeat_interleave.self_Tensor(Tensor self, Tensor repeats, int? dim=None, *, int? output_size=None) -> Tensor",
        "each element several times", kTensor, repeatInterleave));
    registry.add(eagerRow(
        "repeat_interleave.Tensor(Tensor repeats, *, int? output_size=None) -> Tensor", "each number repeated", kTensor,
        [](Eager& e) -> EagerResult { return repeatedIndex(e, e.tensor("repeats"), e.tensor("repeats").numel()); }));
    registry.add(
        eagerRow("tile(Tensor self, int[] dims) -> Tensor", "x several times along each dimension", kTensor, tile));
}

}  // namespace

void define_aten_shapes(Registry& registry) {
    defineDiagonals(registry);
    defineScatters(registry);
    defineTurns(registry);
    registry.add(eagerRow("unfold(Tensor self, int dimension, int size, int step) -> Tensor",
                          "all windows along a dimension", kTensor, unfoldAxis));
    for (std::string_view schema :
         {"as_strided(Tensor self, int[] size, int[] stride, int? storage_offset=None) -> Tensor"}) {
        registry.add(eagerRow(schema, "a view by size and strides", kShape, asStrided));
    }
    registry.add(eagerRow("diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None) -> Tensor",
                          "differences of neighbours", Category::Elementwise, [](Eager& e) -> EagerResult {
                              Tensor x = e.tensor("self");
                              std::vector<Tensor> list;
                              if (e.has("prepend")) list.push_back(e.tensor("prepend"));
                              list.push_back(x);
                              if (e.has("append")) list.push_back(e.tensor("append"));
                              if (list.size() > 1) x = e("cat", list, e.integer("dim"));
                              const std::size_t axis = e.axis("dim", x.rank());
                              const std::int64_t order = e.integer("n");
                              for (std::int64_t i = 0; i < order && x.dim(axis) > 0; ++i) {
                                  const Tensor after = x.sliced(axis, 1, x.dim(axis) - 1),
                                               before = x.sliced(axis, 0, x.dim(axis) - 1);
                                  x = x.dtype() == DType::Bool ? e("logical_xor", after, before)
                                                               : e("sub.Tensor", after, before);
                              }
                              return x;
                          }));
    registry.add(eagerRow("pixel_shuffle(Tensor self, int upscale_factor) -> Tensor", "channels to blocks of pixels",
                          kMove, [](Eager& e) { return pixelShuffle(e, false); }));
    registry.add(eagerRow("pixel_unshuffle(Tensor self, int downscale_factor) -> Tensor",
                          "blocks of pixels to channels", kMove, [](Eager& e) { return pixelShuffle(e, true); }));
    registry.add(eagerRow("channel_shuffle(Tensor self, int groups) -> Tensor", "channels interleaved between groups",
                          kMove, channelShuffle, inferSame));
    registry.add(eagerRow("native_channel_shuffle(Tensor self, int groups) -> Tensor",
                          "channels interleaved between groups", kMove, channelShuffle, inferSame));
    registry.add(eagerRow("broadcast_to(Tensor self, int[] size) -> Tensor",
                          "x repeated along dimensions of size 1, without a copy", kTensor,
                          [](Eager& e) -> EagerResult { return e("expand", e.tensor("self"), e.integers("size")); }));
    registry.add(
        eagerRow("ravel(Tensor self) -> Tensor", "all elements in one dimension", kShape,
                 [](Eager& e) -> EagerResult { return e.reshape(e.tensor("self"), Shape{e.tensor("self").numel()}); }));
    registry.add(eagerRow("stride(Tensor self) -> int[]", "strides in elements", kShape,
                          [](Eager& e) -> EagerResult { return Eager::Argument::listOf(e.tensor("self").strides()); }));
    explain("aten", "diff", dependence::differences);
    explain("aten", "trace", dependence::traced);
    explain("aten", "fliplr flipud rot90 tile native_channel_shuffle adjoint mH matrix_H", dependence::moved, "self");
    explain("aten", "copy", dependence::moved, "src");
    explain("aten", "fill", dependence::moved, "value");
    explain("aten", "fill_diagonal", dependence::moved, "self fill_value");
}

}  // namespace sonde::ops
