#include "core/session/input_values.h"

#include <algorithm>

namespace sonde::session {

using graph::NodeId;

std::vector<tensor::Value> inGraphOrder(const document::Document& document, const std::vector<tensor::Value>& values) {
    const std::vector<NodeId>& inputs = document.graph->inputs();
    std::vector<tensor::Value> ordered(inputs.size());
    for (std::size_t i = 0; i < document.inputs.size() && i < values.size(); ++i) {
        const auto at = std::ranges::find(inputs, document.inputs[i].node);
        if (at != inputs.end()) ordered[static_cast<std::size_t>(at - inputs.begin())] = values[i];
    }
    return ordered;
}

std::vector<tensor::Value> valuesForSecond(const document::Document& first, const document::Document& second,
                                           const std::vector<tensor::Value>& values) {
    std::vector<tensor::Value> named(second.inputs.size());
    for (std::size_t i = 0; i < second.inputs.size(); ++i) {
        const auto same = std::ranges::find(first.inputs, second.inputs[i].name, &document::NamedNode::name);
        if (same == first.inputs.end()) return values;
        const auto index = static_cast<std::size_t>(same - first.inputs.begin());
        if (index < values.size()) named[i] = values[index];
    }
    return named;
}

}  // namespace sonde::session
