// ATen's ways to join tensors and to cut them into parts, and grids of coordinates.

#if defined(__GNUC__) && !defined(__clang__)
// With -O2 GCC 12 takes a vector that grows from nothing for one that never grew.
#pragma GCC diagnostic ignored "-Warray-bounds"
#endif

#include <algorithm>

#include "core/ops/dependence/rules.h"
#include "core/ops/kernels/move.h"
#include "core/ops/support/eager.h"
#include "core/ops/support/promotion.h"
#include "core/ops/support/shapes.h"

namespace sonde::ops {

namespace {

using Ints = std::vector<std::int64_t>;

/// One grid for each 1-D tensor: "ij" has dimensions in their order, "xy" the second one first.
EagerResult meshgrid(Eager& e, bool swap) {
    std::vector<Tensor> lines = e.tensors("tensors");
    if (swap && lines.size() > 1) std::swap(lines[0], lines[1]);
    Shape shape;
    for (const Tensor& line : lines) shape.push_back(line.numel());
    std::vector<Tensor> grids;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        std::vector<std::int64_t> dims(lines.size(), 1);
        dims[i] = lines[i].numel();
        grids.push_back(e.get(e.reshape(lines[i], Shape(dims)).expanded(shape)));
    }
    if (swap && grids.size() > 1) std::swap(grids[0], grids[1]);
    return Eager::Argument::listOf(grids);
}

Tensor atLeast(Eager& e, const Tensor& x, std::size_t rank) {
    if (x.rank() >= rank) return x;
    if (x.rank() == 0) return e.reshape(x, Shape(Ints(rank, 1)));
    if (x.rank() == 1) return rank == 2 ? x.unsqueezed(0) : x.unsqueezed(0).unsqueezed(2);
    return x.unsqueezed(2);
}

std::vector<Tensor> allAtLeast(Eager& e, std::size_t rank) {
    std::vector<Tensor> list = e.tensors("tensors");
    for (Tensor& x : list) x = atLeast(e, x, rank);
    return list;
}

EagerResult hstack(Eager& e) {
    const std::vector<Tensor> list = allAtLeast(e, 1);
    return e("cat", list, !list.empty() && list.front().rank() == 1 ? 0 : 1);
}

EagerResult columnStack(Eager& e) {
    std::vector<Tensor> list = e.tensors("tensors");
    for (Tensor& x : list) {
        if (x.rank() < 2) x = e.reshape(x, Shape{x.numel(), 1});
    }
    return e("cat", list, 1);
}

/// Cut before each of the places.
Value cutAt(Eager& e, const Tensor& x, std::size_t axis, const Ints& places) {
    std::vector<Tensor> parts;
    std::int64_t start = 0;
    const std::int64_t n = x.dim(axis);
    for (std::size_t i = 0; i <= places.size(); ++i) {
        std::int64_t end = i < places.size() ? places[i] : n;
        end = std::clamp<std::int64_t>(end < 0 ? end + n : end, 0, n);
        parts.push_back(x.sliced(axis, std::min(start, n), std::max<std::int64_t>(end - start, 0)));
        start = i < places.size() ? end : n;
    }
    (void)e;
    return Eager::Argument::listOf(parts);
}

/// `count` parts, the first ones larger by one where it does not come out even.
Value cutInto(Eager& e, const Tensor& x, std::size_t axis, std::int64_t count) {
    if (count < 1 || count > 1'000'000) e.fail("a tensor cannot be cut into " + std::to_string(count) + " parts");
    const std::int64_t size = x.dim(axis) / count, larger = x.dim(axis) % count;
    Ints places;
    for (std::int64_t i = 1, at = 0; i < count; ++i) places.push_back(at += size + (i <= larger ? 1 : 0));
    return cutAt(e, x, axis, places);
}

/// hsplit, vsplit, dsplit: sections, or indices.
EagerResult cutAlong(Eager& e, std::size_t axis) {
    const Tensor x = e.tensor("self");
    if (axis >= x.rank()) e.fail(x.typeText() + " lacks dimension " + std::to_string(axis));
    const Value& given = e.value({"sections", "indices"});
    return e.has("sections") ? cutInto(e, x, axis, e.get(intOf(given))) : cutAt(e, x, axis, e.get(intsOf(given)));
}

/// By a number of parts or by places; the overload of a tensor is told by its rank.
EagerResult tensorSplit(Eager& e) {
    const Tensor x = e.tensor("self");
    const std::size_t axis = e.axis("dim", x.rank());
    const Value given = e.has("tensor_indices_or_sections") ? e.value("tensor_indices_or_sections")
                                                            : e.optional({"sections", "indices"});
    const bool isCount = given.isTensor() ? given.tensor().rank() == 0 : !given.isListLike();
    return isCount ? cutInto(e, x, axis, e.get(intOf(given))) : cutAt(e, x, axis, e.get(intsOf(given)));
}

}  // namespace

