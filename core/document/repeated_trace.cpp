#include "core/document/repeated_trace.h"

#include "core/document/evaluator.h"
#include "core/exec/run.h"
#include "core/trace/concrete_run.h"
#include "core/trace/module_path_tracer.h"
#include "core/trace/repetition.h"

namespace sonde::document {

base::Result<std::vector<tensor::Value>> RepeatedTrace::call(std::span<const tensor::Value> inputs, const base::WorkContext& work) {
    if (inputs.size() != m_parameters.size()) {
        return base::usageError(std::to_string(inputs.size()) + " inputs for a function of " + std::to_string(m_parameters.size()));
    }
    std::map<std::string, tensor::Value> examples;
    for (std::size_t i = 0; i < inputs.size(); ++i) examples.emplace(m_parameters[i].name, inputs[i]);
    const trace::EvaluatorScope evaluator(kernelEvaluator());
    const auto values = std::make_shared<trace::ConcreteRun>(std::move(examples), kernelEvaluator());
    trace::ModulePathTracer tracer;
    tracer.setFollower(values);
    SONDE_ASSIGN(const auto graph, tracer.trace(m_function, m_parameters));
    values->finish(*graph);
    if (m_recorded) {
        if (const auto reason = trace::repetitionMismatch(*m_recorded, *graph)) return base::runError("trace error because " + *reason);
    }
    SONDE_ASSIGN(const auto plan, exec::Plan::make(graph, {}));
    exec::Runner runner(0);
    exec::Recording recording = runner.run(*plan, std::vector<tensor::Value>(inputs.begin(), inputs.end()), work);
    if (recording.error) return *recording.error;
    if (!m_recorded) m_recorded = graph;
    return std::move(recording.outputs);
}

}  // namespace sonde::document
