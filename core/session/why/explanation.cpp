#include "core/session/why/explanation.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/number_text.h"
#include "core/base/thread_pool.h"
#include "core/exec/flatten.h"
#include "core/graph/argument_value.h"
#include "core/ops/dependence/leaves.h"
#include "core/ops/dependence/region.h"
#include "core/session/why/formula.h"
#include "core/session/why/inside.h"
#include "core/session/why/notable_element.h"

namespace sonde::session::why {

using graph::Argument;
using graph::Expr;
using graph::ExprKind;
using graph::InternalGraph;
using graph::NodeId;
using tensor::Shape;
using tensor::Tensor;
using tensor::Value;

namespace {

/// The tensor that a place is in; numbers are tensors without dimensions.
base::Result<Tensor> tensorAt(const Value& value, std::optional<std::size_t> member) {
    const Value* found = &value;
    if (value.isListLike()) {
        if (!member)
            return base::usageError("the value is " + value.typeText(), {},
                                    "name one of its tensors first: NODE[0, …]");
        found = ops::leafOf(value, *member);
        if (!found) return base::usageError("the list has " + std::to_string(ops::leafCount(value)) + " values");
    }
    if (found->isNumber()) return Tensor::scalar<double>(found->number());
    if (!found->isTensor()) return base::usageError("the value is " + found->typeText() + ", not a tensor");
    if (found->tensor().dtype() == tensor::DType::String || tensor::isComplex(found->tensor().dtype()))
        return base::usageError("the elements of " + found->typeText() + " are no numbers");
    return found->tensor();
}

/// "[1, 2]" of a value [2,3].
std::string indexText(const Shape& shape) {
    std::string text;
    for (const std::int64_t size : shape) text += (text.empty() ? "[" : ", ") + std::to_string(size - 1);
    return text.empty() ? "[]" : text + "]";
}

/// An index from 0 on, and the element that it is. A tensor of one element needs none.
base::Result<std::int64_t> counted(std::vector<std::int64_t>& index, const Shape& shape) {
    if (index.empty() && shape.numel() == 1) index.assign(shape.rank(), 0);
    if (index.size() != shape.rank()) {
        return base::usageError("the value has " + std::to_string(shape.rank()) +
                                (shape.rank() == 1 ? " dimension " : " dimensions ") + shape.text() + ", not " +
                                std::to_string(index.size()) + ": the last element is " + indexText(shape));
    }
    std::int64_t element = 0;
    for (std::size_t d = 0; d < index.size(); ++d) {
        const std::int64_t given = index[d];
        if (given < 0) index[d] += shape[d];
        if (index[d] < 0 || index[d] >= shape[d]) {
            return base::usageError("index " + std::to_string(given) + " is out of bounds for axis " +
                                    std::to_string(d) + " of size " + std::to_string(shape[d]));
        }
        element = element * shape[d] + index[d];
    }
    return element;
}

/// What stands for an argument in the call, as plans have it: by position, then by name.
base::Result<std::vector<const Argument*>> argumentsOf(const Expr& expr, const ops::OpDef& op) {
    std::vector<const Argument*> arguments;
    for (const Argument& argument : expr.arguments) arguments.push_back(&argument);
    if (op.parameters.empty()) return arguments;
    arguments.resize(std::max(op.parameters.size(), arguments.size()), nullptr);
    for (const auto& [key, argument] : expr.keywords) {
        const auto found =
            std::ranges::find_if(op.parameters, [&key = key](const auto& parameter) { return parameter.name == key; });
        if (found == op.parameters.end()) return base::usageError("the operator has no parameter '" + key + "'");
        arguments[static_cast<std::size_t>(found - op.parameters.begin())] = &argument;
    }
    return arguments;
}

std::vector<NodeId> distinct(const std::vector<NodeId>& nodes) {
    std::vector<NodeId> once;
    for (const NodeId node : nodes)
        if (std::ranges::find(once, node) == once.end()) once.push_back(node);
    return once;
}

/// Why nothing is behind a node that no operator computes.
std::string noteFor(const InternalGraph& graph, const Expr& expr) {
    switch (expr.kind) {
        case ExprKind::Input:
            return expr.body == graph.mainId()
                       ? "an input of the model"
                       : "given to the body of a loop; what the iteration before gave is not known";
        case ExprKind::Constant:
        case ExprKind::GetAttr: return expr.isParameter ? "a weight of the model" : "a constant";
        default: return "nothing is known of what '" + expr.target + "' computes";
    }
}

/// The element is another one.
void keepElement(Explanation& explanation, Place from) {
    explanation.formula = "x";
    explanation.withNumbers = base::roundedText(explanation.value, 6);
    explanation.recombined = explanation.value;
    explanation.terms.push_back({std::move(from), 1, explanation.value, "x"});
    explanation.termCount = 1;
}

/// What is the element of a node that no operator computes: of a call, a branch, a loop, an input of a body.
Place sameElsewhere(const InternalGraph& graph, const Operation& operation, const Explanation& explanation,
                    const Value& value, Reader& reader) {
    const Expr& expr = *operation.expr;
    const auto& [node, member, index, before, state] = explanation.place;
    if (Place inside = memberPlace(graph, expr, member, &value); inside.node.valid()) {
        if (const auto known = reader.value(inside.node); known && !known->isListLike()) inside.member.reset();
        inside.index = index;
        return inside;
    }
    if (expr.kind == ExprKind::Input && expr.body != graph.mainId()) {
        const InputSource source = inputSource(graph, operation.source, member, reader);
        if (source.whole.node.valid()) return source.at(index);
    }
    if (!expr.bodies.empty() && !expr.op.name.empty()) return {insideOf(graph, expr, value, reader), member, index};
    // The input of a called module: an input or weight outside of it.
    if (operation.source != node && expr.op.name.empty()) return {operation.source, member, index};
    return {};
}

/// Where each term is, and the largest of them first.
void list(Explanation& explanation, const Operation& operation, ops::Dependence dependence, const Options& options,
          const std::vector<NodeId>& sources) {
    const auto shapeOf = [&](const Value& value, std::uint32_t member) -> Shape {
        const Value* const found = ops::leafOf(value, member);
        return found && found->isTensor() ? found->tensor().shape() : Shape{};
    };
    const auto operandAt = [&](std::uint32_t input, std::uint32_t member, bool isOutput) -> Place {
        if (isOutput) {
            const std::vector<NodeId>& outputs = operation.expr->outputs;
            if (operation.isUnpacked) return {outputs.front(), input, {}, {}, member};
            return input < outputs.size() ? Place{outputs[input], {}, {}, {}, member} : Place{};
        }
        if (input >= operation.arguments.size() || !operation.arguments[input]) return {};
        Place place = placeOf(*operation.arguments[input], member, &operation.inputs[input]);
        // Not the input of a called module, but what that always has the value of.
        if (place.node.valid()) place.node = sources[place.node.index()];
        return place;
    };
    auto all = std::make_shared<Explanation::All>();
    for (const ops::DependenceTerm& term : dependence.terms) {
        all->operands.push_back(operandAt(term.input, term.member, term.isOutput));
        const auto& values = term.isOutput ? operation.outputs : operation.inputs;
        const std::uint32_t member = term.isOutput ? 0 : term.member;
        all->shapes.push_back(term.input < values.size() ? shapeOf(values[term.input], member) : Shape{});
    }
    std::vector<std::size_t> order(dependence.terms.size());
    std::map<std::uint32_t, double> ofPair;
    for (std::size_t i = 0; i < order.size(); ++i) {
        order[i] = i;
        if (const auto& term = dependence.terms[i]; term.pair > 0) ofPair[term.pair] += contributionOf(term);
    }
    const auto size = [&](std::size_t i) {
        const ops::DependenceTerm& term = dependence.terms[i];
        const double product = std::fabs(term.pair > 0 ? ofPair[term.pair] : contributionOf(term));
        // What the infinity of a term does not reach, as behind a softmax, is made of the others.
        if (std::isfinite(explanation.value) && !std::isfinite(product)) return std::pair(-1.0, std::fabs(term.weight));
        return std::pair(std::isnan(product) ? HUGE_VAL : product, std::fabs(term.weight));
    };
    const std::size_t shown = std::min(options.terms, order.size());
    std::ranges::partial_sort(
        order, order.begin() + static_cast<std::ptrdiff_t>(shown),
        [&](std::size_t a, std::size_t b) { return size(a) != size(b) ? size(a) > size(b) : a < b; });
    for (std::size_t k = 0; k < order.size(); ++k) {
        const ops::DependenceTerm& given = dependence.terms[order[k]];
        if (k >= shown) {
            explanation.restSum += contributionOf(given);
            continue;
        }
        Term term;
        term.place = all->operands[order[k]];
        if (term.place.node.valid()) term.place.index = ops::dependence::indexOf(given.element, all->shapes[order[k]]);
        else if (given.isInside) term.place.index = {given.element};
        term.weight = given.weight;
        term.value = given.value;
        term.part = dependence.parts[given.part].name;
        if (given.weightInput != ops::kNoOperand) {
            Place weight = operandAt(given.weightInput, given.weightMember, false);
            if (given.weightInput < operation.inputs.size())
                weight.index = ops::dependence::indexOf(
                    given.weightElement, shapeOf(operation.inputs[given.weightInput], given.weightMember));
            if (weight.node.valid()) term.weightPlace = std::move(weight);
        }
        explanation.terms.push_back(std::move(term));
    }
    explanation.termCount = dependence.terms.size();
    all->dependence = std::move(dependence);
    explanation.all = std::move(all);
}

}  // namespace

bool knowsOutput(const ops::DependenceQuestion& question, std::vector<Value>& outputs,
                 ops::RunEnvironment& environment) {
    if (question.output >= outputs.size() || outputs[question.output].isNone()) {
        auto results = ops::call(*question.op, question.inputs, *question.attributes, question.op->outputs.size(),
                                 environment, question.version);
        if (!results) return false;
        outputs = std::move(*results);
    }
    return question.output < outputs.size() && !outputs[question.output].isNone();
}

NodeId insideOf(const InternalGraph& graph, const Expr& expr, const Value& value, Reader& reader) {
    for (const graph::BodyId body : expr.bodies) {
        for (const NodeId output : graph.body(body).outputs) {
            const auto inside = reader.value(output);
            if (inside && tensor::identical(*inside, value)) return output;
        }
    }
    return {};
}

Place placeOf(const Argument& argument, std::size_t member) { return placeOf(argument, member, nullptr); }
Place memberPlace(const InternalGraph& graph, const Expr& expr, std::optional<std::size_t> member) {
    return memberPlace(graph, expr, member, nullptr);
}

std::vector<graph::ExprId> resultOrder(const InternalGraph& graph) {
    std::vector<graph::ExprId> order;
    struct At {
        const graph::Body* body;
        std::size_t next = 0;   ///< in its order
        std::size_t inner = 0;  ///< of the bodies of the expression there
    };
    std::vector<At> stack{{&graph.body(graph.mainId())}};
    while (!stack.empty()) {
        At& at = stack.back();
        if (at.next >= at.body->order.size()) {
            stack.pop_back();
            continue;
        }
        const graph::ExprId id = at.body->order[at.next];
        const std::vector<graph::BodyId>& bodies = graph.expr(id).bodies;
        if (at.inner < bodies.size()) {
            stack.push_back({&graph.body(bodies[at.inner++])});
            continue;
        }
        order.push_back(id);
        ++at.next;
        at.inner = 0;
    }
    return order;
}

base::Result<Operation> operationOf(const InternalGraph& graph, NodeId node, Reader& reader) {
    Operation operation;
    operation.source = exec::valueSources(graph)[node.index()];
    operation.expr = &graph.expr(graph.node(operation.source).producer);
    const Expr& expr = *operation.expr;
    if (expr.op.name.empty() || !expr.bodies.empty()) return operation;
    const ops::OpDef* op = ops::Registry::all().find(expr.op.domain, expr.op.name, expr.op.version);
    if (!op || !op->kernel) return operation;
    SONDE_ASSIGN(operation.arguments, argumentsOf(expr, *op));
    for (std::size_t i = 0; i < operation.arguments.size(); ++i) {
        if (!operation.arguments[i]) {
            operation.inputs.push_back(op->parameters[i].fallback.value_or(Value()));
            continue;
        }
        std::optional<base::Error> error;
        std::map<NodeId, Value> read;
        const auto value = graph::argumentValue(*operation.arguments[i], [&](NodeId input) -> const Value* {
            auto known = reader.valueFor(input, operation.source);
            if (known) return &(read[input] = std::move(*known));
            error = std::move(known).error();
            return nullptr;
        });
        if (!value) return error ? *error : base::usageError("an input is not known");
        operation.inputs.push_back(*value);
    }
    operation.op = op;
    operation.output = graph.node(operation.source).outputIndex;
    const std::vector<NodeId>& given = graph.body(expr.body).outputs;
    for (const NodeId output : expr.outputs) {
        const bool isUsed = !graph.node(output).users.empty() || std::ranges::find(given, output) != given.end();
        auto value = output == operation.source || isUsed ? reader.value(output) : base::Result<Value>(Value());
        operation.outputs.push_back(value ? std::move(*value) : Value());
    }
    const Value& own = operation.outputs[operation.output];
    if (expr.outputs.size() == 1 && op->outputs.size() > 1 && own.isListLike() &&
        own.items().size() == op->outputs.size()) {
        operation.isUnpacked = true;
        operation.outputs = std::vector<Value>(own.items());
    }
    return operation;
}

namespace {

/// Whether two numbers are apart by more than rounding.
bool isOther(double a, double b, const ops::Dependence& dependence) {
    if (a == b || (std::isnan(a) && std::isnan(b))) return false;
    if (!std::isfinite(a) || !std::isfinite(b)) return true;
    double scale = std::max(std::fabs(a), std::fabs(b));
    for (const ops::DependenceTerm& term : dependence.terms) {
        const double size = std::fabs(contributionOf(term));
        if (std::isfinite(size)) scale = std::max(scale, size);
    }
    return std::fabs(a - b) > 1e-4 * scale;
}

base::Result<Explanation> explainThere(const InternalGraph& graph, const Place& place, Reader& reader,
                                       const Options& options, const base::WorkContext& work) {
    SONDE_ASSIGN(const Value value, reader.value(place.node));
    Explanation explanation;
    explanation.place = place;
    if (!value.isListLike()) explanation.place.member.reset();
    SONDE_ASSIGN(const Tensor tensor, tensorAt(value, explanation.place.member));
    SONDE_ASSIGN(const std::int64_t element, counted(explanation.place.index, tensor.shape()));
    explanation.value = tensor.toDouble(element);
    SONDE_ASSIGN(Operation operation, operationOf(graph, place.node, reader));
    const Expr& expr = *operation.expr;
    explanation.operatorName = expr.op.name;
    explanation.inputs = distinct(expr.inputs);
    explanation.iteration = reader.iterationsOf(place.node);
    if (!operation.op) {
        Place same = sameElsewhere(graph, operation, explanation, value, reader);
        Place part;
        if (!same.node.valid())
            part = iterationPart(graph, place.node, explanation.place.member, explanation.place.index, reader,
                                 exec::valueSources(graph), place.before);
        if (same.node.valid()) keepElement(explanation, std::move(same));
        else if (part.node.valid()) keepElement(explanation, std::move(part));
        else if (!expr.bodies.empty() && !expr.op.name.empty())
            explanation.note = "which pass of '" + expr.op.name + "' gave the element is not known";
        else explanation.note = noteFor(graph, expr);
        return explanation;
    }
    base::ThreadPool pool(1);
    ops::RunEnvironment environment;
    environment.pool = &pool;
    environment.stop = work.stop;
    ops::DependenceQuestion question{operation.op, operation.inputs, &expr.attributes, operation.outputs};
    question.output = operation.isUnpacked ? explanation.place.member.value_or(0) : operation.output;
    question.member = place.state > 0        ? place.state
                      : operation.isUnpacked ? 0
                                             : static_cast<std::uint32_t>(explanation.place.member.value_or(0));
    question.element = element;
    question.version = expr.op.version;
    auto dependence = ops::findDependence(question, environment);
    if (work.cancelled()) return base::cancelled();
    if (!dependence) {
        explanation.note = dependence.error().what;
        return explanation;
    }
    if (std::ranges::any_of(dependence->terms, &ops::DependenceTerm::isOutput)) {
        question.output = 0;  // that states before are elements of
        if (!knowsOutput(question, operation.outputs, environment))
            return base::usageError("what the operator gives cannot be computed again");
    }
    explanation.formula = dependence->formula;
    if (auto number = recombined(*dependence, work)) explanation.recombined = *number;
    else explanation.note = number.error().what;
    explanation.withNumbers = withNumbers(*dependence, work);
    if (place.state > 0) {  // no output has it
        if (!explanation.recombined) return base::usageError(explanation.note);
        explanation.value = *explanation.recombined;
    } else if (reader.isEdited(operation.source) && explanation.recombined &&
               isOther(*explanation.recombined, explanation.value, *dependence)) {
        explanation.isEdited = true;
        explanation.note = "an edit changes the element: the formula gives what it was before";
    }
    list(explanation, operation, std::move(*dependence), options, exec::valueSources(graph));
    for (Term& term : explanation.terms) {
        const auto isPlain = [&](const Place& at) {
            const auto known = reader.valueFor(at.node, operation.source);
            return known && !known->isListLike();
        };
        if (term.place.node.valid() && isPlain(term.place)) term.place.member.reset();
        if (term.weightPlace && isPlain(*term.weightPlace)) term.weightPlace->member.reset();
    }
    return explanation;
}

}  // namespace

base::Result<Explanation> explain(const InternalGraph& graph, const Place& place, Reader& reader,
                                  const Options& options, const base::WorkContext& work) {
    if (!place.before) return explainThere(graph, place, reader, options, work);
    const std::unique_ptr<Reader> earlier = reader.before(*place.before);
    if (!earlier) return base::usageError("the iteration is not kept");
    SONDE_ASSIGN(Explanation explanation, explainThere(graph, place, *earlier, options, work));
    for (Term& term : explanation.terms) {
        if (!term.place.before) term.place.before = place.before;
        if (term.weightPlace) term.weightPlace->before = place.before;
    }
    return explanation;
}

base::Result<Tensor> Explanation::contributions(NodeId node, std::optional<std::size_t> member) const {
    if (!all) return base::usageError("the element has no terms");
    Tensor map;
    for (std::size_t i = 0; i < all->operands.size(); ++i) {
        const Place& operand = all->operands[i];
        if (operand.node != node || operand.state > 0 || (member && operand.member.value_or(0) != *member)) continue;
        if (!map.defined()) {
            SONDE_ASSIGN(map, Tensor::zeros(tensor::DType::Float32, all->shapes[i]));
        }
        const ops::DependenceTerm& term = all->dependence.terms[i];
        if (term.element < 0 || term.element >= map.numel()) continue;
        map.mutableData<float>()[term.element] += static_cast<float>(std::fabs(contributionOf(term)));
    }
    if (!map.defined()) return base::usageError("no term is an element of that node");
    return map;
}

std::vector<NodeId> Explanation::sources() const {
    std::vector<NodeId> nodes;
    if (!all) return nodes;
    for (const Place& operand : all->operands) {
        if (operand.node.valid() && operand.state == 0 && (nodes.empty() || nodes.back() != operand.node))
            nodes.push_back(operand.node);
    }
    return distinct(nodes);
}

}  // namespace sonde::session::why