void define_aten_stacks(Registry& registry) {
    registry.add(eagerRow("hstack(Tensor[] tensors) -> Tensor", "tensors side by side", kTensor, hstack));
    registry.add(eagerRow("vstack(Tensor[] tensors) -> Tensor", "tensors one below the other", kTensor,
                          [](Eager& e) -> EagerResult { return e("cat", allAtLeast(e, 2), 0); }));
    registry.add(eagerRow("dstack(Tensor[] tensors) -> Tensor", "tensors concatenated in depth", kTensor,
                          [](Eager& e) -> EagerResult { return e("cat", allAtLeast(e, 3), 2); }));
    registry.add(eagerRow("column_stack(Tensor[] tensors) -> Tensor", "tensors as columns", kTensor, columnStack));
    for (std::int64_t rank : {1, 2, 3}) {
        static constexpr std::string_view kOne[] = {"atleast_1d(Tensor self) -> Tensor",
                                                    "atleast_2d(Tensor self) -> Tensor",
                                                    "atleast_3d(Tensor self) -> Tensor"};
        static constexpr std::string_view kMany[] = {"atleast_1d.Sequence(Tensor[] tensors) -> Tensor[]",
                                                     "atleast_2d.Sequence(Tensor[] tensors) -> Tensor[]",
                                                     "atleast_3d.Sequence(Tensor[] tensors) -> Tensor[]"};
        const auto n = static_cast<std::size_t>(rank);
        registry.add(eagerRow(kOne[n - 1], "x with dimensions of size 1 added", kShape,
                              [n](Eager& e) -> EagerResult { return atLeast(e, e.tensor("self"), n); }));
        registry.add(eagerRow(kMany[n - 1], "tensors with dimensions of size 1 added", kShape,
                              [n](Eager& e) -> EagerResult { return Eager::Argument::listOf(allAtLeast(e, n)); }));
    }
    for (
        std::string_view schema :
        {"tensor_split.sections(Tensor self, int sections, int dim=0) -> Tensor[]",
         "tensor_split.indices(Tensor self, int[] indices, int dim=0) -> Tensor[]",
         "tensor_split.tensor_indices_or_sections(Tensor self, Tensor tensor_indices_or_sections, int dim=0) -> Tensor[]"}) {
        registry.add(eagerRow(schema, "x in parts, split at indices or evenly", kTensor, tensorSplit));
    }
    const auto alongRows = [](Eager& e) { return cutAlong(e, e.tensor("self").rank() == 1 ? 0 : 1); };
    const auto along = [](std::size_t axis) { return [axis](Eager& e) { return cutAlong(e, axis); }; };
    registry.add(
        eagerRow("hsplit.int(Tensor self, int sections) -> Tensor[]", "x in parts side by side", kTensor, alongRows));
    registry.add(eagerRow("hsplit.array(Tensor self, int[] indices) -> Tensor[]", "x in parts side by side", kTensor,
                          alongRows));
    registry.add(eagerRow("vsplit.int(Tensor self, int sections) -> Tensor[]", "x in parts one below the other",
                          kTensor, along(0)));
    registry.add(eagerRow("vsplit.array(Tensor self, int[] indices) -> Tensor[]", "x in parts one below the other",
                          kTensor, along(0)));
    registry.add(
        eagerRow("dsplit.int(Tensor self, int sections) -> Tensor[]", "x in parts in depth", kTensor, along(2)));
    registry.add(
        eagerRow("dsplit.array(Tensor self, int[] indices) -> Tensor[]", "x in parts in depth", kTensor, along(2)));
    registry.add(eagerRow("meshgrid(Tensor[] tensors) -> Tensor[]", "grids of coordinates", kTensor,
                          [](Eager& e) { return meshgrid(e, false); }));
    registry.add(eagerRow("meshgrid.indexing(Tensor[] tensors, *, str indexing) -> Tensor[]", "grids of coordinates",
                          kTensor, [](Eager& e) { return meshgrid(e, e.text("indexing") == "xy"); }));
    registry.add(eagerRow("cartesian_prod(Tensor[] tensors) -> Tensor", "all combinations, one a row", kTensor,
                          [](Eager& e) -> EagerResult {
                              std::vector<Tensor> grids;
                              const EagerResult all = meshgrid(e, false);
                              for (const Value& grid : all.values.front().items())
                                  grids.push_back(e.reshape(grid.tensor(), Shape{grid.tensor().numel()}));
                              return grids.size() == 1 ? grids.front() : e("stack", grids, 1);
                          }));
    registry.add(eagerRow("broadcast_tensors(Tensor[] tensors) -> Tensor[]", "tensors in their common shape", kShape,
                          [](Eager& e) -> EagerResult {
                              std::vector<Tensor> list = e.tensors("tensors");
                              Shape shape;
                              for (const Tensor& x : list) shape = e.get(broadcast(shape, x.shape()));
                              for (Tensor& x : list) x = e.get(x.expanded(shape));
                              return Eager::Argument::listOf(list);
                          }));
    registry.add(eagerRow("block_diag(Tensor[] tensors) -> Tensor", "matrices along a diagonal", kTensor,
                          [](Eager& e) -> EagerResult {
                              std::int64_t rows = 0, columns = 0, row = 0, column = 0;
                              const std::vector<Tensor> list = allAtLeast(e, 2);
                              DType dtype = list.empty() ? DType::Float32 : list.front().dtype();
                              for (const Tensor& x : list) {
                                  if (x.rank() > 2) e.fail("only matrices have a diagonal, not " + x.typeText());
                                  rows += x.dim(0);
                                  columns += x.dim(1);
                                  dtype = promotedTypes(dtype, x.dtype());
                              }
                              const Tensor y = e.get(Tensor::zeros(dtype, Shape{rows, columns}));
                              for (const Tensor& x : list) {
                                  kernels::copyInto(e.context().pool(), e.as(x, dtype),
                                                    y.sliced(0, row, x.dim(0)).sliced(1, column, x.dim(1)));
                                  row += x.dim(0);
                                  column += x.dim(1);
                              }
                              return y;
                          }));
    explain("aten", "select_scatter slice_scatter diagonal_scatter", dependence::moved, "self src");
    explain("aten", "block_diag cartesian_prod", dependence::moved, "tensors");
}

}  // namespace sonde::ops
