#include "core/trace/module_callable.h"

#include <utility>
#include <vector>

#include "core/graph/seeded_callable.h"
#include "core/trace/at_once.h"
#include "core/trace/error.h"
#include "core/trace/paused_tracing.h"
#include "core/trace/record.h"
#include "core/trace/seeded_evaluator.h"

namespace sonde::trace {

using tensor::Value;

namespace {

/// A module whose forward depends on the data: run on values when its turn comes.
class ModuleCallable final : public graph::SeededCallable {
  public:
    ModuleCallable(std::function<Var(std::span<const Var>)> forward, std::shared_ptr<const Evaluator> evaluator,
                   bool isProgram)
        : m_forward(std::move(forward)), m_evaluator(std::move(evaluator)), m_isProgram(isProgram) {}

    base::Result<std::vector<Value>> call(std::span<const Value> arguments) const override {
        return run(arguments, m_evaluator);
    }
    base::Result<std::vector<Value>> call(std::span<const Value> arguments, std::uint64_t seed) const override {
        const auto* draws = dynamic_cast<const SeedableEvaluator*>(m_evaluator.get());
        return run(arguments, draws ? draws->withSeed(seed) : m_evaluator);
    }

  private:
    base::Result<std::vector<Value>> run(std::span<const Value> arguments,
                                         const std::shared_ptr<const Evaluator>& evaluator) const {
        const EvaluatorScope scope(evaluator);
        const PausedTracing paused;
        // A graph shows no change of what a call is given, and a run leaves the model as it is.
        const WritesAsValues changes(false);
        const WriteProtection protection(m_isProgram ? std::span<const Value>() : arguments);
        try {
            std::vector<Var> in;
            for (const Value& argument : arguments) in.emplace_back(m_isProgram ? copied(argument) : argument);
            const Var result = m_forward(in);
            for (std::size_t i = 0; i < in.size() && !m_isProgram; ++i) {
                if (isReformed(in[i].value(), arguments[i]))
                    return base::runError(
                        "the shape of an argument is changed in place: a module that runs on values cannot do that in a graph");
            }
            return std::vector<Value>{result.toValue()};
        } catch (...) {
            const TraceError error = TraceError::ofCurrentException();
            base::Error said = base::runError(error.message());
            if (error.isOwnException() && !m_isProgram) {
                said.withHint(
                    "if the model's own code handles this exception, run the module that does so as one call: "
                    "--tracer robust --leaf CLASS");
            }
            return said;
        }
    }

    static bool isReformed(const Value& now, const Value& before) {
        return now.isTensor() && before.isTensor() &&
               (now.tensor().shape() != before.tensor().shape() || now.tensor().strides() != before.tensor().strides());
    }

    /// Nothing uses the inputs of a whole program after it: it may write to copies.
    static Value copied(const Value& value) {
        if (!value.isTensor() || value.tensor().dtype() == tensor::DType::String) return value;
        auto copy = value.tensor().clone();
        return copy ? Value(std::move(*copy)) : value;
    }

    std::function<Var(std::span<const Var>)> m_forward;
    std::shared_ptr<const Evaluator> m_evaluator;
    bool m_isProgram;
};

}  // namespace

std::shared_ptr<const graph::Callable> runnable(std::function<Var(std::span<const Var>)> function, bool isProgram) {
    return std::make_shared<ModuleCallable>(std::move(function), EvaluatorScope::current(), isProgram);
}

}  // namespace sonde::trace
