#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/graph/internal_graph.h"
#include "core/trace/var.h"

namespace sonde::trace {

/// Computes an operator on values at once. Tracing itself needs no kernels, so whoever has some lends them: constants
/// that a forward computes while it is traced, and modules that are called outside of any trace.
class Evaluator {
  public:
    virtual ~Evaluator() = default;
    /// One value per argument; keywords by the operator's parameter names. As many values as outputs are asked for.
    virtual base::Result<std::vector<tensor::Value>> evaluate(
        const graph::OpKey& op, std::span<const tensor::Value> arguments,
        std::span<const std::pair<std::string, tensor::Value>> keywords, std::size_t outputCount) const = 0;
    /// Names of the operator's parameters in order; none if they are not known.
    virtual std::vector<std::string> parameterNames(const graph::OpKey& op) const {
        (void)op;
        return {};
    }
};

/// Lends an evaluator to the calling thread for as long as it lives; scopes nest.
class EvaluatorScope {
  public:
    explicit EvaluatorScope(std::shared_ptr<const Evaluator> evaluator);
    ~EvaluatorScope();
    EvaluatorScope(const EvaluatorScope&) = delete;
    EvaluatorScope& operator=(const EvaluatorScope&) = delete;
    static std::shared_ptr<const Evaluator> current();

  private:
    std::shared_ptr<const Evaluator> m_previous;
};

/// A function as models call it.
struct Function {
    std::string_view op;       ///< operator with overload: "conv2d", "flatten.using_ints"
    std::string_view display;  ///< the function's own name, from which nodes get theirs: "flatten"
    std::string_view target;   ///< as a person knows it: "torch.flatten"
    bool makesTensor = true;   ///< false: the result's kind depends on the arguments
    std::string_view domain = "aten";
    std::size_t outputs = 1;  ///< more: the call gives a tuple of them
};

/// Calls it: a CallFunction node if a proxy is among the arguments, else at once. Operators in place (`add_`, setitem,
/// any with `out=`) change their tensor, and so every view of it and whatever it was cut out of, at once as in a trace.
/// Throws TraceError.
Var callFunction(const Function& function, std::vector<Var> arguments, Keywords keywords = {});
/// The same for a method; the receiver is the first argument. The node is CallMethod and named after
/// `function.display`.
Var callMethod(const Function& function, std::vector<Var> arguments, Keywords keywords = {});

/// While it lives, in-place operators on this thread give values and change nothing: for interpreters of recorded
/// graphs and of archives, which follow themselves what shares memory. Off, `add_` changes its receiver. Scopes nest.
class WritesAsValues {
  public:
    explicit WritesAsValues(bool on = true);
    ~WritesAsValues();
    WritesAsValues(const WritesAsValues&) = delete;
    WritesAsValues& operator=(const WritesAsValues&) = delete;
    static bool isOn();

  private:
    bool m_before;
};

/// Calls of functions of one name (`Function::display`) go elsewhere on this thread for as long as it lives; the last
/// one made wins. While the replacement runs, the function is what it was before. Methods are not concerned.
class FunctionSwap {
  public:
    using Replacement = std::function<Var(std::vector<Var> arguments, Keywords keywords)>;
    FunctionSwap(std::string name, Replacement replacement);
    ~FunctionSwap();
    FunctionSwap(const FunctionSwap&) = delete;
    FunctionSwap& operator=(const FunctionSwap&) = delete;
    /// The function of that name goes elsewhere now.
    static bool isSwapped(std::string_view name);

  private:
    friend Var callFunction(const Function& function, std::vector<Var> arguments, Keywords keywords);
    std::string m_name;
    Replacement m_replacement;
    const FunctionSwap* m_previous;
};

}  // namespace sonde::trace
