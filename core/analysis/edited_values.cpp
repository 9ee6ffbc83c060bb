#include "core/analysis/edited_values.h"

#include <algorithm>

namespace sonde::analysis {

using graph::NodeId;

std::vector<NodeId> withEditedValues(std::vector<NodeId> match, const graph::InternalGraph& to) {
    for (std::size_t i = 0; i < match.size(); ++i) {
        if (!match[i].valid()) continue;
        const std::string_view name = to.node(match[i]).name;
        if (!name.ends_with(kBeforeEdits)) continue;
        const NodeId edited = to.findNode(std::string(name.substr(0, name.size() - kBeforeEdits.size())));
        if (!edited.valid()) continue;
        std::ranges::replace(match, edited, NodeId());
        match[i] = edited;
    }
    return match;
}

}  // namespace sonde::analysis
