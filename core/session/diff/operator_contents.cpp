#include "core/session/diff/operator_contents.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "core/analysis/call_arguments.h"
#include "core/analysis/model_summary.h"
#include "core/graph/traits.h"
#include "core/session/diff/other_layers.h"

namespace sonde::session::diff {

using analysis::CallArguments;
using graph::Argument;
using graph::Expr;
using graph::InternalGraph;
using operators::OpClass;

namespace {

constexpr std::size_t kMaxText = 80;

/// Which library computes it, not what.
constexpr std::string_view kBackendSwitches[] = {"benchmark", "deterministic", "cudnn_enabled", "cudnn_enable",
                                                 "allow_tf32"};

/// Attributes and parameters that are numbers of dimensions.
constexpr std::string_view kAxisNames[] = {"axis", "axes", "dim", "dims", "dim0", "dim1"};

std::string shown(const std::string& text) { return text.empty() ? "not set" : text; }

/// Of the value that the axes of an operation are of; -1: it is not known.
std::int64_t rankOfAxes(const InternalGraph& graph, const Expr& expr) {
    const OpClass kind = graph::traitsOf(expr).opClass;
    // A new dimension is one of the result.
    const auto rankOf = [&](const std::vector<graph::NodeId>& nodes) -> std::int64_t {
        if (nodes.empty()) return -1;
        const auto& shape = graph.node(nodes.front()).type.shape;
        return shape ? std::ssize(*shape) : -1;
    };
    if (kind == OpClass::ExpandDims || kind == OpClass::Stack) return rankOf(expr.outputs);
    // Of others with more dimensions in the result it may be either.
    const std::int64_t own = rankOf(expr.inputs);
    return rankOf(expr.outputs) > own && kind != OpClass::Index ? -1 : own;
}

/// The numbers of dimensions, those that count from the end from the front; none: they are no numbers.
std::optional<std::vector<std::int64_t>> fromFront(const InternalGraph& graph, const Expr& expr,
                                                   const tensor::Value& value) {
    auto axes = CallArguments::integers(value);
    const std::int64_t rank = rankOfAxes(graph, expr);
    if (!axes || rank < 0) return std::nullopt;
    for (std::int64_t& axis : *axes)
        if (axis < 0) axis += rank;
    return axes;
}

bool isAxis(std::string_view name) { return std::ranges::find(kAxisNames, name) != std::end(kAxisNames); }

/// ONNX gives the axes of some operators as their second operand.
bool isAxesOperand(const Expr& expr, std::size_t index) {
    if (!expr.op.domain.empty() || index != 1) return false;
    switch (graph::traitsOf(expr).opClass) {
        case OpClass::Sum:
        case OpClass::Mean:
        case OpClass::Reduce:
        case OpClass::ExpandDims: return true;
        default: return false;
    }
}

/// 1 and [1, 1]: of all dimensions.
bool isOneForAll(const tensor::Value& one, const tensor::Value& all) {
    const auto number = CallArguments::integer(one);
    const auto list = all.kind() == tensor::ValueKind::List ? CallArguments::integers(all) : std::nullopt;
    return number && list && std::ranges::all_of(*list, [&](std::int64_t each) { return each == *number; });
}

/// Of a plain argument, or of a stored value that is no parameter or buffer: those are compared apart.
std::string constantText(const InternalGraph& graph, const std::vector<std::optional<analysis::StoredKind>>& kinds,
                         const Argument& argument) {
    if (argument.kind == Argument::Kind::Constant) return argument.constant.text(kMaxText);
    if (argument.kind != Argument::Kind::Node) return {};
    const auto& constant = graph.node(argument.node).constant;
    if (!constant ||
        kinds[argument.node.index()].value_or(analysis::StoredKind::Constant) != analysis::StoredKind::Constant)
        return {};
    return constant->isTensor() && constant->tensor().numel() > 64 ? std::string() : constant->text(kMaxText);
}

tensor::Value valueOf(const InternalGraph& graph, const Argument& argument) {
    if (argument.kind == Argument::Kind::Constant) return argument.constant;
    if (argument.kind == Argument::Kind::Node)
        if (const auto& constant = graph.node(argument.node).constant) return *constant;
    return {};
}

/// Under another name.
bool areOneConvolution(const Expr& ours, const Expr& theirs) {
    const operators::Traits &a = graph::traitsOf(ours), &b = graph::traitsOf(theirs);
    return ours.op.name != theirs.op.name && ours.op.domain == theirs.op.domain && a.opClass == b.opClass &&
           a.is(operators::Trait::Convolves) && b.is(operators::Trait::Convolves);
}

}  // namespace

OperatorContents::OperatorContents(const FlatGraph& first, const FlatGraph& second)
    : m_first(first), m_second(second), m_kindsOfFirst(analysis::storedKinds(first.graph)),
      m_kindsOfSecond(analysis::storedKinds(second.graph)) {}

std::vector<std::string> OperatorContents::differences(const Expr& ours, const Expr& theirs) const {
    std::vector<std::string> what;
    if (areOneConvolution(ours, theirs)) {
        // A trace calls _convolution where a script calls conv2d: the arguments are others.
        if (std::string layer = otherLayer(m_first, ours, m_second, theirs); !layer.empty())
            what.push_back(std::move(layer));
        return what;
    }
    if (operatorName(ours) != operatorName(theirs)) {
        what.push_back("operator: " + operatorName(ours) + " -> " + operatorName(theirs));
        return what;
    }
    addAttributes(ours, theirs, what);
    addArguments(ours, theirs, what);
    addParameters(ours, theirs, what);
    return what;
}

void OperatorContents::addAttributes(const Expr& ours, const Expr& theirs, std::vector<std::string>& what) const {
    std::set<std::string> names;
    for (const Expr* expr : {&ours, &theirs})
        for (const tensor::Attribute& each : expr->attributes.items()) names.insert(each.name);
    const auto textOf = [](const Expr& expr, const std::string& name) {
        const tensor::AttributeValue* const found = expr.attributes.find(name);
        return found ? tensor::text(*found, kMaxText) : std::string();
    };
    const auto axesOf = [](const InternalGraph& graph, const Expr& expr, const std::string& name) {
        auto axes = expr.attributes.getInts(name);
        if (axes.empty() && expr.attributes.has(name)) axes = {expr.attributes.getInt(name, 0)};
        tensor::ValueList list;
        for (const std::int64_t axis : axes) list.push_back(tensor::Value::ofInt(axis));
        return axes.empty() ? std::nullopt : fromFront(graph, expr, tensor::Value::list(std::move(list)));
    };
    for (const std::string& name : names) {
        const std::string a = textOf(ours, name), b = textOf(theirs, name);
        if (a == b) continue;
        if (isAxis(name)) {
            const auto x = axesOf(m_first.graph, ours, name), y = axesOf(m_second.graph, theirs, name);
            if (x && x == y) continue;
        }
        what.push_back(name + ": " + shown(a) + " -> " + shown(b));
    }
}

void OperatorContents::addArguments(const Expr& ours, const Expr& theirs, std::vector<std::string>& what) const {
    const InternalGraph &first = m_first.graph, &second = m_second.graph;
    const ops::OpDef* const op = analysis::definitionOf(ours);
    const auto areSame = [&](std::string_view name, std::size_t index, const Argument& one, const Argument& other) {
        const tensor::Value a = valueOf(first, one), b = valueOf(second, other);
        if (isOneForAll(a, b) || isOneForAll(b, a)) return true;
        if (!isAxis(name) && !isAxesOperand(ours, index)) return false;
        const auto x = fromFront(first, ours, a);
        return x && x == fromFront(second, theirs, b);
    };
    for (std::size_t i = 0; i < ours.arguments.size() && i < theirs.arguments.size(); ++i) {
        const std::string a = constantText(first, m_kindsOfFirst, ours.arguments[i]),
                          b = constantText(second, m_kindsOfSecond, theirs.arguments[i]);
        if (a == b || a.empty() || b.empty()) continue;
        const std::string_view name = op && i < op->parameters.size() ? op->parameters[i].name : std::string_view();
        if (areSame(name, i, ours.arguments[i], theirs.arguments[i])) continue;
        what.push_back("argument " + std::to_string(i) + ": " + a + " -> " + b);
    }
    for (const auto& [name, argument] : ours.keywords)
        for (const auto& [otherName, other] : theirs.keywords) {
            const std::string a = constantText(first, m_kindsOfFirst, argument),
                              b = constantText(second, m_kindsOfSecond, other);
            if (name != otherName || a == b || areSame(name, ours.arguments.size(), argument, other)) continue;
            what.push_back(name + ": " + shown(a) + " -> " + shown(b));
        }
}

/// By the names of the schema, which also has what a file leaves out and lists: "stride: [2, 2] -> [1, 1]". Not what
/// was told by its position.
void OperatorContents::addParameters(const Expr& ours, const Expr& theirs, std::vector<std::string>& what) const {
    const ops::OpDef* const op = analysis::definitionOf(ours);
    if (!op || op != analysis::definitionOf(theirs)) return;
    const CallArguments first(m_first.graph, ours), second(m_second.graph, theirs);
    for (std::size_t i = 0; i < op->parameters.size(); ++i) {
        const std::string name(op->parameters[i].name);
        const auto isTold = [&](const std::string& text) {
            return text.starts_with("argument " + std::to_string(i) + ':') || text.starts_with(name + ':');
        };
        if (std::ranges::find(kBackendSwitches, name) != std::end(kBackendSwitches)) continue;
        if (std::ranges::any_of(what, isTold)) continue;
        const tensor::Value a = first.named(name), b = second.named(name);
        if (a.isNone() || b.isNone() || a.isTensor() || b.isTensor()) continue;
        const std::string one = a.text(kMaxText), other = b.text(kMaxText);
        if (one == other || isOneForAll(a, b) || isOneForAll(b, a)) continue;
        if (isAxis(name)) {
            const auto x = fromFront(m_first.graph, ours, a);
            if (x && x == fromFront(m_second.graph, theirs, b)) continue;
        }
        what.push_back(name + ": " + one + " -> " + other);
    }
}

}  // namespace sonde::session::diff
