#pragma once

#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/trace/module.h"

namespace sonde::trace {

/// A function as a module, so that it can be traced. It holds the constants of the trace.
class FunctionModule final : public Module {
  public:
    FunctionModule(std::function<Var(std::span<const Var>)> function, std::vector<ForwardParameter> parameters,
                   std::string className)
        : m_function(std::move(function)), m_parameters(std::move(parameters)), m_className(std::move(className)) {}
    std::string className() const override { return m_className; }
    std::vector<ForwardParameter> signature() const override { return m_parameters; }
    Var forward(std::span<const Var> in) override { return m_function(in); }
    /// `path`: "_tensor_constant0", what the get_attr node reads.
    void keepConstant(std::string path, tensor::Tensor value) { addPlain(std::move(path), std::move(value)); }

  private:
    std::function<Var(std::span<const Var>)> m_function;
    std::vector<ForwardParameter> m_parameters;
    std::string m_className;
};

}  // namespace sonde::trace
