#include "app/verbs/inputs.h"

#include "app/interrupt.h"

namespace sonde::app {

base::Result<std::vector<io::InputCase>> inputsFor(const document::Document& document, const std::string& spec,
                                                   std::uint64_t seed) {
    std::vector<io::InputInfo> inputs;
    for (const document::NamedNode& input : document.inputs) {
        inputs.push_back({input.name, document.graph->node(input.node).type});
    }
    io::InputOptions options;
    options.seed = seed;
    return io::makeInputs(spec, inputs, options, commandLineWork());
}

base::Result<std::vector<graph::NodeId>> nodesFor(const document::Document& document, const std::vector<std::string>& names) {
    std::vector<graph::NodeId> nodes;
    for (const std::string& name : names) {
        SONDE_ASSIGN(const graph::NodeId node, document.findNode(name));
        nodes.push_back(node);
    }
    return nodes;
}

}  // namespace sonde::app
