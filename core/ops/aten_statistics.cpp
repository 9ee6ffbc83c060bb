// ATen's variances, norms, medians and sorting.

#include <algorithm>
#include <cmath>
#include <limits>
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

std::vector<std::int64_t> signedAxes(const std::vector<std::size_t>& axes) { return {axes.begin(), axes.end()}; }

Tensor floating(Eager& e, const Tensor& x) { return tensor::isFloating(x.dtype()) ? x : e.as(x, DType::Float32); }

struct Moments {
    Tensor variance, mean;
};

/// mean over axes, and Σ (x − mean)² / max(0, n − correction)
Moments moments(Eager& e, const Tensor& x, const std::vector<std::size_t>& axes, double correction, bool keep) {
    if (!tensor::isFloating(x.dtype())) e.fail("a variance needs floating point, not " + x.typeText());
    double n = 1;
    for (std::size_t axis : axes) n *= static_cast<double>(x.dim(axis));
    const Tensor mean = axes.empty() ? x : e("mean.dim", x, signedAxes(axes), true);
    const Tensor square = e("square", e("sub.Tensor", x, mean));
    const Tensor sum = axes.empty() ? square : e("sum.dim_IntList", square, signedAxes(axes), keep);
    const Tensor shown = keep || axes.empty() ? mean : e("mean.dim", x, signedAxes(axes), false);
    return {e("div.Scalar", sum, std::max(0.0, n - correction)), shown};
}

/// How var and std are called: (self, unbiased), (self, dim, unbiased, keepdim), (self, dim, *, correction, keepdim).
EagerResult varianceOf(Eager& e, bool root, bool withMean) {
    const Tensor x = e.tensor("self");
    double correction = 1;
    if (e.has("unbiased")) correction = e.flag("unbiased") ? 1 : 0;
    else if (e.has("correction")) correction = e.number("correction");
    Moments result = moments(e, x, e.axes("dim", x.rank()), correction, e.flag("keepdim"));
    if (root) result.variance = e("sqrt", result.variance);
    if (!withMean) return result.variance;
    return std::vector<Value>{Value(result.variance), Value(result.mean)};
}

void defineVariances(Registry& registry) {
    const struct {
        std::string_view all, dim, correction, summary;
        bool root, withMean;
    } rows[] = {
        {"var(Tensor self, bool unbiased=True) -> Tensor",
         "var.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor",
         "var.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> Tensor",
         "variance over axes", false, false},
        {"std(Tensor self, bool unbiased=True) -> Tensor",
         "std.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor",
         "std.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> Tensor",
         "standard deviation over axes", true, false},
        {"var_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor)",
         "var_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> (Tensor, Tensor)",
         "var_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> (Tensor, Tensor)",
         "variance and mean over axes", false, true},
        {"std_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor)",
         "std_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> (Tensor, Tensor)",
         "std_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> (Tensor, Tensor)",
         "standard deviation and mean over axes", true, true},
    };
    for (const auto& row : rows) {
        for (std::string_view schema : {row.all, row.dim, row.correction}) {
            registry.add(
                eagerRow(schema, row.summary, kRed, [row](Eager& e) { return varianceOf(e, row.root, row.withMean); }));
        }
    }
}

/// (Σ |x|^p)^(1/p) over axes.
Tensor normOf(Eager& e, const Tensor& x, double p, const std::vector<std::size_t>& axes, bool keep) {
    const Tensor numbers = tensor::isComplex(x.dtype()) ? x : floating(e, x);
    return e("norm.ScalarOpt_dim", numbers, p, signedAxes(axes), keep);
}

std::vector<std::size_t> allAxes(const Tensor& x) {
    std::vector<std::size_t> all(x.rank());
    std::iota(all.begin(), all.end(), 0);
    return all;
}

