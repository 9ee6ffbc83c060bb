// Losses: of pairs of elements, and of the scores that labels name.

#include <algorithm>
#include <cmath>

#include "core/ops/dependence/region.h"
#include "core/ops/dependence/rules.h"
#include "core/ops/support/shapes.h"

namespace sonde::ops::dependence {

namespace {

using Index = std::vector<std::int64_t>;

/// "none", "mean" or "sum", of an attribute or as PyTorch numbers them.
base::Result<std::string> reductionOf(const ElementCall& call) {
    const Value* const given = argumentOf(call, "reduction");
    if (!given) return call.context.attributes().getString("reduction", "mean");
    SONDE_ASSIGN(const std::int64_t number, intOf(*given));
    return std::string(number == 0 ? "none" : number == 1 ? "mean" : "sum");
}

}  // namespace

base::Result<Dependence> pairLoss(const ElementCall& call) {
    const Tensor &a = call.context.in(kLeft), &b = call.context.in(kRight);
    SONDE_ASSIGN(const std::string reduction, reductionOf(call));
    SONDE_ASSIGN(Shape shape, broadcast(a.shape(), b.shape()));
    std::string each(call.text);
    if (const std::size_t bar = each.find(" | "); bar != std::string::npos) {  // of logarithms
        const Value* const isLog = argumentOf(call, "log_target");
        each = isLog && isLog->number() != 0 ? each.substr(bar + 3) : each.substr(0, bar);
    }
    struct Operand {
        std::string_view part;
        std::size_t input;
    };
    std::vector<Operand> operands{{"x", kLeft}, {"y", kRight}};
    if (const std::size_t target = call.op.position("target"); target == 2) {  // of two scores
        operands.push_back({"z", target});
        SONDE_ASSIGN(shape, broadcast(shape, call.context.in(target).shape()));
    }
    if (argumentOf(call, "pos_weight")) operands.push_back({"positive", call.op.position("pos_weight")});
    if (argumentOf(call, "weight")) {
        operands.push_back({"weight", call.op.position("weight")});
        each = "weight * (" + each + ")";
    }
    const bool isNone = reduction == "none";
    const Region region = isNone ? Region::only(call.at) : Region::all(shape);
    SONDE_TRY(checkTerms(static_cast<std::int64_t>(operands.size()) * region.count()));
    Dependence dependence;
    dependence.formula = isNone ? each : reduction + "(" + each + ")";
    bool isMatching = true;
    std::uint32_t pair = 0;
    forEach(region, shape, [&](const Index& at, std::int64_t) {
        ++pair;
        for (const Operand& operand : operands) {
            const std::uint32_t part = isNone ? dependence.part(operand.part) : dependence.listPart(operand.part);
            const std::int64_t element = broadcastElement(at, call.context.in(operand.input).shape());
            isMatching = isMatching && element >= 0;
            if (element < 0) continue;
            addElement(dependence, part, call, operand.input, element);
            if (operand.part == "y") dependence.terms.back().weight = -1;  // what differs counts
            if (operand.input <= kRight) dependence.terms.back().pair = pair;
        }
    });
    if (!isMatching) return opError("the weights do not match");
    if (!argumentOf(call, "pos_weight")) dependence.number("positive", 1);
    for (const std::string_view name : {"beta", "delta"})
        if (const Value* const given = argumentOf(call, name)) dependence.number("beta", given->number());
    for (const std::string_view name : {"margin", "eps"})
        if (const Value* const given = argumentOf(call, name)) dependence.number(name, given->number());
    return dependence;
}

base::Result<Dependence> countLoss(const ElementCall& call) {
    const auto isSet = [&](std::string_view name) {
        const Value* const given = argumentOf(call, name);
        return given && given->number() != 0;
    };
    std::string each = isSet("log_input") ? "exp(x) - y * x" : "x - y * log(x + eps)";
    if (isSet("full")) each += " + where(y <= 1, 0, y * log(y) - y + 0.5 * log(6.283185307179586 * y))";
    ElementCall other = call;
    other.text = each;
    return pairLoss(other);
}

base::Result<Dependence> huberLoss(const ElementCall& call) {
    const Value* const beta = argumentOf(call, call.op.position("beta") < call.op.inputs.size() ? "beta" : "delta");
    ElementCall other = call;
    if (beta && beta->number() == 0) other.text = "abs(x - y)";
    return pairLoss(other);
}

namespace {

/// Where the labels of a loss are, and the scores that go with them: [N, C, D…] or [C].
struct Labels {
    std::size_t input = 1, weight = kNoOperand;
    std::int64_t classes = 1, inner = 1;
    bool ignores = false;
    std::int64_t ignored = 0;

