#include "core/document/input_infos.h"

#include <algorithm>

#include "core/analysis/requirements.h"
#include "core/document/fitting_sizes.h"
#include "core/document/test_cases.h"
#include "core/io/inputs/agreement.h"

namespace sonde::document {

namespace {

/// What the layers tell of inputs of which the file says too little.
void addHints(std::vector<io::InputInfo>& infos, const Document& document) {
    // Passes make operators of their own of layers.
    const graph::InternalGraph& graph = document.original ? *document.original : *document.graph;
    const std::vector<tensor::DimSizeHints> usual = analysis::usualDimSizes(graph);
    for (std::size_t i = 0; i < infos.size(); ++i) {
        const auto at = std::ranges::find(graph.inputs(), document.inputs[i].node);
        const bool asks = document.inputs[i].isRequired || !infos[i].type.kind;
        if (asks && at != graph.inputs().end())
            infos[i].usual = usual[static_cast<std::size_t>(at - graph.inputs().begin())];
    }
}

/// Where a run of the usual sizes would fail.
void addFittingSizes(std::vector<io::InputInfo>& infos, const Document& document) {
    const std::vector<tensor::DimSizeHints> sizes = fittingSizes(document.graph);
    const std::vector<graph::NodeId>& inputs = document.graph->inputs();
    for (std::size_t i = 0; i < infos.size() && !sizes.empty(); ++i) {
        const auto at = std::ranges::find(inputs, document.inputs[i].node);
        if (at != inputs.end()) infos[i].usual = sizes[static_cast<std::size_t>(at - inputs.begin())];
    }
}

/// What is known of a traced model's input is what it usually takes, or took in the example: other sizes may come,
/// unless its layers say otherwise.
tensor::TypeInfo requirement(const tensor::TypeInfo& type, const tensor::TypeInfo& byLayers) {
    tensor::TypeInfo required = tensor::TypeInfo::tensor(type.dtype);
    if (!type.shape) return required;
    const bool isSameRank = byLayers.shape && byLayers.shape->size() == type.shape->size();
    required.shape = isSameRank ? byLayers.shape : std::optional(std::vector<tensor::Dim>(type.shape->size()));
    for (std::size_t axis = 0; axis < type.shape->size(); ++axis) {
        // Names are those of the model's author.
        const tensor::Dim& dim = (*type.shape)[axis];
        if (!(*required.shape)[axis].known() && !dim.known()) (*required.shape)[axis] = dim;
    }
    return required;
}

}  // namespace

std::vector<io::InputInfo> inputInfos(const Document& document) {
    std::vector<io::InputInfo> infos;
    bool asksLayers = false;
    for (const NamedNode& input : document.inputs) {
        infos.push_back({input.name, document.graph->node(input.node).type, input.isRequired, {}});
        asksLayers = asksLayers || input.isRequired || !infos.back().type.kind;
    }
    if (asksLayers) addHints(infos, document);
    addFittingSizes(infos, document);
    io::agreeOnSymbols(infos);
    return infos;
}

bool hasFixedSizes(const graph::InternalGraph& graph, graph::NodeId input) {
    return graph.expr(graph.node(input).producer).attributes.getInt(io::dump::kFixedSizes, 0) != 0;
}

std::vector<io::InputInfo> requiredInputInfos(const Document& document) {
    std::vector<io::InputInfo> infos = inputInfos(document);
    std::vector<tensor::TypeInfo> byLayers;
    const graph::InternalGraph& graph = document.original ? *document.original : *document.graph;
    const bool anyRecorded =
        std::ranges::any_of(document.inputs, [](const NamedNode& input) { return !input.isRequired; });
    // A dump has the sizes that it was made with, and load-and-run takes others (--batch_size).
    const bool areSizesUsual = document.traced || document.format == kDumpFormatName;
    if (areSizesUsual && anyRecorded) byLayers = analysis::requiredByLayers(graph);
    for (std::size_t i = 0; i < infos.size(); ++i) {
        io::InputInfo& info = infos[i];
        info.isRequiredByLayers = areSizesUsual;
        const auto at = static_cast<std::size_t>(std::ranges::find(graph.inputs(), document.inputs[i].node) -
                                                 graph.inputs().begin());
        const bool isRecorded = areSizesUsual && !info.isGuide && info.type.isTensor() &&
                                !hasFixedSizes(*document.graph, document.inputs[i].node);
        info.required =
            isRecorded ? requirement(info.type, at < byLayers.size() ? byLayers[at] : tensor::TypeInfo()) : info.type;
        // The rank of a static graph is one of its facts, whoever found it.
        if (document.format == kDumpFormatName && info.type.shape) info.isGuide = false;
    }
    return infos;
}

std::string otherRank(const Document& document, std::span<const tensor::Value> values) {
    const std::vector<io::InputInfo> infos = requiredInputInfos(document);
    const std::vector<graph::NodeId>& inputs = document.graph->inputs();
    for (std::size_t i = 0; i < infos.size(); ++i) {
        const auto at = static_cast<std::size_t>(std::ranges::find(inputs, document.inputs[i].node) - inputs.begin());
        if (at >= values.size() || !values[at].isTensor() || !infos[i].type.shape) continue;
        const std::size_t rank = infos[i].type.shape->size(), given = values[at].tensor().rank();
        if (rank == given) continue;
        return io::unexpectedValue(
                   infos[i], values[at].typeText(),
                   "rank: " + std::to_string(rank) + " required by its layers, " + std::to_string(given) + " given")
            .what;
    }
    return {};
}

std::function<bool(const std::string&)> defaultsOf(const Document& document) {
    return [graph = document.graph](const std::string& name) {
        for (const graph::NodeId input : graph->inputs()) {
            const graph::Expr& expr = graph->expr(graph->node(input).producer);
            if (expr.target == name) return !expr.arguments.empty();
        }
        const graph::NodeId node = graph->findNode(name);
        if (!node.valid()) return false;
        const graph::Expr& expr = graph->expr(graph->node(node).producer);
        return expr.kind == graph::ExprKind::Constant && expr.isParameter;
    };
}

tensor::TypeInfo usualType(const io::InputInfo& input) {
    if (!input.type.shape && input.usual.empty()) return input.type;
    return tensor::TypeInfo::tensor(input.type.dtype, io::usualShape(input.type, input.usual));
}

}  // namespace sonde::document
