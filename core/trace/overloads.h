#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/trace/record.h"

namespace sonde::trace {

/// What is known of an argument before a run.
enum class ArgumentKind : std::uint8_t { Unknown, None, Bool, Int, Float, String, Tensor, Ints, Tensors, Other };

/// An evaluator that knows the overloads of operators.
class OverloadTable {
  public:
    virtual ~OverloadTable() = default;
    /// The overloads of an operator of ATen ("add" has add.Tensor and add.Scalar) that take arguments of these kinds;
    /// of those that do, the closest ones, as PyTorch's dispatcher chooses. Sorted by name. More than one: it depends
    /// on what is not known.
    virtual std::vector<std::string> overloadsFor(
        std::string_view name, const std::vector<ArgumentKind>& arguments,
        const std::vector<std::pair<std::string, ArgumentKind>>& keywords) const = 0;
    /// All of them, sorted.
    virtual std::vector<std::string> overloadsOf(std::string_view name) const = 0;
    /// How many results the operator of ATen of that name and overload has; 1 if it is not known.
    virtual std::size_t outputsOf(std::string_view op) const = 0;
};

/// The operator that a call without an overload's name means, by the types of its arguments: "add_.Scalar" of add_(x,
/// 1). The name as it is where it has an overload already, is none of ATen's, or nobody knows overloads. Throws
/// TraceError, with the overloads that there are: none of them takes the arguments, or several do.
std::string resolvedOverload(const Function& function, const std::vector<Var>& arguments, const Keywords& keywords);

/// How many results a method has: those that its operator has (sort, max of a dimension), where that is known.
std::size_t outputsOfMethod(const Function& function, const Keywords& keywords);

}  // namespace sonde::trace
