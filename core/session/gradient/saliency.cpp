#include "core/session/gradient/saliency.h"

#include <cmath>

#include "core/base/counted_text.h"
#include "core/graph/same_weight.h"
#include "core/session/debug/recorded_run.h"
#include "core/session/gradient/backward.h"
#include "core/session/gradient/operation_gradient.h"

namespace sonde::session::gradient {

using graph::Expr;
using graph::ExprKind;
using graph::InternalGraph;
using graph::NodeId;
using tensor::Tensor;
using tensor::Value;

namespace {

constexpr std::string_view kNameNode = "name a node to differentiate by";

base::Result<Tensor> realTensor(const Value& value, const std::string& name) {
    if (!value.isTensor())
        return base::usageError("'" + name + "' is " + value.typeText() + ": only tensors have gradients");
    if (!tensor::isFloating(value.tensor().dtype()))
        return base::usageError("'" + name + "' is " + value.typeText() + ": only floating-point values have gradients",
                                {}, std::string(kNameBehind));
    return value.tensor();
}

std::int64_t argMax(const Tensor& tensor) {
    std::int64_t best = 0;
    for (std::int64_t i = 1; i < tensor.numel(); ++i)
        if (tensor.toDouble(i) > tensor.toDouble(best) || std::isnan(tensor.toDouble(best))) best = i;
    return best;
}

/// The element, with indices from 0 on.
base::Result<std::int64_t> elementOf(why::Place& place, const Tensor& tensor) {
    const auto& shape = tensor.shape();
    if (tensor.numel() == 0) return base::usageError("the value has no elements");
    std::int64_t element = 0;
    if (place.index.empty()) {
        element = argMax(tensor);
        place.index.assign(shape.rank(), 0);
        for (std::size_t d = shape.rank(), rest = static_cast<std::size_t>(element); d-- > 0; rest /= shape[d])
            place.index[d] = static_cast<std::int64_t>(rest % static_cast<std::size_t>(shape[d]));
        return element;
    }
    if (place.index.size() != shape.rank())
        return base::usageError("the value has " + std::to_string(shape.rank()) + " dimensions " + shape.text() +
                                ", not " + std::to_string(place.index.size()));
    for (std::size_t d = 0; d < shape.rank(); ++d) {
        const std::int64_t given = place.index[d];
        if (given < 0) place.index[d] += shape[d];
        if (place.index[d] < 0 || place.index[d] >= shape[d])
            return base::usageError("index " + std::to_string(given) + " is out of bounds for axis " +
                                    std::to_string(d) + " of size " + std::to_string(shape[d]));
        element = element * shape[d] + place.index[d];
    }
    return element;
}

/// Of a derivative at NaN nothing follows, and the largest element is one of the others.
std::vector<std::string> notesOf(const Tensor& tensor, double value, bool isLargest, const std::string& name) {
    if (std::isnan(value))
        return {"the element is NaN: its gradient is only what the rules of the operators give there"};
    std::int64_t bad = 0;
    for (std::int64_t i = 0; isLargest && i < tensor.numel(); ++i) bad += std::isnan(tensor.toDouble(i)) ? 1 : 0;
    if (bad == 0) return {};
    return {std::to_string(bad) + " of " + base::countedText(tensor.numel(), "element") + " of '" + name + "' " +
            (bad == 1 ? "is" : "are") + " NaN: the element is the largest of the others"};
}

/// The tensor of a value that the index names, and the gradient of the value for one of that.
base::Result<Tensor> target(why::Place& place, const Value& value, const std::string& name) {
    if (!value.isListLike()) return realTensor(value, name);
    const auto count = static_cast<std::int64_t>(value.items().size());
    if (place.index.empty())
        return base::usageError("'" + name + "' is " + value.typeText(), {},
                                "name one of its tensors: " + name + "[0, …]");
    const std::int64_t member = place.index.front() + (place.index.front() < 0 ? count : 0);
    if (member < 0 || member >= count) return base::usageError("the list has " + std::to_string(count) + " values");
    place.member = static_cast<std::size_t>(member);
    place.index.erase(place.index.begin());
    return realTensor(value.items()[*place.member], name);
}

Value seedOf(const why::Place& place, const Value& value, Value gradient) {
    if (!place.member) return gradient;
    tensor::ValueList items(value.items().size());
    items[*place.member] = std::move(gradient);
    return Value::list(std::move(items));
}

base::Result<std::vector<NodeId>> targetsOf(const InternalGraph& graph, const debug::View& view, const Request& request,
                                            const base::WorkContext& work) {
    if (!request.to.empty()) return request.to;
    std::vector<NodeId> inputs;
    for (const NodeId input : graph.inputs()) {
        const auto value = view.value(input, work);
        if (value && value->isTensor() && tensor::isFloating(value->tensor().dtype())) inputs.push_back(input);
    }
    if (inputs.empty())
        return base::usageError("no input of the model is a floating-point tensor", {}, std::string(kNameNode));
    return inputs;
}

/// All that the value of a node is in the run: a weight has it under each of its names.
std::vector<ValueKey> keysOf(const debug::View& view, NodeId node) {
    const InternalGraph& graph = view.run().graph();
    const NodeId source = view.run().sourceOf(node);
    const Expr& producer = graph.expr(graph.node(source).producer);
    if (!graph.node(source).constant) {
        const bool isInput = producer.kind == ExprKind::Input && producer.body == graph.mainId();
        return {{source, isInput ? debug::kNoItem : view.itemOf(node)}};
    }
    std::vector<ValueKey> keys;
    for (const NodeId name : graph::sameWeight(graph, source)) keys.emplace_back(name, debug::kNoItem);
    return keys;
}

/// The sum over all keys; none where nothing depends on one.
base::Result<Value> keptOf(const Backward& backward, const std::vector<ValueKey>& keys) {
    Value sum;
    for (const ValueKey& key : keys)
        if (const Value& found = backward.kept(key); found.isTensor()) SONDE_TRY(addGradient(sum, found));
    return sum;
}

}  // namespace

std::vector<NodeId> endsFor(const graph::InternalGraph& graph, const Request& request) {
    std::vector<NodeId> ends = request.to;
    if (request.of.node.valid()) ends.push_back(request.of.node);
    else if (!graph.outputs().empty()) ends.push_back(graph.outputs().front());
    std::erase_if(ends, [&graph](NodeId node) {
        return graph.node(node).constant || graph.expr(graph.node(node).producer).kind == graph::ExprKind::Input;
    });
    const auto isMain = [&graph](NodeId node) { return graph.expr(graph.node(node).producer).body == graph.mainId(); };
    return std::ranges::all_of(ends, isMain) ? ends : std::vector<NodeId>();
}

base::Error withOption(base::Error error, std::string_view option) {
    if (error.hint == kNameBehind || error.hint == kNameNode) error.hint.append(": ").append(option);
    return error;
}

base::Result<Saliency> saliency(const debug::View& view, const Request& request, const base::WorkContext& work) {
    const InternalGraph& graph = view.run().graph();
    Saliency result;
    result.of = request.of;
    if (!result.of.node.valid()) {
        if (graph.outputs().empty()) return base::usageError("the model has no outputs", {}, "name a node");
        result.of.node = graph.outputs().front();
    }
    const std::string& name = graph.node(result.of.node).name;
    SONDE_ASSIGN(const Value value, view.value(result.of.node, work));
    SONDE_ASSIGN(const Tensor tensor, target(result.of, value, name));
    const bool isLargest = result.of.index.empty();
    const auto found = elementOf(result.of, tensor);
    if (!found) return base::Error(found.error()).at("'" + name + "'");
    const std::int64_t element = *found;
    result.value = tensor.toDouble(element);
    result.notes = notesOf(tensor, result.value, isLargest, name);
    Request full = request;
    SONDE_ASSIGN(full.to, targetsOf(graph, view, request, work));
    std::vector<Value> values;
    std::vector<std::vector<ValueKey>> keys;
    std::vector<NodeId> names;
    for (const NodeId node : full.to) {
        SONDE_ASSIGN(Value by, view.value(node, work));
        SONDE_TRY(realTensor(by, graph.node(node).name));
        values.push_back(std::move(by));
        keys.push_back(keysOf(view, node));
        for (const ValueKey& key : keys.back()) names.push_back(key.first);
    }
    Backward backward(view.run(), names, full.threads, work);
    for (const std::vector<ValueKey>& ofNode : keys)
        for (const ValueKey& key : ofNode) backward.keep(key);
    std::vector<double> ones(static_cast<std::size_t>(tensor.numel()), 0);
    ones[static_cast<std::size_t>(element)] = 1;
    SONDE_ASSIGN(const Tensor seed, Tensor::of<double>(tensor.shape(), ones).cast(tensor.dtype()));
    SONDE_TRY(backward.run(keysOf(view, result.of.node).front(), seedOf(result.of, value, Value(seed))));
    for (std::size_t i = 0; i < full.to.size(); ++i) {
        SONDE_ASSIGN(const Value gradient, keptOf(backward, keys[i]));
        if (gradient.isTensor()) {
            result.gradients.push_back({full.to[i], gradient.tensor(), true});
            continue;
        }
        SONDE_ASSIGN(Tensor flat, Tensor::zeros(values[i].tensor().dtype(), values[i].tensor().shape()));
        result.gradients.push_back({full.to[i], std::move(flat), false});
    }
    result.operations = backward.operations();
    for (const graph::ExprId stop : backward.stops()) {
        const Expr& expr = graph.expr(stop);
        result.notes.push_back("no gradient comes through '" + graph.node(expr.outputs.front()).name + "' (" +
                               expr.op.name + ")");
    }
    return result;
}

}  // namespace sonde::session::gradient