void defineDistances(Registry& registry) {
    registry.add(eagerRow("dist(Tensor self, Tensor other, Scalar p=2) -> Tensor", "p-norm of the difference", kRed,
                          [](Eager& e) -> EagerResult {
                              const Tensor difference = e("sub.Tensor", e.tensor("self"), e.tensor("other"));
                              return normOf(e, difference, e.number("p"), allAxes(difference), false);
                          }));
    registry.add(eagerRow(
        "pairwise_distance(Tensor x1, Tensor x2, float p=2, float eps=1e-06, bool keepdim=False) -> Tensor",
        "p-norm of x1 − x2 + eps along the last dimension", kRed, [](Eager& e) -> EagerResult {
            const Tensor difference = e("add.Scalar", e("sub.Tensor", e.tensor("x1"), e.tensor("x2")), e.number("eps"));
            return normOf(e, difference, e.number("p"), {e.axisOf(-1, difference.rank())}, e.flag("keepdim"));
        }));
    registry.add(eagerRow(
        "cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) -> Tensor",
        "x1·x2 / (max(‖x1‖, eps)·max(‖x2‖, eps))", kRed, [](Eager& e) -> EagerResult {
            const Tensor a = e.tensor("x1"), b = e.tensor("x2");
            const auto unit = [&](const Tensor& x) {
                return e("div.Tensor", x,
                         e("clamp_min", normOf(e, x, 2, {e.axis("dim", x.rank())}, true), e.number("eps")));
            };
            return e("sum.dim_IntList", e("mul.Tensor", unit(a), unit(b)), std::vector<std::int64_t>{e.integer("dim")});
        }));
    for (std::string_view schema : {"cdist(Tensor x1, Tensor x2, float p=2, int? compute_mode=None) -> Tensor",
                                    "_cdist_forward(Tensor x1, Tensor x2, float p, int? compute_mode) -> Tensor"}) {
        registry.add(
            eagerRow(schema, "p-norms of the differences of all pairs of rows", kRed, [](Eager& e) -> EagerResult {
                const Tensor a = e("unsqueeze", e.tensor("x1"), -2), b = e("unsqueeze", e.tensor("x2"), -3);
                const Tensor difference = e("sub.Tensor", a, b);
                return normOf(e, difference, e.number("p"), {e.axisOf(-1, difference.rank())}, false);
            }));
    }
}

// Along one line of an axis.

struct Lane {
    std::int64_t outer = 1, n = 1, inner = 1;
    std::int64_t count() const { return outer * inner; }
    std::int64_t at(std::int64_t line, std::int64_t i) const { return (line / inner * n + i) * inner + line % inner; }
};
Lane lineOf(const Shape& shape, std::size_t axis) {
    Lane line;
    for (std::size_t i = 0; i < shape.rank(); ++i) (i < axis ? line.outer : i > axis ? line.inner : line.n) *= shape[i];
    return line;
}

/// Order of the elements of each line by value; NaN counts as the largest. Values and places, int64.
std::pair<Tensor, Tensor> sorted(Eager& e, const Tensor& given, std::size_t axis, bool descending) {
    const bool isBool = given.dtype() == DType::Bool;
    const Tensor x = isBool ? e.as(given, DType::UInt8) : given;
    Tensor values = e.get(Tensor::allocate(x.dtype(), x.shape()));
    Tensor places = e.get(Tensor::allocate(DType::Int64, x.shape()));
    const Lane line = lineOf(x.shape(), axis);
    const bool done = tensor::dispatchNumbers(x.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        std::vector<std::int64_t> order(static_cast<std::size_t>(line.n));
        for (std::int64_t l = 0; line.n > 0 && l < line.count(); ++l) {
            if (e.context().cancelled()) return;
            const T* in = x.data<T>();
            std::iota(order.begin(), order.end(), 0);
            std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
                const T p = in[line.at(l, a)], q = in[line.at(l, b)];
                const bool pn = p != p, qn = q != q;
                if (pn || qn) return descending ? pn && !qn : !pn && qn;
                return descending ? p > q : p < q;
            });
            for (std::int64_t i = 0; i < line.n; ++i) {
                const std::int64_t from = order[static_cast<std::size_t>(i)];
                values.mutableData<T>()[line.at(l, i)] = in[line.at(l, from)];
                places.mutableData<std::int64_t>()[line.at(l, i)] = from;
            }
        }
    });
    if (!done) e.fail("is not defined for " + x.typeText());
    return {isBool ? e.as(values, DType::Bool) : values, places};
}

