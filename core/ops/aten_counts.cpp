// ATen's counts: of values, of ranges, of different elements.

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "core/ops/dependence/rules.h"
#include "core/ops/support/eager.h"
#include "core/ops/support/promotion.h"
#include "core/ops/support/shapes.h"
#include "core/ops/support/wide.h"
#include "core/tensor/dispatch.h"

namespace sonde::ops {

namespace {

EagerResult countNonzero(Eager& e) {
    const Tensor condition = e("ne.Scalar", e.tensor("self"), 0);
    if (!e.has("dim")) return e("sum", condition);
    const std::vector<std::size_t> axes = e.axes("dim", condition.rank());
    return e("sum.dim_IntList", condition, std::vector<std::int64_t>(axes.begin(), axes.end()));
}

EagerResult histogram(Eager& e) {
    const Tensor x = e.get(wide(e.tensor("self")));
    const std::int64_t bins = e.integer("bins");
    if (bins < 1 || bins > 100'000'000) e.fail("a histogram of " + std::to_string(bins) + " bins");
    double low = e.number("min"), high = e.number("max");
    if (low == high && x.numel() > 0) {
        const auto [least, most] = std::minmax_element(x.data<double>(), x.data<double>() + x.numel());
        low = *least;
        high = *most;
    }
    if (low == high) {
        low -= 1;
        high += 1;
    }
    if (!(low < high)) e.fail("the range of a histogram is empty");
    Tensor result = e.get(wideZeros(Shape{bins}));
    for (double v : x.span<double>()) {
        if (!(v >= low && v <= high)) continue;
        const auto bin = static_cast<std::int64_t>((v - low) / (high - low) * static_cast<double>(bins));
        result.mutableData<double>()[std::min(bin, bins - 1)] += 1;
    }
    const DType given = e.tensor("self").dtype();
    return e.as(result, tensor::isFloating(given) ? given : DType::Float32);
}

EagerResult bincount(Eager& e) {
    const Tensor x = e.as(e.tensor("self"), DType::Int64);
    std::int64_t size = e.integer("minlength");
    for (std::int64_t v : x.span<std::int64_t>()) {
        if (v < 0) e.fail("only non-negative integers are counted");
        size = std::max(size, v + 1);
    }
    if (size > 100'000'000) e.fail("a count of " + std::to_string(size) + " classes");
    const bool weighted = e.has("weights");
    const Tensor weights = weighted ? e.get(wide(e.tensor("weights"))) : Tensor();
    if (weighted && weights.numel() != x.numel()) e.fail("expected a weight for each element");
    Tensor result = e.get(wideZeros(Shape{size}));
    for (std::int64_t i = 0; i < x.numel(); ++i)
        result.mutableData<double>()[x.data<std::int64_t>()[i]] += weighted ? weights.data<double>()[i] : 1;
    if (!weighted) return e.as(result, DType::Int64);
    return e.as(result, e.tensor("weights").dtype() == DType::Float32 ? DType::Float32 : DType::Float64);
}

/// Values, the place of each element among them, and how often each comes. `dim`: whole slices are compared.
EagerResult unique(Eager& e, std::optional<std::int64_t> dim, bool consecutive) {
    const Tensor x = e.tensor("self");
    const Tensor flat = dim ? x : e.reshape(x, Shape{x.numel()});
    const std::size_t axis = dim ? e.axisOf(*dim, flat.rank()) : 0;
    const std::int64_t n = flat.dim(axis);
    const Tensor rows = n == 0 ? Tensor() : e.get(wide(e.get(flat.transposed(0, axis).contiguous())));
    const std::int64_t width = n == 0 ? 0 : rows.numel() / n;
    const auto row = [&](std::int64_t i) {
        return std::span(rows.data<double>() + i * width, static_cast<std::size_t>(width));
    };
    const auto less = [&](std::int64_t a, std::int64_t b) {
        return std::ranges::lexicographical_compare(row(a), row(b));
    };
    std::vector<std::int64_t> order(static_cast<std::size_t>(n)), kept, counts;
    std::iota(order.begin(), order.end(), 0);
    if (!consecutive) std::stable_sort(order.begin(), order.end(), less);
    Tensor inverse = e.get(Tensor::allocate(DType::Int64, dim ? Shape{n} : x.shape()));
    for (std::int64_t at : order) {
        if (kept.empty() || !std::ranges::equal(row(kept.back()), row(at))) {
            kept.push_back(at);
            counts.push_back(0);
        }
        ++counts.back();
        inverse.mutableData<std::int64_t>()[at] = static_cast<std::int64_t>(kept.size()) - 1;
    }
    const Shape size{static_cast<std::int64_t>(kept.size())};
    const Tensor values = e("index_select", flat, axis, Tensor::of<std::int64_t>(size, kept));
    return std::vector<Value>{Value(values), Value(inverse), Value(Tensor::of<std::int64_t>(size, counts))};
}

EagerResult nonzeroPerDimension(Eager& e) {
    Tensor x = e.tensor({"self", "condition"});
    if (x.rank() == 0) x = e.reshape(x, Shape{1});
    const Tensor places = e.onnx("NonZero", {Value(x)});
    std::vector<Tensor> list;
    for (std::int64_t i = 0; i < places.dim(0); ++i) list.push_back(places.selected(0, i));
    return Eager::Argument::listOf(list);
}

}  // namespace

void define_aten_counts(Registry& registry) {
    registry.add(eagerRow("count_nonzero(Tensor self, int? dim=None) -> Tensor", "count of nonzero elements", kRed,
                          countNonzero));
    registry.add(eagerRow("count_nonzero.dim_IntList(Tensor self, int[] dim) -> Tensor", "count of nonzero elements",
                          kRed, countNonzero));
    registry.add(eagerRow(
        "nonzero(Tensor self) -> Tensor", "indices of all elements that are not 0, one per row", kRed,
        [](Eager& e) -> EagerResult {
            if (e.tensor("self").rank() == 0)
                return e.get(Tensor::zeros(DType::Int64, Shape{e.tensor("self").toDouble(0) != 0 ? 1 : 0, 0}));
            return e.get(e.onnx("NonZero", {e.value("self")}).transposed(0, 1).contiguous());
        },
        [](InferContext& c) -> base::Result<void> {
            const auto& in = c.in({"X", "self"}).shape;
            c.set(TypeInfo::tensor(DType::Int64,
                                   Dims{Dim{}, in ? Dim::of(static_cast<std::int64_t>(in->size())) : Dim{}}));
            return {};
        }));
    registry.add(eagerRow("argwhere(Tensor self) -> Tensor", "indices of all elements that are not 0, one per row",
                          kRed, [](Eager& e) -> EagerResult { return e("nonzero", e.tensor("self")); }));
    registry.add(eagerRow("nonzero_numpy(Tensor self) -> Tensor[]",
                          "indices of all elements that are not 0, by dimension", kRed, nonzeroPerDimension));
    registry.add(eagerRow("where(Tensor condition) -> Tensor[]", "indices of all elements that are not 0, by dimension",
                          kRed, nonzeroPerDimension));
    registry.add(eagerRow("histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor",
                          "count of elements in each of equal ranges", kRed, histogram));
    registry.add(eagerRow("bincount(Tensor self, Tensor? weights=None, int minlength=0) -> Tensor",
                          "how often each number occurs", kRed, bincount));
    registry.add(eagerRow(
        "_unique2(Tensor self, bool sorted=True, bool return_inverse=False, bool return_counts=False) -> (Tensor, Tensor, Tensor)",
        "the different elements, where they are and how often", kRed,
        [](Eager& e) { return unique(e, std::nullopt, false); }));
    registry.add(eagerRow("_unique(Tensor self, bool sorted=True, bool return_inverse=False) -> (Tensor, Tensor)",
                          "the different elements and where they are", kRed,
                          [](Eager& e) { return unique(e, std::nullopt, false); }));
    registry.add(eagerRow(
        "unique_dim(Tensor self, int dim, bool sorted=True, bool return_inverse=False, bool return_counts=False) -> (Tensor, Tensor, Tensor)",
        "the different slices, where they are and how often", kRed,
        [](Eager& e) { return unique(e, e.integer("dim"), false); }));
    registry.add(eagerRow(
        "unique_dim_consecutive(Tensor self, int dim, bool return_inverse=False, bool return_counts=False) -> (Tensor, Tensor, Tensor)",
        "slices without repetitions", kRed, [](Eager& e) { return unique(e, e.integer("dim"), true); }));
    registry.add(eagerRow(
        "unique_consecutive(Tensor self, bool return_inverse=False, bool return_counts=False, int? dim=None) -> (Tensor, Tensor, Tensor)",
        "elements without repetitions", kRed,
        [](Eager& e) { return unique(e, e.has("dim") ? std::optional(e.integer("dim")) : std::nullopt, true); }));
    explain("aten", "count_nonzero", dependence::reduced, "sum(x != 0)");
    explain("aten", "bincount", dependence::countedEqual);
    explain("aten", "_unique _unique2 unique_consecutive unique_dim unique_dim_consecutive", dependence::firstEqual);
}

}  // namespace sonde::ops
