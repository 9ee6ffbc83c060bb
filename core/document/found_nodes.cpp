#include "core/document/found_nodes.h"

#include "core/graph/scope_output.h"

namespace sonde::document {

base::Result<std::vector<graph::NodeId>> findNodes(const Document& document, std::string_view text) {
    // A name wins, whatever it looks like.
    const bool isModule = text.ends_with(':') && !text.starts_with('#') && !document.graph->findNode(text).valid();
    if (isModule) {
        auto outputs = graph::outputsOfModule(*document.graph, text.substr(0, text.size() - 1));
        if (!outputs.empty()) return outputs;
    }
    SONDE_ASSIGN(const graph::NodeId node, document.findNode(text));
    return std::vector<graph::NodeId>{node};
}

}  // namespace sonde::document
