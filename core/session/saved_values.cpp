#include "core/session/saved_values.h"

#include <algorithm>

namespace sonde::session {

using analysis::KeyedTensors;
using graph::NodeId;
using tensor::Value;

namespace {

/// Of the last run; of an input what that run was given. Null if there is none.
const Value* lastValueOf(const Session& session, NodeId node) {
    const std::vector<NodeId>& inputs = session.document()->graph->inputs();
    const std::vector<Value>& given = session.runs().last().inputs;
    const auto input = std::ranges::find(inputs, node);
    if (input == inputs.end()) return session.values().of(node);
    const auto place = static_cast<std::size_t>(input - inputs.begin());
    return place < given.size() ? &given[place] : nullptr;
}

void addNamed(const Session& session, const std::string& prefix, const std::vector<document::NamedNode>& named,
              KeyedTensors& arrays) {
    for (const document::NamedNode& one : named)
        if (const Value* const value = lastValueOf(session, one.node))
            analysis::addValue(*value, prefix + one.name, arrays);
}

}  // namespace

KeyedTensors savedValues(const Session& session) {
    KeyedTensors arrays;
    const auto& recording = session.runs().last().recording;
    if (!recording || !session.document()) return arrays;
    addNamed(session, "in.", session.document()->inputs, arrays);
    addNamed(session, "out.", session.document()->outputs, arrays);
    const Points& points = session.points();
    std::vector<NodeId> nodes = points.watched.nodes();
    for (const NodeId node : points.ends.nodes())
        if (!points.watched.contains(node)) nodes.push_back(node);
    for (const NodeId node : nodes) {
        const std::string key = "node." + session.document()->graph->node(node).name;
        if (const exec::Recording* const kept = session.values().recordingOf(node))
            analysis::addKept(*session.document()->graph, *kept, node, key, arrays);
        else if (const Value* const value = lastValueOf(session, node)) analysis::addValue(*value, key, arrays);
    }
    return arrays;
}

}  // namespace sonde::session
