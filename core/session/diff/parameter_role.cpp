#include "core/session/diff/parameter_role.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "core/graph/traits.h"
#include "core/session/diff/graph_side.h"

namespace sonde::session::diff {

using graph::Expr;
using graph::ExprId;
using graph::InternalGraph;
using graph::NodeId;
using operators::OpClass;
using operators::Trait;
using Role = ParameterRole;

namespace {

/// Dimensions of more than one element.
std::size_t rankOf(const tensor::Tensor& value) {
    std::size_t rank = 0;
    for (std::size_t axis = 0; axis < value.rank(); ++axis) rank += value.dim(axis) != 1 ? 1 : 0;
    return rank;
}

Role byName(std::string_view name, std::size_t rank) {
    static constexpr std::array<std::pair<std::string_view, Role>, 8> kWords{{{"weight", Role::Scale},
                                                                              {"gamma", Role::Scale},
                                                                              {"bias", Role::Shift},
                                                                              {"beta", Role::Shift},
                                                                              {"running_mean", Role::Mean},
                                                                              {"moving_mean", Role::Mean},
                                                                              {"running_var", Role::Variance},
                                                                              {"moving_variance", Role::Variance}}};
    const std::string_view word = name.substr(name.find_last_of("./") + 1);  // npos + 1 is 0
    const auto found = std::ranges::find(kWords, word, &std::pair<std::string_view, Role>::first);
    if (found == kWords.end()) return Role::Unknown;
    return found->second == Role::Scale && rank > 1 ? Role::Matrix : found->second;
}

/// As manieth of the stored inputs of a normalisation with `count` of them.
Role ofNorm(std::size_t position, std::size_t count, bool hasStatistics) {
    constexpr std::array kAll{Role::Scale, Role::Shift, Role::Mean, Role::Variance};
    if (!hasStatistics) return position < 2 ? kAll[position] : Role::Unknown;
    if (count == 2) return position < 2 ? kAll[position + 2] : Role::Unknown;  // no scale and no shift
    return count == 4 && position < 4 ? kAll[position] : Role::Unknown;
}

Role byUser(const InternalGraph& graph, const Expr& user, NodeId node, std::size_t rank) {
    const operators::Traits& traits = graph::traitsOf(user);
    std::size_t position = 0, count = 0;
    for (const NodeId input : user.inputs) {
        if (!isValueExpr(graph.expr(graph.node(input).producer))) continue;
        if (input == node) position = count;
        ++count;
    }
    switch (traits.opClass) {
        case OpClass::BatchNorm:
        case OpClass::BatchNormWithStatistics: return ofNorm(position, count, true);
        case OpClass::LayerNorm: return ofNorm(position, count, false);
        case OpClass::Add:
        case OpClass::Sub:
        case OpClass::ReverseSub: return rank <= 1 ? Role::Shift : Role::Unknown;
        case OpClass::Mul:
        case OpClass::Div: return rank <= 1 ? Role::Scale : Role::Unknown;
        default: break;
    }
    if (!traits.is(Trait::Convolves) && !traits.is(Trait::Multiplies)) return Role::Unknown;
    // The first one is the kernel, also that of a single filter; a vector behind it is the bias.
    return position == 0 && user.inputs.front() != node ? Role::Matrix : rank > 1 ? Role::Matrix : Role::Shift;
}

}  // namespace

ParameterRole parameterRole(const InternalGraph& graph, NodeId node, const std::string& name,
                            const tensor::Tensor& value) {
    const std::size_t rank = rankOf(value);
    if (const Role role = byName(name, rank); role != Role::Unknown) return role;
    if (!node.valid()) return Role::Unknown;
    for (const ExprId user : graph.node(node).users)
        if (const Role role = byUser(graph, graph.expr(user), node, rank); role != Role::Unknown) return role;
    return Role::Unknown;
}

}  // namespace sonde::session::diff
