// Nodes and exprs of a module's graph: what they say of themselves, and how they are changed.

#include <algorithm>

#include "core/trace/module.h"
#include "core/trace/record.h"
#include "core/trace/traced_module.h"
#include "core/trace/traced_module/module_graph.h"
#include "core/trace/traced_module/node.h"

namespace sonde::trace {

using tensor::Value;

base::Result<void> TracedNode::setName(std::string_view name) {
    if (name.empty()) return base::usageError("a node's name cannot be empty");
    TracedNames& names = m_graph->m_names;
    // What unique() makes of a free name is the name; of a taken one it is another.
    const std::string wanted = identifierOf(name);
    if (wanted == m_name) return {};
    if (names.holds(wanted)) return base::usageError("the name '" + wanted + "' is already in use", m_graph->name());
    const std::string unique = names.unique(wanted);
    names.free(m_name);
    m_name = unique;
    return {};
}

bool TracedNode::isFixed() const {
    return m_expr->kind() == TracedExpr::Kind::GetAttr || m_expr->kind() == TracedExpr::Kind::Constant;
}

std::string TracedNode::fullName() const { return m_graph->name() + '_' + m_name; }

std::shared_ptr<Module> TracedNode::owner() const {
    if (!m_isModule) return nullptr;
    switch (m_expr->kind()) {
        case TracedExpr::Kind::Constant: return m_expr->constantModule();
        case TracedExpr::Kind::Input: return m_graph->owner();
        case TracedExpr::Kind::GetAttr: break;
        default: return nullptr;
    }
    const auto base = m_expr->inputs().front()->owner();
    Module* found = base ? base->find(m_expr->target()) : nullptr;
    return found ? found->shared_from_this() : nullptr;
}

namespace {

void addConstants(const Operand& operand, std::size_t& leaf, std::vector<std::pair<std::size_t, Value>>& into) {
    if (operand.kind == Operand::Kind::Constant) into.emplace_back(leaf, operand.constant);
    if (operand.kind == Operand::Kind::Constant || operand.kind == Operand::Kind::Node) ++leaf;
    for (const Operand& item : operand.items) addConstants(item, leaf, into);
}

/// Names of the parameters that the positional arguments stand for; empty if nobody knows.
std::vector<std::string> parameterNames(const TracedExpr& expr) {
    std::vector<std::string> names;
    if (expr.isModuleCall()) {
        const auto module = expr.inputs().front()->owner();
        if (!module) return names;
        names.emplace_back("self");
        for (const ForwardParameter& parameter : module->signature()) names.push_back(parameter.name);
        return names;
    }
    if (const auto evaluator = EvaluatorScope::current()) names = evaluator->parameterNames(expr.operation().op);
    if (expr.operation().swapped && names.size() > 1) std::swap(names[0], names[1]);
    return names;
}

}  // namespace

std::vector<std::pair<std::string, Operand>> TracedExpr::namedArgs() const {
    const std::vector<std::string> names = parameterNames(*this);
    std::vector<std::pair<std::string, Operand>> result;
    for (std::size_t i = 0; i < m_args.size(); ++i)
        result.emplace_back(i < names.size() ? names[i] : std::to_string(i), m_args[i]);
    result.insert(result.end(), m_keywords.begin(), m_keywords.end());
    return result;
}

std::vector<std::pair<std::size_t, Value>> TracedExpr::constants() const {
    std::vector<std::pair<std::size_t, Value>> result;
    std::size_t leaf = 0;
    for (const Operand& operand : m_args) addConstants(operand, leaf, result);
    for (const auto& [name, operand] : m_keywords) addConstants(operand, leaf, result);
    return result;
}

CallStructure TracedExpr::argDef() const {
    CallStructure result;
    for (const Operand& operand : m_args) result.positional.push_back(Structure::of(operand));
    for (const auto& [name, operand] : m_keywords) result.keywords.emplace_back(name, Structure::of(operand));
    return result;
}

Operand TracedExpr::returnValue() const {
    std::size_t next = 0;
    return m_outDef.rebuilt(m_outputs, next);
}

namespace {

/// What an argument is, as far as it decides whether an operation can take it.
enum class ArgumentKind : std::uint8_t { Module, Tensor, Number, None, Text, Tensors, Numbers, Slice, Dict, Other };

ArgumentKind kindOf(const Value& constant) {
    switch (constant.kind()) {
        case tensor::ValueKind::None: return ArgumentKind::None;
        case tensor::ValueKind::Tensor: return ArgumentKind::Tensor;
        case tensor::ValueKind::String: return ArgumentKind::Text;
        case tensor::ValueKind::Bool:
        case tensor::ValueKind::Int:
        case tensor::ValueKind::Float: return ArgumentKind::Number;
        case tensor::ValueKind::Dict: return ArgumentKind::Dict;
        default: return constant.isListLike() ? ArgumentKind::Numbers : ArgumentKind::Other;
    }
}

ArgumentKind kindOf(const Operand& operand) {
    switch (operand.kind) {
        case Operand::Kind::Node:
            return operand.node->isModule()   ? ArgumentKind::Module
                   : operand.node->isNumber() ? ArgumentKind::Number
                                              : ArgumentKind::Tensor;
        case Operand::Kind::Constant: return kindOf(operand.constant);
        case Operand::Kind::Slice: return ArgumentKind::Slice;
        case Operand::Kind::Dict: return ArgumentKind::Dict;
        default: break;
    }
    const auto isTensor = [](const Operand& item) { return kindOf(item) == ArgumentKind::Tensor; };
    return std::ranges::any_of(operand.items, isTensor) ? ArgumentKind::Tensors : ArgumentKind::Numbers;
}

std::string_view textOf(ArgumentKind kind) {
    switch (kind) {
        case ArgumentKind::Module: return "a module";
        case ArgumentKind::Tensor: return "a tensor";
        case ArgumentKind::Number: return "a number";
        case ArgumentKind::None: return "None";
        case ArgumentKind::Text: return "a text";
        case ArgumentKind::Tensors: return "a list of tensors";
        case ArgumentKind::Numbers: return "a list";
        case ArgumentKind::Slice: return "a slice";
        case ArgumentKind::Dict: return "a dict";
        case ArgumentKind::Other: return "an object";
    }
    return "an object";
}

/// Whether an argument of one kind can take the place of one of the other. Which operators take a number for a tensor
/// or a slice for an index only a run can tell: those may.
bool canBecome(ArgumentKind before, ArgumentKind after) {
    using enum ArgumentKind;
    if (before == after) return true;
    const auto isAny = [&](ArgumentKind kind) { return before == kind || after == kind; };
    if (isAny(Module) || isAny(Dict) || isAny(Other)) return false;
    if (isAny(None)) return true;  // optional, and left out
    if (isAny(Text)) return false;
    if (isAny(Tensors)) return isAny(Numbers);  // a list of other items
    if (isAny(Numbers)) return !isAny(Tensor) || isAny(Slice);
    return true;
}

}  // namespace

base::Result<void> TracedExpr::checkKind(std::string_view name, const Operand* before, const Operand& after) const {
    const ArgumentKind kind = kindOf(after);
    const bool fits = before ? canBecome(kindOf(*before), kind) : kind != ArgumentKind::Module;
    if (fits) return {};
    const std::string was = before ? " is " + std::string(textOf(kindOf(*before))) + " and" : std::string();
    return base::usageError(
        "argument '" + std::string(name) + "'" + was + " cannot become " + std::string(textOf(kind)), text());
}

base::Result<void> TracedExpr::checkKinds(const std::vector<Operand>& args,
                                          const std::vector<std::pair<std::string, Operand>>& keywords) const {
    const std::vector<std::string> names = parameterNames(*this);
    const auto named = [&names](std::size_t index) {
        return index < names.size() ? names[index] : std::to_string(index);
    };
    for (std::size_t i = 0; i < args.size(); ++i)
        SONDE_TRY(checkKind(named(i), i < m_args.size() ? &m_args[i] : nullptr, args[i]));
    for (const auto& [name, operand] : keywords) {
        const auto before = std::ranges::find(m_keywords, name, &std::pair<std::string, Operand>::first);
        SONDE_TRY(checkKind(name, before == m_keywords.end() ? nullptr : &before->second, operand));
    }
    const bool isOfTensor = m_kind == Kind::CallMethod && m_args.front().kind == Operand::Kind::Node;
    if (isOfTensor && !isModuleCall() && (args.empty() || args.front().kind != Operand::Kind::Node))
        return base::usageError("the first argument of a method is the tensor whose method it is", text());
    return {};
}

base::Result<void> TracedExpr::setArguments(std::vector<Operand> args,
                                            std::vector<std::pair<std::string, Operand>> keywords) {
    const bool isCall = m_kind == Kind::CallMethod || m_kind == Kind::CallFunction;
    if (!isCall || m_inner) {
        return base::usageError("only arguments of tensor methods, functions and built-in modules can be set", text());
    }
    const TracedNode* foreign = nullptr;
    const auto check = [&](const Operand& operand) {
        operand.forEachNode([&](const TracedNode* node) {
            if (&node->graph() != m_graph) foreign = node;
        });
    };
    std::ranges::for_each(args, check);
    for (const auto& [name, operand] : keywords) check(operand);
    if (foreign) return base::usageError("node '" + foreign->fullName() + "' is of another graph", text());
    if (isModuleCall() &&
        (args.empty() || args.front().kind != Operand::Kind::Node || !args.front().node->isModule())) {
        return base::usageError("the first argument of a module call is the module", text());
    }
    SONDE_TRY(checkKinds(args, keywords));
    GraphBuilder(*m_graph).setArguments(*this, std::move(args), std::move(keywords));
    return {};
}

base::Result<void> TracedExpr::setArgument(std::string_view name, Operand value) {
    std::vector<Operand> args = m_args;
    auto keywords = m_keywords;
    const std::vector<std::string> names = parameterNames(*this);
    const auto keyword = std::ranges::find_if(keywords, [&](const auto& entry) { return entry.first == name; });
    if (keyword != keywords.end()) {
        keyword->second = std::move(value);
        return setArguments(std::move(args), std::move(keywords));
    }
    std::size_t index = static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
    if (index == names.size()) {
        for (std::size_t i = names.size(); i < args.size(); ++i) {
            if (std::to_string(i) == name) index = i;
        }
    }
    if (index < args.size()) {
        args[index] = std::move(value);
    } else if (index < names.size()) {
        keywords.emplace_back(std::string(name), std::move(value));
    } else {
        return base::usageError("there is no argument '" + std::string(name) + "'", text());
    }
    return setArguments(std::move(args), std::move(keywords));
}

base::Result<void> TracedExpr::checkReplacement(const TracedNode& before, const TracedNode& after) const {
    if (&before.graph() != m_graph || &after.graph() != m_graph)
        return base::usageError("the nodes are not of the expr's graph", text());
    if (before.isModule() != after.isModule())
        return base::usageError("a module and a tensor cannot replace each other", text());
    if (m_graph->positionOf(after.expr()) >= m_graph->positionOf(*this)) {
        return base::usageError("'" + after.name() + "' is produced later than it is read", text());
    }
    return {};
}

base::Result<void> TracedExpr::replaceInputs(const std::vector<std::pair<TracedNode*, TracedNode*>>& replacements) {
    for (const auto& [before, after] : replacements) SONDE_TRY(checkReplacement(*before, *after));
    std::vector<Operand> args = m_args;
    auto keywords = m_keywords;
    const auto replace = [&](TracedNode*& node) {
        for (const auto& [before, after] : replacements) {
            if (node == before) {
                node = after;
                return;
            }
        }
    };
    for (Operand& operand : args) operand.forEachNode(replace);
    for (auto& [name, operand] : keywords) operand.forEachNode(replace);
    GraphBuilder(*m_graph).setArguments(*this, std::move(args), std::move(keywords));
    return {};
}

std::string nodeText(const TracedNode& node, std::string_view format) {
    const bool withId = format.find('i') != std::string_view::npos;
    const bool withPrefix = format.find('p') != std::string_view::npos;
    return (withId ? '%' + std::to_string(node.id()) + '_' : std::string()) +
           (withPrefix ? node.fullName() : node.name());
}

namespace {

/// "x, 1" and "k=2" of a call, each part followed by ", " but for the last: "x, 1, k=2" and "x, ".
std::string callText(std::span<const Operand> args, const std::vector<std::pair<std::string, Operand>>& keywords,
                     std::string_view format) {
    const auto text = [&](const TracedNode& node) { return nodeText(node, format); };
    std::string result;
    for (std::size_t i = 0; i < args.size(); ++i) result += (i > 0 ? ", " : "") + args[i].text(text);
    result += ", ";
    for (std::size_t i = 0; i < keywords.size(); ++i)
        result += (i > 0 ? ", " : "") + keywords[i].first + '=' + keywords[i].second.text(text);
    return result;
}

}  // namespace

std::string TracedExpr::text(std::string_view format) const {
    std::string result = '%' + std::to_string(m_id) + ":\t";
    for (std::size_t i = 0; i < m_outputs.size(); ++i) result += (i > 0 ? ", " : "") + nodeText(*m_outputs[i], format);
    if (!m_outputs.empty()) result += " = ";
    const auto typeOf = [](const TracedNode& node) {
        return node.isModule() ? node.moduleType() : std::string("Tensor");
    };
    switch (m_kind) {
        case Kind::Input: return result + "Input()";
        case Kind::Constant: return result + "Constant() -> (" + typeOf(*m_outputs.front()) + ')';
        case Kind::GetAttr:
            return result + "getattr(" + nodeText(*m_inputs.front(), format) + ", \"" + m_target + "\") -> (" +
                   typeOf(*m_outputs.front()) + ')';
        case Kind::CallFunction:
        case Kind::Apply: return result + m_target + '(' + callText(m_args, m_keywords, format) + ')';
        case Kind::CallMethod: break;
    }
    const Operand& receiver = m_args.front();
    const std::string object = receiver.text([&](const TracedNode& node) { return nodeText(node, format); });
    const std::string method =
        isModuleCall() ? (m_forwardName == "forward" ? "" : '.' + m_forwardName) : '.' + m_target;
    return result + object + method + '(' + callText(std::span(m_args).subspan(1), m_keywords, format) + ')';
}

Structure Structure::of(const Operand& operand) {
    Structure structure;
    structure.keys = operand.keys;
    switch (operand.kind) {
        case Operand::Kind::Node:
            structure.kind = operand.node->isModule()   ? Kind::Module
                             : operand.node->isNumber() ? Kind::Number
                                                        : Kind::Tensor;
            return structure;
        case Operand::Kind::Constant:
            structure.kind = Kind::Constant;
            structure.constant = operand.constant;
            return structure;
        case Operand::Kind::List: structure.kind = Kind::List; break;
        case Operand::Kind::Tuple: structure.kind = Kind::Tuple; break;
        case Operand::Kind::Dict: structure.kind = Kind::Dict; break;
        case Operand::Kind::Slice: structure.kind = Kind::Slice; break;
    }
    for (const Operand& item : operand.items) structure.items.push_back(of(item));
    return structure;
}

}  // namespace sonde::trace
