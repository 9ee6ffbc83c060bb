#include "core/analysis/injection.h"

#include <string>

#include "core/graph/missing_data.h"

namespace sonde::analysis {

using graph::InternalGraph;
using graph::NodeId;

std::shared_ptr<const InternalGraph> withInjected(const std::shared_ptr<const InternalGraph>& graph,
                                                  std::span<const NodeId> nodes) {
    auto made = std::make_shared<InternalGraph>(*graph);
    std::size_t number = 0;
    for (const NodeId node : nodes) {
        std::string name = "given." + std::to_string(number++);
        while (made->findNode(name).valid()) name += '_';
        const NodeId input = made->addInput(made->mainId(), std::move(name), made->node(node).type);
        made->replaceUses(node, input);
    }
    return graph::withKeptOf(std::move(made), graph);
}

}  // namespace sonde::analysis
