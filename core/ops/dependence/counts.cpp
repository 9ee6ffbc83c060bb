// Places and counts among sorted or equal elements, and elements that are chosen by their value.

#include <algorithm>
#include <cmath>

#include "core/ops/dependence/reductions.h"
#include "core/ops/dependence/region.h"
#include "core/ops/dependence/rules.h"
#include "core/ops/support/shapes.h"

namespace sonde::ops::dependence {

namespace {

bool isSet(const ElementCall& call, std::string_view name) {
    const Value* const given = argumentOf(call, name);
    return given && given->number() != 0;
}

/// The elements of a line of an input, from the first one on.
base::Result<void> addLine(Dependence& dependence, std::uint32_t part, const ElementCall& call, std::size_t input,
                           std::int64_t first, std::int64_t count) {
    SONDE_TRY(checkTerms(count));
    if (first < 0 || first + count > call.context.in(input).numel()) return opError("the line is outside of the input");
    for (std::int64_t i = 0; i < count; ++i) addElement(dependence, part, call, input, first + i);
    return {};
}

}  // namespace

base::Result<Dependence> placeAmong(const ElementCall& call) {
    const std::size_t bounds = call.op.position(
        Name(call.op.position("boundaries") < call.op.inputs.size() ? "boundaries" : "sorted_sequence"));
    if (argumentOf(call, "sorter")) return opError("there is no formula for a sequence that is sorted by another");
    const Value* const side = argumentOf(call, "side");
    const bool isBehind = side ? side->toString() == "right" : isSet(call, "right");
    const Tensor& sorted = call.context.in(bounds);
    const std::size_t own = call.context.position("self");
    const std::int64_t length = sorted.rank() > 0 ? sorted.dim(sorted.rank() - 1) : 0;
    const std::int64_t width = call.result.rank() > 0 ? call.result.dim(call.result.rank() - 1) : 1;
    const std::int64_t line = sorted.rank() > 1 ? call.element / std::max<std::int64_t>(width, 1) : 0;
    Dependence dependence;
    dependence.formula = isBehind ? "sum(bounds <= x)" : "sum(bounds < x)";
    addElement(dependence, dependence.part("x"), call, own, call.element);
    SONDE_TRY(addLine(dependence, dependence.listPart("bounds"), call, bounds, line * length, length));
    return dependence;
}

base::Result<Dependence> countedEqual(const ElementCall& call) {
    const Tensor& x = call.context.in(kOperand);
    Dependence dependence;
    const bool isWeighted = argumentOf(call, "weights") != nullptr;
    SONDE_TRY(checkTerms(x.numel()));
    const std::uint32_t part = dependence.listPart("x");
    dependence.formula = isWeighted ? "sum(amount * (x == position))" : "sum(x == position)";
    SONDE_TRY(addLine(dependence, part, call, kOperand, 0, x.numel()));
    for (DependenceTerm& term : dependence.terms) term.weight = term.value == static_cast<double>(call.element) ? 1 : 0;
    if (isWeighted)
        SONDE_TRY(addLine(dependence, dependence.listPart("amount"), call, call.op.position("weights"), 0, x.numel()));
    dependence.number("position", static_cast<double>(call.element));
    return dependence;
}

base::Result<Dependence> ofOneClass(const ElementCall& call) {
    if (call.at.empty()) return opError("the result has no classes");
    const std::int64_t classes = std::max<std::int64_t>(call.result.dim(call.result.rank() - 1), 1);
    Dependence dependence;
    dependence.formula = "x == position";
    addElement(dependence, dependence.part("x"), call, kOperand, call.element / classes);
    dependence.number("position", static_cast<double>(call.at.back()));
    return dependence;
}

base::Result<Dependence> firstEqual(const ElementCall& call) {
    if (call.output != 0) return opError("positions and counts have no formula");
    const Tensor& x = call.context.in(kOperand);
    if (argumentOf(call, "dim") || call.context.attributes().has("axis"))
        return opError("slices that differ have no formula");
    const double value = call.result.toDouble(call.element);
    for (std::int64_t i = 0; i < x.numel(); ++i) {
        const double own = x.toDouble(i);
        if (own == value || (std::isnan(own) && std::isnan(value))) return sourceElement(call, kOperand, 0, i, own);
    }
    return opError("the element is not among the input's");
}

base::Result<Dependence> chosenOfLine(const ElementCall& call) {
    const Tensor& x = call.context.in(kOperand);
    SONDE_ASSIGN(const std::vector<std::size_t> axes, reducedAxes(call, x.rank()));
    Region line = Region::only(call.at);
    if (call.text == "first") line = Region::only(call.at), line.widen(0, x.shape());
    else {
        SONDE_ASSIGN(line, reducedRegion(call, x.shape(), axes));
    }
    const double value = call.result.toDouble(call.element);
    std::optional<std::int64_t> found;
    forEach(line, x.shape(), [&](const std::vector<std::int64_t>&, std::int64_t element) {
        const double own = x.toDouble(element);
        if (!found && (own == value || (std::isnan(own) && std::isnan(value)))) found = element;
    });
    if (!found || call.output != 0) return opError("the element is not among the input's");
    return sourceElement(call, kOperand, 0, *found, value);
}

base::Result<Dependence> quantile(const ElementCall& call) {
    const Tensor& x = call.context.in(kOperand);
    const Value& given = call.context.value(call.op.position("q"));
    ElementCall own = call;
    double at = given.isNumber() ? given.number() : 0;
    if (given.isTensor()) {  // several are along an axis in front
        const std::int64_t count = given.tensor().numel(),
                           each = call.result.numel() / std::max<std::int64_t>(count, 1);
        at = given.tensor().toDouble(call.element / std::max<std::int64_t>(each, 1));
        if (given.tensor().rank() > 0) own.at.erase(own.at.begin());
    }
    SONDE_ASSIGN(const std::vector<std::size_t> axes, reducedAxes(call, x.rank()));
    SONDE_ASSIGN(const Region line, reducedRegion(own, x.shape(), axes));
    SONDE_TRY(checkTerms(line.count()));
    std::vector<std::pair<double, std::int64_t>> sorted;
    forEach(line, x.shape(), [&](const std::vector<std::int64_t>&, std::int64_t element) {
        sorted.emplace_back(x.toDouble(element), element);
    });
    if (sorted.empty()) return opError("the line is empty");
    for (const auto& [value, element] : sorted)
        if (std::isnan(value)) return sourceElement(call, kOperand, 0, element, value);
    std::ranges::sort(sorted);
    const std::string rule = call.context.value(call.op.position("interpolation")).toString();
    double place = at * static_cast<double>(sorted.size() - 1);
    if (rule == "lower") place = std::floor(place);
    if (rule == "higher") place = std::ceil(place);
    if (rule == "nearest") place = std::nearbyint(place);
    const auto below = static_cast<std::size_t>(std::floor(place)), above = static_cast<std::size_t>(std::ceil(place));
    const double fraction = rule == "midpoint" ? (below == above ? 0 : 0.5) : place - static_cast<double>(below);
    Dependence dependence;
    dependence.formula = "x + fraction * (y - x)";
    for (const auto& [name, chosen, weight] :
         {std::tuple("x", below, 1 - fraction), std::tuple("y", above, fraction)}) {
        addElement(dependence, dependence.part(name), call, kOperand, sorted[chosen].second);
        dependence.terms.back().weight = weight;
    }
    dependence.number("fraction", fraction);
    return dependence;
}

base::Result<Dependence> ofAllPairs(const ElementCall& call) {
    const Tensor &a = call.context.in(kLeft), &b = call.context.in(kRight);
    const std::optional<Shape> shape = tensor::broadcastShapes(a.shape(), b.shape());
    if (!shape) return constantElement(0);
    SONDE_TRY(checkTerms(2 * shape->numel()));
    Dependence dependence;
    dependence.formula = "all(" + std::string(call.text) + ")";
    const std::uint32_t x = dependence.listPart("x"), y = dependence.listPart("y");
    forEach(Region::all(*shape), *shape, [&](const std::vector<std::int64_t>& at, std::int64_t) {
        addElement(dependence, x, call, kLeft, broadcastElement(at, a.shape()));
        addElement(dependence, y, call, kRight, broadcastElement(at, b.shape()));
    });
    for (const std::string_view name : {"rtol", "atol"})
        if (const Value* const given = argumentOf(call, name)) dependence.number(name, given->number());
    return dependence;
}

}  // namespace sonde::ops::dependence
