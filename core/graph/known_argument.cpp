#include "core/graph/known_argument.h"

#include "core/operators/draws.h"

namespace sonde::graph {

const Argument* givenArgument(const Expr& expr, std::size_t index, std::string_view keyword) {
    const Argument* argument = index < expr.arguments.size() ? &expr.arguments[index] : nullptr;
    for (const auto& [name, value] : expr.keywords)
        if (name == keyword) argument = &value;
    return argument && argument->kind != Argument::Kind::Omitted ? argument : nullptr;
}

const tensor::Value* knownArgument(const InternalGraph& graph, const Expr& expr, std::size_t index,
                                   std::string_view keyword) {
    const Argument* const argument = givenArgument(expr, index, keyword);
    if (!argument) return nullptr;
    if (argument->kind == Argument::Kind::Constant) return &argument->constant;
    if (argument->kind != Argument::Kind::Node) return nullptr;
    const auto& constant = graph.node(argument->node).constant;
    return constant ? &*constant : nullptr;
}

std::optional<double> knownNumber(const InternalGraph& graph, const Expr& expr, std::size_t index,
                                  std::string_view keyword) {
    const tensor::Value* const value = knownArgument(graph, expr, index, keyword);
    if (!value) return std::nullopt;
    if (value->isNumber()) return value->number();
    if (value->isTensor() && value->tensor().numel() == 1 && value->tensor().dtype() != tensor::DType::String)
        return value->tensor().toDouble(0);
    return std::nullopt;
}

std::optional<bool> drawsNumbers(const InternalGraph& graph, const Expr& expr) {
    const auto numberOf = [&](std::size_t position, std::string_view name, double fallback) -> std::optional<double> {
        const Argument* const argument = givenArgument(expr, position, name);
        const bool isLeftOut = !argument || (argument->kind == Argument::Kind::Constant && argument->constant.isNone());
        return isLeftOut ? std::optional(fallback) : knownNumber(graph, expr, position, name);
    };
    return operators::drawsNumbers(expr.op.domain, expr.op.name, numberOf);
}

}  // namespace sonde::graph