EagerResult sortAlong(Eager& e, std::int64_t dim, bool descending, bool onlyPlaces) {
    const Tensor x = e.tensor("self");
    if (x.rank() == 0) {
        const Tensor zero = Tensor::scalar<std::int64_t>(0);
        if (onlyPlaces) return zero;
        return std::vector<Value>{Value(x), Value(zero)};
    }
    auto [values, places] = sorted(e, x, e.axisOf(dim, x.rank()), descending);
    if (onlyPlaces) return places;
    return std::vector<Value>{Value(values), Value(places)};
}

EagerResult sortOf(Eager& e) { return sortAlong(e, e.integer("dim"), e.flag("descending"), false); }
EagerResult argsortOf(Eager& e) { return sortAlong(e, e.integer("dim"), e.flag("descending"), true); }

/// The element at position k (from 0) of each sorted line.
EagerResult ranked(Eager& e, const Tensor& x, std::size_t axis, std::int64_t k, bool keep) {
    auto [values, places] = sorted(e, x, axis, false);
    const auto pick = [&](const Tensor& from) { return keep ? from.sliced(axis, k, 1) : from.selected(axis, k); };
    return std::vector<Value>{Value(e.get(pick(values).contiguous())), Value(e.get(pick(places).contiguous()))};
}

/// The lower one of the two in the middle; NaN if there is one, or without them.
EagerResult median(Eager& e, bool skipMissing) {
    const Tensor x = e.tensor("self");
    const bool overAll = !e.has("dim");
    const Tensor flat = overAll ? e.reshape(x, Shape{x.numel()}) : x;
    if (flat.rank() == 0) return std::vector<Value>{Value(x), Value(Tensor::scalar<std::int64_t>(0))};
    const std::size_t axis = overAll ? 0 : e.axis("dim", flat.rank());
    const std::int64_t n = flat.dim(axis);
    if (n == 0) e.fail("the median of an empty tensor is undefined");
    auto [values, places] = sorted(e, flat, axis, false);
    const Lane line = lineOf(flat.shape(), axis);
    Shape shape = flat.shape();
    shape[axis] = 1;
    Tensor chosen = e.get(Tensor::allocate(DType::Int64, shape));
    const Tensor missing = tensor::isFloating(flat.dtype()) ? e("isnan", values) : Tensor();
    for (std::int64_t l = 0; l < line.count(); ++l) {
        std::int64_t good = n;
        for (std::int64_t i = 0; missing.defined() && i < n; ++i) good -= missing.data<bool>()[line.at(l, i)] ? 1 : 0;
        std::int64_t place = (n - 1) / 2;
        if (skipMissing) place = good > 0 ? (good - 1) / 2 : 0;
        else if (good < n) place = n - 1;
        chosen.mutableData<std::int64_t>()[l] = place;
    }
    const auto pick = [&](const Tensor& from) {
        const Tensor picked = e("gather", from, axis, chosen);
        return e.flag("keepdim") ? picked : e("squeeze.dim", picked, axis);
    };
    return std::vector<Value>{Value(pick(values)), Value(pick(places))};
}

