#pragma once

#include <functional>

#include "core/nn/module.h"

namespace sonde::nn {

/// How a loss for each element becomes one number. The numbers are ATen's (at::Reduction).
enum class Reduction : std::uint8_t { None = 0, Mean = 1, Sum = 2 };

/// What a prediction lacks: forward(input, target) -> a number, or one for each element with Reduction::None.
/// x is the input, t the target; both broadcast. Formulas are for one element.
class Loss : public Layer {
  public:
    std::vector<ForwardParameter> signature() const override {
        return {{"input", {}, false, true}, {"target", {}, false, true}};
    }
    std::string extraText() const override;

  protected:
    Loss(std::string className, Reduction reduction) : Layer(std::move(className)), m_reduction(reduction) {}
    Reduction m_reduction;
};

/// A loss of input and target alone.
class PlainLoss : public Loss {
  public:
    Var forward(std::span<const Var> in) override { return m_compute(in[0], in[1], m_reduction); }

  protected:
    using Compute = std::function<Var(const Var& x, const Var& t, Reduction reduction)>;
    PlainLoss(std::string className, Compute compute, Reduction reduction)
        : Loss(std::move(className), reduction), m_compute(std::move(compute)) {}

  private:
    Compute m_compute;
};

struct L1Loss : PlainLoss {  ///< |x - t|
    explicit L1Loss(Reduction reduction = Reduction::Mean);
};
struct MSELoss : PlainLoss {  ///< (x - t)^2
    explicit MSELoss(Reduction reduction = Reduction::Mean);
};
struct SmoothL1Loss : PlainLoss {  ///< d^2 / (2 beta) if d = |x - t| < beta, else d - beta / 2, arXiv:1504.08083
    explicit SmoothL1Loss(Reduction reduction = Reduction::Mean, double beta = 1);
};
struct HuberLoss : PlainLoss {  ///< d^2 / 2 if d = |x - t| < delta, else delta (d - delta / 2) (Huber 1964)
    explicit HuberLoss(Reduction reduction = Reduction::Mean, double delta = 1);
};
struct KLDivLoss : PlainLoss {  ///< t (ln t - x), x a logarithm; e^t (t - x) with logTarget
    explicit KLDivLoss(Reduction reduction = Reduction::Mean, bool logTarget = false);
};
struct PoissonNLLLoss
    : PlainLoss {  ///< e^x - t x, or x - t ln(x + eps) without logInput; full: + Stirling's ln t! where t > 1
    explicit PoissonNLLLoss(bool logInput = true, bool full = false, double eps = 1e-8,
                            Reduction reduction = Reduction::Mean);
};
struct SoftMarginLoss : PlainLoss {  ///< ln(1 + e^(-t x)), t = 1 or -1
    explicit SoftMarginLoss(Reduction reduction = Reduction::Mean);
};
struct HingeEmbeddingLoss : PlainLoss {  ///< x if t = 1, max(0, margin - x) if t = -1
    explicit HingeEmbeddingLoss(double margin = 1, Reduction reduction = Reduction::Mean);
};

/// Losses with a weight for each class or element: a buffer of the module, if it is given.
class WeightedLoss : public Loss {
  protected:
    WeightedLoss(std::string className, Tensor weight, Reduction reduction);
    Attribute m_weight;
};

/// -(t ln x + (1 - t) ln(1 - x)) weight, logarithms not below -100. x in 0…1.
struct BCELoss : WeightedLoss {
    explicit BCELoss(Tensor weight = {}, Reduction reduction = Reduction::Mean)
        : WeightedLoss("BCELoss", std::move(weight), reduction) {}
    Var forward(std::span<const Var> in) override;
};

/// BCELoss of sigmoid(x), in one formula that stays exact: -(p t ln sigmoid(x) + (1 - t) ln sigmoid(-x)) weight;
/// posWeight is p.
class BCEWithLogitsLoss : public WeightedLoss {
  public:
    explicit BCEWithLogitsLoss(Tensor weight = {}, Reduction reduction = Reduction::Mean, Tensor posWeight = {});
    Var forward(std::span<const Var> in) override;

  private:
    Attribute m_posWeight;
};

/// -weight_t x_t: x [N,C,…] logarithms of probabilities, t [N,…] classes. The mean is weighted. Elements of class
/// ignoreIndex do not count.
class NLLLoss : public WeightedLoss {
  public:
    explicit NLLLoss(Tensor weight = {}, std::int64_t ignoreIndex = -100, Reduction reduction = Reduction::Mean)
        : WeightedLoss("NLLLoss", std::move(weight), reduction), m_ignoreIndex(ignoreIndex) {}
    Var forward(std::span<const Var> in) override;

  private:
    std::int64_t m_ignoreIndex;
};

/// NLLLoss of log_softmax(x) over the classes; t may be probabilities [N,C,…], too. With labelSmoothing s
/// (arXiv:1512.00567) the target is (1 - s) t + s / C.
class CrossEntropyLoss : public WeightedLoss {
  public:
    explicit CrossEntropyLoss(Tensor weight = {}, std::int64_t ignoreIndex = -100,
                              Reduction reduction = Reduction::Mean, double labelSmoothing = 0)
        : WeightedLoss("CrossEntropyLoss", std::move(weight), reduction), m_ignoreIndex(ignoreIndex),
          m_labelSmoothing(labelSmoothing) {}
    Var forward(std::span<const Var> in) override;

