#include "core/document/input_infos.h"

#include <algorithm>

#include "core/analysis/demand.h"

namespace sonde::document {

std::vector<io::InputInfo> inputInfos(const Document& document) {
    std::vector<io::InputInfo> infos;
    bool asksLayers = false;
    for (const NamedNode& input : document.inputs) {
        infos.push_back({input.name, document.graph->node(input.node).type, input.isDemanded, {}});
        asksLayers = asksLayers || input.isDemanded || !infos.back().type.kind;
    }
    if (!asksLayers) return infos;
    // Passes make operators of their own of layers.
    const graph::InternalGraph& graph = document.original ? *document.original : *document.graph;
    const std::vector<tensor::ExtentHints> usual = analysis::usualExtents(graph);
    for (std::size_t i = 0; i < infos.size(); ++i) {
        const auto at = std::ranges::find(graph.inputs(), document.inputs[i].node);
        const bool asks = document.inputs[i].isDemanded || !infos[i].type.kind;
        if (asks && at != graph.inputs().end()) infos[i].usual = usual[static_cast<std::size_t>(at - graph.inputs().begin())];
    }
    return infos;
}

tensor::TypeInfo usualType(const io::InputInfo& input) {
    if (!input.type.shape && input.usual.empty()) return input.type;
    return tensor::TypeInfo::tensor(input.type.dtype, io::usualShape(input.type, input.usual));
}

}  // namespace sonde::document
