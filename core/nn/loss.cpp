#include "core/nn/loss.h"

#include <cmath>
#include <numbers>

#include "core/nn/functional.h"

namespace sonde::nn {

using trace::callFunction;
using trace::callMethod;
using trace::Function;

namespace {

Var number(Reduction reduction) { return static_cast<int>(reduction); }

Var reduced(const Var& elements, Reduction reduction) {
    switch (reduction) {
        case Reduction::None: return elements;
        case Reduction::Mean: return callMethod(Function{"mean", "mean", "mean"}, {elements});
        case Reduction::Sum: break;
    }
    return sum(elements);
}

Var atLeast(const Var& x, double bound) {
    return callMethod(Function{"clamp_min", "clamp_min", "clamp_min"}, {x, bound});
}
Var sumAlong(const Var& x, std::int64_t dim) {
    return callMethod(Function{"sum.dim_IntList", "sum", "sum"}, {x, Ints{dim}});
}
Var zerosLike(const Var& x) { return callFunction(Function{"zeros_like", "zeros_like", "torch.zeros_like"}, {x}); }
Var smaller(const Var& a, const Var& b) {
    return callFunction(Function{"minimum", "minimum", "torch.minimum"}, {a, b});
}

/// `positive` where t is 1, `negative` where it is -1.
Var byTarget(const Var& t, const Var& positive, const Var& negative) {
    return where(t == 1, positive, zerosLike(positive)) + where(t == -1, negative, zerosLike(negative));
}

Var poisson(const Var& x, const Var& t, bool logInput, bool full, double eps) {
    Var loss = logInput ? exp(x) - t * x : x - t * log(x + eps);
    if (!full) return loss;
    // ln t! after Stirling.
    const Var stirling = t * log(t) - t + log(t * (2 * std::numbers::pi)) * 0.5;
    return loss + where(t > 1, stirling, zerosLike(stirling));
}

ForwardParameter tensorParameter(const char* name) { return {name, {}, false, true}; }

/// max(0, margin + d(a, p) - d(a, n)); with swap the smaller of d(a, n) and d(p, n).
Var tripletMargin(std::span<const Var> in, const std::function<Var(const Var&, const Var&)>& distance, double margin,
                  bool swap, Reduction reduction) {
    const Var near = distance(in[0], in[1]);
    Var far = distance(in[0], in[2]);
    if (swap) far = smaller(far, distance(in[1], in[2]));
    return reduced(atLeast(margin + near - far, 0), reduction);
}

}  // namespace

std::string Loss::extraText() const {
    return m_reduction == Reduction::Mean  ? std::string()
           : m_reduction == Reduction::Sum ? "reduction='sum'"
                                           : "reduction='none'";
}

L1Loss::L1Loss(Reduction reduction)
    : PlainLoss(
          "L1Loss",
          [](const Var& x, const Var& t, Reduction r) {
              return callFunction(Function{"l1_loss", "l1_loss", "torch.nn.functional.l1_loss"}, {x, t, number(r)});
          },
          reduction) {}

MSELoss::MSELoss(Reduction reduction)
    : PlainLoss(
          "MSELoss",
          [](const Var& x, const Var& t, Reduction r) {
              return callFunction(Function{"mse_loss", "mse_loss", "torch.nn.functional.mse_loss"}, {x, t, number(r)});
          },
          reduction) {}

SmoothL1Loss::SmoothL1Loss(Reduction reduction, double beta)
    : PlainLoss(
          "SmoothL1Loss",
          [beta](const Var& x, const Var& t, Reduction r) {
              return callFunction(Function{"smooth_l1_loss", "smooth_l1_loss", "torch.nn.functional.smooth_l1_loss"},
                                  {x, t, number(r), beta});
          },
          reduction) {}

HuberLoss::HuberLoss(Reduction reduction, double delta)
    : PlainLoss(
          "HuberLoss",
          [delta](const Var& x, const Var& t, Reduction r) {
              return callFunction(Function{"huber_loss", "huber_loss", "torch.nn.functional.huber_loss"},
                                  {x, t, number(r), delta});
          },
          reduction) {}

KLDivLoss::KLDivLoss(Reduction reduction, bool logTarget)
    : PlainLoss(
          "KLDivLoss",
          [logTarget](const Var& x, const Var& t, Reduction r) {
              return callFunction(Function{"kl_div", "kl_div", "torch.nn.functional.kl_div"}, {x, t, number(r)},
                                  {{"log_target", logTarget}});
          },
          reduction) {}

PoissonNLLLoss::PoissonNLLLoss(bool logInput, bool full, double eps, Reduction reduction)
    : PlainLoss(
          "PoissonNLLLoss",
          [=](const Var& x, const Var& t, Reduction r) { return reduced(poisson(x, t, logInput, full, eps), r); },
          reduction) {}

SoftMarginLoss::SoftMarginLoss(Reduction reduction)
    : PlainLoss(
          "SoftMarginLoss",
          [](const Var& x, const Var& t, Reduction r) {
              return reduced(callFunction(Function{"log1p", "log1p", "torch.log1p"}, {exp(-t * x)}), r);
          },
          reduction) {}

HingeEmbeddingLoss::HingeEmbeddingLoss(double margin, Reduction reduction)
    : PlainLoss(
          "HingeEmbeddingLoss",
          [margin](const Var& x, const Var& t, Reduction r) {
              return reduced(byTarget(t, x, atLeast(margin - x, 0)), r);
          },
          reduction) {}

MultiLabelMarginLoss::MultiLabelMarginLoss(Reduction reduction)
    : PlainLoss(
          "MultiLabelMarginLoss",
          [](const Var& x, const Var& t, Reduction r) {
              constexpr std::string_view kName = "multilabel_margin_loss";
              return callFunction(Function{kName, kName, "torch.nn.functional.multilabel_margin_loss"},
                                  {x, t, number(r)});
          },
          reduction) {}

WeightedLoss::WeightedLoss(std::string className, Tensor weight, Reduction reduction)
    : Loss(std::move(className), reduction) {
    if (weight.defined()) m_weight = addBuffer("weight", std::move(weight));
}

Var BCELoss::forward(std::span<const Var> in) {
    return callFunction(
        Function{"binary_cross_entropy", "binary_cross_entropy", "torch.nn.functional.binary_cross_entropy"},
        {in[0], in[1], m_weight.read(), number(m_reduction)});
}

BCEWithLogitsLoss::BCEWithLogitsLoss(Tensor weight, Reduction reduction, Tensor posWeight)
    : WeightedLoss("BCEWithLogitsLoss", std::move(weight), reduction) {
    if (posWeight.defined()) m_posWeight = addBuffer("pos_weight", std::move(posWeight));
}

Var BCEWithLogitsLoss::forward(std::span<const Var> in) {
    constexpr std::string_view kName = "binary_cross_entropy_with_logits";
    return callFunction(Function{kName, kName, "torch.nn.functional.binary_cross_entropy_with_logits"},
                        {in[0], in[1], m_weight.read(), m_posWeight.read(), number(m_reduction)});
}

Var NLLLoss::forward(std::span<const Var> in) {
    return callFunction(Function{"nll_loss_nd", "nll_loss", "torch.nn.functional.nll_loss"},
                        {in[0], in[1], m_weight.read(), number(m_reduction), m_ignoreIndex});
}

Var CrossEntropyLoss::forward(std::span<const Var> in) {
    return callFunction(Function{"cross_entropy_loss", "cross_entropy", "torch.nn.functional.cross_entropy"},
                        {in[0], in[1], m_weight.read(), number(m_reduction), m_ignoreIndex, m_labelSmoothing});
}

Var MultiLabelSoftMarginLoss::forward(std::span<const Var> in) {
    const Var& x = in[0];
    const Var& t = in[1];
    Var loss = -(t * logSigmoid(x) + (1 - t) * logSigmoid(-x));
    if (m_weight.defined()) loss = loss * m_weight.read();
    return reduced(mean(loss, {-1}), m_reduction);
}

Var MultiMarginLoss::forward(std::span<const Var> in) {
    const Var& x = in[0];
    const Var column = unsqueeze(in[1], -1);
    const Var wanted = callMethod(Function{"gather", "gather", "gather"}, {x, -1, column});
    Var parts = atLeast(m_margin - wanted + x, 0);
    if (m_p != 1) parts = pow(parts, static_cast<double>(m_p));
    if (m_weight.defined())
        parts = parts * unsqueeze(callMethod(Function{"index_select", "index_select", "index_select"},
                                             {m_weight.read(), 0, in[1]}),
                                  -1);
    parts = callMethod(Function{"scatter.value", "scatter", "scatter"}, {parts, -1, column, 0.0});
    return reduced(mean(parts, {-1}), m_reduction);
}

std::vector<ForwardParameter> GaussianNLLLoss::signature() const {
    return {tensorParameter("input"), tensorParameter("target"), tensorParameter("var")};
}

Var GaussianNLLLoss::forward(std::span<const Var> in) {
    const Var variance = atLeast(in[2], m_eps);
    Var loss = (log(variance) + pow(in[0] - in[1], 2) / variance) * 0.5;
    if (m_full) loss = loss + 0.5 * std::log(2 * std::numbers::pi);
    return reduced(loss, m_reduction);
}

std::vector<ForwardParameter> MarginRankingLoss::signature() const {
    return {tensorParameter("input1"), tensorParameter("input2"), tensorParameter("target")};
}

Var MarginRankingLoss::forward(std::span<const Var> in) {
    return reduced(atLeast(-in[2] * (in[0] - in[1]) + m_margin, 0), m_reduction);
}

std::vector<ForwardParameter> CosineEmbeddingLoss::signature() const {
    return {tensorParameter("input1"), tensorParameter("input2"), tensorParameter("target")};
}

Var CosineEmbeddingLoss::forward(std::span<const Var> in) {
    constexpr double kEps = 1e-12;  // inside of the root, so that vectors of zeros have a cosine
    const Var a = sumAlong(in[0] * in[0], -1) + kEps;
    const Var b = sumAlong(in[1] * in[1], -1) + kEps;
    const Var cosine = sumAlong(in[0] * in[1], -1) / pow(a * b, 0.5);
    return reduced(byTarget(in[2], 1 - cosine, atLeast(cosine - m_margin, 0)), m_reduction);
}

std::vector<ForwardParameter> TripletMarginLoss::signature() const {
    return {tensorParameter("anchor"), tensorParameter("positive"), tensorParameter("negative")};
}

Var TripletMarginLoss::forward(std::span<const Var> in) {
    return tripletMargin(
        in, [this](const Var& a, const Var& b) { return pairwiseDistance(a, b, m_p, m_eps); }, m_margin, m_swap,
        m_reduction);
}

std::vector<ForwardParameter> TripletMarginWithDistanceLoss::signature() const {
    return {tensorParameter("anchor"), tensorParameter("positive"), tensorParameter("negative")};
}

Var TripletMarginWithDistanceLoss::forward(std::span<const Var> in) {
    const auto distance = m_distance ? m_distance : [](const Var& a, const Var& b) { return pairwiseDistance(a, b); };
    return tripletMargin(in, distance, m_margin, m_swap, m_reduction);
}

std::vector<ForwardParameter> CTCLoss::signature() const {
    return {tensorParameter("log_probs"),
            tensorParameter("targets"),
            {"input_lengths", {}, false},
            {"target_lengths", {}, false}};
}

Var CTCLoss::forward(std::span<const Var> in) {
    const bool isList = in[2].kind() == Var::Kind::List || in[2].kind() == Var::Kind::Tuple ||
                        (in[2].kind() == Var::Kind::Value && in[2].value().isListLike());
    return callFunction(
        Function{isList ? "ctc_loss.IntList" : "ctc_loss.Tensor", "ctc_loss", "torch.nn.functional.ctc_loss"},
        {in[0], in[1], in[2], in[3], m_blank, number(m_reduction), m_zeroInfinity});
}

}  // namespace sonde::nn
