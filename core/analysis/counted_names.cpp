#include "core/analysis/counted_names.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

namespace sonde::analysis {

using graph::Expr;
using graph::InternalGraph;
using graph::NodeId;

namespace {

/// "add" of "add_1"; all of a name without a number.
std::string_view countedFrom(std::string_view name) {
    const std::size_t end = name.find_last_not_of("0123456789");
    const bool isCountedUp = end != std::string_view::npos && end + 1 < name.size() && name[end] == '_';
    return isCountedUp ? name.substr(0, end) : name;
}

/// An input, a call of a module, or what has the name of its module as such a call has: "layer1_0_conv1". And the
/// only operation of its kind inside of a called module: "layer1_0_bn1/batch_norm", a name that Sonde alone gives.
bool isNamedForSure(const InternalGraph& graph, NodeId node) {
    const Expr& expr = graph.expr(graph.node(node).producer);
    if (expr.kind == graph::ExprKind::CallModule || expr.kind == graph::ExprKind::Input) return true;
    std::string module = expr.qualname.value_or("");
    std::ranges::replace(module, '.', '_');
    const std::string& name = graph.node(node).name;
    return (!module.empty() && module == name) ||
           (name.find('/') != std::string::npos && countedFrom(name).size() == name.size());
}

/// What is known for sure of a node or, where nothing is, of what is computed from it next.
class Evidence {
  public:
    enum : std::uint8_t { kAgrees = 1, kDiffers = 2 };

    Evidence(const InternalGraph& graph, std::span<const ComparedValue> values) : m_of(graph.nodeCount(), 0) {
        for (const ComparedValue& value : values)
            if (value.node.valid() && (value.isOutput || isNamedForSure(graph, value.node)))
                m_of[value.node.index()] |= value.ok ? kAgrees : kDiffers;
        const std::vector<graph::ExprId> order = graph.recursiveOrder(graph.mainId());
        for (auto id = order.rbegin(); id != order.rend(); ++id)
            for (const NodeId node : graph.expr(*id).outputs) {
                std::uint8_t& own = m_of[node.index()];
                if (own != 0) continue;
                for (const graph::ExprId user : graph.node(node).users)
                    for (const NodeId result : graph.expr(user).outputs) own |= m_of[result.index()];
            }
    }

    bool allAgrees(NodeId node) const { return m_of[node.index()] == kAgrees; }

  private:
    std::vector<std::uint8_t> m_of;
};

bool areOutputsRight(std::span<const ComparedValue> values) {
    const auto isWrong = [](const ComparedValue& value) { return value.isOutput && !value.ok; };
    return std::ranges::any_of(values, &ComparedValue::isOutput) && std::ranges::none_of(values, isWrong);
}

}  // namespace

std::vector<bool> namesOfOthers(const InternalGraph& graph, std::span<const ComparedValue> values) {
    const Evidence evidence(graph, values);
    const bool isAllRight = areOutputsRight(values);
    std::vector<bool> areOthers(values.size(), false);
    std::set<std::string_view> shifted;
    const auto isDoubtful = [&](const ComparedValue& value) {
        return !value.ok && !value.isOutput && value.node.valid() &&
               (!value.hasValue || !isNamedForSure(graph, value.node));
    };
    const auto nameOf = [&](const ComparedValue& value) { return countedFrom(graph.node(value.node).name); };
    for (std::size_t i = 0; i < values.size(); ++i) {
        const ComparedValue& value = values[i];
        if (!isDoubtful(value)) continue;
        // Results that nobody reads are left out of a recorded call of a module.
        areOthers[i] =
            value.hasValue ? isAllRight || !value.isMeasured() || evidence.allAgrees(value.node) : isAllRight;
        if (areOthers[i] && value.hasValue) shifted.insert(nameOf(value));
    }
    for (std::size_t i = 0; i < values.size(); ++i)
        if (isDoubtful(values[i]) && values[i].hasValue && shifted.contains(nameOf(values[i]))) areOthers[i] = true;
    return areOthers;
}

}  // namespace sonde::analysis
