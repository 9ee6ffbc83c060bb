#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/internal_graph.h"
#include "core/trace/record.h"
#include "core/trace/var.h"

namespace sonde::trace {

/// One call of an operator, as a program makes it.
struct OperatorCall {
    graph::ExprKind kind = graph::ExprKind::CallFunction;
    std::string op, display, target, domain;
    bool makesTensor = true;
    std::size_t outputs = 1;
    std::vector<Var> arguments;
    Keywords keywords;

    OperatorCall() = default;
    OperatorCall(graph::ExprKind kind, const Function& function, std::vector<Var> arguments, Keywords keywords);
    Function function() const { return {op, display, target, makesTensor, domain, outputs}; }
    /// An argument by position or keyword; null if it is not given.
    const Var* argument(std::size_t index, std::string_view keyword) const;
    /// Makes the call with another first argument.
    Var on(const Var& first) const;
};

}  // namespace sonde::trace
