#include "core/document/document.h"
#include "core/document/inputs_outputs.h"

namespace sonde::document {

std::shared_ptr<const Document> documentOfPart(const Document& whole, std::size_t index) {
    const Part& part = whole.parts.at(index);
    if (!part.graph) return nullptr;
    auto document = std::make_shared<Document>();
    document->title = part.qualname + " of " + whole.title;
    document->location = whole.location + '#' + part.qualname;
    document->format = whole.format;
    document->properties = whole.properties;
    document->graph = part.graph;
    document->modules = whole.modules;
    document->traced = whole.traced;
    document->options = whole.options;
    nameInputsAndOutputs(*document, *part.graph);
    // What is remembered of it is its own.
    document->fingerprint = whole.fingerprint ^ std::hash<std::string>{}(part.qualname + '/' + std::to_string(index));
    return document;
}

}  // namespace sonde::document