/// The value that comes most often, the smallest of them, and its last place.
EagerResult modeOf(Eager& e) {
    const Tensor x = e.tensor("self");
    const std::size_t axis = e.axis("dim", x.rank());
    auto [values, places] = sorted(e, x, axis, false);
    const Lane line = lineOf(x.shape(), axis);
    if (line.n == 0) e.fail("the mode of an empty tensor is undefined");
    Shape shape = x.shape();
    shape[axis] = 1;
    Tensor chosen = e.get(Tensor::allocate(DType::Int64, shape));
    for (std::int64_t l = 0; l < line.count(); ++l) {
        std::int64_t best = 0, bestCount = 0, count = 0;
        for (std::int64_t i = 0; i < line.n; ++i) {
            count = i > 0 && values.toDouble(line.at(l, i)) == values.toDouble(line.at(l, i - 1)) ? count + 1 : 1;
            if (count > bestCount) {
                best = i;
                bestCount = count;
            }
        }
        chosen.mutableData<std::int64_t>()[l] = best;
    }
    const auto pick = [&](const Tensor& from) {
        const Tensor picked = e("gather", from, axis, chosen);
        return e.flag("keepdim") ? picked : e("squeeze.dim", picked, axis);
    };
    return std::vector<Value>{Value(pick(values)), Value(pick(places))};
}

/// Quantiles of all elements or along an axis, between neighbours by a rule: linear, lower, higher, nearest, midpoint.
EagerResult quantile(Eager& e) {
    Tensor x = floating(e, e.tensor("self"));
    const bool isTensor = e.value("q").isTensor(), keep = e.flag("keepdim"), hasDim = e.has("dim");
    const Tensor given = isTensor ? e.tensor("q") : Tensor::scalar<double>(e.number("q"));
    std::vector<double> q;
    for (std::int64_t i = 0; i < given.numel(); ++i) q.push_back(given.toDouble(i));
    const std::size_t fullRank = x.rank();
    std::size_t axis = 0;
    if (hasDim) axis = e.axis("dim", x.rank());
    else x = e.reshape(x, Shape{x.numel()});
    if (x.dim(axis) == 0) e.fail("the quantile of an empty tensor is undefined");
    const std::string rule = e.text("interpolation");
    const Tensor values = sorted(e, x, axis, false).first;
    const Tensor last = values.selected(axis, values.dim(axis) - 1);
    std::vector<Tensor> parts;
    for (double at : q) {
        if (!(at >= 0 && at <= 1)) e.fail("a quantile must be between 0 and 1");
        double place = at * static_cast<double>(values.dim(axis) - 1);
        if (rule == "lower") place = std::floor(place);
        else if (rule == "higher") place = std::ceil(place);
        else if (rule == "nearest") place = std::nearbyint(place);
        const auto below = static_cast<std::int64_t>(std::floor(place)),
                   above = static_cast<std::int64_t>(std::ceil(place));
        const double weight = rule == "midpoint" ? (below == above ? 0 : 0.5) : place - static_cast<double>(below);
        Tensor part = e("lerp.Scalar", values.selected(axis, below), values.selected(axis, above), weight);
        part = e("where.self", e("isnan", last), last, part);
        if (keep)
            part = hasDim ? part.unsqueezed(axis) : e.reshape(part, Shape(std::vector<std::int64_t>(fullRank, 1)));
        parts.push_back(part);
    }
    return given.rank() == 0 ? parts.front() : e("stack", parts);
}

/// Running largest or smallest, and where; of equals the last.
EagerResult runningExtreme(Eager& e, bool largest) {
    const Tensor x = e.tensor("self");
    const std::size_t axis = e.axis("dim", std::max<std::size_t>(x.rank(), 1));
    Tensor values = e.get(Tensor::allocate(x.dtype(), x.shape()));
    Tensor places = e.get(Tensor::allocate(DType::Int64, x.shape()));
    const Lane line = lineOf(x.shape(), axis);
    const bool done = tensor::dispatchNumbers(x.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        for (std::int64_t l = 0; l < line.count(); ++l) {
            std::int64_t best = 0;
            for (std::int64_t i = 0; i < line.n; ++i) {
                const T v = x.data<T>()[line.at(l, i)], b = x.data<T>()[line.at(l, best)];
                if (v != v || (b == b && (largest ? v >= b : v <= b))) best = i;
                values.mutableData<T>()[line.at(l, i)] = x.data<T>()[line.at(l, best)];
                places.mutableData<std::int64_t>()[line.at(l, i)] = best;
            }
        }
    });
    if (!done) e.fail("is not defined for " + x.typeText());
    return std::vector<Value>{Value(values), Value(places)};
}

