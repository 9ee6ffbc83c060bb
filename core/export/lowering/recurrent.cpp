#include <algorithm>

#include "core/export/lowering/lowering.h"

namespace sonde::exporting {

namespace {

/// An operator of torch as ONNX has it: its name, and torch's gates in ONNX's order.
struct Kind {
    const char* name;
    std::vector<std::size_t> gates;
    std::size_t states;
    const char* activation = nullptr;
};
Kind kindOf(std::string_view torch) {
    // Input, forget, cell, output are input, output, forget, cell; reset, update, new are update, reset, hidden.
    if (torch.starts_with("lstm")) return {"LSTM", {0, 3, 1, 2}, 2};
    if (torch.starts_with("gru")) return {"GRU", {1, 0, 2}, 1};
    return {"RNN", {0}, 1, torch.starts_with("rnn_relu") ? "Relu" : "Tanh"};
}

/// A weight as it is in the new graph: folded into a constant, or what operators give.
struct Weight {
    Tensor constant;  ///< defined: it is this
    NodeId node = {};
    Shape shape = {};

    const Shape& dims() const { return constant.defined() ? constant.shape() : shape; }
    NodeId in(LoweredCall& call) const { return constant.defined() ? call.constant(constant) : node; }
};

/// [G·H,…] → [1,G·H,…], gates in ONNX's order.
Weight gatesInOrder(LoweredCall& call, const Weight& weight, const Kind& kind) {
    const std::size_t count = kind.gates.size();
    if (weight.dims().rank() < 1 || weight.dims()[0] % static_cast<std::int64_t>(count) != 0)
        LoweredCall::fail("unsupported weights");
    std::vector<std::int64_t> dims = weight.dims().dims();
    dims.insert(dims.begin(), 1);
    const auto packed = weight.constant.defined() ? weight.constant.contiguous() : base::Result<Tensor>(Tensor());
    if (packed && packed->defined() && packed->dtype() == DType::Float32) {
        const std::size_t part = static_cast<std::size_t>(packed->numel()) / count;
        std::vector<float> ordered;
        for (std::size_t gate : kind.gates) {
            const float* from = packed->data<float>() + gate * part;
            ordered.insert(ordered.end(), from, from + part);
        }
        return {Tensor::of<float>(Shape(dims), ordered)};
    }
    NodeId all = weight.in(call);
    if (count > 1) {
        const std::vector<NodeId> parts =
            call.makeAll("Split", {all, call.integersNode(std::vector<std::int64_t>(count, weight.dims()[0] / count))},
                         {{"axis", std::int64_t{0}}}, count);
        std::vector<NodeId> ordered;
        for (std::size_t gate : kind.gates) ordered.push_back(parts[gate]);
        all = call.make("Concat", ordered, {{"axis", std::int64_t{0}}});
    }
    return {{}, call.reshaped(all, Shape(dims)), Shape(dims)};
}

Weight joined(LoweredCall& call, const std::vector<Weight>& parts, std::size_t axis) {
    std::vector<std::int64_t> dims = parts[0].dims().dims();
    dims[axis] = 0;
    for (const Weight& part : parts) dims[axis] += part.dims()[axis];
    std::vector<float> all;
    std::vector<NodeId> nodes;
    if (std::ranges::all_of(parts, [](const Weight& part) { return part.constant.defined(); })) {
        for (const Weight& part : parts)
            all.insert(all.end(), part.constant.data<float>(), part.constant.data<float>() + part.constant.numel());
        return {Tensor::of<float>(Shape(dims), all)};
    }
    for (const Weight& part : parts) nodes.push_back(part.in(call));
    if (nodes.size() == 1) return parts[0];
    return {{}, call.make("Concat", nodes, {{"axis", static_cast<std::int64_t>(axis)}}), Shape(dims)};
}

std::vector<Weight> weightsOf(LoweredCall& call, const Argument& list) {
    std::vector<Weight> weights;
    if (list.kind == Argument::Kind::Constant && list.constant.isListLike()) {
        for (const Value& item : list.constant.items()) weights.push_back({item.isTensor() ? item.tensor() : Tensor()});
    }
    for (const Argument& item : list.items) {
        if (item.kind == Argument::Kind::Constant && item.constant.isTensor()) {
            weights.push_back({item.constant.tensor()});
        } else {
            const NodeId node = call.tensorOf(item);
            weights.push_back({{}, node, call.shapeOf(node)});
        }
    }
    return weights;
}

}  // namespace

/// KIND.input(x, states, weights, has_biases, layers, dropout, train, bidirectional, batch_first): one operator for
/// each layer, y [T, directions, N, H] turned to [T, N, directions·H].
std::vector<Argument> lowerRecurrent(LoweredCall& call) {
    if (call.expr().op.name.find(".data") != std::string::npos) LoweredCall::fail("packed sequences");
    const Kind kind = kindOf(call.expr().op.name);
    const bool biases = call.flag(3), bidirectional = call.flag(7);
    const std::int64_t layers = call.integer(4), directions = bidirectional ? 2 : 1;
    if (call.flag(6) && call.number(5) > 0) LoweredCall::fail("dropout in training");
    const std::vector<Weight> weights = weightsOf(call, call.argument(2));
    const std::size_t perDirection = biases ? 4 : 2;
    if (layers < 1 || weights.size() != static_cast<std::size_t>(layers * directions) * perDirection)
        LoweredCall::fail("projections, or too few weights");
    if (weights[1].dims().rank() != 2) LoweredCall::fail("unsupported weights");
    std::vector<NodeId> states = kind.states == 2 ? call.tensors(1) : std::vector<NodeId>{call.tensor(1)};
    if (states.size() != kind.states) LoweredCall::fail("a different number of states");
    NodeId x = call.tensor(0);
    const bool unbatched = call.shapeOf(x).rank() == 2;
    const bool batchFirst = !unbatched && call.flag(8);
    if (unbatched) {
        x = call.reshaped(x, Shape{call.shapeOf(x)[0], 1, call.shapeOf(x)[1]});
        for (NodeId& state : states)
            state = call.reshaped(state, Shape{call.shapeOf(state)[0], 1, call.shapeOf(state)[1]});
    }
    if (batchFirst) x = call.permuted(x, {1, 0, 2});
    const std::int64_t length = call.shapeOf(x)[0], batch = call.shapeOf(x)[1], hidden = weights[1].dims()[1];
    const DType dtype = call.dtypeOf(x);
    std::vector<std::vector<NodeId>> last(kind.states);
    for (std::int64_t layer = 0; layer < layers; ++layer) {
        std::vector<Weight> w, r, b;
        for (std::int64_t direction = 0; direction < directions; ++direction) {
            const std::size_t first = static_cast<std::size_t>(layer * directions + direction) * perDirection;
            const auto ordered = [&](std::size_t i) { return gatesInOrder(call, weights[first + i], kind); };
            w.push_back(ordered(0));
            r.push_back(ordered(1));
            if (biases) b.push_back(joined(call, {ordered(2), ordered(3)}, 1));
        }
        const Shape stateShape{directions, batch, hidden}, sequence{length, directions, batch, hidden};
        std::vector<NodeId> inputs{x, joined(call, w, 0).in(call), joined(call, r, 0).in(call),
                                   biases ? joined(call, b, 0).in(call) : NodeId{}, NodeId{}};
        for (NodeId all : states) {
            const bool isWhole = call.shapeOf(all) == stateShape;
            inputs.push_back(isWhole
                                 ? all
                                 : call.opOf("Slice",
                                             {all, call.integersNode({layer * directions}),
                                              call.integersNode({(layer + 1) * directions}), call.integersNode({0})},
                                             {}, dtype, stateShape));
        }
        tensor::Attributes attributes{{"hidden_size", hidden},
                                      {"direction", std::string(bidirectional ? "bidirectional" : "forward")}};
        if (kind.activation)
            attributes.set("activations",
                           std::vector<std::string>(static_cast<std::size_t>(directions), kind.activation));
        if (kind.gates.size() == 3) attributes.set("linear_before_reset", std::int64_t{1});
        std::vector<std::pair<DType, Shape>> types(1 + kind.states, {dtype, stateShape});
        types[0].second = sequence;
        const auto made = call.ops(kind.name, inputs, attributes, types);
        x = call.reshaped(call.permuted(made[0], {0, 2, 1, 3}), Shape{length, batch, directions * hidden});
        for (std::size_t i = 0; i < kind.states; ++i) last[i].push_back(made[i + 1]);
    }
    if (batchFirst) x = call.permuted(x, {1, 0, 2});
    std::vector<Argument> results{Argument::of(unbatched ? call.reshaped(x, Shape{length, directions * hidden}) : x)};
    const Shape allStates{layers * directions, batch, hidden};
    for (const std::vector<NodeId>& parts : last) {
        const NodeId all =
            parts.size() == 1 ? parts[0] : call.opOf("Concat", parts, {{"axis", std::int64_t{0}}}, dtype, allStates);
        results.push_back(Argument::of(unbatched ? call.reshaped(all, Shape{layers * directions, hidden}) : all));
    }
    return results;
}

}  // namespace sonde::exporting
