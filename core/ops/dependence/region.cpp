#include "core/ops/dependence/region.h"

#include "core/ops/support/shapes.h"

namespace sonde::ops::dependence {

std::vector<std::int64_t> indexOf(std::int64_t element, const Shape& shape) {
    std::vector<std::int64_t> index(shape.rank(), 0);
    for (std::size_t d = shape.rank(); d-- > 0;) {
        const std::int64_t dim = std::max<std::int64_t>(shape[d], 1);
        index[d] = element % dim;
        element /= dim;
    }
    return index;
}

std::int64_t elementAt(const std::vector<std::int64_t>& index, const Shape& shape) {
    std::int64_t element = 0;
    for (std::size_t d = 0; d < shape.rank(); ++d) element = element * shape[d] + index[d];
    return element;
}

std::int64_t broadcastElement(const std::vector<std::int64_t>& at, const Shape& shape) {
    if (shape.rank() > at.size()) return -1;
    std::int64_t element = 0;
    const std::size_t more = at.size() - shape.rank();
    for (std::size_t d = 0; d < shape.rank(); ++d) {
        if (shape[d] != 1 && at[more + d] >= shape[d]) return -1;
        element = element * shape[d] + (shape[d] == 1 ? 0 : at[more + d]);
    }
    return element;
}

Region Region::only(const std::vector<std::int64_t>& at) {
    Region region{at, at};
    for (std::int64_t& end : region.end) ++end;
    return region;
}

std::int64_t Region::count() const {
    std::int64_t count = 1;
    for (std::size_t d = 0; d < begin.size(); ++d) {
        if (end[d] <= begin[d]) return 0;
        if (__builtin_mul_overflow(count, end[d] - begin[d], &count)) return std::numeric_limits<std::int64_t>::max();
    }
    return count;
}

const Value* argumentOf(const ElementCall& call, std::string_view name) {
    const std::size_t at = call.op.position(Name(name));
    const bool isThere = at < call.op.inputs.size() && at < call.context.inputCount() && call.context.has(at);
    return isThere ? &call.context.value(at) : nullptr;
}

base::Result<Dependence> asOnnx(const ElementCall& call, const OnnxCall& onnx) {
    constexpr int kNewest = 1 << 20;
    const OpDef* const op = Registry::all().find("", onnx.name, kNewest);
    const DeclaredDependence declared = op ? dependenceOf(*op) : DeclaredDependence{};
    if (!declared) return opError(std::string(onnx.name) + " does not declare how its elements depend on its inputs");
    SONDE_ASSIGN(const Attributes attributes, completeAttributes(*op, onnx.attributes));
    KernelContext context(onnx.inputs, attributes, 1, call.context.environment(), op);
    context.setVersion(op->since);
    const ElementCall own{context, *op, call.result, {}, 0, 0, call.element, call.at, declared.text};
    SONDE_ASSIGN(Dependence made, declared.rule(own));
    const auto placed = [&](std::uint32_t& input) {
        if (input < onnx.places.size()) input = static_cast<std::uint32_t>(onnx.places[input]);
    };
    for (DependenceTerm& term : made.terms) placed(term.input), placed(term.weightInput);
    return made;
}

base::Result<void> checkTerms(std::int64_t count) {
    if (count <= static_cast<std::int64_t>(kMaxTerms)) return {};
    return opError("the element is made of " + std::to_string(count) + " elements; at most " +
                   std::to_string(kMaxTerms) + " can be shown");
}

void addElement(Dependence& dependence, std::uint32_t part, const ElementCall& call, std::size_t input,
                std::int64_t element) {
    const Value& value = call.context.value(input);
    DependenceTerm term;
    term.part = part;
    term.input = static_cast<std::uint32_t>(input);
    term.element = element;
    term.value = value.isTensor() ? value.tensor().toDouble(element) : value.isNumber() ? value.number() : 0;
    dependence.terms.push_back(term);
}

base::Result<void> addRegion(Dependence& dependence, std::uint32_t part, const ElementCall& call, std::size_t input,
                             const Region& region) {
    SONDE_TRY(checkTerms(region.count() + static_cast<std::int64_t>(dependence.terms.size())));
    dependence.terms.reserve(dependence.terms.size() + static_cast<std::size_t>(region.count()));
    forEach(region, call.context.in(input).shape(), [&](const std::vector<std::int64_t>&, std::int64_t element) {
        addElement(dependence, part, call, input, element);
    });
    return {};
}

void weighChosen(Dependence& dependence, std::uint32_t part, bool isMax) {
    DependenceTerm* chosen = nullptr;
    for (DependenceTerm& term : dependence.terms) {
        if (term.part != part) continue;
        const bool isBetter = !chosen || (isMax ? term.value > chosen->value : term.value < chosen->value);
        term.weight = 0;
        if (isBetter) chosen = &term;
    }
    if (chosen) chosen->weight = 1;
}

Dependence sourceElement(const ElementCall&, std::size_t input, std::size_t member, std::int64_t element,
                         double value) {
    Dependence dependence;
    dependence.formula = "x";
    DependenceTerm term;
    term.part = dependence.part("x");
    term.input = static_cast<std::uint32_t>(input);
    term.member = static_cast<std::uint32_t>(member);
    term.element = element;
    term.value = value;
    dependence.terms.push_back(term);
    return dependence;
}

Dependence constantElement(double value) {
    Dependence dependence;
    dependence.formula = "constant";
    dependence.number("constant", value);
    return dependence;
}

}  // namespace sonde::ops::dependence