EagerResult cumulated(Eager& e, const char* name) {
    const Tensor given = e.tensor("self");
    Tensor x = given;
    if (e.has("dtype")) x = e.as(x, e.dtype("dtype", x.dtype()));
    else if (!tensor::isFloating(x.dtype())) x = e.as(x, DType::Int64);
    if (x.rank() == 0) return x;
    return e.onnx(name, {Value(x), Value(Tensor::scalar<std::int64_t>(e.integer("dim")))});
}

/// ln of the running sums of e^x.
EagerResult logCumulated(Eager& e) {
    const Tensor x = floating(e, e.tensor("self"));
    const std::size_t axis = e.axis("dim", std::max<std::size_t>(x.rank(), 1));
    Tensor y = e.get(e.get(wide(x)).clone());
    const Lane line = lineOf(x.shape(), axis);
    double* v = y.mutableData<double>();
    for (std::int64_t l = 0; l < line.count(); ++l) {
        for (std::int64_t i = 1; i < line.n; ++i) {
            const double a = v[line.at(l, i - 1)], b = v[line.at(l, i)], most = std::max(a, b);
            v[line.at(l, i)] = std::isinf(most) ? most : most + std::log1p(std::exp(std::min(a, b) - most));
        }
    }
    return e.as(y, x.dtype());
}

/// Sums and means that leave out what is missing.
EagerResult withoutMissing(Eager& e, bool mean) {
    const Tensor x = floating(e, e.tensor("self"));
    const std::vector<std::int64_t> axes = signedAxes(e.axes("dim", x.rank()));
    const Tensor missing = e("isnan", x);
    const Tensor sum = e("sum.dim_IntList", e("masked_fill.Scalar", x, missing, 0.0), axes, e.flag("keepdim"));
    const Tensor total =
        mean ? e("div.Tensor", sum, e("sum.dim_IntList", e("logical_not", missing), axes, e.flag("keepdim"))) : sum;
    return e.has("dtype") ? e.as(total, e.dtype("dtype", x.dtype())) : total;
}

EagerResult extremes(Eager& e) {
    std::vector<std::int64_t> axes;
    if (e.has("dim")) axes.push_back(e.integer("dim"));
    return std::vector<Value>{Value(e("amin", e.tensor("self"), axes, e.flag("keepdim"))),
                              Value(e("amax", e.tensor("self"), axes, e.flag("keepdim")))};
}

/// How many sorted boundaries lie below (or not above, right) each value.
Tensor buckets(Eager& e, const Tensor& boundaries, const Tensor& values, bool right, bool int32) {
    const std::int64_t n = boundaries.rank() == 0 ? 1 : boundaries.dim(boundaries.rank() - 1);
    const bool shared = boundaries.rank() <= 1;
    const bool fits = shared || values.rank() == boundaries.rank();
    const std::int64_t perRow = shared || !fits ? values.numel() : values.dim(values.rank() - 1);
    if (!fits || (!shared && n > 0 && values.numel() / std::max<std::int64_t>(perRow, 1) != boundaries.numel() / n)) {
        e.fail("boundaries " + boundaries.typeText() + " do not go with " + values.typeText());
    }
    const Tensor b = e.get(wide(boundaries)), v = e.get(wide(values));
    Tensor result = e.get(Tensor::allocate(DType::Int64, values.shape()));
    for (std::int64_t i = 0; i < values.numel(); ++i) {
        const double* first = b.data<double>() + (shared || perRow == 0 ? 0 : i / perRow * n);
        const double x = v.data<double>()[i];
        const double* found = right ? std::upper_bound(first, first + n, x) : std::lower_bound(first, first + n, x);
        result.mutableData<std::int64_t>()[i] = found - first;
    }
    return int32 ? e.as(result, DType::Int32) : result;
}

