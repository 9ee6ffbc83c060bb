#include "core/ops/support/scores.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "core/ops/support/shapes.h"

namespace sonde::ops {

base::Result<FeatureTable> featureTable(const Tensor& x) {
    if (x.rank() == 1) return FeatureTable{1, x.dim(0)};
    if (x.rank() == 2) return FeatureTable{x.dim(0), x.dim(1)};
    return opError("needs features of shape [C] or [N,C], not " + x.shape().text());
}

base::Result<PostTransform> postTransform(const Attributes& attributes) {
    const std::string name = attributes.getString("post_transform", "NONE");
    constexpr std::array<std::string_view, 5> kNames{"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};
    const auto found = std::find(kNames.begin(), kNames.end(), name);
    if (found == kNames.end()) return opError("post_transform '" + name + "' is not supported");
    return static_cast<PostTransform>(found - kNames.begin());
}

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

namespace {

double probit(double p) {
    constexpr double kA = 0.147;
    const double x = 2 * p - 1;
    const double log = std::log((1 - x) * (1 + x));
    const double half = 2 / (std::numbers::pi * kA) + log / 2;
    return std::copysign(std::numbers::sqrt2 * std::sqrt(std::sqrt(half * half - log / kA) - half), x);
}

void softmax(std::span<double> row, bool keepsZeros) {
    const double top = row.empty() ? 0 : *std::max_element(row.begin(), row.end());
    double sum = 0;
    for (double& v : row) {
        v = keepsZeros && v == 0 ? 0 : std::exp(v - top);
        sum += v;
    }
    for (double& v : row) v = sum == 0 ? v : v / sum;
}

}  // namespace

void transformScores(std::span<double> row, PostTransform transform) {
    switch (transform) {
        case PostTransform::None: return;
        case PostTransform::Softmax: return softmax(row, false);
        case PostTransform::SoftmaxZero: return softmax(row, true);
        case PostTransform::Logistic: std::transform(row.begin(), row.end(), row.begin(), logistic); return;
        case PostTransform::Probit: std::transform(row.begin(), row.end(), row.begin(), probit); return;
    }
}

std::vector<double> twoScores(double score, SecondScore second, PostTransform transform) {
    if (transform == PostTransform::Probit) return {probit(score)};
    if (transform == PostTransform::Logistic) return {logistic(-score), logistic(score)};
    if (second == SecondScore::Complement) return {1 - score, score};
    return {-score, score};
}

base::Result<ClassLabels> ClassLabels::of(const Attributes& attributes, std::string_view numbersName) {
    ClassLabels labels{attributes.getStrings("classlabels_strings"), attributes.getInts(numbersName)};
    if (labels.size() == 0) return opError("names no classes");
    if (!labels.texts.empty() && !labels.numbers.empty())
        return opError("names its classes twice, as texts and as numbers");
    return labels;
}

void ClassLabels::set(KernelContext& context, const std::vector<std::size_t>& picks) const {
    const Shape shape{static_cast<std::int64_t>(picks.size())};
    if (texts.empty()) {
        std::vector<std::int64_t> chosen;
        for (std::size_t pick : picks) chosen.push_back(numbers[pick]);
        context.setOutput(Value(Tensor::of<std::int64_t>(shape, chosen)));
        return;
    }
    std::vector<std::string> chosen;
    for (std::size_t pick : picks) chosen.push_back(texts[pick]);
    context.setOutput(Value(Tensor::ofStrings(shape, std::move(chosen))));
}

base::Result<void> setScores(KernelContext& context, std::size_t output, DType dtype,
                             const std::vector<std::vector<double>>& rows, std::size_t columns) {
    if (!context.wants(output)) return {};
    std::vector<double> all;
    all.reserve(rows.size() * columns);
    for (const std::vector<double>& row : rows) {
        if (row.size() != columns)
            return opError("has " + std::to_string(row.size()) + " scores in a row of " + std::to_string(columns));
        all.insert(all.end(), row.begin(), row.end());
    }
    const Tensor wide =
        Tensor::of<double>(Shape{static_cast<std::int64_t>(rows.size()), static_cast<std::int64_t>(columns)}, all);
    SONDE_ASSIGN(Tensor y, wide.cast(dtype));
    context.setOutput(output, Value(std::move(y)));
    return {};
}

tensor::Dim rowsOf(const InferContext& context) {
    const auto& shape = context.in("X").shape;
    return shape && shape->size() == 2 ? (*shape)[0] : shape && shape->size() == 1 ? tensor::Dim{1, {}} : tensor::Dim{};
}

void setScoreType(InferContext& context, std::size_t output, std::int64_t columns) {
    context.set(output,
                TypeInfo::tensor(DType::Float32, std::vector<tensor::Dim>{
                                                     rowsOf(context), tensor::Dim{columns < 0 ? -1 : columns, {}}}));
}

std::int64_t setLabelType(InferContext& context, std::string_view numbersName) {
    const std::size_t texts = context.attributes().getStrings("classlabels_strings").size();
    context.set(TypeInfo::tensor(texts > 0 ? DType::String : DType::Int64, std::vector<tensor::Dim>{rowsOf(context)}));
    return static_cast<std::int64_t>(texts > 0 ? texts : context.attributes().getInts(numbersName).size());
}

}  // namespace sonde::ops
