#include "core/session/gradient/saliency.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/exec/dependants.h"
#include "core/exec/flatten.h"
#include "core/graph/argument_value.h"
#include "core/graph/traits.h"
#include "core/session/debug/recorded_run.h"
#include "core/session/gradient/operation_gradient.h"

namespace sonde::session::gradient {

using debug::Item;
using debug::ItemId;
using debug::kNoItem;
using graph::Argument;
using graph::Expr;
using graph::ExprKind;
using graph::InternalGraph;
using graph::NodeId;
using operators::OpClass;
using tensor::Tensor;
using tensor::Value;

namespace {

/// One value of a run: a node, by source, as it was made in an item; none of weights and inputs.
using Key = std::pair<NodeId, ItemId>;

class Backward {
  public:
    Backward(const debug::View& view, const Request& request, const base::WorkContext& work)
        : m_run(view.run()), m_graph(m_run.graph()), m_trace(m_run.trace()), m_work(work), m_runner(request.threads),
          m_reach(reachOf(m_graph, request.to)) {}

    base::Result<void> run(const Key& start, Value seed) {
        SONDE_TRY(give(start, std::move(seed)));
        const auto first = static_cast<std::size_t>(start.second == kNoItem ? 0 : start.second);
        while (!m_pending.empty()) {
            if (m_work.cancelled()) return base::cancelled("while differentiating");
            const ItemId item = ~m_pending.begin()->first.second;
            m_pending.erase(m_pending.begin());
            m_work.report("differentiating", first - std::min<std::size_t>(first, item), first);
            SONDE_TRY(visit(item));
        }
        return {};
    }

    Key keyOf(NodeId node, ItemId at, bool isAfter) const {
        const NodeId source = m_run.sourceOf(node);
        return {source, isGiven(source) ? kNoItem : m_run.itemOf(node, at, isAfter)};
    }
    /// What a body gave that ended before item `end`: also what control flow that ended with it gave.
    Key resultKey(NodeId node, ItemId end) const {
        const bool isInput = m_graph.expr(m_graph.node(m_run.sourceOf(node)).producer).kind == ExprKind::Input;
        return isInput ? keyOf(node, end - 1, true) : keyOf(node, end, false);
    }
    /// Gradients of these values are kept when they are complete.
    void keep(const Key& key) { m_kept.insert({key, Value()}); }
    const Value& kept(const Key& key) const { return m_kept.at(key); }
    std::size_t operations() const { return m_operations; }

  private:
    static std::vector<bool> reachOf(const InternalGraph& graph, const std::vector<NodeId>& to) {
        const std::vector<NodeId> sources = exec::valueSources(graph);
        exec::Edits edits;
        for (const NodeId node : to) edits.values.push_back({sources[node.index()], {}, {}});
        return exec::dependantsOf(graph, edits).nodes;
    }
    bool isGiven(NodeId source) const {
        if (m_graph.node(source).constant) return true;
        const Expr& expr = m_graph.expr(m_graph.node(source).producer);
        return expr.kind == ExprKind::Input && expr.body == m_graph.mainId();
    }
    const std::string& nameOf(NodeId node) const { return m_graph.node(node).name; }
    const Expr& exprOf(ItemId item) const { return m_graph.expr(m_trace[item].expr); }
    bool isControl(ItemId item) const {
        return m_trace[item].kind == Item::Kind::Operation && !exprOf(item).bodies.empty();
    }

    /// Adds to the gradient of a value, whose operation is then to be differentiated: those that ended last first; what
    /// runs others comes before these.
    base::Result<void> give(const Key& key, Value gradient) {
        if (gradient.isNone() || !m_reach[key.first.index()]) return {};
        SONDE_TRY(addGradient(m_sums[key], gradient));
        if (key.second == kNoItem) return {};
        const ItemId item = key.second;
        const std::uint64_t position =
            isControl(item) ? 2 * std::uint64_t{m_trace[item].end} - 1 : 2 * std::uint64_t{item};
        m_pending.insert({{position, ~item}, true});
        return {};
    }
    /// What was gathered of a value; complete once its operation's turn has come.
    Value take(const Key& key) {
        const auto found = m_sums.find(key);
        if (found == m_sums.end()) return {};
        Value value = std::move(found->second);
        m_sums.erase(found);
        if (const auto kept = m_kept.find(key); kept != m_kept.end()) kept->second = value;
        return value;
    }

