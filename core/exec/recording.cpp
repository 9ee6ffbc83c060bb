#include "core/exec/run.h"

namespace sonde::exec {

const Value* Recording::value(NodeId node) const {
    const auto found = kept.find(node);
    return found == kept.end() || found->second.empty() ? nullptr : &found->second.back();
}

const Value* Recording::value(NodeId node, std::size_t iteration) const {
    const auto found = kept.find(node);
    return found == kept.end() || iteration >= found->second.size() ? nullptr : &found->second[iteration];
}

std::size_t Recording::iterations(NodeId node) const {
    const auto found = kept.find(node);
    return found == kept.end() ? 0 : found->second.size();
}

bool Recording::computed(NodeId node) const { return node.index() < computedNodes.size() && computedNodes[node.index()]; }

ExprState Recording::state(ExprId expr) const {
    return expr.index() < states.size() ? states[expr.index()] : ExprState::NotReached;
}

std::int64_t Recording::elapsedNs(ExprId expr) const { return expr.index() < elapsed.size() ? elapsed[expr.index()] : 0; }
std::int64_t Recording::startNs(ExprId expr) const { return expr.index() < started.size() ? started[expr.index()] : 0; }

}  // namespace sonde::exec
