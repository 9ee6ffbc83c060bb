#include <algorithm>
#include <exception>
#include <mutex>
#include <unordered_map>

#include "core/base/exception_text.h"
#include "core/operators/names.h"
#include "core/operators/traits.h"
#include "core/ops/dependence/dependence.h"
#include "core/ops/dependence/leaves.h"
#include "core/ops/dependence/moves.h"
#include "core/ops/dependence/region.h"
#include "core/ops/dependence/rules.h"

namespace sonde::ops {

namespace {

struct Rules {
    std::mutex mutex;
    std::unordered_map<std::string, DeclaredDependence> declared;  ///< by "domain::name"
};

Rules& rules() {
    static Rules all;
    return all;
}

std::string ruleKey(std::string_view domain, std::string_view name) {
    return std::string(domain == "ai.onnx" ? "" : domain) + "::" + std::string(name);
}

DeclaredDependence declaredFor(std::string_view domain, std::string_view name) {
    const std::scoped_lock lock(rules().mutex);
    const auto found = rules().declared.find(ruleKey(domain, name));
    return found == rules().declared.end() ? DeclaredDependence{} : found->second;
}

/// What the traits of an operator say without a declaration.
DeclaredDependence dependenceByTraits(std::string_view domain, std::string_view name) {
    const operators::Traits& traits = operators::traitsOf(domain, name);
    if (traits.is(operators::Trait::Random)) return {};
    if (traits.is(operators::Trait::MovesData)) return {dependence::moved, {}};
    // A choice of one operand alone gives positions, which no formula does.
    const bool isChoice = traits.opClass == operators::OpClass::Where;
    if (traits.is(operators::Trait::ElementWise) && !isChoice) return {dependence::elementWise, {}};
    return {};
}

/// The defaults of a schema, and tensors as rules read them.
base::Result<std::vector<Value>> bound(const OpDef& op, std::span<const Value> inputs) {
    std::vector<Value> values(inputs.begin(), inputs.end());
    for (std::size_t i = values.size(); i < op.parameters.size(); ++i)
        values.push_back(op.parameters[i].fallback.value_or(Value()));
    for (Value& value : values) {
        if (!value.isTensor() || value.tensor().isContiguous()) continue;
        SONDE_ASSIGN(Tensor packed, value.tensor().contiguous());
        value = Value(std::move(packed));
    }
    return values;
}

base::Result<Tensor> resultOf(const DependenceQuestion& question) {
    if (question.output >= question.outputs.size()) return base::usageError("the operation has no such output");
    const Value* const value = leafOf(question.outputs[question.output], question.member);
    if (!value) return base::usageError("the list has no such tensor");
    if (value->isNumber()) return Tensor::scalar<double>(value->number());
    if (!value->isTensor()) return base::usageError("the value is " + value->typeText() + ", not a tensor");
    return value->tensor().contiguous();
}

}  // namespace

std::uint32_t Dependence::part(std::string_view name, std::string_view weights) {
    for (std::size_t i = 0; i < parts.size(); ++i)
        if (parts[i].name == name) return static_cast<std::uint32_t>(i);
    parts.push_back({std::string(name), std::string(weights)});
    return static_cast<std::uint32_t>(parts.size() - 1);
}

std::uint32_t Dependence::listPart(std::string_view name, std::string_view weights) {
    const std::uint32_t at = part(name, weights);
    parts[at].isList = true;
    return at;
}

void explain(std::string_view domain, std::string_view names, DependenceRule rule, std::string_view text) {
    const std::scoped_lock lock(rules().mutex);
    while (!names.empty()) {
        const std::string_view name = names.substr(0, names.find(' '));
        if (!name.empty()) rules().declared[ruleKey(domain, name)] = {rule, text};
        names.remove_prefix(std::min(name.size() + 1, names.size()));
    }
}

DeclaredDependence dependenceOf(const OpDef& op) {
    if (const DeclaredDependence own = declaredFor(op.domain, op.name)) return own;
    const bool hasOverloads = op.domain == "aten" || op.domain == "prim";
    if (!hasOverloads) return dependenceByTraits(op.domain, op.name);
    // "divide_.Tensor" is declared as "div.Tensor" or "div".
    const std::string plain = operators::outOfPlaceName(op.name);
    const std::string_view base = operators::withoutOverload(plain);
    const std::string original = std::string(operators::originalName(base)) + plain.substr(base.size());
    for (const std::string_view name :
         {std::string_view(plain), base, std::string_view(original), operators::withoutOverload(original)}) {
        if (const DeclaredDependence found = declaredFor(op.domain, name)) return found;
    }
    return dependenceByTraits(op.domain, op.name);
}

std::vector<std::string> explainedOperators() {
    (void)Registry::all();
    std::vector<std::string> names;
    const std::scoped_lock lock(rules().mutex);
    for (const auto& [name, declared] : rules().declared) names.push_back(name);
    std::ranges::sort(names);
    return names;
}

namespace {

/// Calls `rule` with the call that a question is about.
template <typename T, typename Rule>
base::Result<T> asked(const DependenceQuestion& question, RunEnvironment& environment,
                      const DeclaredDependence& declared, Rule rule) {
    const OpDef& op = *question.op;
    SONDE_ASSIGN(const std::vector<Value> inputs, bound(op, question.inputs));
    SONDE_ASSIGN(const Attributes attributes,
                 completeAttributes(op, question.attributes ? *question.attributes : Attributes()));
    SONDE_ASSIGN(const Tensor result, resultOf(question));
    if (question.element < 0 || question.element >= result.numel())
        return base::usageError("element " + std::to_string(question.element) + " is not in " + result.typeText());
    KernelContext context(inputs, attributes, question.outputs.size(), environment, &op);
    context.setVersion(question.version);
    ElementCall call{context,          op, result,       question.outputs, question.output, question.member,
                     question.element, {}, declared.text};
    call.at = dependence::indexOf(question.element, result.shape());
    // Rules size their vectors by what a model says, as kernels do.
    try {
        return rule(call);
    } catch (const std::exception& exception) {
        return base::runError(std::string(op.name) + ": " + base::exceptionText(exception));
    }
}

}  // namespace

base::Result<Dependence> findDependence(const DependenceQuestion& question, RunEnvironment& environment) {
    const DeclaredDependence declared = dependenceOf(*question.op);
    if (!declared) {
        const bool isRandom = operators::traitsOf(question.op->domain, question.op->name).is(operators::Trait::Random);
        return base::usageError("operator " + std::string(question.op->name) +
                                (isRandom ? " draws its elements by chance: no formula gives them"
                                          : " does not declare how its elements depend on its inputs"));
    }
    return asked<Dependence>(question, environment, declared, declared.rule);
}

base::Result<MovedElements> findMoved(const DependenceQuestion& question, RunEnvironment& environment) {
    const DeclaredDependence declared = dependenceOf(*question.op);
    if (declared.rule != dependence::moved) return base::usageError("the operator computes its elements");
    return asked<MovedElements>(question, environment, declared, dependence::movedElements);
}

bool onlyMoves(const OpDef& op) {
    const DependenceRule rule = dependenceOf(op).rule;
    return rule == dependence::moved || rule == dependence::gathered || rule == dependence::selected;
}

bool picksElements(const OpDef& op) {
    const DependenceRule rule = dependenceOf(op).rule;
    return rule == dependence::gathered || rule == dependence::selected || rule == dependence::scattered;
}

}  // namespace sonde::ops
