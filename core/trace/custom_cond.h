#pragma once

#include <string>

#include "core/trace/module.h"

namespace sonde::trace {

/// A function as an argument: a branch of a condition. Nodes are named after it; a lambda's name is "<lambda>".
struct NamedFunction {
    std::string name;
    Module::KeptFunction call;
};

/// What a get_attr node of a registered function holds.
class FunctionValue final : public tensor::ObjectBase {
  public:
    explicit FunctionValue(NamedFunction function) : m_function(std::move(function)) {}
    std::string typeName() const override { return "function " + m_function.name; }
    const NamedFunction& function() const { return m_function; }

  private:
    NamedFunction m_function;
};

/// predicate ? trueFunction(operands…) : falseFunction(operands…). While a CustomTracer runs and the predicate or an
/// operand is symbolic it is one `cond` node that owns both branches as bodies; else the predicate is asked for its
/// bool. `operands` is a list or a tuple. Throws AssertionError if it is not; TraceError for a symbolic predicate
/// elsewhere.
Var cond(const Var& predicate, const NamedFunction& trueFunction, const NamedFunction& falseFunction,
         const Var& operands);

}  // namespace sonde::trace
