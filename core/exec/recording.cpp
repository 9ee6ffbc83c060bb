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

std::vector<std::int64_t> Recording::passOf(NodeId node, std::size_t iteration) const {
    const auto found = keptPasses.find(node);
    if (found == keptPasses.end() || iteration >= found->second.size()) return {};
    return found->second[iteration];
}

std::string Recording::passText(NodeId node, std::size_t iteration) const {
    std::string text;
    for (const std::int64_t pass : passOf(node, iteration)) text += (text.empty() ? "" : ".") + std::to_string(pass);
    return text;
}

std::optional<std::size_t> Recording::iterationOf(NodeId node, std::string_view text) const {
    for (std::size_t i = 0; i < iterations(node); ++i) {
        if (!text.empty() && passText(node, i) == text) return i;
    }
    return std::nullopt;
}

const std::vector<std::size_t>& Recording::branches(ExprId expr) const {
    static const std::vector<std::size_t> none;
    const auto found = branchesTaken.find(expr);
    return found == branchesTaken.end() ? none : found->second;
}

bool Recording::computed(NodeId node) const { return node.index() < computedNodes.size() && computedNodes[node.index()]; }

ExprState Recording::state(ExprId expr) const {
    return expr.index() < states.size() ? states[expr.index()] : ExprState::NotReached;
}

std::int64_t Recording::elapsedNs(ExprId expr) const { return expr.index() < elapsed.size() ? elapsed[expr.index()] : 0; }
std::int64_t Recording::startNs(ExprId expr) const { return expr.index() < started.size() ? started[expr.index()] : 0; }

}  // namespace sonde::exec
