// Losses whose formulas are no sums of other operators: of alignments and of sets of labels.

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/ops/support/eager.h"

namespace sonde::ops {

namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();  ///< logarithm of a probability of 0

/// ln(e^a + e^b)
double logAdd(double a, double b) {
    const double most = std::max(a, b);
    return most == kNever ? kNever : most + std::log1p(std::exp(std::min(a, b) - most));
}

/// A length for each sequence of the batch, as a list or as a tensor.
std::vector<std::int64_t> lengths(Eager& e, Name input) {
    if (!e.value(input).isTensor()) return e.integers(input);
    const Tensor given = e.get(e.tensor(input).contiguous());
    std::vector<std::int64_t> result;
    for (std::int64_t i = 0; i < given.numel(); ++i) result.push_back(given.toInt64(i));
    return result;
}

/// ln p of the labels of one sequence (Graves et al. 2006, equations 5 to 8): labels with blanks between and around
/// them are l'_0 … l'_2S; alpha_t(s) is the probability of l'_0 … l'_s after t steps: alpha_t(s) = (alpha_t-1(s) +
/// alpha_t-1(s-1) + [l'_s is no blank and not l'_s-2] alpha_t-1(s-2)) y_t(l'_s). `y` gives ln y_t(label).
template <typename Y>
double logAlignments(const Y& y, std::int64_t steps, const std::vector<std::int64_t>& labels, std::int64_t blank) {
    const std::size_t count = 2 * labels.size() + 1;
    const auto label = [&](std::size_t s) { return s % 2 == 0 ? blank : labels[s / 2]; };
    if (steps == 0) return labels.empty() ? 0 : kNever;
    std::vector<double> alpha(count, kNever), before;
    for (std::size_t s = 0; s < std::min<std::size_t>(count, 2); ++s) alpha[s] = y(0, label(s));
    for (std::int64_t t = 1; t < steps; ++t) {
        before = alpha;
        for (std::size_t s = 0; s < count; ++s) {
            double reached = before[s];
            if (s >= 1) reached = logAdd(reached, before[s - 1]);
            if (s >= 2 && s % 2 == 1 && label(s) != label(s - 2)) reached = logAdd(reached, before[s - 2]);
            alpha[s] = reached + y(t, label(s));
        }
    }
    return count == 1 ? alpha[0] : logAdd(alpha[count - 1], alpha[count - 2]);
}

/// (log_probs [T,N,C] or [T,C], targets [N,S] or one behind the other, input_lengths, target_lengths, blank, reduction,
/// zero_infinity)
EagerResult ctcLoss(Eager& e) {
    const Tensor given = e.as(e.get(e.tensor("log_probs").contiguous()), DType::Float64);
    const bool isBatch = given.rank() == 3;
    if (!isBatch && given.rank() != 2) e.fail("expected logarithms [T,N,C] or [T,C], not " + given.typeText());
    const std::int64_t steps = given.dim(0), batch = isBatch ? given.dim(1) : 1, classes = given.dim(given.rank() - 1);
    const Tensor targets = e.as(e.get(e.tensor("targets").contiguous()), DType::Int64);
    const bool isPadded = targets.rank() == 2;
    if (targets.rank() > 2 || (isPadded && targets.dim(0) != batch))
        e.fail("targets " + targets.typeText() + " do not go with " + given.typeText());
    const std::vector<std::int64_t> stepsOf = lengths(e, "input_lengths"), labelsOf = lengths(e, "target_lengths");
    const auto wanted = static_cast<std::size_t>(batch);
    if (stepsOf.size() != wanted || labelsOf.size() != wanted)
        e.fail("a batch of " + std::to_string(batch) + " needs as many lengths");
    const std::int64_t blank = e.integer("blank");
    if (blank < 0 || blank >= classes) e.fail("the blank is not one of the " + std::to_string(classes) + " classes");

    const auto* probabilities = given.data<double>();
    const auto* labels = targets.data<std::int64_t>();
    std::vector<double> losses(wanted);
    std::vector<double> shares(wanted);
    const bool noInfinity = e.flag("zero_infinity");
    std::int64_t begin = 0;
    for (std::size_t n = 0; n < wanted; ++n) {
        if (e.context().cancelled()) e.fail(base::cancelled("aten::ctc_loss"));
        const std::int64_t most = isPadded ? targets.dim(1) : targets.numel() - begin;
        if (stepsOf[n] < 0 || stepsOf[n] > steps || labelsOf[n] < 0 || labelsOf[n] > most)
            e.fail("a length is larger than what is given");
        const std::int64_t* first = labels + (isPadded ? static_cast<std::int64_t>(n) * targets.dim(1) : begin);
        const std::vector<std::int64_t> own(first, first + labelsOf[n]);
        if (std::ranges::any_of(own, [&](std::int64_t label) { return label < 0 || label >= classes; }))
            e.fail("a target is not one of the classes");
        begin += labelsOf[n];
        const auto y = [&](std::int64_t t, std::int64_t label) {
            return probabilities[(t * batch + static_cast<std::int64_t>(n)) * classes + label];
        };
        losses[n] = -logAlignments(y, stepsOf[n], own, blank);
        if (noInfinity && std::isinf(losses[n])) losses[n] = 0;
        shares[n] = losses[n] / static_cast<double>(std::max<std::int64_t>(labelsOf[n], 1));
    }
    const std::int64_t reduction = e.integer("reduction");
    if (reduction < 0 || reduction > 2) e.fail("there is no reduction " + std::to_string(reduction));
    // The mean is one over labels first, then over the batch.
    const Shape shape = isBatch ? Shape{batch} : Shape{};
    const Tensor all = Tensor::of<double>(shape, reduction == 1 ? shares : losses);
    return e.as(reduction == 0 ? all : e(reduction == 1 ? "mean" : "sum", all), e.tensor("log_probs").dtype());
}

/// (self [N,C] or [C], target of the same shape, reduction): 1/C sum over labels j and other classes i of
/// max(0, 1 - (x_j - x_i)). The labels of a row end at the first -1.
EagerResult multiLabelMargin(Eager& e) {
    const Tensor x = e.as(e.get(e.tensor("self").contiguous()), DType::Float64),
                 targets = e.as(e.get(e.tensor("target").contiguous()), DType::Int64);
    if (x.rank() < 1 || x.rank() > 2 || x.shape() != targets.shape())
        e.fail(x.typeText() + " and " + targets.typeText() + " are incompatible");
    const std::int64_t classes = x.dim(x.rank() - 1), rows = x.rank() == 2 ? x.dim(0) : 1;
    std::vector<double> losses(static_cast<std::size_t>(rows));
    std::vector<bool> isLabel;
    for (std::int64_t row = 0; row < rows; ++row) {
        const double* values = x.data<double>() + row * classes;
        const std::int64_t* first = targets.data<std::int64_t>() + row * classes;
        const std::int64_t* last = std::find_if(first, first + classes, [](std::int64_t label) { return label < 0; });
        isLabel.assign(static_cast<std::size_t>(classes), false);
        for (const std::int64_t* label = first; label != last; ++label) {
            if (*label >= classes) e.fail("a target is not one of the classes");
            isLabel[static_cast<std::size_t>(*label)] = true;
        }
        double sum = 0;
        for (const std::int64_t* label = first; label != last; ++label) {
            for (std::int64_t i = 0; i < classes; ++i) {
                if (!isLabel[static_cast<std::size_t>(i)]) sum += std::max(0.0, 1 - values[*label] + values[i]);
            }
        }
        losses[static_cast<std::size_t>(row)] = classes > 0 ? sum / static_cast<double>(classes) : 0;
    }
    const std::int64_t reduction = e.integer("reduction");
    if (reduction < 0 || reduction > 2) e.fail("there is no reduction " + std::to_string(reduction));
    const Tensor all = Tensor::of<double>(x.rank() == 2 ? Shape{rows} : Shape{}, losses);
    return e.as(reduction == 0 ? all : e(reduction == 1 ? "mean" : "sum", all), e.tensor("self").dtype());
}

}  // namespace

void define_aten_sequence_losses(Registry& registry) {
    for (
        std::string_view schema :
        {"ctc_loss.IntList(Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, int blank=0, int reduction=Mean, bool zero_infinity=False) -> Tensor",
         "ctc_loss.Tensor(Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths, int blank=0, int reduction=Mean, bool zero_infinity=False) -> Tensor"}) {
        registry.add(eagerRow(schema, "minus the log probability of all alignments of the labels", Category::Reduction,
                              ctcLoss));
    }
    registry.add(eagerRow("multilabel_margin_loss(Tensor self, Tensor target, int reduction=Mean) -> Tensor",
                          "labels above all other classes by a margin", Category::Reduction, multiLabelMargin));
}

}  // namespace sonde::ops