    base::Result<void> visit(ItemId item) {
        if (m_trace[item].kind == Item::Kind::Body) return leaveIteration(item);
        return isControl(item) ? enterControl(item) : differentiate(item);
    }

    // ---- operations

    base::Result<void> differentiate(ItemId item) {
        const Expr& expr = exprOf(item);
        DoneOperation operation{&expr, {}, {}};
        std::vector<Value> given;
        bool isReached = false;
        for (const NodeId output : expr.outputs) {
            given.push_back(take({output, item}));
            isReached = isReached || !given.back().isNone();
            auto value = m_graph.node(output).users.empty() && given.back().isNone()
                             ? base::Result<Value>(Value())
                             : m_run.value(output, item, true, m_work);
            operation.outputs.push_back(value ? std::move(*value) : Value());
        }
        if (!isReached || isFlat(expr)) return {};
        std::unordered_set<NodeId> wanted;
        for (const NodeId input : expr.inputs) {
            if (operation.inputs.contains(input)) continue;
            SONDE_ASSIGN(Value value, m_run.value(input, item, false, m_work));
            operation.inputs.emplace(input, std::move(value));
            if (m_reach[m_run.sourceOf(input).index()]) wanted.insert(input);
        }
        if (wanted.empty()) return {};
        auto found = operationGradient(operation, given, wanted, m_runner, m_work);
        if (!found) return blamed(std::move(found).error(), expr);
        ++m_operations;
        for (auto& [input, gradient] : *found) SONDE_TRY(give(keyOf(input, item, false), std::move(gradient)));
        return {};
    }

    /// Takes only a shape, or nothing, from what it reads.
    static bool isFlat(const Expr& expr) {
        const OpClass is = graph::traitsOf(expr).opClass;
        return is == OpClass::Create || is == OpClass::Random || is == OpClass::Range || is == OpClass::Shape;
    }

    base::Error blamed(base::Error error, const Expr& expr) const {
        if (error.kind != base::ErrorKind::Usage) return error;
        const std::string op = expr.op.name.empty() ? expr.target : expr.op.name;
        const std::string node = expr.outputs.empty() ? expr.name : nameOf(expr.outputs.front());
        return base::usageError("'" + node + "' (" + op + ") cannot be differentiated: " + error.what, {},
                                "ask for the gradient by a node behind it: to NODE");
    }

    // ---- branches and loops

    /// Nothing has run inside yet, seen from behind: what the operation gave is what its bodies gave.
    base::Result<void> enterControl(ItemId item) {
        const Expr& expr = exprOf(item);
        if (exec::isCall(expr)) return enterCall(item, expr);
        switch (graph::traitsOf(expr).opClass) {
            case OpClass::If: return enterBranch(item, expr);
            case OpClass::Loop: return enterLoop(item, expr);
            default: break;
        }
        return blamed(base::usageError("there is no rule for what runs graphs in this way"), expr);
    }

    /// A call that puts its results together: a tuple of them.
    base::Result<void> enterCall(ItemId item, const Expr& expr) {
        const Argument& result = m_graph.body(expr.bodies.front()).result;
        for (std::size_t i = 0; i < expr.outputs.size(); ++i) {
            const Value gradient = take({expr.outputs[i], item});
            const bool isWhole = expr.outputs.size() == 1;
            if (isWhole || i < result.items.size())
                SONDE_TRY(giveParts(isWhole ? result : result.items[i], gradient, m_trace[item].end));
        }
        return {};
    }
    base::Result<void> giveParts(const Argument& argument, const Value& gradient, ItemId end) {
        if (gradient.isNone()) return {};
        if (argument.kind == Argument::Kind::Node) return give(resultKey(argument.node, end), gradient);
        if (!gradient.isListLike()) return {};
        for (std::size_t i = 0; i < argument.items.size() && i < gradient.items().size(); ++i)
            SONDE_TRY(giveParts(argument.items[i], gradient.items()[i], end));
        return {};
    }