void defineOrder(Registry& registry) {
    registry.add(eagerRow("sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor, Tensor)",
                          "elements in order and where they were", kRed, sortOf));
    registry.add(
        eagerRow("sort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False) -> (Tensor, Tensor)",
                 "elements in order and where they were", kRed, sortOf));
    registry.add(eagerRow("argsort(Tensor self, int dim=-1, bool descending=False) -> Tensor",
                          "where the elements in order were", kRed, argsortOf));
    registry.add(eagerRow("argsort.stable(Tensor self, *, bool stable, int dim=-1, bool descending=False) -> Tensor",
                          "where the elements in order were", kRed, argsortOf));
    registry.add(eagerRow(
        "msort(Tensor self) -> Tensor", "elements in order along dimension 0", kRed,
        [](Eager& e) -> EagerResult { return std::vector<Value>{sortAlong(e, 0, false, false).values.front()}; }));
    registry.add(eagerRow("kthvalue(Tensor self, int k, int dim=-1, bool keepdim=False) -> (Tensor, Tensor)",
                          "the k-th smallest element and where it is", kRed, [](Eager& e) -> EagerResult {
                              const Tensor x = e.tensor("self");
                              const std::size_t axis = e.axis("dim", x.rank());
                              if (e.integer("k") < 1 || e.integer("k") > x.dim(axis))
                                  e.fail("k " + std::to_string(e.integer("k")) + " is outside " + x.typeText());
                              return ranked(e, x, axis, e.integer("k") - 1, e.flag("keepdim"));
                          }));
    registry.add(eagerRow("median(Tensor self) -> Tensor", "the middle one of all elements", kRed,
                          [](Eager& e) -> EagerResult { return std::vector<Value>{median(e, false).values.front()}; }));
    registry.add(eagerRow("nanmedian(Tensor self) -> Tensor", "the middle one of all that are not missing", kRed,
                          [](Eager& e) -> EagerResult { return std::vector<Value>{median(e, true).values.front()}; }));
    registry.add(eagerRow("median.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor, Tensor)",
                          "the middle ones along an axis and where they are", kRed,
                          [](Eager& e) { return median(e, false); }));
    registry.add(eagerRow("nanmedian.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor, Tensor)",
                          "the middle ones of all that are not missing", kRed,
                          [](Eager& e) { return median(e, true); }));
    registry.add(eagerRow("mode(Tensor self, int dim=-1, bool keepdim=False) -> (Tensor, Tensor)",
                          "most frequent element along an axis", kRed, modeOf));
    registry.add(eagerRow(
        "quantile(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str interpolation='linear') -> Tensor",
        "quantiles along an axis", kRed, quantile));
    registry.add(eagerRow(
        "quantile.scalar(Tensor self, float q, int? dim=None, bool keepdim=False, *, str interpolation='linear') -> Tensor",
        "a quantile along an axis", kRed, quantile));
    registry.add(eagerRow(
        "bucketize.Tensor(Tensor self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor",
        "the number of boundaries below each element", kRed, [](Eager& e) -> EagerResult {
            return buckets(e, e.tensor("boundaries"), e.tensor("self"), e.flag("right"), e.flag("out_int32"));
        }));
    registry.add(eagerRow(
        "searchsorted.Tensor(Tensor sorted_sequence, Tensor self, *, bool out_int32=False, bool right=False, str? side=None, Tensor? sorter=None) -> Tensor",
        "where each element would be put into sorted lines", kRed, [](Eager& e) -> EagerResult {
            const Tensor lines = e.has("sorter") ? e("gather", e.tensor("sorted_sequence"), -1, e.tensor("sorter"))
                                                 : e.tensor("sorted_sequence");
            return buckets(e, lines, e.tensor("self"), e.flag("right") || (e.has("side") && e.text("side") == "right"),
                           e.flag("out_int32"));
        }));
    registry.add(eagerRow(
        "searchsorted.Scalar(Tensor sorted_sequence, Scalar self, *, bool out_int32=False, bool right=False, str? side=None, Tensor? sorter=None) -> Tensor",
        "where a number would be put into a sorted line", kRed, [](Eager& e) -> EagerResult {
            return buckets(e, e.tensor("sorted_sequence"), Tensor::scalar<double>(e.number("self")),
                           e.flag("right") || (e.has("side") && e.text("side") == "right"), e.flag("out_int32"));
        }));
}

}  // namespace

