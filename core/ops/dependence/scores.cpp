// Scores of classifiers and regressors: transforms, and labels that are chosen by them.

#include "core/ops/dependence/scores.h"

#include "core/ops/dependence/region.h"
#include "core/ops/support/shapes.h"

namespace sonde::ops::dependence {

namespace {

/// sqrt(2)·erfinv(2p − 1) by the closed form that transformScores() has, for p in parentheses.
std::string probitFormula(Dependence& dependence, const std::string& p) {
    dependence.number("a", 0.147);
    dependence.number("pi", 3.14159265358979323846);
    const std::string log = "log((2 - 2 * " + p + ") * 2 * " + p + ")", half = "(2 / (pi * a) + " + log + " / 2)";
    return "copysign(sqrt(2) * sqrt(sqrt(" + half + " ** 2 - " + log + " / a) - " + half + "), 2 * " + p + " - 1)";
}

base::Result<void> checkLabels(const ClassLabels& labels) {
    if (labels.texts.empty()) return {};
    return opError("labels that are texts have no formula");
}

}  // namespace

void transformScore(Dependence& dependence, const std::string& score, std::span<const double> row,
                    PostTransform transform) {
    const std::string s = "(" + score + ")";
    switch (transform) {
        case PostTransform::None: dependence.formula = score; return;
        case PostTransform::Logistic: dependence.formula = "sigmoid" + s; return;
        case PostTransform::Probit: dependence.formula = probitFormula(dependence, s); return;
        case PostTransform::Softmax:
            addInside(dependence, "score", row);
            dependence.formula = "exp(" + score + " - max(score)) / sum(exp(score - max(score)))";
            return;
        case PostTransform::SoftmaxZero:
            addInside(dependence, "score", row);
            dependence.formula = "where(" + s + " == 0, 0, exp(" + score +
                                 " - max(score)) / sum(where(score == 0, 0, exp(score - max(score)))))";
            return;
    }
}

void transformOneOfTwo(Dependence& dependence, const std::string& score, std::int64_t target, SecondScore second,
                       PostTransform transform) {
    const std::string s = "(" + score + ")";
    const bool isFirst = target == 0;
    if (transform == PostTransform::Probit) {
        // There is one score then.
        if (isFirst) dependence.formula = probitFormula(dependence, s);
        else dependence = constantElement(0);
    } else if (transform == PostTransform::Logistic) {
        dependence.formula = isFirst ? "sigmoid(-" + s + ")" : "sigmoid" + s;
    } else {
        dependence.formula = !isFirst ? score : second == SecondScore::Complement ? "1 - " + s : "-" + s;
    }
}

base::Result<void> chooseLabel(Dependence& dependence, const ClassLabels& labels, std::span<const double> scores,
                               std::span<const char> given) {
    SONDE_TRY(checkLabels(labels));
    std::vector<double> values;
    const std::uint32_t part = dependence.listPart("label");
    for (std::size_t i = 0; i < scores.size() && i < labels.numbers.size(); ++i) {
        if (!given.empty() && given[i] == 0) continue;
        values.push_back(scores[i]);
        DependenceTerm term;
        term.part = part, term.value = static_cast<double>(labels.numbers[i]);
        term.weight = 0;
        dependence.terms.push_back(term);
    }
    // Where nothing is given it is the first.
    if (values.empty()) {
        dependence = constantElement(static_cast<double>(labels.numbers.front()));
        return {};
    }
    addInside(dependence, "score", values);
    dependence.formula = "label[argmax(score)]";
    return {};
}

base::Result<void> chooseOfTwo(Dependence& dependence, const ClassLabels& labels, const std::string& condition) {
    SONDE_TRY(checkLabels(labels));
    if (labels.size() != 2) return opError("there are not two labels");
    dependence.number("first", static_cast<double>(labels.numbers[0]));
    dependence.number("second", static_cast<double>(labels.numbers[1]));
    dependence.formula = "where(" + condition + ", second, first)";
    return {};
}

void addInside(Dependence& dependence, std::string_view name, std::span<const double> values, std::string_view weights,
               std::span<const double> by) {
    const std::uint32_t part = dependence.listPart(name, weights);
    for (std::size_t i = 0; i < values.size(); ++i) {
        DependenceTerm term;
        term.part = part, term.isInside = true;
        term.element = static_cast<std::int64_t>(i);
        term.value = values[i];
        term.weight = i < by.size() ? by[i] : 0;  // without weights what they are made of acts through them
        dependence.terms.push_back(term);
    }
}

base::Result<void> addFeatures(Dependence& dependence, const ElementCall& call, std::int64_t row) {
    SONDE_ASSIGN(const FeatureTable table, featureTable(call.context.in("X")));
    SONDE_TRY(checkTerms(table.columns));
    const std::uint32_t part = dependence.listPart("x");
    for (std::int64_t c = 0; c < table.columns; ++c) {
        addElement(dependence, part, call, call.context.position("X"), row * table.columns + c);
        dependence.terms.back().weight = 0;
    }
    return {};
}

Tensor featureRow(const ElementCall& call, std::int64_t row) {
    const Tensor& x = call.context.in("X");
    return x.rank() == 2 ? x.sliced(0, row, 1) : x;
}

}  // namespace sonde::ops::dependence
