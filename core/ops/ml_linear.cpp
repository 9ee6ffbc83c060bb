// Linear models, domain ai.onnx.ml. https://onnx.ai/onnx/operators/ (LinearClassifier, LinearRegressor).

#include <algorithm>

#include "core/ops/dependence/region.h"
#include "core/ops/dependence/scores.h"
#include "core/ops/support/ml_row.h"
#include "core/ops/support/scores.h"
#include "core/ops/support/shapes.h"

namespace sonde::ops {

namespace {

/// scores[n, k] = Σc x[n, c] · w[k, c] + b[k].
base::Result<std::vector<std::vector<double>>> linearScores(const Tensor& x, const Attributes& attributes,
                                                            std::size_t targets) {
    SONDE_ASSIGN(const FeatureTable table, featureTable(x));
    const auto columns = static_cast<std::size_t>(table.columns);
    const auto weights = attributes.getFloats("coefficients"), intercepts = attributes.getFloats("intercepts");
    if (targets == 0 || weights.size() % targets != 0 || weights.size() / targets != columns) {
        return opError(std::to_string(weights.size()) + " coefficients for " + std::to_string(targets) +
                       " targets of " + std::to_string(columns) + " features");
    }
    if (!intercepts.empty() && intercepts.size() != targets)
        return opError(std::to_string(intercepts.size()) + " intercepts for " + std::to_string(targets) + " targets");
    std::vector<std::vector<double>> scores(static_cast<std::size_t>(table.rows), std::vector<double>(targets));
    for (std::size_t r = 0; r < scores.size(); ++r) {
        for (std::size_t k = 0; k < targets; ++k) {
            double sum = intercepts.empty() ? 0 : intercepts[k];
            for (std::size_t c = 0; c < columns; ++c)
                sum += x.toDouble(static_cast<std::int64_t>(r * columns + c)) * weights[k * columns + c];
            scores[r][k] = sum;
        }
    }
    return scores;
}

base::Result<void> regress(KernelContext& context) {
    const std::int64_t targets = context.attributes().getInt("targets", 1);
    if (targets < 1 || targets > (1 << 20)) return opError(std::to_string(targets) + " targets");
    SONDE_ASSIGN(const PostTransform transform, postTransform(context.attributes()));
    SONDE_ASSIGN(auto rows, linearScores(context.in("X"), context.attributes(), static_cast<std::size_t>(targets)));
    for (std::vector<double>& row : rows) transformScores(row, transform);
    return setScores(context, 0, DType::Float32, rows, static_cast<std::size_t>(targets));
}

base::Result<void> classify(KernelContext& context) {
    const Attributes& attributes = context.attributes();
    SONDE_ASSIGN(const ClassLabels labels, ClassLabels::of(attributes, "classlabels_ints"));
    SONDE_ASSIGN(const PostTransform transform, postTransform(attributes));
    SONDE_ASSIGN(const FeatureTable table, featureTable(context.in("X")));
    const std::size_t targets =
        table.columns == 0 ? 0 : attributes.getFloats("coefficients").size() / static_cast<std::size_t>(table.columns);
    SONDE_ASSIGN(auto rows, linearScores(context.in("X"), attributes, targets));
    const bool oneForTwo = targets == 1 && labels.size() == 2;
    if (!oneForTwo && targets != labels.size())
        return opError(std::to_string(targets) + " scores for " + std::to_string(labels.size()) + " classes");
    std::vector<std::size_t> picks;
    for (std::vector<double>& row : rows) {
        if (oneForTwo) {
            picks.push_back(row[0] > 0 ? 1 : 0);
            row = twoScores(row[0], SecondScore::Complement, transform);
            row.resize(2);
            continue;
        }
        picks.push_back(static_cast<std::size_t>(std::max_element(row.begin(), row.end()) - row.begin()));
        transformScores(row, transform);
    }
    labels.set(context, picks);
    return setScores(context, 1, DType::Float32, rows, labels.size());
}

/// A score: the features by the coefficients of its class, and what the transform makes of the sum. A label: that of
/// the largest score.
base::Result<Dependence> linearTerms(const ElementCall& call) {
    const Attributes& attributes = call.context.attributes();
    SONDE_ASSIGN(const FeatureTable table, featureTable(call.context.in("X")));
    SONDE_ASSIGN(const PostTransform transform, postTransform(attributes));
    const std::vector<double> weights = attributes.getFloats("coefficients"),
                              biases = attributes.getFloats("intercepts");
    const std::int64_t row = call.at.front(),
                       targets = static_cast<std::int64_t>(weights.size()) / std::max<std::int64_t>(table.columns, 1);
    SONDE_ASSIGN(const auto scores,
                 linearScores(dependence::featureRow(call, row), attributes, static_cast<std::size_t>(targets)));
    Dependence made;
    const auto sumOf = [&](std::int64_t target) {
        const std::uint32_t part = made.listPart("x", "w");
        for (std::int64_t c = 0; c < table.columns; ++c) {
            dependence::addElement(made, part, call, call.context.position("X"), row * table.columns + c);
            made.terms.back().weight = weights[static_cast<std::size_t>(target * table.columns + c)];
        }
        made.number("bias", biases.empty() ? 0 : biases[static_cast<std::size_t>(target)]);
        return std::string("sum(w * x) + bias");
    };
    if (call.op.outputs.size() == 1) {
        dependence::transformScore(made, sumOf(call.at.back()), scores.front(), transform);
        return made;
    }
    SONDE_ASSIGN(const ClassLabels labels, ClassLabels::of(attributes, "classlabels_ints"));
    const bool oneForTwo = targets == 1 && labels.size() == 2;
    if (call.output == 0 && oneForTwo) {
        SONDE_TRY(dependence::chooseOfTwo(made, labels, sumOf(0) + " > 0"));
    } else if (call.output == 0) {
        SONDE_TRY(dependence::chooseLabel(made, labels, scores.front()));
        SONDE_TRY(dependence::addFeatures(made, call, row));
    } else if (oneForTwo) {
        dependence::transformOneOfTwo(made, sumOf(0), call.at.back(), SecondScore::Complement, transform);
    } else {
        dependence::transformScore(made, sumOf(call.at.back()), scores.front(), transform);
    }
    return made;
}

base::Result<void> inferRegressor(InferContext& context) {
    setScoreType(context, 0, context.attributes().getInt("targets", 1));
    return {};
}

base::Result<void> inferClassifier(InferContext& context) {
    setScoreType(context, 1, setLabelType(context, "classlabels_ints"));
    return {};
}

}  // namespace

void define_ml_linear(Registry& registry) {
    const auto row = [](std::string_view name, std::string_view summary) {
        Row made = mlRow(name, summary);
        made.in("X", kFeatures)
            .out("Y")
            .attr("coefficients", AttributeKind::Floats)
            .attr("intercepts", AttributeKind::Floats)
            .attrString("post_transform", "NONE");
        return made;
    };
    registry.add(
        row("LinearRegressor", "Weighted sums of the features").attrInt("targets", 1).runs(regress, inferRegressor));
    registry.add(row("LinearClassifier", "The class with the largest weighted sum, and all scores")
                     .out("Z")
                     .attrInts("classlabels_ints")
                     .attr("classlabels_strings", AttributeKind::Strings)
                     .attrInt("multi_class", 0)
                     .runs(classify, inferClassifier));
    explain("ai.onnx.ml", "LinearRegressor LinearClassifier", linearTerms);
}

}  // namespace sonde::ops
