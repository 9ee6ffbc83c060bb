#include "core/document/inputs_outputs.h"

namespace sonde::document {

namespace {

using graph::Argument;

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

}  // namespace

void nameInputsAndOutputs(Document& document, const graph::InternalGraph& graph) {
    for (graph::NodeId node : graph.inputs()) {
        // What has a default need not be given.
        const graph::Expr& input = graph.expr(graph.node(node).producer);
        if (input.arguments.empty()) document.inputs.push_back({input.target, node});
    }
    nameOutputs(graph.main().result, "out", document.outputs);
}

}  // namespace sonde::document
