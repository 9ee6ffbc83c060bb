#include "core/document/part.h"

#include "core/document/inputs_outputs.h"

namespace sonde::document {

namespace {

/// Everything but graph, inputs and outputs. What is remembered of it is its own.
std::shared_ptr<Document> besides(const Document& whole, const std::string& name,
                                  const std::shared_ptr<const graph::InternalGraph>& graph) {
    auto document = std::make_shared<Document>();
    document->title = name + " of " + whole.title;
    document->location = whole.location + '#' + name;
    document->format = whole.format;
    document->properties = whole.properties;
    document->graph = graph;
    document->modules = whole.modules;
    document->traced = whole.traced;
    document->options = whole.options;
    document->fingerprint = whole.fingerprint ^ std::hash<std::string>{}(name);
    return document;
}

}  // namespace

std::shared_ptr<const Document> documentOfPart(const Document& whole, std::size_t index) {
    const Part& part = whole.parts.at(index);
    if (!part.graph) return nullptr;
    auto document = besides(whole, part.qualname, part.graph);
    nameInputsAndOutputs(*document, *part.graph);
    return document;
}

std::shared_ptr<const Document> documentBeforePasses(const Document& whole) {
    if (!whole.original) return nullptr;
    auto document = besides(whole, "before passes", whole.original);
    // Ids of what stayed agree; results keep their places.
    document->inputs = whole.inputs;
    const std::vector<graph::NodeId>& results = whole.original->outputs();
    for (std::size_t i = 0; i < results.size(); ++i)
        document->outputs.push_back(
            {i < whole.outputs.size() ? whole.outputs[i].name : "out_" + std::to_string(i), results[i]});
    return document;
}

}  // namespace sonde::document
