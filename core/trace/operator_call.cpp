#include "core/trace/operator_call.h"

#include <utility>

namespace sonde::trace {

OperatorCall::OperatorCall(graph::ExprKind callKind, const Function& function, std::vector<Var> args, Keywords named)
    : kind(callKind), op(function.op), display(function.display), target(function.target), domain(function.domain),
      makesTensor(function.makesTensor), outputs(function.outputs), arguments(std::move(args)),
      keywords(std::move(named)) {}

const Var* OperatorCall::argument(std::size_t index, std::string_view keyword) const {
    if (index < arguments.size()) return &arguments[index];
    const auto named = std::ranges::find_if(keywords, [&](const auto& entry) { return entry.first == keyword; });
    return named == keywords.end() ? nullptr : &named->second;
}

Var OperatorCall::on(const Var& first) const {
    std::vector<Var> with = arguments;
    with.front() = first;
    if (kind == graph::ExprKind::CallMethod) return callMethod(function(), std::move(with), keywords);
    return callFunction(function(), std::move(with), keywords);
}

}  // namespace sonde::trace
