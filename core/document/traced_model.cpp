#include "core/document/traced_model.h"

#include <charconv>

#include "core/document/evaluator.h"
#include "core/document/finish.h"
#include "core/trace/robust_tracer.h"
#include "core/zoo/zoo.h"

namespace sonde::document {

namespace {

using graph::Argument;
using tensor::Value;

/// "true", "None", "3", "0.5" or text, as on the command line.
Value valueFromText(const std::string& text) {
    if (text == "true" || text == "True") return Value::ofBool(true);
    if (text == "false" || text == "False") return Value::ofBool(false);
    if (text == "None" || text == "none") return {};
    const char* end = text.data() + text.size();
    std::int64_t whole = 0;
    if (const auto read = std::from_chars(text.data(), end, whole); read.ec == std::errc{} && read.ptr == end) return Value::ofInt(whole);
    double number = 0;
    if (const auto read = std::from_chars(text.data(), end, number); read.ec == std::errc{} && read.ptr == end) return Value::ofFloat(number);
    return Value(text);
}

/// "out", "out_0_1" for parts of tuples, the key for entries of a dict.
void nameOutputs(const Argument& structure, const std::string& name, std::vector<NamedNode>& into) {
    if (structure.kind == Argument::Kind::Node) into.push_back({name, structure.node});
    for (std::size_t i = 0; i < structure.items.size(); ++i) {
        std::string part = std::to_string(i);
        if (structure.kind == Argument::Kind::Dict && structure.keys[i].kind() == tensor::ValueKind::String) {
            part = structure.keys[i].toString();
            if (name == "out") {
                nameOutputs(structure.items[i], part, into);
                continue;
            }
        }
        nameOutputs(structure.items[i], name + '_' + part, into);
    }
}

void nameInputsAndOutputs(Document& document, const graph::InternalGraph& graph) {
    for (graph::NodeId node : graph.inputs()) {
        // What has a default need not be given.
        const graph::Expr& input = graph.expr(graph.node(node).producer);
        if (input.arguments.empty()) document.inputs.push_back({input.target, node});
    }
    nameOutputs(graph.main().result, "out", document.outputs);
}

/// The graph by the tracer that the options name. Without one, everything that can be traced is, and the rest becomes
/// opaque calls, so that every model opens and runs.
base::Result<trace::Tracer::GraphPtr> traceWith(trace::RobustTracer& tracer, const std::shared_ptr<trace::Module>& root,
                                                const OpenOptions& options, base::Diagnostics& diagnostics) {
    for (const std::string& leaf : options.leaves) {
        if (leaf == "none") {
            tracer.setTraceAll(true);
        } else {
            tracer.addLeafClass(leaf);
        }
    }
    trace::ConcreteArguments concrete;
    for (const auto& [name, text] : options.concrete) concrete[name] = valueFromText(text);
    if (options.tracer == "module-path") return static_cast<trace::Tracer&>(tracer).trace(root, concrete);

    std::string failure;
    if (options.tracer == "robust") {
        trace::Tracer::GraphPtr graph = tracer.traceRobust(root, concrete);
        if (graph->nodeCount() > 0) return graph;
        failure = *tracer.failureMessage(*root);
    } else {
        auto graph = tracer.traceRepeatedly(root, concrete);
        if (graph) return graph;
        failure = graph.error().what;
    }
    diagnostics.push_back({base::Severity::Info, "the model cannot be traced and runs as one opaque call: " + failure, root->className(),
                           "export it with torch.jit.trace to see its inside"});
    return tracer.traceOpaque(root);
}

}  // namespace

base::Result<std::shared_ptr<Document>> traceModel(const std::shared_ptr<trace::Module>& root, const OpenOptions& options,
                                                   const std::vector<KnownInput>& inputs, const base::WorkContext& work) {
    if (!options.tracer.empty() && options.tracer != "module-path" && options.tracer != "robust") {
        return base::usageError("there is no tracer '" + options.tracer + "' for this model", {}, "tracers: module-path, robust");
    }
    const trace::EvaluatorScope evaluator(kernelEvaluator());
    auto document = std::make_shared<Document>();
    trace::RobustTracer tracer;
    work.report("tracing");
    SONDE_ASSIGN(auto graph, traceWith(tracer, root, options, document->diagnostics));
    if (work.cancelled()) return base::cancelled("tracing");

    for (graph::NodeId node : graph->inputs()) {
        for (const KnownInput& input : inputs) {
            if (input.name == graph->expr(graph->node(node).producer).target) graph->setType(node, input.type);
        }
    }
    nameInputsAndOutputs(*document, *graph);
    for (const auto& [path, message] : tracer.failures()) {
        document->diagnostics.push_back({base::Severity::Info, "runs as one opaque call: " + message, path,
                                         "its forward depends on the data; its inside cannot be drawn"});
    }
    document->modules = std::make_shared<const graph::ModuleTree>(tracer.tree());
    finish(*document, std::move(*graph), work);
    return document;
}

base::Result<std::shared_ptr<Document>> openZooModel(const std::string& name, const OpenOptions& options,
                                                     const base::WorkContext& work) {
    work.report("making zoo:" + name);
    SONDE_ASSIGN(const auto module, zoo::makeModel(name));
    const zoo::ModelEntry& entry = *zoo::find(name);
    std::vector<KnownInput> inputs;
    for (const zoo::InputExample& input : entry.inputs) inputs.push_back({input.name, input.type});
    SONDE_ASSIGN(auto document, traceModel(module, options, inputs, work));
    document->title = name;
    document->location = "zoo:" + name;
    document->format = "built-in model";
    document->properties = {{"description", std::string(entry.sentence)}, {"weights", "random, from seed 0"}};
    document->fingerprint = std::hash<std::string>{}("zoo:" + name);
    return document;
}

}  // namespace sonde::document