    static base::Result<Labels> of(const ElementCall& call) {
        const KernelContext& context = call.context;
        const Shape& scores = context.in(kOperand).shape();
        Labels labels;
        if (scores.rank() == 0) return opError("the scores have no classes");
        const std::size_t axis = scores.rank() > 1 ? 1 : 0;
        labels.classes = scores[axis];
        for (std::size_t d = axis + 1; d < scores.rank(); ++d) labels.inner *= scores[d];
        for (const std::string_view name : {"weight", "weights"})
            if (argumentOf(call, name)) labels.weight = call.op.position(Name(name));
        labels.ignores = context.attributes().has("ignore_index");
        labels.ignored = context.attributes().getInt("ignore_index", 0);
        if (const Value* const given = argumentOf(call, "ignore_index")) {
            SONDE_ASSIGN(labels.ignored, intOf(*given));
            labels.ignores = true;
        }
        if (!tensor::isInteger(context.in(labels.input).dtype()))
            return opError("there is no formula for labels that are probabilities");
        const Value* const smoothing = argumentOf(call, "label_smoothing");
        if (smoothing && smoothing->number() != 0) return opError("there is no formula for smoothed labels");
        return labels;
    }

    /// The labels that take part: all, or that of the element.
    std::vector<std::int64_t> positions(const ElementCall& call, bool isNone) const {
        std::vector<std::int64_t> found;
        const Tensor& labels = call.context.in(input);
        for (std::int64_t i = isNone ? call.element : 0; i < (isNone ? call.element + 1 : labels.numel()); ++i)
            if (!ignores || labels.toInt64(i) != ignored) found.push_back(i);
        return found;
    }
    std::int64_t scoreAt(std::int64_t position, std::int64_t label) const {
        return (position / inner * classes + label) * inner + position % inner;
    }
};

/// The scores of the labels, with the weights of their classes; `rows` also adds all scores of a position, whose
/// logarithms of sums are "norm".
base::Result<Dependence> labelled(const ElementCall& call, bool rows) {
    SONDE_ASSIGN(const Labels labels, Labels::of(call));
    SONDE_ASSIGN(const std::string reduction, reductionOf(call));
    const bool isNone = reduction == "none";
    const std::vector<std::int64_t> positions = labels.positions(call, isNone);
    const Tensor &scores = call.context.in(kOperand), &given = call.context.in(labels.input);
    if (positions.empty() && reduction != "mean") return constantElement(0);
    SONDE_TRY(checkTerms(static_cast<std::int64_t>(positions.size()) * ((rows ? labels.classes : 0) + 4)));
    Dependence dependence;
    const bool isWeighted = labels.weight != kNoOperand;
    const std::uint32_t part = dependence.listPart("x", isWeighted ? "w" : "");
    for (const std::int64_t position : positions) {
        const std::int64_t label = given.toInt64(position), element = labels.scoreAt(position, label);
        if (label < 0 || label >= labels.classes || element >= scores.numel()) return opError("a label is no class");
        addElement(dependence, part, call, kOperand, element);
        DependenceTerm& term = dependence.terms.back();
        if (isWeighted) {
            term.weightInput = static_cast<std::uint32_t>(labels.weight);
            term.weightElement = label;
            term.weight = call.context.in(labels.weight).toDouble(label);
        }
        addElement(dependence, dependence.listPart("label"), call, labels.input, position);
        dependence.terms.back().weight = 0;
    }
    const std::string loss = rows ? "(norm - x)" : "-x";
    const std::string sum = isWeighted ? "sum(w * " + loss + ")" : "sum(" + loss + ")";
    dependence.formula = reduction != "mean" ? sum : isWeighted ? sum + " / sum(w)" : sum + " / count";
    dependence.number("count", static_cast<double>(positions.size()));
    if (!rows) return dependence;
    const std::uint32_t all = dependence.listPart("scores"), norms = dependence.listPart("norm");
    for (const std::int64_t position : positions) {
        const double ofClass =
            isWeighted ? call.context.in(labels.weight).toDouble(given.toInt64(position)) : 1;  // checked above
        double most = -HUGE_VAL, total = 0;
        for (std::int64_t c = 0; c < labels.classes; ++c)
            most = std::max(most, scores.toDouble(labels.scoreAt(position, c)));
        for (std::int64_t c = 0; c < labels.classes; ++c)
            total += std::exp(scores.toDouble(labels.scoreAt(position, c)) - most);
        DependenceTerm norm;
        norm.part = norms, norm.isInside = true, norm.element = position, norm.value = most + std::log(total);
        norm.weight = 0;
        dependence.terms.push_back(norm);
        for (std::int64_t c = 0; c < labels.classes; ++c) {
            addElement(dependence, all, call, kOperand, labels.scoreAt(position, c));
            DependenceTerm& term = dependence.terms.back();
            term.weight = ofClass * std::exp(term.value - most) / total;
        }
    }
    return dependence;
}

}  // namespace

base::Result<Dependence> likelihoodLoss(const ElementCall& call) { return labelled(call, false); }

base::Result<Dependence> entropyLoss(const ElementCall& call) {
    if (call.output == 0) return labelled(call, true);
    Dependence dependence;  // logarithms of the probabilities
    dependence.formula = "x - max(row) - log(sum(exp(row - max(row))))";
    addElement(dependence, dependence.part("x"), call, kOperand, call.element);
    Region row = Region::only(call.at);
    row.widen(1, call.context.in(kOperand).shape());
    SONDE_TRY(addRegion(dependence, dependence.listPart("row"), call, kOperand, row));
    return dependence;
}

}  // namespace sonde::ops::dependence
