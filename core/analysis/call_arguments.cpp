#include "core/analysis/call_arguments.h"

#include <algorithm>

#include "core/analysis/model_summary.h"

namespace sonde::analysis {

using graph::Argument;
using tensor::Value;

namespace {

/// Lists of sizes and axes are short; a tensor of more numbers is none.
constexpr std::int64_t kMaxIntegers = 64;

}  // namespace

CallArguments::CallArguments(const graph::InternalGraph& graph, const graph::Expr& expr)
    : m_graph(graph), m_expr(expr) {}

const ops::OpDef* CallArguments::definition() const {
    if (!m_op) m_op = definitionOf(m_expr);
    return *m_op;
}

const Argument* CallArguments::argument(std::size_t position) const {
    return position < m_expr.arguments.size() ? &m_expr.arguments[position] : nullptr;
}

tensor::TypeInfo CallArguments::type(std::size_t position) const {
    const Argument* const found = argument(position);
    if (!found) return {};
    if (found->kind == Argument::Kind::Node) return m_graph.node(found->node).type;
    return found->kind == Argument::Kind::Constant ? tensor::TypeInfo::of(found->constant) : tensor::TypeInfo();
}

Value CallArguments::at(std::size_t position) const {
    const Argument* const found = argument(position);
    return found ? valueOf(*found) : Value();
}

bool CallArguments::has(std::string_view name) const {
    const ops::OpDef* const op = definition();
    return op && std::ranges::find(op->parameters, name, &ops::Parameter::name) != op->parameters.end();
}

Value CallArguments::named(std::string_view name) const {
    const ops::OpDef* const op = definition();
    if (!op) return {};
    const auto found = std::ranges::find(op->parameters, name, &ops::Parameter::name);
    if (found == op->parameters.end()) return {};
    const auto position = static_cast<std::size_t>(found - op->parameters.begin());
    if (position < m_expr.arguments.size()) return at(position);
    for (const auto& [keyword, argument] : m_expr.keywords)
        if (keyword == name) return valueOf(argument);
    return found->fallback.value_or(Value());
}

std::optional<std::int64_t> CallArguments::integer(const Value& value) {
    if (value.kind() == tensor::ValueKind::Int) return value.toInt();
    if (value.kind() == tensor::ValueKind::Bool) return value.toBool() ? 1 : 0;
    if (value.isTensor() && value.tensor().numel() == 1 && tensor::isInteger(value.tensor().dtype()))
        return value.tensor().toInt64(0);
    return std::nullopt;
}

std::optional<std::vector<std::int64_t>> CallArguments::integers(const Value& value) {
    std::vector<std::int64_t> all;
    if (value.isListLike()) {
        for (const Value& item : value.items()) {
            const auto one = integer(item);
            if (!one) return std::nullopt;
            all.push_back(*one);
        }
        return all;
    }
    if (value.isTensor() && value.tensor().rank() == 1 && tensor::isInteger(value.tensor().dtype()) &&
        value.tensor().numel() <= kMaxIntegers) {
        for (std::int64_t i = 0; i < value.tensor().numel(); ++i) all.push_back(value.tensor().toInt64(i));
        return all;
    }
    const auto one = integer(value);
    if (!one) return std::nullopt;
    all.push_back(*one);
    return all;
}

Value CallArguments::valueOf(const Argument& argument) const {
    switch (argument.kind) {
        case Argument::Kind::Constant: return argument.constant;
        case Argument::Kind::Node: return m_graph.node(argument.node).constant.value_or(Value());
        case Argument::Kind::List:
        case Argument::Kind::Tuple: break;
        default: return {};
    }
    tensor::ValueList items;
    for (const Argument& item : argument.items) {
        items.push_back(valueOf(item));
        if (items.back().isNone()) return {};
    }
    return Value::list(std::move(items));
}

}  // namespace sonde::analysis
