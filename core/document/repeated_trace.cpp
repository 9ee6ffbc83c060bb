#include "core/document/repeated_trace.h"

#include <exception>

#include "core/document/evaluator.h"
#include "core/exec/runner.h"
#include "core/trace/concrete_run.h"
#include "core/trace/error.h"
#include "core/trace/module_path_tracer.h"
#include "core/trace/repetition.h"

namespace sonde::document {

namespace {

/// The function; an exception of its own that passes through is kept in `thrown`.
RepeatedTrace::Function catching(const RepeatedTrace::Function& function, std::exception_ptr& thrown) {
    return [&function, &thrown](std::span<const trace::Var> arguments) {
        try {
            return function(arguments);
        } catch (const trace::TraceError&) {
            throw;
        } catch (...) {
            thrown = std::current_exception();
            throw;
        }
    };
}

}  // namespace

base::Result<std::vector<tensor::Value>> RepeatedTrace::call(std::span<const tensor::Value> inputs,
                                                             const base::WorkContext& work) {
    if (inputs.size() != m_parameters.size()) {
        return base::usageError(std::to_string(inputs.size()) + " inputs for a function of " +
                                std::to_string(m_parameters.size()));
    }
    std::map<std::string, tensor::Value> examples;
    for (std::size_t i = 0; i < inputs.size(); ++i) examples.emplace(m_parameters[i].name, inputs[i]);
    const trace::EvaluatorScope evaluator(kernelEvaluator());
    const auto values = std::make_shared<trace::ConcreteRun>(std::move(examples), kernelEvaluator());
    trace::ModulePathTracer tracer;
    tracer.setValueOracle(values);
    // Tracers make an error of whatever a model throws; what this function throws is its caller's.
    std::exception_ptr thrown;
    auto traced = tracer.trace(catching(m_function, thrown), m_parameters);
    if (thrown) std::rethrow_exception(thrown);
    SONDE_ASSIGN(const auto graph, std::move(traced));
    values->finish(*graph);
    if (m_recorded) {
        if (const auto reason = trace::repetitionMismatch(*m_recorded, *graph))
            return base::runError("trace error because " + *reason);
    }
    SONDE_ASSIGN(const auto plan, exec::Plan::make(graph, {}));
    exec::Runner runner(0);
    exec::Recording recording = runner.run(*plan, std::vector<tensor::Value>(inputs.begin(), inputs.end()), work);
    if (recording.error) return *recording.error;
    if (!m_recorded) m_recorded = graph;
    return std::move(recording.outputs);
}

}  // namespace sonde::document
