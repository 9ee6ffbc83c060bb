#include "core/document/inputs_outputs.h"

#include <algorithm>

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

void nameInputsAndOutputs(Document& document, const graph::InternalGraph& graph,
                          const std::function<bool(const std::string&)>& isListed) {
    for (graph::NodeId node : graph.inputs()) {
        // What has a default need not be given, unless it is None and the model lists it. Values go to inputs in their
        // order, so nothing comes after one that is left out.
        const graph::Expr& input = graph.expr(graph.node(node).producer);
        const bool isInOrder =
            document.inputs.size() ==
            static_cast<std::size_t>(std::ranges::find(graph.inputs(), node) - graph.inputs().begin());
        const bool isNone = !input.arguments.empty() && input.arguments.front().kind == Argument::Kind::Constant &&
                            input.arguments.front().constant.isNone();
        if (input.arguments.empty() || (isNone && isInOrder && isListed && isListed(input.target)))
            document.inputs.push_back({input.target, node});
    }
    nameOutputs(graph.main().result, "out", document.outputs);
}

}  // namespace sonde::document