    base::Result<void> enterBranch(ItemId item, const Expr& expr) {
        if (expr.inputs.empty() || expr.bodies.size() != 2)
            return blamed(base::usageError("its condition is not known"), expr);
        SONDE_ASSIGN(const Value condition, m_run.value(expr.inputs.front(), item, false, m_work));
        const bool holds = condition.isTensor() ? condition.tensor().toDouble(0) != 0 : condition.number() != 0;
        std::size_t taken = holds ? 0 : 1;
        if (const auto* named = expr.attributes.find(holds ? "then_branch" : "else_branch"))
            if (const auto* body = std::get_if<tensor::BodyRef>(named)) taken = body->index;
        const graph::Body& body = m_graph.body(expr.bodies[taken]);
        for (std::size_t i = 0; i < expr.outputs.size() && i < body.outputs.size(); ++i)
            SONDE_TRY(give(resultKey(body.outputs[i], m_trace[item].end), take({expr.outputs[i], item})));
        return {};
    }

    std::vector<ItemId> iterationsOf(ItemId loop) const {
        std::vector<ItemId> iterations;
        for (ItemId item = loop + 1; item < m_trace[loop].end;) {
            const bool isIteration = m_trace[item].kind == Item::Kind::Body && m_trace[item].parent == loop;
            if (isIteration) iterations.push_back(item);
            item = isIteration ? m_trace[item].end : item + 1;
        }
        return iterations;
    }
    /// The argument that a carried value begins as.
    static NodeId initial(const Expr& loop, std::size_t carried) {
        const auto& arguments = loop.arguments;
        const bool isNode = 2 + carried < arguments.size() && arguments[2 + carried].kind == Argument::Kind::Node;
        return isNode ? arguments[2 + carried].node : NodeId();
    }

    base::Result<void> enterLoop(ItemId item, const Expr& expr) {
        const graph::Body& body = m_graph.body(expr.bodies.front());
        const std::vector<ItemId> iterations = iterationsOf(item);
        const std::size_t carried = expr.arguments.size() > 2 ? expr.arguments.size() - 2 : 0;
        for (std::size_t i = 0; i < expr.outputs.size(); ++i) {
            const Value gradient = take({expr.outputs[i], item});
            if (gradient.isNone()) continue;
            if (i < carried) {
                if (!iterations.empty()) {
                    if (1 + i < body.outputs.size()) SONDE_TRY(give(resultOf(body, i, iterations.back()), gradient));
                } else if (const NodeId start = initial(expr, i); start.valid()) {
                    SONDE_TRY(give(keyOf(start, item, false), gradient));
                }
                continue;
            }
            // Stacked: each iteration has its row.
            for (std::size_t k = 0; k < iterations.size() && 1 + i < body.outputs.size(); ++k) {
                SONDE_ASSIGN(const Tensor row,
                             gradient.tensor().selected(0, static_cast<std::int64_t>(k)).contiguous());
                SONDE_TRY(give(resultOf(body, i, iterations[k]), Value(row)));
            }
        }
        return {};
    }
    Key resultOf(const graph::Body& body, std::size_t output, ItemId iteration) const {
        return resultKey(body.outputs[1 + output], m_trace[iteration].end);
    }

    /// What an iteration was given is what the one before it gave, or the loop.
    base::Result<void> leaveIteration(ItemId item) {
        const ItemId loop = m_trace[item].parent;
        const Expr& expr = exprOf(item);
        const graph::Body& body = m_graph.body(expr.bodies.front());
        if (loop == kNoItem || graph::traitsOf(expr).opClass != OpClass::Loop)
            return blamed(base::usageError("there is no rule for what runs graphs in this way"), expr);
        ItemId before = kNoItem;
        for (const ItemId iteration : iterationsOf(loop))
            if (iteration < item) before = iteration;
        for (std::size_t i = 2; i < body.inputs.size(); ++i) {
            const Value gradient = take({body.inputs[i], item});
            if (gradient.isNone()) continue;
            if (before != kNoItem) SONDE_TRY(give(resultOf(body, i - 2, before), gradient));
            else if (const NodeId start = initial(expr, i - 2); start.valid())
                SONDE_TRY(give(keyOf(start, loop, false), gradient));
        }
        return {};
    }

