// The classes with the largest values of a classifier.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/count_text.h"
#include "core/session/outputs/forms.h"

namespace sonde::session::outputs {

namespace {

constexpr std::int64_t kMaxClasses = 1'000'000;
constexpr double kSumTolerance = 1e-3;

/// How the numbers of one row are shares of all classes.
struct ClassScale {
    std::vector<double> shares;  ///< empty: they are none
    std::string text;
};

bool sumsToOne(const std::vector<double>& values) {
    return std::abs(std::accumulate(values.begin(), values.end(), 0.0) - 1) < kSumTolerance;
}

/// Values alone tell: parts of 1 are probabilities, negative numbers whose powers of e are parts of 1 are logarithms of
/// them, other numbers from 0 to 1 are scores that need not sum to 1. All else is read as logits.
ClassScale scaleOf(const std::vector<double>& values) {
    const bool hasNumbers = std::ranges::any_of(values, [](double value) { return !std::isnan(value); });
    const bool isPart = hasNumbers && std::ranges::all_of(values, [](double value) {
                            return std::isnan(value) || (value >= 0 && value <= 1.001);
                        });
    if (isPart && sumsToOne(values)) return {values, "probabilities"};
    const bool hasAll = std::ranges::none_of(values, [](double value) { return std::isnan(value); });
    if (isPart) return {{}, hasAll ? "scores from 0 to 1 that do not sum to 1" : "scores from 0 to 1"};
    if (std::ranges::all_of(values, [](double value) { return value <= 1e-6; })) {
        std::vector<double> powers(values.size());
        std::ranges::transform(values, powers.begin(), [](double value) { return std::exp(value); });
        if (sumsToOne(powers)) return {powers, "log-probabilities; shares are their exponentials"};
    }
    return {softmax(values), "shares are the softmax of the values"};
}

int suitsClasses(const Facts& facts) {
    if (!facts.isFloat() || facts.stats.count == 0) return kCannot;
    const auto length = rowLength(facts.tensor.shape());
    if (!length || *length < 2 || *length > kMaxClasses) return kCannot;
    if (facts.isNamed({"embed", "pool", "hidden", "feature", "code", "latent", "state", "box"})) return kUnlikely;
    const bool isNamed = facts.isNamed({"logit", "prob", "class", "label"});
    const std::int64_t count = facts.tensor.rank() == 1 ? 1 : facts.tensor.dim(0);
    if (count > 0 && facts.isWithin(0, 1.001) && sumsToOne(numbersOf(facts.tensor, 0, *length))) return kVeryLikely + 5;
    if (isNamed) return kVeryLikely;
    // Without a batch a number for each sample of one, and rows that are no samples, are rather something else.
    if (facts.rank() == 1 ? *length == facts.batch() : count != facts.batch()) return kAlways - 1;
    return kLikely;
}

std::int64_t classSamples(const Facts& facts) { return facts.tensor.rank() == 1 ? 1 : facts.tensor.dim(0); }

base::Result<Made> makeClasses(const FormRequest& request) {
    const tensor::Tensor& tensor = request.facts.tensor;
    const std::int64_t count = *rowLength(tensor.shape());
    const std::vector<double> values = numbersOf(tensor, sampleOf(request, classSamples(request.facts)) * count, count);
    Made made;
    Classes classes;
    classes.count = count;
    ClassScale scale = scaleOf(values);
    classes.scale = scale.text;
    classes.hasShares = !scale.shares.empty();
    const auto bad = std::ranges::count_if(values, [](double value) { return !std::isfinite(value); });
    if (bad > 0)
        made.notes.push_back(base::countText(bad) + " of " + base::countText(count) + " values are NaN or infinite" +
                             (classes.hasShares ? ": shares are of the others" : ""));
    FormRequest named = request;
    if (request.labels && static_cast<std::int64_t>(request.labels->size()) != count) {
        made.notes.push_back("the labels file has " +
                             base::countText(static_cast<std::int64_t>(request.labels->size())) + " names for " +
                             base::countText(count) + " classes: none is shown");
        named.labels = nullptr;
    }
    for (const std::int64_t index : largest(count, request.choice.top, values)) {
        const auto at = static_cast<std::size_t>(index);
        classes.top.push_back({index, labelOf(named, index), values[at], classes.hasShares ? scale.shares[at] : 0});
    }
    made.content = std::move(classes);
    return made;
}

}  // namespace

Form classesForm() {
    return {.id = "classes",
            .title = "Classes",
            .description = "The classes with the largest values, with bars and names",
            .suits = suitsClasses,
            .make = makeClasses,
            .usesLabels = true,
            .usesTop = true,
            .usesSample = true,
            .samples = classSamples};
}

}  // namespace sonde::session::outputs
