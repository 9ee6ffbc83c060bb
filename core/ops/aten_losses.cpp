// ATen's losses.

#include "core/ops/dependence/rules.h"
#include "core/ops/support/eager.h"
#include "core/ops/support/shapes.h"

namespace sonde::ops {

namespace {

using Ints = std::vector<std::int64_t>;

/// at::Reduction: 0 none, 1 mean, 2 sum.
EagerResult reduced(Eager& e, const Tensor& loss) {
    const std::int64_t how = e.integer("reduction");
    if (how == 0) return loss;
    if (how != 1 && how != 2) e.fail("there is no reduction " + std::to_string(how));
    return e(how == 1 ? "mean" : "sum", loss);
}

/// 0.5·d²/beta below beta, else |d| − 0.5·beta; Huber's is beta times that.
EagerResult smoothLoss(Eager& e, bool huber) {
    const double beta = e.number({"beta", "delta"});
    const Tensor d = e("abs", e("sub.Tensor", e.tensor("self"), e.tensor("target")));
    if (beta == 0) return reduced(e, d);
    Tensor loss = e("where.self", e("lt.Scalar", d, beta), e("mul.Scalar", e("square", d), 0.5 / beta),
                    e("sub.Scalar", d, 0.5 * beta));
    if (huber) loss = e("mul.Scalar", loss, beta);
    return reduced(e, loss);
}

const char* reductionName(Eager& e) {
    static constexpr const char* kNames[] = {"none", "mean", "sum"};
    const std::int64_t how = e.integer("reduction");
    if (how < 0 || how > 2) e.fail("there is no reduction " + std::to_string(how));
    return kNames[how];
}

/// (self, target, weight, reduction, ignore_index) on logarithms of probabilities.
Tensor negativeLogLikelihood(Eager& e, const Tensor& x, const Value& weight, const char* reduction,
                             std::int64_t ignored) {
    const bool single = x.rank() == 1;
    std::vector<Value> inputs{Value(single ? x.unsqueezed(0) : x),
                              Value(single ? e.reshape(e.tensor("target"), Shape{1}) : e.tensor("target"))};
    if (!weight.isNone()) inputs.push_back(weight);
    const Tensor loss = e.onnx("NegativeLogLikelihoodLoss", std::move(inputs),
                               Attributes{{"reduction", std::string(reduction)}, {"ignore_index", ignored}});
    return single && loss.rank() == 1 ? e.reshape(loss, Shape{}) : loss;
}

/// A weight for each class, along the axis of the classes.
Tensor weighted(Eager& e, const Tensor& x, std::int64_t axis) {
    if (!e.has("weight")) return x;
    Shape shape(Ints(x.rank(), 1));
    shape[static_cast<std::size_t>(axis)] = e.tensor("weight").numel();
    return e("mul.Tensor", x, e.reshape(e.tensor("weight"), std::move(shape)));
}

/// (1 − s)·w_t·l_t + s/C·Σ w_c·l_c, l = −ln p (arXiv:1512.00567, section 7); ignored labels give 0, the mean is
/// weighted.
EagerResult smoothedLoss(Eager& e, const Tensor& logarithms, std::int64_t axis, double smoothing) {
    const std::int64_t ignored = e.integer("ignore_index");
    const Tensor labels = negativeLogLikelihood(e, logarithms, e.value("weight"), "none", ignored);
    const Tensor all = e("neg", e("sum.dim_IntList", weighted(e, logarithms, axis), Ints{axis}));
    const Tensor counted = e("where.self", e("ne.Scalar", e.tensor("target"), ignored), all, e("zeros_like", all));
    const double share = smoothing / static_cast<double>(logarithms.dim(static_cast<std::size_t>(axis)));
    const Tensor loss = e("add.Tensor", e("mul.Scalar", labels, 1 - smoothing), e("mul.Scalar", counted, share));
    if (e.integer("reduction") != 1) return reduced(e, loss);
    const Tensor weights =
        negativeLogLikelihood(e, e("full_like", logarithms, -1.0), e.value("weight"), "none", ignored);
    return e("div.Tensor", e("sum", loss), e("sum", weights));
}

/// (self, target, weight, reduction, ignore_index, label_smoothing)
EagerResult crossEntropy(Eager& e) {
    const Tensor x = e.tensor("self");
    const std::int64_t axis = x.rank() == 1 ? 0 : 1;
    const Tensor logarithms = e("log_softmax.int", x, axis);
    const double smoothing = e.number("label_smoothing");
    if (tensor::isFloating(e.tensor("target").dtype())) {  // probabilities of the classes
        Tensor target = e.tensor("target");
        if (smoothing > 0)
            target = e("add.Scalar", e("mul.Scalar", target, 1 - smoothing),
                       smoothing / static_cast<double>(x.dim(static_cast<std::size_t>(axis))));
        const Tensor loss =
            e("neg", e("sum.dim_IntList", weighted(e, e("mul.Tensor", logarithms, target), axis), Ints{axis}));
        return reduced(e, loss);
    }
    if (smoothing > 0) return smoothedLoss(e, logarithms, axis, smoothing);
    return negativeLogLikelihood(e, logarithms, e.value("weight"), reductionName(e), e.integer("ignore_index"));
}

/// −w·(y·ln x + (1 − y)·ln(1 − x)), logarithms not below −100.
EagerResult binaryCrossEntropy(Eager& e) {
    const auto bounded = [&](const Tensor& p) { return e("clamp_min", e("log", p), -100.0); };
    const Tensor x = e.tensor("self"), y = e.tensor("target");
    Tensor loss = e("neg", e("add.Tensor", e("mul.Tensor", y, bounded(x)),
                             e("mul.Tensor", e("rsub.Scalar", y, 1.0), bounded(e("rsub.Scalar", x, 1.0)))));
    if (e.has("weight")) loss = e("mul.Tensor", loss, e.tensor("weight"));
    return reduced(e, loss);
}

/// (1 − y)·x + (1 + (w − 1)·y)·ln(1 + e^−x), w: weight of the positive ones.
EagerResult binaryCrossEntropyOfLogits(Eager& e) {
    const Tensor x = e.tensor("self"), y = e.tensor("target");
    Tensor soft = e("neg", e("log_sigmoid", x));
    if (e.has("pos_weight"))
        soft = e("mul.Tensor", soft,
                 e("add.Scalar", e("mul.Tensor", e("sub.Scalar", e.tensor("pos_weight"), 1.0), y), 1.0));
    Tensor loss = e("add.Tensor", e("mul.Tensor", e("rsub.Scalar", y, 1.0), x), soft);
    if (e.has("weight")) loss = e("mul.Tensor", loss, e.tensor("weight"));
    return reduced(e, loss);
}

/// y·(ln y − x), or e^y·(y − x) if the target is logarithms too.
EagerResult divergence(Eager& e) {
    const Tensor x = e.tensor("self"), y = e.tensor("target");
    const Tensor loss = e.flag("log_target") ? e("mul.Tensor", e("exp", y), e("sub.Tensor", y, x))
                                             : e("sub.Tensor", e("xlogy.Tensor", y, y), e("mul.Tensor", y, x));
    return reduced(e, loss);
}

Tensor aboveZero(Eager& e, const Tensor& x) { return e("clamp_min", x, 0.0); }

/// 1 − cos(a, b) for alike ones (y = 1), max(0, cos(a, b) − margin) for others (y = −1), over the last axis.
EagerResult cosineEmbedding(Eager& e) {
    constexpr double kEpsilon = 1e-12;
    const Tensor a = e.tensor("input1"), b = e.tensor("input2"), y = e.tensor("target");
    const auto along = [&](const Tensor& x) { return e("sum.dim_IntList", x, Ints{-1}); };
    const auto square = [&](const Tensor& x) { return e("add.Scalar", along(e("square", x)), kEpsilon); };
    const Tensor cosine =
        e("div.Tensor", along(e("mul.Tensor", a, b)), e("sqrt", e("mul.Tensor", square(a), square(b))));
    const Tensor zero = e("zeros_like", cosine);
    const Tensor others = aboveZero(e, e("sub.Scalar", cosine, e.number("margin")));
    return reduced(e, e("where.self", e("eq.Scalar", y, 1), e("rsub.Scalar", cosine, 1.0),
                        e("where.self", e("eq.Scalar", y, -1), others, zero)));
}

/// x for y = 1, max(0, margin − x) for y = −1; both for any other y.
EagerResult hingeEmbedding(Eager& e) {
    const Tensor x = e.tensor("self"), y = e.tensor("target"), zero = e("zeros_like", x);
    const Tensor far = aboveZero(e, e("rsub.Scalar", x, e.number("margin")));
    return reduced(e, e("add.Tensor", e("where.self", e("ne.Scalar", y, 1), far, zero),
                        e("where.self", e("ne.Scalar", y, -1), x, zero)));
}

/// max(0, margin − y·(a − b))
EagerResult marginRanking(Eager& e) {
    const Tensor lead = e("mul.Tensor", e.tensor("target"), e("sub.Tensor", e.tensor("input1"), e.tensor("input2")));
    return reduced(e, aboveZero(e, e("rsub.Scalar", lead, e.number("margin"))));
}

/// max(0, d(a, p) − d(a, n) + margin); with swap the nearer of d(a, n) and d(p, n).
EagerResult tripletMargin(Eager& e) {
    const Tensor anchor = e.tensor("anchor"), like = e.tensor("positive"), unlike = e.tensor("negative");
    const auto distance = [&](const Tensor& x, const Tensor& y) {
        return e("pairwise_distance", x, y, e.number("p"), e.number("eps"));
    };
    Tensor far = distance(anchor, unlike);
    if (e.flag("swap")) far = e("minimum", far, distance(like, unlike));
    return reduced(e, aboveZero(e, e("add.Scalar", e("sub.Tensor", distance(anchor, like), far), e.number("margin"))));
}

/// λ − y·ln λ, with Stirling's y·ln y − y + ½·ln(2π·y) for y > 1 if it is full; λ is e^x or x.
EagerResult poissonLikelihood(Eager& e) {
    constexpr double kTwoPi = 6.283185307179586;
    const Tensor x = e.tensor("input"), y = e.tensor("target");
    Tensor loss = e.flag("log_input")
                      ? e("sub.Tensor", e("exp", x), e("mul.Tensor", y, x))
                      : e("sub.Tensor", x, e("mul.Tensor", y, e("log", e("add.Scalar", x, e.number("eps")))));
    if (e.flag("full")) {
        const Tensor stirling = e("add.Tensor", e("sub.Tensor", e("mul.Tensor", y, e("log", y)), y),
                                  e("mul.Scalar", e("log", e("mul.Scalar", y, kTwoPi)), 0.5));
        loss = e("add.Tensor", loss, e("masked_fill.Scalar", stirling, e("le.Scalar", y, 1), 0.0));
    }
    return reduced(e, loss);
}

/// ln(1 + e^(−y·x))
EagerResult softMargin(Eager& e) {
    const Tensor product = e("mul.Tensor", e.tensor("target"), e.tensor("self"));
    return reduced(e, e("log1p", e("exp", e("neg", product))));
}

/// w_y·Σ max(0, margin − x_y + x_i)^p / C over the classes i that are not y
EagerResult multiMargin(Eager& e) {
    const Tensor given = e.tensor("self");
    const bool single = given.rank() <= 1;
    const Tensor x = single ? e.reshape(given, Shape{1, given.numel()}) : given;
    if (x.rank() != 2) e.fail("the scores of a batch are [N, C]");
    const Tensor y = e.reshape(e.tensor("target"), Shape{x.dim(0), 1});
    const std::int64_t power = e.integer("p");
    if (power != 1 && power != 2) e.fail("the power is 1 or 2");
    const Tensor lead = e("sub.Tensor", x, e("gather", x, 1, y));
    Tensor each = aboveZero(e, e("add.Scalar", lead, e.number("margin")));
    if (power == 2) each = e("square", each);
    if (e.has("weight")) each = e("mul.Tensor", each, e("gather", e("expand_as", e.tensor("weight"), x), 1, y));
    each = e("scatter.value", each, 1, y, 0.0);
    const Tensor loss = e("mean.dim", each, Ints{1});
    return reduced(e, single ? e.reshape(loss, Shape{}) : loss);
}

}  // namespace

void define_aten_losses(Registry& registry) {
    registry.add(eagerRow(
        "mse_loss(Tensor self, Tensor target, int reduction=Mean) -> Tensor", "(a − b)²", kRed,
        [](Eager& e) { return reduced(e, e("square", e("sub.Tensor", e.tensor("self"), e.tensor("target")))); }));
    registry.add(
        eagerRow("l1_loss(Tensor self, Tensor target, int reduction=Mean) -> Tensor", "|a − b|", kRed,
                 [](Eager& e) { return reduced(e, e("abs", e("sub.Tensor", e.tensor("self"), e.tensor("target")))); }));
    registry.add(eagerRow("smooth_l1_loss(Tensor self, Tensor target, int reduction=Mean, float beta=1.0) -> Tensor",
                          "(a − b)² near 0, |a − b| beyond", kRed, [](Eager& e) { return smoothLoss(e, false); }));
    registry.add(eagerRow("huber_loss(Tensor self, Tensor target, int reduction=Mean, float delta=1.0) -> Tensor",
                          "(a − b)² near 0, |a − b| beyond", kRed, [](Eager& e) { return smoothLoss(e, true); }));
    for (
        std::string_view schema :
        {"nll_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean, int ignore_index=-100) -> Tensor",
         "nll_loss2d(Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean, int ignore_index=-100) -> Tensor",
         "nll_loss_nd(Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean, int ignore_index=-100) -> Tensor"}) {
        registry.add(eagerRow(schema, "minus the log probability of the labels", kRed, [](Eager& e) -> EagerResult {
            return negativeLogLikelihood(e, e.tensor("self"), e.value("weight"), reductionName(e),
                                         e.integer("ignore_index"));
        }));
    }
    registry.add(eagerRow(
        "cross_entropy_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean, int ignore_index=-100, float label_smoothing=0.0) -> Tensor",
        "minus the log softmax of the labels", kRed, crossEntropy));
    registry.add(
        eagerRow("binary_cross_entropy(Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean) -> Tensor",
                 "minus the log probability of yes or no", kRed, binaryCrossEntropy));
    registry.add(eagerRow(
        "binary_cross_entropy_with_logits(Tensor self, Tensor target, Tensor? weight=None, Tensor? pos_weight=None, int reduction=Mean) -> Tensor",
        "minus the log probability of yes or no", kRed, binaryCrossEntropyOfLogits));
    registry.add(eagerRow("kl_div(Tensor self, Tensor target, int reduction=Mean, *, bool log_target=False) -> Tensor",
                          "divergence of two distributions", kRed, divergence));
    const auto add = [&](std::string_view schema, std::string_view summary, EagerKernel kernel) {
        registry.add(eagerRow(schema, summary, kRed, kernel));
    };
    add("cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, float margin=0.0, int reduction=Mean) -> Tensor",
        "1 − cosine of alike ones, the cosine of others above a margin", cosineEmbedding);
    add("hinge_embedding_loss(Tensor self, Tensor target, float margin=1.0, int reduction=Mean) -> Tensor",
        "x of alike ones, what others lack of a margin", hingeEmbedding);
    add("margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, float margin=0.0, int reduction=Mean) -> Tensor",
        "what the lead of one over the other lacks of a margin", marginRanking);
    add("triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, float margin=1.0, float p=2, float eps=1e-06, bool swap=False, int reduction=Mean) -> Tensor",
        "what the distance to others lacks of that to alike ones and a margin", tripletMargin);
    add("poisson_nll_loss(Tensor input, Tensor target, bool log_input, bool full, float eps, int reduction) -> Tensor",
        "minus the log probability of counts", poissonLikelihood);
    add("soft_margin_loss(Tensor self, Tensor target, int reduction=Mean) -> Tensor", "ln(1 + e^(−y·x))", softMargin);
    add("multi_margin_loss(Tensor self, Tensor target, Scalar p=1, Scalar margin=1, Tensor? weight=None, int reduction=Mean) -> Tensor",
        "what the lead of the label over each class lacks of a margin", multiMargin);
    const auto explainLoss = [](std::string_view name, std::string_view formula) {
        explain("aten", name, dependence::pairLoss, formula);
    };
    explainLoss("mse_loss", "(x - y) ** 2");
    explainLoss("l1_loss", "abs(x - y)");
    explain("aten", "smooth_l1_loss", dependence::huberLoss,
            "where(abs(x - y) < beta, 0.5 * (x - y) ** 2 / beta, abs(x - y) - 0.5 * beta)");
    explain("aten", "huber_loss", dependence::huberLoss,
            "where(abs(x - y) < beta, 0.5 * (x - y) ** 2, beta * (abs(x - y) - 0.5 * beta))");
    explainLoss("kl_div", "where(y == 0, 0, y * log(y)) - y * x | exp(y) * (y - x)");
    explainLoss("binary_cross_entropy", "-(y * maximum(log(x), -100) + (1 - y) * maximum(log(1 - x), -100))");
    explainLoss("binary_cross_entropy_with_logits",
                "(1 - y) * x + (1 + (positive - 1) * y) * (maximum(-x, 0) + log1p(exp(-abs(x))))");
    explainLoss("hinge_embedding_loss", "where(y != 1, maximum(margin - x, 0), 0) + where(y != -1, x, 0)");
    explainLoss("margin_ranking_loss", "maximum(margin - z * (x - y), 0)");
    explainLoss("soft_margin_loss", "log1p(exp(-y * x))");
    explain("aten", "poisson_nll_loss", dependence::countLoss);
    explain("aten", "nll_loss nll_loss2d nll_loss_nd", dependence::likelihoodLoss);
    explain("aten", "cross_entropy_loss", dependence::entropyLoss);
}

}  // namespace sonde::ops