    debug::RecordedRun& m_run;
    const InternalGraph& m_graph;
    const debug::Trace& m_trace;
    const base::WorkContext& m_work;
    exec::Runner m_runner;
    std::vector<bool> m_reach;  ///< by source node: depends on what is differentiated by
    std::map<Key, Value> m_sums, m_kept;
    std::map<std::pair<std::uint64_t, ItemId>, bool, std::greater<>> m_pending;  ///< by position, and ~item
    std::size_t m_operations = 0;

  public:
    /// What is differentiated by and has no operation is complete at the end.
    void finish() {
        for (auto& [key, value] : m_kept)
            if (const auto sum = m_sums.find(key); sum != m_sums.end()) value = sum->second;
    }
};

base::Result<Tensor> realTensor(const Value& value, const std::string& name) {
    if (!value.isTensor())
        return base::usageError("'" + name + "' is " + value.typeText() + ": only tensors have gradients");
    if (!tensor::isFloating(value.tensor().dtype()))
        return base::usageError("'" + name + "' is " + value.typeText() + ": only floating-point values have gradients",
                                {}, "name a node behind it: to NODE");
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
        return base::usageError("no input of the model is a floating-point tensor", {},
                                "name a node to differentiate by: to NODE");
    return inputs;
}

}  // namespace

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
    SONDE_ASSIGN(const std::int64_t element, elementOf(result.of, tensor));
    result.value = tensor.toDouble(element);
    Request full = request;
    SONDE_ASSIGN(full.to, targetsOf(graph, view, request, work));
    Backward backward(view, full, work);
    std::vector<Value> values;
    std::vector<Key> keys;
    for (const NodeId node : full.to) {
        SONDE_ASSIGN(Value by, view.value(node, work));
        SONDE_TRY(realTensor(by, graph.node(node).name));
        values.push_back(std::move(by));
        keys.push_back({view.run().sourceOf(node), view.itemOf(node)});
        if (view.run().graph().node(keys.back().first).constant) keys.back().second = kNoItem;
        const Expr& producer = graph.expr(graph.node(keys.back().first).producer);
        if (producer.kind == ExprKind::Input && producer.body == graph.mainId()) keys.back().second = kNoItem;
        backward.keep(keys.back());
    }
    std::vector<double> ones(static_cast<std::size_t>(tensor.numel()), 0);
    ones[static_cast<std::size_t>(element)] = 1;
    SONDE_ASSIGN(const Tensor seed, Tensor::of<double>(tensor.shape(), ones).cast(tensor.dtype()));
    const NodeId source = view.run().sourceOf(result.of.node);
    const bool isGiven =
        graph.node(source).constant || (graph.expr(graph.node(source).producer).kind == ExprKind::Input &&
                                        graph.expr(graph.node(source).producer).body == graph.mainId());
    SONDE_TRY(
        backward.run({source, isGiven ? kNoItem : view.itemOf(result.of.node)}, seedOf(result.of, value, Value(seed))));
    backward.finish();
    for (std::size_t i = 0; i < full.to.size(); ++i) {
        const Value& found = backward.kept(keys[i]);
        if (found.isTensor()) {
            result.gradients.push_back({full.to[i], found.tensor(), true});
            continue;
        }
        SONDE_ASSIGN(Tensor flat, Tensor::zeros(values[i].tensor().dtype(), values[i].tensor().shape()));
        result.gradients.push_back({full.to[i], std::move(flat), false});
    }
    result.operations = backward.operations();
    return result;
}

}  // namespace sonde::session::gradient
