#include "core/trace/guard_description.h"

#include <algorithm>
#include <array>

namespace sonde::trace {

using graph::Argument;
using graph::Expr;
using graph::ExprKind;
using graph::InternalGraph;
using graph::NodeId;

namespace {

constexpr int kMaxDepth = 4;
constexpr std::size_t kMaxLength = 60;

struct Infix {
    std::string_view op;
    std::string_view sign;
};
constexpr std::array kInfixes{Infix{"add", "+"},  Infix{"sub", "-"},       Infix{"mul", "*"}, Infix{"truediv", "/"},
                              Infix{"div", "/"},  Infix{"floordiv", "//"}, Infix{"mod", "%"}, Infix{"remainder", "%"},
                              Infix{"pow", "**"}, Infix{"matmul", "@"},    Infix{"gt", ">"},  Infix{"lt", "<"},
                              Infix{"ge", ">="},  Infix{"le", "<="},       Infix{"eq", "=="}, Infix{"ne", "!="}};

class Writer {
  public:
    explicit Writer(const InternalGraph& graph) : m_graph(graph) {}

    std::string node(NodeId id, int depth, bool isOperand = false) const {
        const Expr& expr = m_graph.expr(m_graph.node(id).producer);
        if (expr.kind == ExprKind::Input || expr.kind == ExprKind::GetAttr) return expr.target;
        if (depth > kMaxDepth || expr.outputs.size() != 1) return m_graph.node(id).name;
        std::string text = call(expr, depth, isOperand);
        return text.empty() || text.size() > kMaxLength ? m_graph.node(id).name : text;
    }

  private:
    std::string argument(const Argument& value, int depth, bool isOperand = false) const {
        switch (value.kind) {
            case Argument::Kind::Omitted: return "";
            case Argument::Kind::Node: return node(value.node, depth + 1, isOperand);
            case Argument::Kind::Constant: return value.constant.text(20);
            case Argument::Kind::Slice: {
                const auto part = [&](std::size_t i) {
                    const bool isNone =
                        value.items[i].kind == Argument::Kind::Constant && value.items[i].constant.isNone();
                    return isNone ? std::string() : argument(value.items[i], depth);
                };
                const std::string step = part(2);
                return part(0) + ':' + part(1) + (step.empty() ? "" : ':' + step);
            }
            default: break;
        }
        std::string text;
        for (const Argument& item : value.items) text += (text.empty() ? "" : ", ") + argument(item, depth);
        return value.kind == Argument::Kind::List ? '[' + text + ']' : '(' + text + ')';
    }

    std::string call(const Expr& expr, int depth, bool isOperand) const {
        const std::vector<Argument>& arguments = expr.arguments;
        const std::string_view op = std::string_view(expr.op.name).substr(0, expr.op.name.find('.'));
        if (arguments.size() == 2 && expr.keywords.empty()) {
            if (const std::string_view sign = infixSign(op); !sign.empty()) {
                const std::string text = argument(arguments[0], depth, true) + ' ' + std::string(sign) + ' ' +
                                         argument(arguments[1], depth, true);
                return isOperand ? '(' + text + ')' : text;
            }
            if (op == "getitem") return argument(arguments[0], depth, true) + '[' + index(arguments[1], depth) + ']';
            if (op == "getattr" && arguments[1].kind == Argument::Kind::Constant &&
                arguments[1].constant.kind() == tensor::ValueKind::String) {
                return argument(arguments[0], depth, true) + '.' + arguments[1].constant.toString();
            }
        }
        if (op == "Bool" && arguments.size() == 1) return argument(arguments[0], depth, isOperand);
        if (op == "neg" && arguments.size() == 1) return '-' + argument(arguments[0], depth, true);
        std::size_t first = 0;
        std::string text = expr.target;
        if (expr.kind == ExprKind::CallMethod && !arguments.empty()) {
            text = argument(arguments[first++], depth, true) + '.' + text;
        } else if (expr.kind == ExprKind::CallFunction) {
            text = text.substr(text.rfind('.') + 1);
        }
        std::string given;
        for (; first < arguments.size(); ++first)
            given += (given.empty() ? "" : ", ") + argument(arguments[first], depth);
        for (const auto& [key, value] : expr.keywords)
            given += (given.empty() ? "" : ", ") + key + '=' + argument(value, depth);
        return text + '(' + given + ')';
    }

    /// Several indices are written without the tuple's brackets.
    std::string index(const Argument& value, int depth) const {
        std::string text = argument(value, depth);
        return value.kind == Argument::Kind::Tuple && text.size() > 2 ? text.substr(1, text.size() - 2) : text;
    }

    const InternalGraph& m_graph;
};

}  // namespace

std::string_view infixSign(std::string_view op) {
    const auto found = std::ranges::find(kInfixes, op, &Infix::op);
    return found == kInfixes.end() ? std::string_view() : found->sign;
}

std::string expressionText(const InternalGraph& graph, NodeId node) { return Writer(graph).node(node, 0); }

const char* guardKind(KnownUse use) {
    switch (use) {
        case KnownUse::Bool: return "bool";
        case KnownUse::Int: return "int";
        case KnownUse::Float: return "float";
        case KnownUse::Length: return "length";
        case KnownUse::Iteration: return "iteration";
    }
    return "bool";
}

std::string guardDescription(KnownUse use, const std::string& expression, const tensor::AttributeValue& came) {
    const std::string value = tensor::text(came);
    switch (use) {
        case KnownUse::Bool:
            return "took the branch because " + expression + " was " + (value == "0" ? "false" : "true");
        case KnownUse::Int: return "used " + expression + " as the integer " + value;
        case KnownUse::Float: return "used " + expression + " as the number " + value;
        case KnownUse::Length: return "queried the length of " + expression + ", which was " + value;
        case KnownUse::Iteration:
            return "iterated over " + expression + ", which had " + value + (value == "1" ? " element" : " elements");
    }
    return {};
}

}  // namespace sonde::trace
