#include "core/document/tracer_traced_module.h"

#include <algorithm>

#include "core/document/tracer_concrete.h"
#include "core/io/inputs/inputs.h"
#include "core/trace/traced_module.h"
#include "core/trace/traced_module/inline_graph.h"

namespace sonde::document {

namespace {

using tensor::Value;

/// What to do about an input whose shape no file says: a call that works, made for what its layers take if that is
/// known.
std::string exampleHint(const std::string& name, const TraceRequest& request) {
    const auto input = std::ranges::find(request.inputs, name, &KnownInput::name);
    const bool isGuided = input != request.inputs.end() && input->type.isTensor() && input->type.shape;
    std::string source = "#rand(0,1";
    if (!isGuided) source += ",1,3,224,224";
    else
        for (const std::int64_t size : io::usualShape(input->type, input->usual)) source += ',' + std::to_string(size);
    return (isGuided ? "its layers take " + typeAndRank(input->type) + "; " : std::string()) +
           "provide an example: --example '" + name + ':' + source + ")'";
}

/// Values for the parameters: what --concrete fixes, the example, else random ones of the known types. Parameters with
/// a default keep it.
base::Result<std::vector<std::pair<std::string, Value>>> example(const TraceRequest& request) {
    SONDE_ASSIGN(auto given, exampleInputs(request));
    std::vector<std::pair<std::string, Value>> values;
    std::vector<io::InputInfo> missing;
    for (const trace::ForwardParameter& parameter : request.root->signature()) {
        if (const auto fixed = request.concrete.find(parameter.name); fixed != request.concrete.end()) {
            values.emplace_back(parameter.name, fixed->second);
        } else if (const auto known = given.find(parameter.name); known != given.end()) {
            values.emplace_back(parameter.name, known->second);
        } else if (takesValue(parameter, request.inputs)) {
            const auto input = std::ranges::find(request.inputs, parameter.name, &KnownInput::name);
            const bool isKnown =
                input != request.inputs.end() && !input->isGuide && input->type.isTensor() && input->type.shape;
            if (!isKnown) {
                return base::usageError("tracing as a traced module runs the model, and the shape of its input '" +
                                            parameter.name + "' is not known",
                                        "--tracer traced-module", exampleHint(parameter.name, request));
            }
            missing.push_back({parameter.name, input->type});
        }
    }
    if (!missing.empty()) {
        SONDE_ASSIGN(const auto cases, io::makeInputs({}, missing, {}, request.work));
        for (std::size_t i = 0; i < missing.size(); ++i) values.emplace_back(missing[i].name, cases.front().values[i]);
    }
    return values;
}

}  // namespace

base::Result<TracedGraph> traceAsTracedModule(const TraceRequest& request) {
    trace::TraceModuleOptions options;
    options.guardsData = true;
    for (const std::string& leaf : request.options.leaves) {
        if (leaf == "none") {
            options.traceAll = true;
        } else {
            options.builtins.insert(leaf);
        }
    }
    options.builtins.insert(request.options.registeredLeaves.begin(), request.options.registeredLeaves.end());
    SONDE_ASSIGN(auto values, example(request));
    if (request.work.cancelled()) return base::cancelled("tracing");
    SONDE_ASSIGN(auto traced, trace::traceModule(request.root, {}, std::move(values), options));
    if (request.work.cancelled()) return base::cancelled("tracing");
    return graphOfTracedModule(std::move(traced), request.options);
}

base::Result<TracedGraph> graphOfTracedModule(std::shared_ptr<trace::TracedModule> module, const OpenOptions& options) {
    if (options.flatten) {
        SONDE_ASSIGN(module, module->flatten());
    }
    SONDE_ASSIGN(auto inlined, trace::inlineTracedModule(module));
    TracedGraph result{std::move(inlined.graph), std::move(inlined.tree), {}, {}};
    result.text = trace::allGraphsText(*module);
    result.tracedModule = std::move(module);
    return result;
}

}  // namespace sonde::document
