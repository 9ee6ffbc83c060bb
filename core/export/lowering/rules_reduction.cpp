// Sums, norms, statistics, order and losses.

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/export/lowering/lowering.h"
#include "core/ops/support/promotion.h"
#include "core/tensor/shape.h"

namespace sonde::exporting {

namespace {

using Results = std::vector<Argument>;
using C = LoweredCall;
using Axes = std::vector<std::int64_t>;

bool hasOverload(const C& c, std::string_view text) { return c.expr().op.name.find(text) != std::string::npos; }
Axes allAxes(std::size_t rank) {
    Axes axes;
    for (std::size_t i = 0; i < rank; ++i) axes.push_back(static_cast<std::int64_t>(i));
    return axes;
}
NodeId reduced(C& c, const char* name, NodeId x, const Axes& axes, bool keep) {
    if (c.shapeOf(x).rank() == 0) return x;
    return c.make(name, {x, c.integersNode(axes)}, {{"keepdims", std::int64_t{keep}}});
}
/// Axes in argument `at`, all if none is named.
NodeId reducedAt(C& c, const char* name, NodeId x, std::size_t at, std::size_t keep) {
    return reduced(c, name, x, at < c.count() ? c.axes(at, c.shapeOf(x).rank()) : allAxes(c.shapeOf(x).rank()),
                   keep < c.count() && c.flag(keep));
}
NodeId scaled(C& c, NodeId x, double factor) { return c.make("Mul", {x, c.scalar(factor, c.dtypeOf(x))}); }

/// all and any, by the smallest or largest of zeros and ones.
Results allOrAny(C& c, const char* name) {
    const DType wanted = c.result().dtype();
    const bool over = c.count() > 1;
    const NodeId ones = c.cast(c.cast(c.tensor(0), DType::Bool), DType::Int32);
    return one(c.cast(over ? reducedAt(c, name, ones, 1, 2) : reducedAt(c, name, ones, 9, 9), wanted));
}

std::int64_t dimSizeOver(const Shape& shape, const Axes& axes) {
    std::int64_t count = 1;
    for (std::int64_t axis : axes) count *= shape[static_cast<std::size_t>(axis)];
    return count;
}

/// The same of axes that are as long as the data say, in the result's dtype.
NodeId countOver(C& c, NodeId x, const Axes& axes) {
    const NodeId sizes = c.opOf("Gather", {c.sizesOf(x), c.integersNode(axes)}, {{"axis", std::int64_t{0}}},
                                DType::Int64, Shape{static_cast<std::int64_t>(axes.size())});
    return c.cast(reduced(c, "ReduceProd", sizes, {0}, false), c.result().dtype());
}

/// Σ(x - mean)² / (n - correction), its root if wanted; the mean too.
Results spreadOf(C& c, bool root, bool withMean) {
    const NodeId x = c.in(0);
    const Shape shape = c.shapeOf(x);
    Axes axes = allAxes(shape.rank());
    double correction = 1;
    bool keep = false;
    if (hasOverload(c, ".correction")) {
        axes = c.axes(1, shape.rank());
        correction = c.number(2, 1);
        keep = c.flag(3);
    } else if (hasOverload(c, ".dim")) {
        axes = c.axes(1, shape.rank());
        correction = c.flag(2) ? 1 : 0;
        keep = c.flag(3);
    } else {
        correction = c.flag(1) ? 1 : 0;
    }
    const NodeId mean = reduced(c, "ReduceMean", x, axes, true);
    const NodeId difference = c.make("Sub", {x, mean});
    const NodeId sum = reduced(c, "ReduceSum", c.make("Mul", {difference, difference}), axes, keep);
    NodeId value;
    if (std::ranges::any_of(axes, [&](std::int64_t axis) { return c.isOpen(x, static_cast<std::size_t>(axis)); })) {
        value = c.make("Div",
                       {sum, c.make("Max", {c.make("Sub", {countOver(c, x, axes), c.like(correction)}), c.like(0)})});
    } else {
        const double count = static_cast<double>(dimSizeOver(shape, axes));
        value = scaled(c, sum, 1 / std::max(count - correction, 0.0));
    }
    if (root) value = c.make("Sqrt", {value});
    Results results = one(value);
    if (withMean) results.push_back(Argument::of(keep ? mean : reduced(c, "ReduceMean", x, axes, false)));
    return results;
}

/// (Σ|x|^p)^(1/p); p = inf, -inf and 0 are the largest, the smallest and the count.
NodeId normOf(C& c, NodeId x, double p, const Axes& axes, bool keep) {
    if (p == 2) return reduced(c, "ReduceL2", x, axes, keep);
    const NodeId size = c.make("Abs", {x});
    if (p == 1) return reduced(c, "ReduceSum", size, axes, keep);
    if (std::isinf(p)) return reduced(c, p > 0 ? "ReduceMax" : "ReduceMin", size, axes, keep);
    if (p == 0) return reduced(c, "ReduceSum", c.cast(c.cast(x, DType::Bool), c.dtypeOf(x)), axes, keep);
    const NodeId sum = reduced(c, "ReduceSum", c.make("Pow", {size, c.scalar(p, c.dtypeOf(x))}), axes, keep);
    return c.make("Pow", {sum, c.scalar(1 / p, c.dtypeOf(x))});
}

Results norm(C& c) {
    const NodeId x = c.in(0);
    const std::size_t rank = c.shapeOf(x).rank();
    if (c.expr().op.name.starts_with("frobenius")) return one(normOf(c, x, 2, c.axes(1, rank), c.flag(2)));
    if (hasOverload(c, "ord_str")) {
        if (c.text(1) != "fro") C::fail("a norm of matrices");
        return one(normOf(c, x, 2, c.axes(2, rank), c.flag(3)));
    }
    if (hasOverload(c, "ScalarOpt_dtype")) C::fail("a norm in a different element type");
    const Axes axes = c.count() > 2 ? c.axes(2, rank) : allAxes(rank);
    if (c.expr().op.name == "linalg_norm" && c.has(1) && axes.size() > 1) C::fail("a norm of matrices");
    return one(normOf(c, x, c.number(1, 2), axes, c.count() > 3 && c.flag(3)));
}

/// Largest (or smallest) of an axis and where it stands; of everything; or of two tensors.
template <bool largest>
Results extreme(C& c) {
    const char* reduce = largest ? "ReduceMax" : "ReduceMin";
    if (hasOverload(c, ".other") || (c.count() == 2 && !hasOverload(c, ".dim")))
        return one(c.make(largest ? "Max" : "Min", {c.in(0), c.in(1)}));
    const NodeId x = c.in(0);
    const std::size_t rank = c.shapeOf(x).rank();
    if (!hasOverload(c, ".dim")) return one(reduced(c, reduce, x, allAxes(rank), false));
    if (rank == 0) return {Argument::of(x), Argument::of(c.scalar(0, DType::Int64))};
    const std::int64_t axis = c.axis(1, rank);
    return {Argument::of(reduced(c, reduce, x, {axis}, c.flag(2))),
            Argument::of(
                c.make(largest ? "ArgMax" : "ArgMin", {x}, {{"axis", axis}, {"keepdims", std::int64_t{c.flag(2)}}}))};
}

Results bothExtremes(C& c) {
    const NodeId x = c.in(0);
    const Axes axes = c.has(1) ? Axes{c.axis(1, c.shapeOf(x).rank())} : allAxes(c.shapeOf(x).rank());
    return {Argument::of(reduced(c, "ReduceMin", x, axes, c.flag(2))),
            Argument::of(reduced(c, "ReduceMax", x, axes, c.flag(2)))};
}

/// The first `count` (int64[1]) in order; how many of this run are `size`.
std::vector<NodeId> top(C& c, NodeId x, NodeId count, std::int64_t size, std::int64_t axis, bool largest,
                        bool sorted = true) {
    Axes dims = c.shapeOf(x).dims();
    dims[static_cast<std::size_t>(axis)] = size;
    return c.ops("TopK", {x, count},
                 {{"axis", axis}, {"largest", std::int64_t{largest}}, {"sorted", std::int64_t{sorted}}},
                 {{c.dtypeOf(x), Shape(dims)}, {DType::Int64, Shape(dims)}});
}
std::vector<NodeId> top(C& c, NodeId x, std::int64_t count, std::int64_t axis, bool largest, bool sorted = true) {
    return top(c, x, c.integersNode({count}), count, axis, largest, sorted);
}
std::int64_t lastAxisOr(C& c, std::size_t at, std::size_t rank) {
    return c.has(at) ? c.axis(at, rank) : static_cast<std::int64_t>(rank) - 1;
}

Results sorted(C& c, std::size_t dimAt, std::size_t descendingAt, int results) {
    const NodeId x = c.tensor(0);
    const Shape shape = c.shapeOf(x);
    if (shape.rank() == 0) C::fail("the order of a single number");
    const std::int64_t axis = dimAt == 0 ? 0 : lastAxisOr(c, dimAt, shape.rank());
    const auto at = static_cast<std::size_t>(axis);
    const std::vector<NodeId> both =
        top(c, x, c.sizeOf(x, at), shape[at], axis, descendingAt > 0 && c.flag(descendingAt));
    if (results == 0) return one(both[1]);
    return results == 1 ? one(both[0]) : several(both);
}

/// The k-th smallest along an axis, k (int64[1]) from 1, and where it was; k is `place` in this run.
Results ranked(C& c, NodeId x, NodeId k, std::int64_t place, std::int64_t axis, bool keep, bool withPlace) {
    const std::vector<NodeId> both = top(c, x, k, place, axis, false);
    const NodeId last = c.integersNode({-1});
    Results results;
    for (NodeId part : {both[0], both[1]}) {
        Axes dims = c.shapeOf(part).dims();
        dims[static_cast<std::size_t>(axis)] = 1;
        const NodeId picked = c.opOf("Gather", {part, last}, {{"axis", axis}}, c.dtypeOf(part), Shape(dims));
        dims.erase(dims.begin() + axis);
        results.push_back(Argument::of(keep ? picked : c.reshaped(picked, Shape(dims))));
        if (!withPlace) break;
    }
    return results;
}
Results ranked(C& c, NodeId x, std::int64_t k, std::int64_t axis, bool keep, bool withPlace) {
    return ranked(c, x, c.integersNode({k}), k, axis, keep, withPlace);
}
Results median(C& c) {
    NodeId x = c.tensor(0);
    const bool over = hasOverload(c, ".dim");
    if (!over) x = c.reshaped(x, Shape{c.shapeOf(x).numel()});
    const std::int64_t axis = over ? c.axis(1, c.shapeOf(x).rank()) : 0;
    const auto at = static_cast<std::size_t>(axis);
    const std::int64_t middle = (c.shapeOf(x)[at] + 1) / 2;
    NodeId k = c.integersNode({middle});
    if (c.isOpen(x, at))
        k = c.make("Div", {c.make("Add", {c.sizeOf(x, at), c.integersNode({1})}), c.integersNode({2})});
    Results results = ranked(c, x, k, middle, axis, over && c.flag(2), over);
    if (over || !tensor::isFloating(c.dtypeOf(x))) return results;
    // One NaN makes the median of all NaN.
    const NodeId worst =
        c.cast(reduced(c, "ReduceMax", c.cast(c.make("IsNaN", {x}), DType::Int32), {0}, false), DType::Bool);
    return one(c.make("Where", {worst, c.like(std::numeric_limits<double>::quiet_NaN()), results[0].node}));
}

/// The number of boundaries below (or not above) each number: its place in the line.
Results searched(C& c, const Argument& line, const Argument& numbers, bool right) {
    NodeId a = c.tensorOf(numbers), b = c.tensorOf(line);
    const DType dtype = ops::promotedTypes(c.dtypeOf(a), c.dtypeOf(b));
    a = c.cast(a, dtype);
    b = c.cast(b, dtype);
    Axes wide = c.shapeOf(a).dims(), other = c.shapeOf(b).dims();
    if (other.size() > 1) {
        // Lines of their own: [.., n] against [.., m].
        wide.push_back(1);
        other.insert(other.end() - 1, 1);
        b = c.reshaped(b, Shape(other));
    } else {
        wide.push_back(1);
    }
    a = c.reshaped(a, Shape(wide));
    const NodeId counts = c.cast(c.make(right ? "LessOrEqual" : "Less", {b, a}), DType::Int64);
    return one(c.cast(reduced(c, "ReduceSum", counts, {static_cast<std::int64_t>(wide.size()) - 1}, false),
                      c.result().dtype()));
}

NodeId withReduction(C& c, NodeId loss, std::size_t at) {
    const std::int64_t reduction = c.has(at) ? c.integer(at) : 1;
    if (reduction == 0) return loss;
    return reduced(c, reduction == 1 ? "ReduceMean" : "ReduceSum", loss, allAxes(c.shapeOf(loss).rank()), false);
}
NodeId difference(C& c) { return c.make("Sub", {c.in(0), c.in(1)}); }

/// d²/(2·beta) where |d| < beta, else |d| - beta/2, times a factor.
Results smooth(C& c, double beta, double factor) {
    const NodeId d = c.make("Abs", {difference(c)});
    if (beta == 0) return one(withReduction(c, d, 2));
    const NodeId inside = scaled(c, c.make("Mul", {d, d}), 0.5 / beta),
                 outside = c.make("Sub", {d, c.like(0.5 * beta)});
    const NodeId loss = c.make("Where", {c.make("Less", {d, c.like(beta)}), inside, outside});
    return one(withReduction(c, scaled(c, loss, factor), 2));
}

/// -(y·log p + (1 - y)·log(1 - p)), logarithms not below -100.
Results binaryCrossEntropy(C& c) {
    const NodeId p = c.in(0), y = c.in(1);
    const auto logarithm = [&](NodeId z) { return c.make("Max", {c.make("Log", {z}), c.like(-100)}); };
    const auto rest = [&](NodeId z) { return c.make("Sub", {c.like(1), z}); };
    NodeId loss = c.make(
        "Neg", {c.make("Add", {c.make("Mul", {y, logarithm(p)}), c.make("Mul", {rest(y), logarithm(rest(p))})})});
    if (c.has(2)) loss = c.make("Mul", {loss, c.in(2)});
    return one(withReduction(c, loss, 3));
}
Results binaryCrossEntropyOfLogits(C& c) {
    const NodeId x = c.in(0), y = c.in(1);
    // softplus(-x) = -log σ(x)
    NodeId positive = c.make("Mul", {y, c.make("Softplus", {c.make("Neg", {x})})});
    if (c.has(3)) positive = c.make("Mul", {positive, c.in(3)});
    const NodeId negative = c.make("Mul", {c.make("Sub", {c.like(1), y}), c.make("Softplus", {x})});
    NodeId loss = c.make("Add", {positive, negative});
    if (c.has(2)) loss = c.make("Mul", {loss, c.in(2)});
    return one(withReduction(c, loss, 4));
}
NodeId labelLoss(C& c, NodeId logs, NodeId labels, std::int64_t reduction) {
    return c.make("NegativeLogLikelihoodLoss", {logs, labels, c.has(2) ? c.in(2) : NodeId{}},
                  {{"reduction", std::string(reduction == 0   ? "none"
                                             : reduction == 1 ? "mean"
                                                              : "sum")},
                   {"ignore_index", c.has(4) ? c.integer(4) : -100}});
}
/// Of probabilities y: −Σ w·log p·y over the classes. Of labels with smoothing ε: (1 − ε) of their loss, and ε/C of
/// −Σ w·log p, whose mean is over the labels that count, or by their weights.
Results softLabels(C& c, NodeId x, NodeId target) {
    const double smoothing = c.number(5, 0), classes = static_cast<double>(c.shapeOf(x)[1]);
    const std::int64_t reduction = c.has(3) ? c.integer(3) : 1;
    const NodeId logs = c.make("LogSoftmax", {x}, {{"axis", std::int64_t{1}}});
    NodeId weighted = logs;
    if (c.has(2)) {
        std::vector<std::int64_t> perClass(c.shapeOf(x).rank(), 1);
        perClass[1] = c.shapeOf(x)[1];
        weighted = c.make("Mul", {logs, c.reshaped(c.in(2), Shape(perClass))});
    }
    const auto overClasses = [&](NodeId z) { return c.make("Neg", {reduced(c, "ReduceSum", z, {1}, false)}); };
    const auto sum = [&](NodeId z) { return reduced(c, "ReduceSum", z, allAxes(c.shapeOf(z).rank()), false); };
    const auto result = [&](NodeId z) { return one(c.reshaped(z, c.result().shape())); };
    if (tensor::isFloating(c.dtypeOf(target))) {
        NodeId y = c.cast(target, c.result().dtype());
        if (smoothing != 0) y = c.make("Add", {c.make("Mul", {y, c.like(1 - smoothing)}), c.like(smoothing / classes)});
        return result(withReduction(c, overClasses(c.make("Mul", {weighted, y})), 3));
    }
    const NodeId isIgnored =
        c.make("Equal", {target, c.scalar(static_cast<double>(c.has(4) ? c.integer(4) : -100), c.dtypeOf(target))});
    NodeId spread = c.make("Where", {isIgnored, c.like(0), overClasses(weighted)});
    if (reduction != 0) spread = sum(spread);
    if (reduction == 1) {
        const NodeId counts = c.has(2) ? c.make("Gather", {c.in(2), target}, {{"axis", std::int64_t{0}}})
                                       : c.make("Where", {isIgnored, c.like(0), c.like(1)});
        spread = c.make("Div", {spread, sum(counts)});
    }
    return result(c.make("Add", {c.make("Mul", {labelLoss(c, logs, target, reduction), c.like(1 - smoothing)}),
                                 c.make("Mul", {spread, c.like(smoothing / classes)})}));
}
Results likelihood(C& c, bool logarithms) {
    NodeId x = c.in(0), target = c.tensor(1);
    const bool areProbabilities = tensor::isFloating(c.dtypeOf(target));
    if (c.shapeOf(x).rank() == 1) {
        const Shape row{1, c.shapeOf(x)[0]};
        x = c.reshaped(x, row);
        target = c.reshaped(target, areProbabilities ? row : Shape{1});
    }
    if (!logarithms && (areProbabilities || c.number(5, 0) != 0)) return softLabels(c, x, target);
    if (areProbabilities) C::fail("a loss of labels that are no integers");
    if (!logarithms) x = c.make("LogSoftmax", {x}, {{"axis", std::int64_t{1}}});
    const NodeId loss = labelLoss(c, x, target, c.has(3) ? c.integer(3) : 1);
    return one(c.reshaped(loss, c.result().shape()));
}
Results divergence(C& c) {
    const NodeId x = c.in(0), target = c.in(1);
    NodeId loss;
    if (c.flag(3)) {
        loss = c.make("Mul", {c.make("Exp", {target}), c.make("Sub", {target, x})});
    } else {
        const NodeId positive = c.make("Greater", {target, c.like(0)});
        const NodeId safe = c.make("Where", {positive, target, c.like(1)});
        loss =
            c.make("Where", {positive, c.make("Mul", {target, c.make("Sub", {c.make("Log", {safe}), x})}), c.like(0)});
    }
    return one(withReduction(c, loss, 2));
}

NodeId dot(C& c, NodeId a, NodeId b, std::int64_t axis, bool keep) {
    return reduced(c, "ReduceSum", c.make("Mul", {a, b}), {axis}, keep);
}
Results cosine(C& c) {
    NodeId a = c.in(0), b = c.in(1);
    const auto common = tensor::broadcastShapes(c.shapeOf(a), c.shapeOf(b));
    if (!common) C::fail("vectors that do not broadcast");
    // Lengths are those of what is multiplied.
    for (NodeId* each : {&a, &b})
        if (c.shapeOf(*each) != *common) *each = c.make("Expand", {*each, c.integersNode(common->dims())});
    const std::int64_t axis = c.axis(2, common->rank());
    const auto length = [&](NodeId z) {
        return c.make("Max", {reduced(c, "ReduceL2", z, {axis}, false), c.like(c.number(3, 1e-8))});
    };
    return one(c.make("Div", {dot(c, a, b, axis, false), c.make("Mul", {length(a), length(b)})}));
}
Results pairDistance(C& c) {
    const NodeId d = c.make("Add", {difference(c), c.like(c.number(3, 1e-6))});
    return one(normOf(c, d, c.number(2, 2), {static_cast<std::int64_t>(c.shapeOf(d).rank()) - 1}, c.flag(4)));
}
Results distances(C& c) {
    NodeId a = c.in(0), b = c.in(1);
    Axes rows = c.shapeOf(a).dims(), columns = c.shapeOf(b).dims();
    rows.insert(rows.end() - 1, 1);
    columns.insert(columns.end() - 2, 1);
    const NodeId d = c.make("Sub", {c.reshaped(a, Shape(rows)), c.reshaped(b, Shape(columns))});
    return one(normOf(c, d, c.number(2, 2), {static_cast<std::int64_t>(c.shapeOf(d).rank()) - 1}, false));
}
Results withoutNaN(C& c, bool mean) {
    const NodeId x = c.tensor(0), isNaN = c.make("IsNaN", {x});
    const DType dtype = c.dtypeOf(x);
    const NodeId sum = reducedAt(c, "ReduceSum", c.make("Where", {isNaN, c.scalar(0, dtype), x}), 1, 2);
    if (!mean) return one(c.cast(sum, c.result().dtype()));
    return one(c.make("Div", {sum, reducedAt(c, "ReduceSum", c.cast(c.make("Not", {isNaN}), dtype), 1, 2)}));
}

// ---- Losses of pairs and triples (core/ops/aten_losses.cpp has their formulas)

NodeId isNumber(C& c, NodeId x, double number) { return c.make("Equal", {x, c.scalar(number, c.dtypeOf(x))}); }
/// max(0, limit − x)
NodeId lacking(C& c, double limit, NodeId x) { return c.make("Relu", {c.make("Sub", {c.like(limit), x})}); }

Results cosineEmbedding(C& c) {
    const NodeId a = c.in(0), b = c.in(1), target = c.tensor(2);
    const std::int64_t axis = static_cast<std::int64_t>(c.shapeOf(a).rank()) - 1;
    const auto square = [&](NodeId x) { return c.make("Add", {dot(c, x, x, axis, false), c.like(1e-12)}); };
    const NodeId length = c.make("Sqrt", {c.make("Mul", {square(a), square(b)})});
    const NodeId cosine = c.make("Div", {dot(c, a, b, axis, false), length});
    const NodeId others = c.make("Relu", {c.make("Sub", {cosine, c.like(c.number(3, 0))})});
    const NodeId apart = c.make("Where", {isNumber(c, target, -1), others, c.like(0)});
    const NodeId alike = c.make("Sub", {c.like(1), cosine});
    return one(withReduction(c, c.make("Where", {isNumber(c, target, 1), alike, apart}), 4));
}
Results hingeEmbedding(C& c) {
    const NodeId x = c.in(0), target = c.tensor(1), far = lacking(c, c.number(2, 1), x);
    return one(withReduction(c,
                             c.make("Add", {c.make("Where", {isNumber(c, target, 1), c.like(0), far}),
                                            c.make("Where", {isNumber(c, target, -1), c.like(0), x})}),
                             3));
}
Results marginRanking(C& c) {
    const NodeId lead = c.make("Mul", {c.in(2), difference(c)});
    return one(withReduction(c, lacking(c, c.number(3, 0), lead), 4));
}
Results tripletMargin(C& c) {
    const NodeId anchor = c.in(0), like = c.in(1), unlike = c.in(2);
    const auto distance = [&](NodeId x, NodeId y) {
        const NodeId d = c.make("Add", {c.make("Sub", {x, y}), c.like(c.number(5, 1e-6))});
        return normOf(c, d, c.number(4, 2), {static_cast<std::int64_t>(c.shapeOf(d).rank()) - 1}, false);
    };
    NodeId far = distance(anchor, unlike);
    if (c.flag(6)) far = c.make("Min", {far, distance(like, unlike)});
    return one(withReduction(c, lacking(c, c.number(3, 1), c.make("Sub", {far, distance(anchor, like)})), 7));
}
Results poissonLikelihood(C& c) {
    constexpr double kTwoPi = 6.283185307179586;
    const NodeId x = c.in(0), y = c.in(1);
    NodeId loss =
        c.flag(2) ? c.make("Sub", {c.make("Exp", {x}), c.make("Mul", {y, x})})
                  : c.make("Sub", {x, c.make("Mul", {y, c.make("Log", {c.make("Add", {x, c.like(c.number(4))})})})});
    if (c.flag(3)) {
        const NodeId isSmall = c.make("LessOrEqual", {y, c.like(1)});
        const NodeId half = c.make("Mul", {c.make("Log", {c.make("Mul", {y, c.like(kTwoPi)})}), c.like(0.5)});
        const NodeId stirling = c.make("Add", {c.make("Sub", {c.make("Mul", {y, c.make("Log", {y})}), y}), half});
        loss = c.make("Add", {loss, c.make("Where", {isSmall, c.like(0), stirling})});
    }
    return one(withReduction(c, loss, 5));
}
Results softMargin(C& c) {
    const NodeId far = c.make("Exp", {c.make("Neg", {c.make("Mul", {c.in(1), c.in(0)})})});
    return one(withReduction(c, c.make("Log", {c.make("Add", {far, c.like(1)})}), 2));
}
Results multiMargin(C& c) {
    NodeId x = c.in(0);
    if (c.shapeOf(x).rank() < 2) x = c.reshaped(x, Shape{1, c.shapeOf(x).numel()});
    const std::int64_t rows = c.shapeOf(x)[0], classes = c.shapeOf(x)[1];
    const NodeId target = c.cast(c.reshaped(c.tensor(1), Shape{rows, 1}), DType::Int64);
    const NodeId label = c.make("GatherElements", {x, target}, {{"axis", std::int64_t{1}}});
    NodeId each = lacking(c, c.number(3, 1), c.make("Sub", {label, x}));
    if (c.number(2, 1) == 2) each = c.make("Mul", {each, each});
    if (c.has(4)) each = c.make("Mul", {each, c.make("Gather", {c.in(4), target}, {{"axis", std::int64_t{0}}})});
    std::vector<std::int64_t> numbers(static_cast<std::size_t>(classes));
    std::iota(numbers.begin(), numbers.end(), std::int64_t{0});
    const NodeId isLabel = c.make("Equal", {c.constant(Tensor::of<std::int64_t>({1, classes}, numbers)), target});
    const NodeId loss = reduced(c, "ReduceMean", c.make("Where", {isLabel, c.like(0), each}), {1}, false);
    return one(c.reshaped(withReduction(c, loss, 5), c.result().shape()));
}

}  // namespace

void addReductionRules(LoweringRules& rules) {
    const auto put = [&rules](std::string_view name, LoweringRule rule) { rules.insert_or_assign(name, rule); };
    put("all", [](C& c) { return allOrAny(c, "ReduceMin"); });
    put("any", [](C& c) { return allOrAny(c, "ReduceMax"); });
    put("var", [](C& c) { return spreadOf(c, false, false); });
    put("std", [](C& c) { return spreadOf(c, true, false); });
    put("var_mean", [](C& c) { return spreadOf(c, false, true); });
    put("std_mean", [](C& c) { return spreadOf(c, true, true); });
    for (std::string_view name : {"norm", "linalg_norm", "linalg_vector_norm", "frobenius_norm"}) put(name, norm);
    put("logsumexp", [](C& c) { return one(reducedAt(c, "ReduceLogSumExp", c.in(0), 1, 2)); });
    put("max", extreme<true>);
    put("min", extreme<false>);
    put("aminmax", bothExtremes);
    put("count_nonzero", [](C& c) {
        return one(reducedAt(c, "ReduceSum", c.cast(c.cast(c.tensor(0), DType::Bool), DType::Int64), 1, 9));
    });
    put("nansum", [](C& c) { return withoutNaN(c, false); });
    put("nanmean", [](C& c) { return withoutNaN(c, true); });
    put("topk", [](C& c) {
        return several(top(c, c.tensor(0), c.integer(1), lastAxisOr(c, 2, c.shapeOf(c.tensor(0)).rank()),
                           !c.has(3) || c.flag(3), !c.has(4) || c.flag(4)));
    });
    put("sort", [](C& c) {
        const bool stable = hasOverload(c, ".stable");
        return sorted(c, stable ? 2 : 1, stable ? 3 : 2, 2);
    });
    put("argsort", [](C& c) {
        const bool stable = hasOverload(c, ".stable");
        return sorted(c, stable ? 2 : 1, stable ? 3 : 2, 0);
    });
    put("msort", [](C& c) { return sorted(c, 0, 0, 1); });
    put("kthvalue", [](C& c) {
        return ranked(c, c.tensor(0), c.integer(1), lastAxisOr(c, 2, c.shapeOf(c.tensor(0)).rank()), c.flag(3), true);
    });
    put("median", median);
    put("bucketize", [](C& c) { return searched(c, c.argument(1), c.argument(0), c.flag(3)); });
    put("searchsorted", [](C& c) {
        if (c.has(5)) C::fail("a dimension with its own order");
        return searched(c, c.argument(0), c.argument(1), c.flag(3) || c.text(4) == "right");
    });
    put("mse_loss", [](C& c) {
        const NodeId d = difference(c);
        return one(withReduction(c, c.make("Mul", {d, d}), 2));
    });
    put("l1_loss", [](C& c) { return one(withReduction(c, c.make("Abs", {difference(c)}), 2)); });
    put("smooth_l1_loss", [](C& c) { return smooth(c, c.number(3, 1), 1); });
    put("huber_loss", [](C& c) { return smooth(c, c.number(3, 1), c.number(3, 1)); });
    put("binary_cross_entropy", binaryCrossEntropy);
    put("binary_cross_entropy_with_logits", binaryCrossEntropyOfLogits);
    for (std::string_view name : {"nll_loss", "nll_loss2d", "nll_loss_nd"})
        put(name, [](C& c) { return likelihood(c, true); });
    put("cross_entropy_loss", [](C& c) { return likelihood(c, false); });
    put("kl_div", divergence);
    put("cosine_embedding_loss", cosineEmbedding);
    put("hinge_embedding_loss", hingeEmbedding);
    put("margin_ranking_loss", marginRanking);
    put("triplet_margin_loss", tripletMargin);
    put("poisson_nll_loss", poissonLikelihood);
    put("soft_margin_loss", softMargin);
    put("multi_margin_loss", multiMargin);
    put("cosine_similarity", cosine);
    put("pairwise_distance", pairDistance);
    for (std::string_view name : {"cdist", "_cdist_forward"}) put(name, distances);
    for (std::string_view name : {"dot", "vdot"})
        put(name, [](C& c) { return one(dot(c, c.in(0), c.in(1), 0, false)); });
    put("linalg_vecdot", [](C& c) {
        const std::size_t rank = std::max(c.shapeOf(c.in(0)).rank(), c.shapeOf(c.in(1)).rank());
        return one(dot(c, c.in(0), c.in(1), lastAxisOr(c, 2, rank), false));
    });
    put("dist", [](C& c) {
        const NodeId d = difference(c);
        return one(normOf(c, d, c.number(2, 2), allAxes(c.shapeOf(d).rank()), false));
    });
    put("trace", [](C& c) {
        const Tensor places =
            placesOf("aten", "diagonal", c.shapeOf(c.tensor(0)), {Value::ofInt(0), Value::ofInt(0), Value::ofInt(1)});
        const NodeId flat = c.reshaped(c.in(0), Shape{c.shapeOf(c.tensor(0)).numel()});
        return one(reduced(c, "ReduceSum", c.make("Gather", {flat, c.constant(places)}, {{"axis", std::int64_t{0}}}),
                           {0}, false));
    });
}

}  // namespace sonde::exporting