void define_aten_statistics(Registry& registry) {
    defineVariances(registry);
    defineDistances(registry);
    defineOrder(registry);
    registry.add(eagerRow("cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
                          "running sums along an axis", kRed, [](Eager& e) { return cumulated(e, "CumSum"); }));
    registry.add(eagerRow("cumprod(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
                          "running products along an axis", kRed, [](Eager& e) { return cumulated(e, "CumProd"); }));
    registry.add(eagerRow("logcumsumexp(Tensor self, int dim) -> Tensor", "logarithms of the running sums of e^x", kRed,
                          logCumulated));
    registry.add(eagerRow("cummax(Tensor self, int dim) -> (Tensor, Tensor)",
                          "running largest elements and where they are", kRed,
                          [](Eager& e) { return runningExtreme(e, true); }));
    registry.add(eagerRow("cummin(Tensor self, int dim) -> (Tensor, Tensor)",
                          "running smallest elements and where they are", kRed,
                          [](Eager& e) { return runningExtreme(e, false); }));
    registry.add(eagerRow("aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor, Tensor)",
                          "smallest and largest value", kRed, extremes));
    registry.add(
        eagerRow("nansum(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
                 "sum over axes without what is missing", kRed, [](Eager& e) { return withoutMissing(e, false); }));
    registry.add(
        eagerRow("nanmean(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
                 "mean over axes without what is missing", kRed, [](Eager& e) { return withoutMissing(e, true); }));
    explain("aten", "var var_mean", dependence::reduced,
            "sum((x - mean(x)) * (x - mean(x))) / (count - correction) | mean(x)");
    explain("aten", "std std_mean", dependence::reduced,
            "sqrt(sum((x - mean(x)) * (x - mean(x))) / (count - correction)) | mean(x)");
    explain("aten", "cdist _cdist_forward", dependence::distance);
    explain("aten", "cumsum", dependence::running, "sum(x)");
    explain("aten", "cumprod", dependence::running, "prod(x)");
    explain("aten", "logcumsumexp", dependence::running, "max(x) + log(sum(exp(x - max(x))))");
    explain("aten", "topk sort argsort kthvalue median.dim mode cummax cummin", dependence::selected, "dim");
    explain("aten", "dist pairwise_distance", dependence::differenceNorm);
    explain("aten", "cosine_similarity", dependence::cosine);
    explain("aten", "aminmax", dependence::reduced, "min(x) | max(x)");
    explain("aten", "nansum", dependence::reduced, "sum(where(isnan(x), 0, x))");
    explain("aten", "nanmean", dependence::reduced, "sum(where(isnan(x), 0, x)) / sum(isnan(x) == 0)");
    explain("aten", "bucketize searchsorted", dependence::placeAmong);
    explain("aten", "msort", dependence::chosenOfLine, "first");
    explain("aten", "nanmedian", dependence::chosenOfLine);
    explain("aten", "median", dependence::chosenOfLine);
    explain("aten", "quantile", dependence::quantile);
}

}  // namespace sonde::ops