  private:
    std::int64_t m_ignoreIndex;
    double m_labelSmoothing;
};

/// Mean over classes of -(t ln sigmoid(x) + (1 - t) ln sigmoid(-x)) weight: x and t [N,C].
struct MultiLabelSoftMarginLoss : WeightedLoss {
    explicit MultiLabelSoftMarginLoss(Tensor weight = {}, Reduction reduction = Reduction::Mean)
        : WeightedLoss("MultiLabelSoftMarginLoss", std::move(weight), reduction) {}
    Var forward(std::span<const Var> in) override;
};

/// 1 / C sum over i ≠ t of weight_t max(0, margin - x_t + x_i)^p: x [N,C], t [N].
class MultiMarginLoss : public WeightedLoss {
  public:
    explicit MultiMarginLoss(std::int64_t p = 1, double margin = 1, Tensor weight = {},
                             Reduction reduction = Reduction::Mean)
        : WeightedLoss("MultiMarginLoss", std::move(weight), reduction), m_p(p), m_margin(margin) {}
    Var forward(std::span<const Var> in) override;

  private:
    std::int64_t m_p;
    double m_margin;
};

/// (ln v + (x - t)^2 / v) / 2, v = max(var, eps); full: + ln(2 pi) / 2. forward(input, target, var).
class GaussianNLLLoss : public Loss {
  public:
    explicit GaussianNLLLoss(bool full = false, double eps = 1e-6, Reduction reduction = Reduction::Mean)
        : Loss("GaussianNLLLoss", reduction), m_full(full), m_eps(eps) {}
    std::vector<ForwardParameter> signature() const override;
    Var forward(std::span<const Var> in) override;

  private:
    bool m_full;
    double m_eps;
};

/// max(0, margin - t (a - b)), t = 1 or -1. forward(input1, input2, target).
class MarginRankingLoss : public Loss {
  public:
    explicit MarginRankingLoss(double margin = 0, Reduction reduction = Reduction::Mean)
        : Loss("MarginRankingLoss", reduction), m_margin(margin) {}
    std::vector<ForwardParameter> signature() const override;
    Var forward(std::span<const Var> in) override;

  private:
    double m_margin;
};

/// 1 - c if t = 1, max(0, c - margin) if t = -1, c the cosine of a and b [N,D]. forward(input1, input2, target).
class CosineEmbeddingLoss : public Loss {
  public:
    explicit CosineEmbeddingLoss(double margin = 0, Reduction reduction = Reduction::Mean)
        : Loss("CosineEmbeddingLoss", reduction), m_margin(margin) {}
    std::vector<ForwardParameter> signature() const override;
    Var forward(std::span<const Var> in) override;

  private:
    double m_margin;
};

/// max(0, |a - p| - |a - n| + margin), the distances as PairwiseDistance's; with swap the smaller of |a - n| and |p -
/// n|. forward(anchor, positive, negative). Balntas et al. 2016.
class TripletMarginLoss : public Loss {
  public:
    explicit TripletMarginLoss(double margin = 1, double p = 2, double eps = 1e-6, bool swap = false,
                               Reduction reduction = Reduction::Mean)
        : Loss("TripletMarginLoss", reduction), m_margin(margin), m_p(p), m_eps(eps), m_swap(swap) {}
    std::vector<ForwardParameter> signature() const override;
    Var forward(std::span<const Var> in) override;

  private:
    double m_margin;
    double m_p;
    double m_eps;
    bool m_swap;
};

/// TripletMarginLoss with another distance: any function of two tensors that gives one number for each pair.
class TripletMarginWithDistanceLoss : public Loss {
  public:
    using Distance = std::function<Var(const Var& a, const Var& b)>;
    explicit TripletMarginWithDistanceLoss(Distance distance = {}, double margin = 1, bool swap = false,
                                           Reduction reduction = Reduction::Mean)
        : Loss("TripletMarginWithDistanceLoss", reduction), m_distance(std::move(distance)), m_margin(margin),
          m_swap(swap) {}
    std::vector<ForwardParameter> signature() const override;
    Var forward(std::span<const Var> in) override;

  private:
    Distance m_distance;  ///< none: the Euclidean one, as PairwiseDistance
    double m_margin;
    bool m_swap;
};

/// 1 / C sum over labels j and classes i that are none of max(0, 1 - (x_j - x_i)): x [N,C] or [C], t of the same shape
/// holds the labels of a row, then -1.
struct MultiLabelMarginLoss : PlainLoss {
    explicit MultiLabelMarginLoss(Reduction reduction = Reduction::Mean);
};

/// -ln of the probability of all alignments of the labels to the steps (Graves et al. 2006): log_probs [T,N,C] or
/// [T,C], targets [N,S] or all after each other, lengths [N]. The mean is one over labels first. zeroInfinity: labels
/// that do not fit into their steps give 0. forward(log_probs, targets, input_lengths, target_lengths); lengths as
/// tensors or tuples.
class CTCLoss : public Loss {
  public:
    explicit CTCLoss(std::int64_t blank = 0, Reduction reduction = Reduction::Mean, bool zeroInfinity = false)
        : Loss("CTCLoss", reduction), m_blank(blank), m_zeroInfinity(zeroInfinity) {}
    std::vector<ForwardParameter> signature() const override;
    Var forward(std::span<const Var> in) override;

  private:
    std::int64_t m_blank;
    bool m_zeroInfinity;
};

}  // namespace sonde::nn
