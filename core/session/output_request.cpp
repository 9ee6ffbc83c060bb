#include "core/session/output_request.h"

#include <algorithm>

#include "core/io/inputs/text_input.h"

namespace sonde::session::outputs {

namespace {

std::string outputName(const document::Document& document, const Run& run, std::size_t index) {
    const graph::NodeId node = run.outputNodes()[index];
    if (!run.plan->options().end.empty()) return document.graph->node(node).name;
    return index < document.outputs.size() ? document.outputs[index].name : std::to_string(index);
}

void addInputs(const Session& session, ShowRequest& request,
               const std::function<const tensor::Value*(graph::NodeId)>& valueOf) {
    for (const Input& input : session.inputs().all()) {
        InputFact fact{input.name, {}, input.spec.image.preset, 0};
        if (const tensor::Value* const value = valueOf(input.node); value && value->isTensor())
            fact.tensor = value->tensor();
        request.inputs.push_back(std::move(fact));
        request.imageFiles.push_back(input.files.size() == 1 ? input.files.front() : nullptr);
        if (io::givesText(input.spec.source))
            request.tokenItem = input.spec.source;  // of two the decoder's is the last
    }
}

}  // namespace

ShowRequest showRequest(const Session& session, std::vector<Choice> choices) {
    ShowRequest request;
    request.document = session.document();
    request.choices = std::move(choices);
    const Run& run = session.runs().last();
    if (!request.document || !run.recording || !run.plan) return request;
    const std::vector<graph::NodeId>& nodes = run.outputNodes();
    for (std::size_t i = 0; i < run.recording->outputs.size() && i < nodes.size(); ++i) {
        request.names.emplace_back(outputName(*request.document, run, i), nodes[i]);
        request.values.push_back(run.recording->outputs[i]);
    }
    const std::vector<graph::NodeId>& given = request.document->graph->inputs();
    addInputs(session, request, [&](graph::NodeId node) -> const tensor::Value* {
        const auto position = static_cast<std::size_t>(std::ranges::find(given, node) - given.begin());
        return position < run.inputs.size() ? &run.inputs[position] : nullptr;
    });
    return request;
}

ShowRequest showRequest(const Session& session, std::vector<Choice> choices,
                        const std::function<const tensor::Value*(graph::NodeId)>& valueOf) {
    ShowRequest request;
    request.document = session.document();
    request.choices = std::move(choices);
    if (!request.document) return request;
    for (const document::NamedNode& output : request.document->outputs) {
        const tensor::Value* const value = valueOf(output.node);
        if (!value) continue;
        request.names.emplace_back(output.name, output.node);
        request.values.push_back(*value);
    }
    addInputs(session, request, valueOf);
    return request;
}

}  // namespace sonde::session::outputs
