#include "core/document/traced_model.h"

#include <algorithm>
#include <set>

#include "core/analysis/requirements.h"
#include "core/base/number_text.h"
#include "core/document/evaluator.h"
#include "core/document/finish.h"
#include "core/document/input_infos.h"
#include "core/document/inputs_outputs.h"
#include "core/document/tracer_concrete.h"
#include "core/document/tracers.h"
#include "core/graph/inline_calls.h"
#include "core/passes/all_passes.h"

namespace sonde::document {

namespace {

using tensor::Value;

/// "true", "None", "3", "0.5" or text, as on the command line.
Value valueFromText(const std::string& text) {
    if (text == "true" || text == "True") return Value::ofBool(true);
    if (text == "false" || text == "False") return Value::ofBool(false);
    if (text == "None" || text == "none") return {};
    if (const auto whole = base::parseNumber<std::int64_t>(text)) return Value::ofInt(*whole);
    if (const auto number = base::parseNumber<double>(text)) return Value::ofFloat(*number);
    return Value(text);
}

/// What is known of the inputs when examples are made for them. Where neither the model nor its file says a shape, a
/// trace without an example tells what the layers want, as it does for a model that is opened without one.
std::vector<KnownInput> inputsForExamples(const std::shared_ptr<trace::Module>& root, const OpenOptions& options,
                                          const std::vector<KnownInput>& inputs, const base::WorkContext& work) {
    const auto isOpen = [&](const trace::ForwardParameter& parameter) {
        const auto known = std::ranges::find(inputs, parameter.name, &KnownInput::name);
        return !parameter.fallback && (known == inputs.end() || !known->type.shape);
    };
    // A traced module cannot be made without an example; what it says then names the shapes.
    const bool asksForExample = !options.inputData.empty() || options.tracer == "traced-module";
    if (!asksForExample || std::ranges::none_of(root->signature(), isOpen)) return inputs;
    OpenOptions plain;
    plain.leaves = options.leaves;
    plain.concrete = options.concrete;
    plain.registeredLeaves = options.registeredLeaves;
    const auto document = traceModel(root, plain, inputs, work);
    if (!document) return inputs;  // the trace proper tells what is wrong
    std::vector<KnownInput> known = inputs;
    for (const io::InputInfo& info : inputInfos(**document)) {
        const auto input = std::ranges::find(known, info.name, &KnownInput::name);
        if (input == known.end()) known.push_back({info.name, info.type, info.isGuide, info.usual});
        else if (!input->type.shape) *input = {info.name, info.type, info.isGuide, info.usual};
    }
    return known;
}

/// An example of other sizes than the layers take is told where something went wrong.
base::Error withSizes(base::Error error, const TraceRequest& request) {
    for (const std::string& text : examplesApart(request)) error.hint += (error.hint.empty() ? "" : "; ") + text;
    return error;
}

/// A parameter with a fixed value is an input that is checked to be just that: a run that is given nothing else takes
/// it. The tracers of fx name such an input NAME_1, the others by the parameter.
void settleFixed(graph::InternalGraph& graph, const OpenOptions& options) {
    const auto inputNamed = [&graph](const std::string& name) {
        const auto found = std::ranges::find_if(
            graph.inputs(), [&](graph::NodeId input) { return graph.expr(graph.node(input).producer).target == name; });
        return found == graph.inputs().end() ? graph::NodeId() : *found;
    };
    for (const auto& [name, text] : options.concrete) {
        const graph::NodeId own = inputNamed(name), input = own.valid() ? own : inputNamed(name + "_1");
        if (input.valid()) graph.setArguments(graph.node(input).producer, {graph::Argument::of(valueFromText(text))});
    }
}

/// The flattened view: no hierarchy, and weights are constants in place of reads of attributes. Those that the program
/// writes stay reads.
void flatten(graph::InternalGraph& graph) {
    graph = graph::withoutHierarchy(graph).graph;
    passes::Notes notes;
    passes::Rewrite rewrite(graph, notes);
    (void)passes::attrToConstant(rewrite);
}

/// "known ones: a, b"; each once.
std::string listOf(const char* title, const std::set<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return text.empty() ? text : title + text;
}

/// As in the tracers of Python, names that the model does not have are taken and do nothing: that is told.
void tellUnknownNames(TracedGraph& traced, const trace::Module& root, const OpenOptions& options) {
    std::set<std::string> parameters, classes;
    for (const trace::ForwardParameter& parameter : root.signature()) parameters.insert(parameter.name);
    for (const graph::ModuleInfo& module : traced.tree.modules())
        if (!module.moduleClass.empty()) classes.insert(module.moduleClass);
    for (const auto& [name, text] : options.concrete) {
        if (!parameters.contains(name))
            traced.diagnostics.push_back({base::Severity::Warning, "the model has no parameter '" + name + "'",
                                          "--concrete " + name + '=' + text, listOf("parameters: ", parameters)});
    }
    for (const std::string& leaf : options.leaves) {
        if (leaf != "none" && !classes.contains(leaf))
            traced.diagnostics.push_back({base::Severity::Warning, "no module is of class '" + leaf + "'",
                                          "--leaf " + leaf, listOf("classes: ", classes)});
    }
}

}  // namespace

base::Result<std::shared_ptr<Document>> traceModel(const std::shared_ptr<trace::Module>& root,
                                                   const OpenOptions& options, const std::vector<KnownInput>& inputs,
                                                   const base::WorkContext& work) {
    SONDE_ASSIGN(const TracerInfo* tracer, findTracer(options.tracer));
    const trace::EvaluatorScope evaluator(kernelEvaluator());
    TraceRequest request{root, options, {}, work, inputsForExamples(root, options, inputs, work)};
    for (const auto& [name, text] : options.concrete) request.concrete[name] = valueFromText(text);
    // What may be left out but is listed as an input stays symbolic where defaults would be settled: a tensor says so.
    const bool settlesDefaults =
        options.tracer.empty() || options.tracer == "robust" || options.tracer == "module-path";
    for (const trace::ForwardParameter& parameter : root->signature()) {
        if (settlesDefaults && parameter.fallback && takesValue(parameter, inputs))
            request.concrete.emplace(parameter.name, tensor::Tensor::scalar<float>(0));
    }
    work.report("tracing");
    auto traced = tracer->trace(request);
    if (work.cancelled()) return base::cancelled("tracing");
    if (!traced) return withSizes(std::move(traced).error(), request);
    tellUnknownNames(*traced, *root, options);
    auto document = documentOf(*std::move(traced), options, inputs, work);
    if (!document->diagnostics.empty())
        for (std::string& text : examplesApart(request))
            document->diagnostics.insert(document->diagnostics.begin(),
                                         {base::Severity::Warning, std::move(text), {}, {}});
    return document;
}

std::shared_ptr<Document> documentOf(TracedGraph traced, const OpenOptions& options,
                                     const std::vector<KnownInput>& inputs, const base::WorkContext& work) {
    auto document = std::make_shared<Document>();
    document->diagnostics = std::move(traced.diagnostics);
    document->parts = std::move(traced.parts);
    document->text = std::move(traced.text);
    document->tracedModule = std::move(traced.tracedModule);
    document->traced = true;
    document->modules = std::make_shared<const graph::ModuleTree>(std::move(traced.tree));
    const trace::Tracer::GraphPtr graph = std::move(traced.graph);
    // A traced module was flattened by its own rules.
    if (options.flatten && !document->tracedModule) flatten(*graph);
    for (graph::NodeId node : graph->inputs()) {
        for (const KnownInput& input : inputs) {
            // What an example has said is more than what is known beforehand.
            const bool isOpen = !graph->node(node).type.shape;
            if (isOpen && input.name == graph->expr(graph->node(node).producer).target)
                graph->setType(node, input.type);
        }
    }
    settleFixed(*graph, options);
    const std::vector<graph::NodeId> required = analysis::requireInputTypes(*graph);
    const auto isListed = [&inputs](const std::string& name) {
        return std::ranges::find(inputs, name, &KnownInput::name) != inputs.end();
    };
    nameInputsAndOutputs(*document, *graph, isListed);
    for (NamedNode& input : document->inputs)
        input.isRequired = std::ranges::find(required, input.node) != required.end();
    finish(*document, std::move(*graph), work);
    return document;
}

}  // namespace sonde::document
