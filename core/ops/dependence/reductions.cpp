// Operators that compute one element from several of an axis, or from all of its line.

#include "core/ops/dependence/reductions.h"

#include <algorithm>
#include <cmath>

#include "core/ops/dependence/region.h"
#include "core/ops/dependence/rules.h"
#include "core/ops/support/shapes.h"

namespace sonde::ops::dependence {

base::Result<std::vector<std::size_t>> reducedAxes(const ElementCall& call, std::size_t rank) {
    const Attributes& attributes = call.context.attributes();
    std::vector<std::int64_t> axes = attributes.getInts("axes");
    if (attributes.has("axis")) axes = {attributes.getInt("axis", 0)};
    for (const std::string_view name : {"axes", "dim"}) {
        if (!call.context.has(Name(name))) continue;
        SONDE_ASSIGN(axes, intsOf(call.context.value(Name(name))));
    }
    if (axes.empty() && attributes.getInt("noop_with_empty_axes", 0) != 0) return std::vector<std::size_t>();
    if (axes.empty() || rank == 0)
        for (axes.clear(); axes.size() < rank;) axes.push_back(static_cast<std::int64_t>(axes.size()));
    return axesOf(axes, rank);
}

base::Result<Region> reducedRegion(const ElementCall& call, const Shape& shape, const std::vector<std::size_t>& axes) {
    const bool keeps = call.at.size() == shape.rank();
    Region region = Region::all(shape);
    std::size_t next = 0;
    for (std::size_t d = 0; d < shape.rank(); ++d) {
        const bool isReduced = std::ranges::find(axes, d) != axes.end();
        if (!isReduced && next >= call.at.size()) return opError("the result does not match the axes");
        if (!isReduced) region.begin[d] = call.at[next], region.end[d] = call.at[next] + 1;
        if (!isReduced || keeps) ++next;
    }
    return region;
}

namespace {

/// Variances divide by the count less a correction.
base::Result<void> addCorrection(Dependence& dependence, const ElementCall& call) {
    double correction = 1;
    for (const std::string_view name : {"unbiased", "correction"}) {
        if (const Value* given = argumentOf(call, name)) {
            SONDE_ASSIGN(correction, numberOf(*given));
        }
    }
    dependence.number("correction", correction);
    return {};
}

}  // namespace

base::Result<Dependence> reduced(const ElementCall& call) {
    if (const std::size_t bar = call.text.find(" | "); bar != std::string_view::npos) {
        ElementCall other = call;
        other.text = call.output == 0 ? call.text.substr(0, bar) : call.text.substr(bar + 3);
        other.output = 0;
        return reduced(other);
    }
    if (call.output != 0) return opError("the position of an element has no formula");
    const Tensor& x = call.context.in(kOperand);
    SONDE_ASSIGN(const std::vector<std::size_t> axes, reducedAxes(call, x.rank()));
    SONDE_ASSIGN(const Region region, reducedRegion(call, x.shape(), axes));
    Dependence dependence;
    dependence.formula = call.text;
    const std::uint32_t part = dependence.listPart("x");
    SONDE_TRY(addRegion(dependence, part, call, kOperand, region));
    const auto isInfinite = [](const DependenceTerm& term) { return std::isinf(term.value); };
    if (call.text.starts_with("max(x) + log(") && std::ranges::any_of(dependence.terms, isInfinite))
        dependence.formula = "log(sum(exp(x)))";  // nothing to take off first
    if (call.text == "max(x)" || call.text == "argmax(x)") weighChosen(dependence, part, true);
    if (call.text == "min(x)" || call.text == "argmin(x)") weighChosen(dependence, part, false);
    if (call.text.starts_with("arg") && call.context.attributes().getInt("select_last_index", 0) != 0)
        dependence.formula = "count - 1 - " + std::string(call.text.substr(0, 6)) + "(x[::-1])";
    if (call.text.find("correction") != std::string_view::npos) SONDE_TRY(addCorrection(dependence, call));
    dependence.number("count", static_cast<double>(dependence.terms.size()));
    if (call.text == "mean(x)") {
        for (DependenceTerm& term : dependence.terms) term.weight = 1 / static_cast<double>(dependence.terms.size());
    }
    return dependence;
}

base::Result<Dependence> running(const ElementCall& call) {
    const Tensor& x = call.context.in(kOperand);
    std::int64_t given = 0;
    for (const std::string_view name : {"axis", "dim"}) {
        if (!call.context.has(Name(name))) continue;
        SONDE_ASSIGN(given, intOf(call.context.value(Name(name))));
    }
    Dependence dependence;
    dependence.formula = call.text;
    const std::uint32_t part = dependence.listPart("x");
    if (x.rank() == 0) {
        addElement(dependence, part, call, kOperand, 0);
        return dependence;
    }
    SONDE_ASSIGN(const std::size_t axis, axisOf(given, x.rank()));
    const bool isExclusive = call.context.attributes().getInt("exclusive", 0) != 0,
               isReverse = call.context.attributes().getInt("reverse", 0) != 0;
    Region region = Region::only(call.at);
    const std::int64_t own = call.at[axis];
    region.begin[axis] = !isReverse ? 0 : own + (isExclusive ? 1 : 0);
    region.end[axis] = isReverse ? x.dim(axis) : own + (isExclusive ? 0 : 1);
    SONDE_TRY(addRegion(dependence, part, call, kOperand, region));
    return dependence;
}

namespace {

/// Elements of a softmax count by their part of the sum: what a mask takes out has none.
void weighExponentials(Dependence& dependence, std::uint32_t row) {
    double most = -HUGE_VAL, sum = 0;
    for (const DependenceTerm& term : dependence.terms)
        if (term.part == row) most = std::max(most, term.value);
    for (const DependenceTerm& term : dependence.terms)
        if (term.part == row) sum += std::exp(term.value - most);
    if (!std::isfinite(most) || !std::isfinite(sum)) return;
    for (DependenceTerm& term : dependence.terms)
        if (term.part == row) term.weight = std::exp(term.value - most) / sum;
}

}  // namespace

base::Result<Dependence> ofLine(const ElementCall& call) {
    const Tensor& x = call.context.in(kOperand);
    // Before opset 13 the line was all dimensions from the axis on.
    const bool isFlattened = call.op.domain.empty() && call.op.since < 13 && call.op.name != "LpNormalization";
    std::int64_t given = call.context.attributes().getInt("axis", isFlattened ? 1 : -1);
    if (call.context.has("dim")) {
        SONDE_ASSIGN(given, intOf(call.context.value("dim")));
    }
    Dependence dependence;
    dependence.formula = call.text;
    const bool isByPosition = call.text.find("position") != std::string_view::npos;
    if (!isByPosition) addElement(dependence, dependence.part("x"), call, kOperand, call.element);
    const std::uint32_t row = dependence.listPart("row");
    Region region = Region::only(call.at);
    if (x.rank() > 0 && given != static_cast<std::int64_t>(x.rank())) {
        SONDE_ASSIGN(const std::size_t axis, axisOf(given, x.rank()));
        for (std::size_t d = axis; d < (isFlattened ? x.rank() : axis + 1); ++d) region.widen(d, x.shape());
    }
    SONDE_TRY(addRegion(dependence, row, call, kOperand, region));
    if (call.text.find("exp(row - max(row))") != std::string_view::npos) weighExponentials(dependence, row);
    if (isByPosition) {
        const auto isOwn = [&](const DependenceTerm& term) { return term.element == call.element; };
        const auto position = std::ranges::find_if(dependence.terms, isOwn) - dependence.terms.begin();
        dependence.number("position", static_cast<double>(position));
        weighChosen(dependence, row, true);
    }
    dependence.number("p", static_cast<double>(call.context.attributes().getInt("p", 2)));
    return dependence;
}

base::Result<Dependence> differences(const ElementCall& call) {
    std::size_t axis = 0;
    SONDE_ASSIGN(const std::int64_t dim, intOf(call.context.value("dim")));
    SONDE_ASSIGN(axis, axisOf(dim, call.at.size()));
    SONDE_ASSIGN(const std::int64_t order, intOf(call.context.value(call.op.position("n"))));
    if (call.result.dtype() == DType::Bool) return opError("differences of bool have no formula");
    // The parts that stand one behind the other.
    std::vector<std::size_t> parts;
    for (const std::string_view name : {"prepend", "self", "append"})
        if (argumentOf(call, name)) parts.push_back(call.op.position(Name(name)));
    SONDE_TRY(checkTerms(order + 1));
    Dependence made;
    made.formula = "sum(w * x)";
    const std::uint32_t part = made.listPart("x", "w");
    double weight = order % 2 == 0 ? 1 : -1;
    for (std::int64_t k = 0; k <= order; ++k) {
        std::vector<std::int64_t> at = call.at;
        at[axis] += k;
        std::size_t which = 0;
        while (which + 1 < parts.size() && at[axis] >= call.context.in(parts[which]).dim(axis))
            at[axis] -= call.context.in(parts[which++]).dim(axis);
        addElement(made, part, call, parts[which], elementAt(at, call.context.in(parts[which]).shape()));
        made.terms.back().weight = weight;
        weight *= -static_cast<double>(order - k) / static_cast<double>(k + 1);
    }
    return made;
}

}  // namespace sonde::ops::dependence
