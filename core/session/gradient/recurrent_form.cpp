#include "core/session/gradient/recurrent_form.h"

namespace sonde::session::gradient {

using exporting::LoweredCall;
using exporting::NodeId;
using tensor::Tensor;

namespace {

/// One direction of a layer: weights [4H, in], [4H, P], biases [4H] if there are any, projection [P, H].
struct ProjectedCell {
    LoweredCall& call;
    std::span<const NodeId> weights;
    bool hasBiases;

    NodeId gatesOf(NodeId x, std::size_t weight, std::size_t bias) const {
        std::vector<NodeId> inputs{x, weights[weight]};
        if (hasBiases) inputs.push_back(weights[bias]);
        return call.make("Gemm", inputs, {{"transB", std::int64_t{1}}});
    }

    /// Gates i f g o: c' = f·c + i·g, h' = projection of o·tanh(c'). x [N, in], h [N, P], c [N, H].
    void step(NodeId x, NodeId& h, NodeId& c) const {
        const NodeId sum = call.make("Add", {gatesOf(x, 0, 2), gatesOf(h, 1, 3)});
        const std::int64_t hidden = call.shapeOf(c)[1];
        const std::vector<NodeId> gates = call.makeAll(
            "Split", {sum, call.integersNode({hidden, hidden, hidden, hidden})}, {{"axis", std::int64_t{1}}}, 4);
        const auto gate = [&](std::size_t i) { return call.make("Sigmoid", {gates[i]}); };
        c = call.make("Add",
                      {call.make("Mul", {gate(1), c}), call.make("Mul", {gate(0), call.make("Tanh", {gates[2]})})});
        const NodeId whole = call.make("Mul", {gate(3), call.make("Tanh", {c})});
        h = call.make("Gemm", {whole, weights.back()}, {{"transB", std::int64_t{1}}});
    }
};

/// An index along the first axis, which goes away.
NodeId partOf(LoweredCall& call, NodeId x, std::int64_t index) {
    return call.make("Gather", {x, call.constant(Tensor::scalar<std::int64_t>(index))}, {{"axis", std::int64_t{0}}});
}
/// One behind the other along a new first axis.
NodeId stackedParts(LoweredCall& call, const std::vector<NodeId>& parts) {
    std::vector<NodeId> rows;
    for (const NodeId part : parts) rows.push_back(call.make("Unsqueeze", {part, call.integersNode({0})}));
    return rows.size() == 1 ? rows.front() : call.make("Concat", rows, {{"axis", std::int64_t{0}}});
}

}  // namespace

std::vector<graph::Argument> projectedLstm(LoweredCall& call) {
    const bool hasBiases = call.flag(3), isUnbatched = call.shapeOf(call.tensor(0)).rank() == 2,
               isBatchFirst = !isUnbatched && call.flag(8);
    const std::int64_t layers = call.integer(4), directions = call.flag(7) ? 2 : 1;
    const std::vector<NodeId> weights = call.tensors(2);
    std::vector<NodeId> states = call.tensors(1);
    const std::size_t each = hasBiases ? 5 : 3;
    if (layers < 1 || states.size() != 2 || weights.size() != static_cast<std::size_t>(layers * directions) * each)
        return {};
    if (call.flag(6) && call.number(5) > 0) LoweredCall::fail("dropout in training");
    NodeId x = call.tensor(0);
    if (isBatchFirst) x = call.permuted(x, {1, 0, 2});
    if (isUnbatched) {
        for (NodeId* one : {&x, &states[0], &states[1]}) *one = call.make("Unsqueeze", {*one, call.integersNode({1})});
    }
    const std::int64_t length = call.shapeOf(x)[0];
    std::vector<NodeId> lastH, lastC;
    for (std::int64_t layer = 0; layer < layers; ++layer) {
        std::vector<std::vector<NodeId>> steps(static_cast<std::size_t>(length));
        for (std::int64_t direction = 0; direction < directions; ++direction) {
            const std::int64_t own = layer * directions + direction;
            const ProjectedCell cell{call, std::span(weights).subspan(static_cast<std::size_t>(own) * each, each),
                                     hasBiases};
            NodeId h = partOf(call, states[0], own), c = partOf(call, states[1], own);
            for (std::int64_t i = 0; i < length; ++i) {
                const std::int64_t at = direction == 1 ? length - 1 - i : i;
                cell.step(partOf(call, x, at), h, c);
                steps[static_cast<std::size_t>(at)].push_back(h);
            }
            lastH.push_back(h), lastC.push_back(c);
        }
        std::vector<NodeId> rows;
        for (const std::vector<NodeId>& step : steps)
            rows.push_back(step.size() == 1 ? step.front() : call.make("Concat", step, {{"axis", std::int64_t{1}}}));
        x = stackedParts(call, rows);
    }
    std::vector<NodeId> results{isBatchFirst ? call.permuted(x, {1, 0, 2}) : x, stackedParts(call, lastH),
                                stackedParts(call, lastC)};
    for (NodeId& result : results)
        if (isUnbatched) result = call.make("Squeeze", {result, call.integersNode({1})});
    return exporting::several(results);
}

}  // namespace sonde::session::gradient
