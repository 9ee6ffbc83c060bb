#include "core/document/document_json.h"

#include "core/document/attempts.h"
#include "core/io/json/graph_json.h"

namespace sonde::document {

std::string documentJson(const Document& document) {
    std::vector<io::JsonPart> parts;
    for (const Part& part : document.parts)
        parts.push_back({part.qualname, part.moduleClass, part.failure, part.note, part.graph.get()});
    std::vector<io::JsonFailure> failures;
    std::vector<io::JsonUnvisited> unvisited;
    for (const graph::ModuleInfo& module : document.modules->modules()) {
        if (!module.failure.empty())
            failures.push_back(
                {module.qualname, module.moduleClass, module.failure, triedWith(document, module.qualname)});
        if (!module.visited) unvisited.push_back({module.qualname, module.moduleClass, module.note});
    }
    std::vector<graph::NodeId> required;
    for (const NamedNode& input : document.inputs) {
        if (input.isRequired) required.push_back(input.node);
    }
    return io::graphJson(*document.graph, parts, failures, required, unvisited, document.options.tracer == "robust");
}

}  // namespace sonde::document
