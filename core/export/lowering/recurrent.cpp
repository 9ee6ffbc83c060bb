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

/// [G·H,…] → [1,G·H,…], gates in ONNX's order.
Tensor gatesInOrder(const Tensor& weights, const Kind& kind) {
    const auto packed = weights.contiguous();
    const std::size_t count = kind.gates.size();
    if (!packed || packed->dtype() != DType::Float32 || packed->rank() < 1 ||
        packed->dim(0) % static_cast<std::int64_t>(count) != 0)
        LoweredCall::fail("unsupported weights");
    const std::size_t part = static_cast<std::size_t>(packed->numel()) / count;
    std::vector<float> ordered;
    for (std::size_t gate : kind.gates) {
        const float* from = packed->data<float>() + gate * part;
        ordered.insert(ordered.end(), from, from + part);
    }
    std::vector<std::int64_t> dims = packed->shape().dims();
    dims.insert(dims.begin(), 1);
    return Tensor::of<float>(Shape(dims), ordered);
}

Tensor joined(const std::vector<Tensor>& parts, std::size_t axis) {
    std::vector<std::int64_t> dims = parts[0].shape().dims();
    dims[axis] = 0;
    std::vector<float> all;
    for (const Tensor& part : parts) {
        dims[axis] += part.dim(axis);
        all.insert(all.end(), part.data<float>(), part.data<float>() + part.numel());
    }
    return Tensor::of<float>(Shape(dims), all);
}

std::vector<Tensor> weightsOf(const Argument& list) {
    std::vector<Tensor> weights;
    if (list.kind == Argument::Kind::Constant && list.constant.isListLike()) {
        for (const Value& item : list.constant.items()) weights.push_back(item.isTensor() ? item.tensor() : Tensor());
    }
    for (const Argument& item : list.items) {
        if (item.kind != Argument::Kind::Constant || !item.constant.isTensor())
            LoweredCall::fail("its weights depend on the data");
        weights.push_back(item.constant.tensor());
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
    const std::vector<Tensor> weights = weightsOf(call.argument(2));
    const std::size_t perDirection = biases ? 4 : 2;
    if (layers < 1 || weights.size() != static_cast<std::size_t>(layers * directions) * perDirection)
        LoweredCall::fail("projections, or too few weights");
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
    const std::int64_t length = call.shapeOf(x)[0], batch = call.shapeOf(x)[1], hidden = weights[1].dim(1);
    std::vector<std::vector<NodeId>> last(kind.states);
    for (std::int64_t layer = 0; layer < layers; ++layer) {
        std::vector<Tensor> w, r, b;
        for (std::int64_t direction = 0; direction < directions; ++direction) {
            const std::size_t first = static_cast<std::size_t>(layer * directions + direction) * perDirection;
            w.push_back(gatesInOrder(weights[first], kind));
            r.push_back(gatesInOrder(weights[first + 1], kind));
            if (biases)
                b.push_back(
                    joined({gatesInOrder(weights[first + 2], kind), gatesInOrder(weights[first + 3], kind)}, 1));
        }
        const Shape stateShape{directions, batch, hidden}, sequence{length, directions, batch, hidden};
        std::vector<NodeId> inputs{x, call.constant(joined(w, 0)), call.constant(joined(r, 0)),
                                   biases ? call.constant(joined(b, 0)) : NodeId{}, NodeId{}};
        for (NodeId all : states) {
            const bool isWhole = call.shapeOf(all) == stateShape;
            inputs.push_back(isWhole
                                 ? all
                                 : call.opOf("Slice",
                                             {all, call.integersNode({layer * directions}),
                                              call.integersNode({(layer + 1) * directions}), call.integersNode({0})},
                                             {}, DType::Float32, stateShape));
        }
        tensor::Attributes attributes{{"hidden_size", hidden},
                                      {"direction", std::string(bidirectional ? "bidirectional" : "forward")}};
        if (kind.activation)
            attributes.set("activations",
                           std::vector<std::string>(static_cast<std::size_t>(directions), kind.activation));
        if (kind.gates.size() == 3) attributes.set("linear_before_reset", std::int64_t{1});
        std::vector<std::pair<DType, Shape>> types(1 + kind.states, {DType::Float32, stateShape});
        types[0].second = sequence;
        const auto made = call.ops(kind.name, inputs, attributes, types);
        x = call.reshaped(call.permuted(made[0], {0, 2, 1, 3}), Shape{length, batch, directions * hidden});
        for (std::size_t i = 0; i < kind.states; ++i) last[i].push_back(made[i + 1]);
    }
    if (batchFirst) x = call.permuted(x, {1, 0, 2});
    std::vector<Argument> results{Argument::of(unbatched ? call.reshaped(x, Shape{length, directions * hidden}) : x)};
    const Shape allStates{layers * directions, batch, hidden};
    for (const std::vector<NodeId>& parts : last) {
        const NodeId all = parts.size() == 1
                               ? parts[0]
                               : call.opOf("Concat", parts, {{"axis", std::int64_t{0}}}, DType::Float32, allStates);
        results.push_back(Argument::of(unbatched ? call.reshaped(all, Shape{layers * directions, hidden}) : all));
    }
    return results;
}

}  // namespace sonde::exporting
