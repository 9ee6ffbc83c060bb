#include "core/session/diff/operator_contents.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <set>
#include <string_view>
#include <variant>

#include "core/analysis/call_arguments.h"
#include "core/analysis/call_spelling.h"
#include "core/analysis/model_summary.h"
#include "core/base/number_text.h"
#include "core/graph/traits.h"
#include "core/ops/support/window.h"
#include "core/session/diff/nested_arguments.h"
#include "core/session/diff/other_layers.h"

namespace sonde::session::diff {

using analysis::axesFromFront;
using analysis::CallArguments;
using analysis::effectiveAttribute;
using analysis::formalAttribute;
using analysis::isAxisName;
using graph::Argument;
using graph::Expr;
using graph::InternalGraph;
using operators::OpClass;

namespace {

using WindowSizes = std::vector<std::int64_t>;

constexpr std::size_t kMaxText = 80;

/// Which library computes it, not what.
constexpr std::string_view kBackendSwitches[] = {"benchmark", "deterministic", "cudnn_enabled", "cudnn_enable",
                                                 "allow_tf32"};

std::string shown(const std::string& text) { return text.empty() ? "not set" : text; }

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

/// What stands in the brackets of x[...].
bool isIndexOperand(const Expr& expr, std::size_t index) {
    const OpClass opClass = graph::traitsOf(expr).opClass;
    return expr.op.domain == "prim" && index == 1 && (opClass == OpClass::Index || opClass == OpClass::SetItem);
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

std::string textOf(const tensor::AttributeValue* value) { return value ? tensor::text(*value, kMaxText) : ""; }

/// The same to the last bit. WindowSizes of ONNX are float32, those of defaults are written in decimals. Bodies are
/// compared by their operations.
struct AreSameAttributes {
    bool operator()(double a, double b) const {
        return static_cast<float>(a) == static_cast<float>(b) || (std::isnan(a) && std::isnan(b));
    }
    bool operator()(const std::vector<double>& a, const std::vector<double>& b) const {
        return std::ranges::equal(a, b, *this);
    }
    bool operator()(const tensor::Tensor& a, const tensor::Tensor& b) const { return tensor::identical(a, b); }
    bool operator()(const std::vector<tensor::Tensor>& a, const std::vector<tensor::Tensor>& b) const {
        return std::ranges::equal(a, b, *this);
    }
    bool operator()(tensor::BodyRef, tensor::BodyRef) const { return true; }
    bool operator()(const std::vector<tensor::BodyRef>& a, const std::vector<tensor::BodyRef>& b) const {
        return a.size() == b.size();
    }
    template <typename T>
    bool operator()(const T& a, const T& b) const {
        return a == b;
    }
    template <typename T, typename Other>
    bool operator()(const T&, const Other&) const {
        return false;
    }
};
bool areSameAttributes(const tensor::AttributeValue* a, const tensor::AttributeValue* b) {
    return a && b ? std::visit(AreSameAttributes(), *a, *b) : a == b;
}

/// A change of what may have one text in seven digits, or to a limit.
std::string changeText(const std::string& a, const std::string& b, const std::function<std::string()>& exact) {
    return a == b ? exact() : shown(a) + " -> " + shown(b);
}

std::string exactChange(const tensor::Value& a, const tensor::Value& b) {
    const auto numberOf = [](const tensor::Value& value) -> std::optional<std::string> {
        if (value.kind() == tensor::ValueKind::Float) return base::exactText(value.toFloat());
        if (!value.isTensor() || value.tensor().numel() != 1 || !tensor::isFloating(value.tensor().dtype()))
            return std::nullopt;
        return base::exactText(value.tensor().toDouble(0));
    };
    const auto one = numberOf(a), other = numberOf(b);
    return one && other ? *one + " -> " + *other : "other elements";
}

std::string exactChange(const tensor::AttributeValue& a, const tensor::AttributeValue& b) {
    const auto *const one = std::get_if<double>(&a), *const other = std::get_if<double>(&b);
    if (!one || !other) return "other elements";
    return base::shortestText(static_cast<float>(*one)) + " -> " + base::shortestText(static_cast<float>(*other));
}

/// Those that a file gives, and those with a default that is another one in the other opset.
std::set<std::string> attributesOf(const Expr& ours, const Expr& theirs) {
    std::set<std::string> names;
    for (const Expr* expr : {&ours, &theirs})
        for (const tensor::Attribute& each : expr->attributes.items()) names.insert(each.name);
    const ops::OpDef *const own = analysis::definitionOf(ours), *const other = analysis::definitionOf(theirs);
    if (!own || !other || own == other) return names;
    for (const ops::FormalAttribute& formal : own->attributes)
        if (formal.fallback && formalAttribute(theirs, formal.name)) names.emplace(formal.name);
    return names;
}

/// What the specification says in words: strides and dilations of 1, no padding, dimensions turned around.
bool isDefaultInWords(const InternalGraph& graph, const Expr& expr, std::string_view name,
                      const std::vector<std::int64_t>& numbers) {
    const auto areAll = [&](std::int64_t number) {
        return std::ranges::all_of(numbers, [number](std::int64_t each) { return each == number; });
    };
    if (name == "strides" || name == "dilations") return areAll(1);
    if (name == "pads" || name == "output_padding") return areAll(0);
    if (name == "perm") {
        for (std::size_t i = 0; i < numbers.size(); ++i)
            if (numbers[i] != std::ssize(numbers) - 1 - static_cast<std::int64_t>(i)) return false;
        return true;
    }
    if (name != "kernel_shape" || expr.inputs.size() < 2) return false;
    const auto kernel = graph.node(expr.inputs[1]).type.staticShape();
    if (!kernel || kernel->rank() != numbers.size() + 2) return false;
    for (std::size_t i = 0; i < numbers.size(); ++i)
        if ((*kernel)[i + 2] != numbers[i]) return false;
    return true;
}

/// Of recurrent layers, by direction: gates by the logistic function, all else by the hyperbolic tangent.
bool areUsualActivations(const Expr& expr, const std::vector<std::string>& names) {
    const std::size_t directions = expr.attributes.getString("direction", "forward") == "bidirectional" ? 2 : 1;
    const std::size_t functions = names.size() / directions;  // of an LSTM 3, of a GRU 2, of an RNN 1
    for (std::size_t i = 0; i < names.size(); ++i)
        if (names[i] != (functions > 1 && i % functions == 0 ? "Sigmoid" : "Tanh")) return false;
    return functions > 0;
}

/// Whether an operation without an attribute does what its value makes the other one do.
bool isDefault(const InternalGraph& graph, const Expr& expr, const std::string& name,
               const tensor::AttributeValue* value) {
    if (!value || expr.attributes.has(name) || !formalAttribute(expr, name)) return false;
    if (const auto* const numbers = std::get_if<std::vector<std::int64_t>>(value))
        return isDefaultInWords(graph, expr, name, *numbers);
    const auto* const texts = std::get_if<std::vector<std::string>>(value);
    return texts && name == "activations" && graph::traitsOf(expr).opClass == OpClass::Recurrent &&
           areUsualActivations(expr, *texts);
}

/// How many elements a window adds before and behind each dimension. Of a dimension whose size is not known auto_pad
/// says it only where each step is one element.
std::optional<std::pair<WindowSizes, WindowSizes>> paddingOf(const InternalGraph& graph, const Expr& expr) {
    if (expr.inputs.empty()) return std::nullopt;
    const auto& image = graph.node(expr.inputs.front()).type.shape;
    if (!image || image->size() < 3) return std::nullopt;
    WindowSizes spatial = ops::dimSizesFrom(*image, 2), kernel;
    constexpr std::int64_t kAnySize = 1 << 20;
    const WindowSizes strides = expr.attributes.getInts("strides");
    for (std::size_t i = 0; i < spatial.size(); ++i)
        if (spatial[i] < 0 && (strides.size() <= i || strides[i] == 1)) spatial[i] = kAnySize;
    if (std::ranges::any_of(spatial, [](std::int64_t size) { return size < 0; })) return std::nullopt;
    if (expr.inputs.size() > 1)
        if (const auto& weight = graph.node(expr.inputs[1]).type.shape; weight && weight->size() == image->size())
            kernel = ops::dimSizesFrom(*weight, 2);
    const auto window = ops::windowFromAttributes(expr.attributes, kernel, spatial);
    return window ? std::optional(std::pair(window->padBegin, window->padEnd)) : std::nullopt;
}

/// auto_pad, and the numbers that it stands for.
bool padTheSame(const InternalGraph& first, const Expr& ours, const InternalGraph& second, const Expr& theirs) {
    const operators::Traits& traits = graph::traitsOf(ours);
    // Of a transposed convolution it says what is cut off.
    const bool slides = traits.opClass == OpClass::MaxPool || traits.opClass == OpClass::AveragePool ||
                        (traits.is(operators::Trait::Convolves) && traits.opClass != OpClass::ConvTranspose);
    if (!slides || !(ours.attributes.has("auto_pad") || theirs.attributes.has("auto_pad"))) return false;
    const auto own = paddingOf(first, ours);
    return own && own == paddingOf(second, theirs);
}

/// Where an operation has an input with the name of an attribute of the other opset.
std::optional<std::size_t> inputNamed(const Expr& expr, std::string_view name) {
    const ops::OpDef* const op = analysis::definitionOf(expr);
    if (!op || !op->parameters.empty()) return std::nullopt;
    const auto formal = std::ranges::find(op->inputs, name, &ops::Formal::name);
    if (formal == op->inputs.end()) return std::nullopt;
    const auto position = static_cast<std::size_t>(formal - op->inputs.begin());
    return position < expr.arguments.size() ? std::optional(position) : std::nullopt;
}

/// Letters by their first place: "ij,jk->ik" is "ab, bc -> ac". Without an arrow the result has its letters in the
/// order of the alphabet, and they say something themselves.
std::string withoutLetters(const tensor::AttributeValue* equation) {
    const auto* const text = equation ? std::get_if<std::string>(equation) : nullptr;
    if (!text || text->find("->") == std::string::npos) return {};
    std::string plain, letters;
    for (const char each : *text) {
        if (each == ' ') continue;
        const bool isLetter = (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z');
        if (isLetter && letters.find(each) == std::string::npos) letters += each;
        plain += isLetter ? static_cast<char>(1 + letters.find(each)) : each;
    }
    return plain;
}

/// An optional input without elements, which says as much as none: the region of a Resize.
bool isEmpty(const InternalGraph& graph, const Expr& expr, const Expr& other, std::size_t position) {
    if (position >= expr.arguments.size() || expr.arguments[position].kind != Argument::Kind::Node) return false;
    const tensor::Value given = valueOf(graph, expr.arguments[position]);
    if (!given.isTensor() || given.tensor().numel() != 0) return false;
    return std::ranges::any_of(std::array{&expr, &other}, [&](const Expr* each) {
        const ops::OpDef* const op = analysis::definitionOf(*each);
        return op && op->parameters.empty() && position < op->inputs.size() &&
               op->inputs[position].arity == ops::Arity::Optional;
    });
}

/// Whether `expr`, which lacks an attribute of the other operation, has the same as a constant input.
bool isGivenAs(const InternalGraph& graph, const Expr& expr, const Expr& other, const std::string& name) {
    const auto position = inputNamed(expr, name);
    const tensor::AttributeValue* const value = other.attributes.find(name);
    if (!position || !value) return false;
    const tensor::Value given = valueOf(graph, expr.arguments[*position]);
    if (const auto* const numbers = std::get_if<std::vector<std::int64_t>>(value)) {
        const auto integers = CallArguments::integers(given);
        return integers && *integers == *numbers;
    }
    if (!given.isTensor() || given.tensor().numel() != 1 || given.tensor().dtype() == tensor::DType::String)
        return false;
    const double number = given.tensor().toDouble(0);
    if (const auto* const whole = std::get_if<std::int64_t>(value)) return number == static_cast<double>(*whole);
    const auto* const real = std::get_if<double>(value);
    return real && static_cast<float>(number) == static_cast<float>(*real);
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
    addOmitted(ours, theirs, what);
    addParameters(ours, theirs, what);
    return what;
}

std::size_t OperatorContents::inputCount(const Expr& expr, const Expr& other) const {
    std::size_t count = expr.inputs.size();
    for (const tensor::Attribute& each : other.attributes.items())
        if (!expr.attributes.has(each.name) && inputNamed(expr, each.name)) --count;
    const bool isOfFirst = expr.id.index() < m_first.graph.exprCount() && &m_first.graph.expr(expr.id) == &expr;
    const InternalGraph& graph = isOfFirst ? m_first.graph : m_second.graph;
    for (std::size_t i = 0; i < expr.arguments.size(); ++i)
        if (isEmpty(graph, expr, other, i)) --count;
    return count;
}

void OperatorContents::addAttributes(const Expr& ours, const Expr& theirs, std::vector<std::string>& what) const {
    const bool arePaddedAlike = padTheSame(m_first.graph, ours, m_second.graph, theirs);
    for (const std::string& name : attributesOf(ours, theirs)) {
        if (arePaddedAlike && (name == "auto_pad" || name == "pads")) continue;
        const tensor::AttributeValue *const own = ours.attributes.find(name), *const other =
                                                                                  theirs.attributes.find(name);
        if (areSameAttributes(effectiveAttribute(ours, name), effectiveAttribute(theirs, name))) continue;
        if (isDefault(m_first.graph, ours, name, other) || isDefault(m_second.graph, theirs, name, own)) continue;
        if (!own && isGivenAs(m_first.graph, ours, theirs, name)) continue;
        if (!other && isGivenAs(m_second.graph, theirs, ours, name)) continue;
        if (name == "equation" && !withoutLetters(own).empty() && withoutLetters(own) == withoutLetters(other))
            continue;
        if (isAxisName(name)) {
            const auto x = axesFromFront(m_first.graph, ours, effectiveAttribute(ours, name)),
                       y = axesFromFront(m_second.graph, theirs, effectiveAttribute(theirs, name));
            if (x && x == y) continue;
        }
        const bool isGiven = own || other;
        const auto *const shownOwn = isGiven ? own : effectiveAttribute(ours, name), *const shownOther =
                                                                                         isGiven ? other
                                                                                                 : effectiveAttribute(
                                                                                                       theirs, name);
        // What one of them has as an input.
        const auto text = [&](const FlatGraph& flat, const Kinds& kinds, const Expr& expr,
                              const tensor::AttributeValue* value) {
            const auto position = value ? std::nullopt : inputNamed(expr, name);
            return position ? constantText(flat.graph, kinds, expr.arguments[*position]) : textOf(value);
        };
        const std::string a = text(m_first, m_kindsOfFirst, ours, shownOwn),
                          b = text(m_second, m_kindsOfSecond, theirs, shownOther);
        what.push_back(name + ": " + changeText(a, b, [&] {
                           return shownOwn && shownOther ? exactChange(*shownOwn, *shownOther) : "other elements";
                       }));
    }
}

/// What is in the index of x[...], and in lists with computed numbers. Lists of constants alone are compared by the
/// names of their parameters.
void OperatorContents::addNested(const Expr& ours, const Expr& theirs, std::size_t position,
                                 std::vector<std::string>& what) const {
    const Argument &own = ours.arguments[position], &other = theirs.arguments[position];
    const bool isIndex = isIndexOperand(ours, position);
    const auto isComputed = [](const Argument& argument) {
        bool hasNode = false;
        argument.forEachNode([&hasNode](graph::NodeId) { hasNode = true; });
        return hasNode;
    };
    if (!isIndex && !isComputed(own) && !isComputed(other)) return;
    const auto rankOf = [](const InternalGraph& graph, const Expr& expr) -> std::int64_t {
        if (expr.inputs.empty()) return -1;
        const auto& shape = graph.node(expr.inputs.front()).type.shape;
        return shape ? std::ssize(*shape) : -1;
    };
    const auto leafOf = [](const InternalGraph& graph, const Kinds& kinds) -> LeafText {
        return [&graph, &kinds](const Argument& argument) { return constantText(graph, kinds, argument); };
    };
    const std::string change =
        nestedChange(own, leafOf(m_first.graph, m_kindsOfFirst), other, leafOf(m_second.graph, m_kindsOfSecond),
                     isIndex, std::max(rankOf(m_first.graph, ours), rankOf(m_second.graph, theirs)));
    if (!change.empty()) what.push_back((isIndex ? "index: " : "argument " + std::to_string(position) + ": ") + change);
}

void OperatorContents::addArguments(const Expr& ours, const Expr& theirs, std::vector<std::string>& what) const {
    const InternalGraph &first = m_first.graph, &second = m_second.graph;
    const ops::OpDef* const op = analysis::definitionOf(ours);
    const auto areSame = [&](std::string_view name, std::size_t index, const Argument& one, const Argument& other) {
        const tensor::Value a = valueOf(first, one), b = valueOf(second, other);
        if (isOneForAll(a, b) || isOneForAll(b, a)) return true;
        if (!isAxisName(name) && !isAxesOperand(ours, index)) return false;
        const auto x = axesFromFront(first, ours, a);
        return x && x == axesFromFront(second, theirs, b);
    };
    for (std::size_t i = 0; i < ours.arguments.size() && i < theirs.arguments.size(); ++i) {
        const std::string a = constantText(first, m_kindsOfFirst, ours.arguments[i]),
                          b = constantText(second, m_kindsOfSecond, theirs.arguments[i]);
        if (a.empty() || b.empty()) {
            addNested(ours, theirs, i, what);
            continue;
        }
        const tensor::Value one = valueOf(first, ours.arguments[i]), other = valueOf(second, theirs.arguments[i]);
        if (a == b && (one.kind() != other.kind() || tensor::identical(one, other))) continue;
        const std::string_view name = op && i < op->parameters.size() ? op->parameters[i].name : std::string_view();
        if (areSame(name, i, ours.arguments[i], theirs.arguments[i])) continue;
        what.push_back("argument " + std::to_string(i) + ": " +
                       changeText(a, b, [&] { return exactChange(one, other); }));
    }
    for (const auto& [name, argument] : ours.keywords)
        for (const auto& [otherName, other] : theirs.keywords) {
            const std::string a = constantText(first, m_kindsOfFirst, argument),
                              b = constantText(second, m_kindsOfSecond, other);
            if (name != otherName || a == b || areSame(name, ours.arguments.size(), argument, other)) continue;
            what.push_back(name + ": " + shown(a) + " -> " + shown(b));
        }
}

/// Optional inputs that only one has, where both have as many: "min: low -> not set". What other opsets have as an
/// attribute is compared as one.
void OperatorContents::addOmitted(const Expr& ours, const Expr& theirs, std::vector<std::string>& what) const {
    const ops::OpDef* const op = analysis::definitionOf(ours);
    if ((op && !op->parameters.empty()) || inputCount(ours, theirs) != inputCount(theirs, ours)) return;
    const auto textAt = [&](const InternalGraph& graph, const Expr& expr, std::size_t i) -> std::string {
        if (i >= expr.arguments.size() || expr.arguments[i].kind != Argument::Kind::Node) return {};
        if (isEmpty(graph, expr, &expr == &ours ? theirs : ours, i)) return {};
        return graph.node(expr.arguments[i].node).name;
    };
    for (std::size_t i = 0; i < std::max(ours.arguments.size(), theirs.arguments.size()); ++i) {
        const std::string a = textAt(m_first.graph, ours, i), b = textAt(m_second.graph, theirs, i);
        if (a.empty() == b.empty()) continue;
        const ops::OpDef* const has = analysis::definitionOf(a.empty() ? theirs : ours);
        const std::string name = has && i < has->inputs.size() ? std::string(has->inputs[i].name) : std::string();
        if (!name.empty() && (a.empty() ? ours : theirs).attributes.has(name)) continue;
        what.push_back((name.empty() ? "argument " + std::to_string(i) : name) + ": " + shown(a) + " -> " + shown(b));
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
        if (std::ranges::find(kBackendSwitches, name) != std::end(kBackendSwitches) || isIndexOperand(ours, i))
            continue;
        if (std::ranges::any_of(what, isTold)) continue;
        const tensor::Value a = first.named(name), b = second.named(name);
        if (a.isNone() || b.isNone() || a.isTensor() || b.isTensor()) continue;
        const std::string one = a.text(kMaxText), other = b.text(kMaxText);
        if (one == other || isOneForAll(a, b) || isOneForAll(b, a)) continue;
        if (isAxisName(name)) {
            const auto x = axesFromFront(m_first.graph, ours, a);
            if (x && x == axesFromFront(m_second.graph, theirs, b)) continue;
        }
        what.push_back(name + ": " + one + " -> " + other);
    }
}

}  // namespace sonde::session::diff
