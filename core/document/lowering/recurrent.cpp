#include <algorithm>

#include "core/document/lowering/lowering.h"

namespace sonde::document {

namespace {

/// The four gates of torch (input, forget, cell, output) as ONNX has them (input, output, forget, cell): [4H,…] → [1,4H,…].
Tensor gatesInOrder(const Tensor& weights) {
    const auto packed = weights.contiguous();
    if (!packed || packed->dtype() != DType::Float32 || packed->rank() < 1 || packed->dim(0) % 4 != 0) LoweredCall::fail("weights of another kind");
    const std::size_t part = static_cast<std::size_t>(packed->numel()) / 4;
    std::vector<float> ordered;
    for (std::size_t gate : {0u, 3u, 1u, 2u}) {
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

}  // namespace

/// lstm.input(x, [h, c], weights, has_biases, layers, dropout, train, bidirectional, batch_first): one LSTM operator for
/// each layer, y [T, directions, N, H] turned to [T, N, directions·H].
std::vector<Argument> lowerRecurrent(LoweredCall& call) {
    const bool biases = call.flag(3), bidirectional = call.flag(7), batchFirst = call.flag(8);
    const std::int64_t layers = call.integer(4), directions = bidirectional ? 2 : 1;
    if (call.flag(6) && call.number(5) > 0) LoweredCall::fail("dropout in training");
    std::vector<Tensor> weights;
    const Argument& list = call.argument(2);
    if (list.kind == Argument::Kind::Constant && list.constant.isListLike()) {
        for (const Value& item : list.constant.items()) weights.push_back(item.isTensor() ? item.tensor() : Tensor());
    } else {
        for (const Argument& item : list.items) {
            if (item.kind != Argument::Kind::Constant || !item.constant.isTensor()) LoweredCall::fail("its weights depend on the data");
            weights.push_back(item.constant.tensor());
        }
    }
    const std::size_t perDirection = biases ? 4 : 2;
    if (layers < 1 || weights.size() != static_cast<std::size_t>(layers * directions) * perDirection) LoweredCall::fail("projections, or too few weights");
    const std::vector<NodeId> states = call.tensors(1);
    if (states.size() != 2) LoweredCall::fail("states of another number");
    NodeId x = call.tensor(0);
    if (call.shapeOf(x).rank() != 3) LoweredCall::fail("an input without batch");
    if (batchFirst) x = call.permuted(x, {1, 0, 2});
    const std::int64_t length = call.shapeOf(x)[0], batch = call.shapeOf(x)[1], hidden = weights[1].dim(1);
    std::vector<NodeId> lastH, lastC;
    for (std::int64_t layer = 0; layer < layers; ++layer) {
        std::vector<Tensor> w, r, b;
        for (std::int64_t direction = 0; direction < directions; ++direction) {
            const std::size_t first = static_cast<std::size_t>(layer * directions + direction) * perDirection;
            w.push_back(gatesInOrder(weights[first]));
            r.push_back(gatesInOrder(weights[first + 1]));
            if (biases) b.push_back(joined({gatesInOrder(weights[first + 2]), gatesInOrder(weights[first + 3])}, 1));
        }
        const Shape stateShape{directions, batch, hidden};
        const auto stateOf = [&](NodeId all) {
            if (call.shapeOf(all) == stateShape) return all;
            return call.opOf("Slice", {all, call.integersNode({layer * directions}), call.integersNode({(layer + 1) * directions}), call.integersNode({0})}, {}, DType::Float32, stateShape);
        };
        const Shape sequence{length, directions, batch, hidden};
        const auto made = call.ops("LSTM", {x, call.constant(joined(w, 0)), call.constant(joined(r, 0)), biases ? call.constant(joined(b, 0)) : NodeId{}, NodeId{}, stateOf(states[0]), stateOf(states[1])},
                                   {{"hidden_size", hidden}, {"direction", std::string(bidirectional ? "bidirectional" : "forward")}},
                                   {{DType::Float32, sequence}, {DType::Float32, stateShape}, {DType::Float32, stateShape}});
        x = call.reshaped(call.permuted(made[0], {0, 2, 1, 3}), Shape{length, batch, directions * hidden});
        lastH.push_back(made[1]);
        lastC.push_back(made[2]);
    }
    const Shape allStates{layers * directions, batch, hidden};
    const auto stacked = [&](const std::vector<NodeId>& parts) {
        return Argument::of(parts.size() == 1 ? parts[0] : call.opOf("Concat", parts, {{"axis", std::int64_t{0}}}, DType::Float32, allStates));
    };
    if (batchFirst) x = call.permuted(x, {1, 0, 2});
    return {Argument::of(x), stacked(lastH), stacked(lastC)};
}

}  // namespace sonde::document
