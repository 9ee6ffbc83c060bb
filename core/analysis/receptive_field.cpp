#include "core/analysis/receptive_field.h"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

#include "core/analysis/axis_reading.h"
#include "core/analysis/pixel_map.h"
#include "core/analysis/weight_positions.h"
#include "core/graph/traits.h"

namespace sonde::analysis {

using graph::Argument;
using graph::Body;
using graph::Expr;
using graph::ExprId;
using graph::ExprKind;
using graph::InternalGraph;
using graph::NodeId;
using tensor::TypeInfo;
using Kind = FieldSize::Kind;

namespace {

/// Axes that are followed: at most, and at least in a model of very many nodes.
constexpr std::size_t kMaxAxes = 64, kMinAxes = 8;
/// For all nodes together.
constexpr std::size_t kMaxStates = 4'000'000;

/// Along one axis of an input: the axis of the value that moves with it, and how.
struct AxisState {
    Kind kind = Kind::None;
    std::size_t own = 0;                       ///< Window: the value's axis
    std::shared_ptr<const PixelMap> map = {};  ///< Window
};
/// By axis of the inputs; null: None in all.
using State = std::shared_ptr<const std::vector<AxisState>>;

bool areEqual(const AxisState& a, const AxisState& b) {
    return a.kind == b.kind && (a.kind != Kind::Window || (a.own == b.own && (a.map == b.map || *a.map == *b.map)));
}

AxisState joined(const AxisState& a, const AxisState& b) {
    if (a.kind == Kind::None || areEqual(a, b)) return b;
    if (b.kind == Kind::None) return a;
    if (a.kind != Kind::Window || b.kind != Kind::Window || a.own != b.own) return {Kind::All, 0, nullptr};
    std::optional<PixelMap> both = PixelMap::both(*a.map, *b.map);
    if (!both) return {Kind::All, 0, nullptr};
    return {Kind::Window, a.own, std::make_shared<const PixelMap>(std::move(*both))};
}

State joined(const State& a, const State& b) {
    if (!a || a == b) return b;
    if (!b) return a;
    auto both = std::make_shared<std::vector<AxisState>>();
    for (std::size_t i = 0; i < a->size(); ++i) both->push_back(joined((*a)[i], (*b)[i]));
    return both;
}

State wholeOf(const State& state) {
    if (!state) return nullptr;
    auto whole = std::make_shared<std::vector<AxisState>>(*state);
    for (AxisState& axis : *whole)
        if (axis.kind == Kind::Window) axis = {Kind::All, 0, nullptr};
    return whole;
}

/// The state of what an operator makes of a value alone.
State applied(const std::vector<AxisMove>& moves, const State& state) {
    if (!state) return nullptr;
    if (moves.empty()) return wholeOf(state);
    bool isSame = true;
    for (std::size_t i = 0; i < moves.size(); ++i) isSame = isSame && moves[i].axis == i && moves[i].reading.isSame();
    if (isSame) return state;
    auto result = std::make_shared<std::vector<AxisState>>(*state);
    for (AxisState& axis : *result) {
        if (axis.kind != Kind::Window) continue;
        const AxisMove move = axis.own < moves.size() ? moves[axis.own] : AxisMove{};
        if (!move.axis) {
            axis = {Kind::All, 0, nullptr};
            continue;
        }
        axis.own = *move.axis;
        if (move.reading.isSame()) continue;
        std::optional<PixelMap> map = axis.map->read(move.reading);
        if (map) axis.map = std::make_shared<const PixelMap>(std::move(*map));
        else axis = {Kind::All, 0, nullptr};
    }
    return result;
}

/// A list has the type of what is in it.
const TypeInfo& elementOf(const TypeInfo& type) {
    const TypeInfo* found = &type;
    while (!found->isTensor() && !found->elements.empty()) found = &found->elements.front();
    return *found;
}

}  // namespace

class FieldFinder {
  public:
    explicit FieldFinder(const InternalGraph& graph)
        : m_graph(graph), m_states(graph.nodeCount()), m_isPart(graph.nodeCount()) {
        for (std::size_t i = 0; i < graph.nodeCount(); ++i) m_memory.push_back(NodeId(i));
    }

    ReceptiveFields find() {
        addInputs();
        follow(m_graph.main());
        ReceptiveFields& found = m_found;
        found.m_largest.resize(found.m_axes.size());
        found.m_firstWhole.resize(found.m_axes.size());
        found.m_sizes.resize(m_graph.nodeCount());
        if (found.m_axes.empty()) return std::move(found);
        std::vector<std::int64_t> most(found.m_axes.size(), 0);
        for (const ExprId id : m_graph.recursiveOrder(m_graph.mainId()))
            for (const NodeId node : m_graph.expr(id).outputs) note(node, most);
        return std::move(found);
    }

  private:
    void addInputs() {
        std::vector<std::pair<NodeId, std::size_t>> first;
        const std::size_t most = std::clamp(kMaxStates / (m_graph.nodeCount() + 1), kMinAxes, kMaxAxes);
        for (const NodeId input : m_graph.inputs()) {
            const TypeInfo& type = m_graph.node(input).type;
            if (!type.isTensor() || !type.shape) continue;
            if (m_found.m_axes.size() + type.shape->size() > most) {
                m_found.m_isPartial = true;
                continue;
            }
            first.emplace_back(input, m_found.m_axes.size());
            for (std::size_t axis = 0; axis < type.shape->size(); ++axis) m_found.m_axes.push_back({input, axis});
        }
        for (const auto& [input, at] : first) {
            auto state = std::make_shared<std::vector<AxisState>>(m_found.m_axes.size());
            for (std::size_t axis = 0; axis < m_graph.node(input).type.shape->size(); ++axis)
                (*state)[at + axis] = {Kind::Window, axis, m_identity};
            m_states[input.index()] = std::move(state);
        }
    }

    void follow(const Body& body) {
        for (const ExprId id : body.order) {
            const Expr& expr = m_graph.expr(id);
            if (expr.kind == ExprKind::Input || isStored(expr)) continue;
            if (expr.kind == ExprKind::Output) {
                followOutput(expr);
                continue;
            }
            if (expr.op.name.empty() && expr.bodies.size() == 1) followCall(expr, m_graph.body(expr.bodies.front()));
            else if (graph::traitsOf(expr).opClass == operators::OpClass::If && !expr.inputs.empty())
                followBranches(expr);
            else if (!expr.bodies.empty() || expr.op.name.empty()) takeAll(expr);
            else followOperator(expr);
        }
    }

    /// What is written into memory after a value was made is a part of it for those who read it later.
    State stateOf(NodeId node) const {
        const auto written = m_written.find(m_memory[node.index()].index());
        const State& own = m_states[node.index()];
        if (written == m_written.end()) return own;
        return joined(own, m_isPart[node.index()] ? wholeOf(written->second) : written->second);
    }

    void share(NodeId to, NodeId from) {
        m_memory[to.index()] = m_memory[from.index()];
        m_isPart[to.index()] = m_isPart[from.index()];
    }

    void followCall(const Expr& expr, const Body& body) {
        for (std::size_t i = 0; i < body.inputs.size() && i < expr.inputs.size(); ++i) {
            m_states[body.inputs[i].index()] = stateOf(expr.inputs[i]);
            share(body.inputs[i], expr.inputs[i]);
        }
        follow(body);
        const bool areOneByOne = expr.outputs.size() == body.outputs.size();
        State all;
        for (const NodeId output : body.outputs) all = joined(all, areOneByOne ? nullptr : stateOf(output));
        for (std::size_t i = 0; i < expr.outputs.size(); ++i) {
            m_states[expr.outputs[i].index()] = areOneByOne ? stateOf(body.outputs[i]) : wholeOf(all);
            if (areOneByOne) share(expr.outputs[i], body.outputs[i]);
        }
    }

    /// Either of them, by a condition that may depend on an input as well.
    void followBranches(const Expr& expr) {
        const State condition = wholeOf(stateOf(expr.inputs.front()));
        for (const NodeId output : expr.outputs) m_states[output.index()] = condition;
        for (const graph::BodyId id : expr.bodies) {
            const Body& body = m_graph.body(id);
            follow(body);
            for (std::size_t i = 0; i < expr.outputs.size() && i < body.outputs.size(); ++i) {
                State& all = m_states[expr.outputs[i].index()];
                all = joined(all, stateOf(body.outputs[i]));
            }
        }
    }

    /// Loops, and modules that could not be traced: from anything to anything. Inside everything that
    /// depends on an input may depend on all of it, because a loop comes back.
    void takeAll(const Expr& expr) {
        State all;
        for (const NodeId input : expr.inputs) all = joined(all, stateOf(input));
        std::vector<ExprId> inside;
        for (const graph::BodyId body : expr.bodies)
            for (const ExprId id : m_graph.recursiveOrder(body)) inside.push_back(id);
        for (const ExprId id : inside)
            for (const NodeId input : m_graph.expr(id).inputs) all = joined(all, stateOf(input));
        all = wholeOf(all);
        for (const NodeId output : expr.outputs) m_states[output.index()] = all;
        for (const ExprId id : inside)
            if (!isStored(m_graph.expr(id)))
                for (const NodeId output : m_graph.expr(id).outputs) m_states[output.index()] = all;
    }

    /// What comes out is what was made before.
    void followOutput(const Expr& expr) {
        State all;
        for (const NodeId input : expr.inputs) all = joined(all, stateOf(input));
        for (const NodeId output : expr.outputs) m_states[output.index()] = all;
    }

    void followOperator(const Expr& expr) {
        const operators::Traits& traits = graph::traitsOf(expr);
        // Of the shape alone: a tensor's attributes that are no tensors are its shape and its dtype.
        const bool isAttribute = traits.opClass == operators::OpClass::GetAttr && !expr.outputs.empty() &&
                                 m_graph.node(expr.outputs.front()).type.kind &&
                                 !elementOf(m_graph.node(expr.outputs.front()).type).isTensor();
        if (traits.query != operators::ShapeQuery::None || isAttribute) return;
        State last;
        for (std::size_t output = 0; output < expr.outputs.size(); ++output) {
            const NodeId node = expr.outputs[output];
            const TypeInfo& type = elementOf(m_graph.node(node).type);
            State state;
            const auto add = [&](std::size_t position, const Argument& argument) {
                argument.forEachNode([&](NodeId input) {
                    const State from = stateOf(input);
                    if (!from) return;
                    const Operand operand{position, elementOf(m_graph.node(input).type), type, output};
                    state = joined(state, applied(axisMoves(m_graph, expr, operand), from));
                });
            };
            for (std::size_t i = 0; i < expr.arguments.size(); ++i) add(i, expr.arguments[i]);
            for (const auto& [name, argument] : expr.keywords) add(kNoPosition, argument);
            m_states[node.index()] = state;
            last = state;
        }
        if (expr.inputs.empty()) return;
        const NodeId base = expr.inputs.front();
        if (traits.mayBeView() || traits.memory.writes)
            for (const NodeId output : expr.outputs) {
                share(output, base);
                if (traits.mayBeView() && !traits.is(operators::Trait::KeepsShape)) m_isPart[output.index()] = true;
            }
        if (!traits.memory.writes || !last) return;
        State& written = m_written[m_memory[base.index()].index()];
        written = joined(written, m_isPart[base.index()] ? wholeOf(last) : last);
    }

    /// The sizes of one value, and whether they are the first or the largest of their kind.
    void note(NodeId node, std::vector<std::int64_t>& most) {
        const State& state = m_states[node.index()];
        if (!state) return;
        auto& known = m_sizesOf[state.get()];
        if (!known) {
            auto sizes = std::make_shared<std::vector<FieldSize>>();
            for (const AxisState& axis : *state)
                sizes->push_back({axis.kind, axis.kind == Kind::Window ? axis.map->size() : 0});
            known = std::move(sizes);
        }
        m_found.m_sizes[node.index()] = known;
        for (std::size_t axis = 0; axis < known->size(); ++axis) {
            const FieldSize& size = (*known)[axis];
            if (size.kind == Kind::All && !m_found.m_firstWhole[axis].valid()) m_found.m_firstWhole[axis] = node;
            if (size.kind != Kind::Window || size.size <= most[axis]) continue;
            most[axis] = size.size;
            m_found.m_largest[axis] = node;
        }
    }

    static constexpr std::size_t kNoPosition = std::numeric_limits<std::size_t>::max();

    const InternalGraph& m_graph;
    std::vector<State> m_states;                       ///< by node
    std::vector<NodeId> m_memory;                      ///< by node: whose memory it shows
    std::vector<bool> m_isPart;                        ///< by node: its elements are at other indices there
    std::unordered_map<std::size_t, State> m_written;  ///< by that
    std::unordered_map<const void*, std::shared_ptr<const std::vector<FieldSize>>> m_sizesOf;
    const std::shared_ptr<const PixelMap> m_identity = std::make_shared<const PixelMap>();
    ReceptiveFields m_found;
};

FieldSize ReceptiveFields::of(NodeId node, std::size_t axis) const {
    const auto& sizes = m_sizes[node.index()];
    return sizes && axis < sizes->size() ? (*sizes)[axis] : FieldSize{};
}

std::optional<double> ReceptiveFields::sizeOf(const InternalGraph& graph, NodeId node) const {
    const auto& sizes = m_sizes[node.index()];
    if (!sizes) return std::nullopt;
    std::optional<double> most;
    for (std::size_t axis = 0; axis < sizes->size(); ++axis) {
        const FieldSize& size = (*sizes)[axis];
        if (size.kind == Kind::None) continue;
        const tensor::Dim& dim = (*graph.node(m_axes[axis].input).type.shape)[m_axes[axis].axis];
        double number =
            size.kind == Kind::All ? std::numeric_limits<double>::infinity() : static_cast<double>(size.size);
        if (dim.known()) number = std::min(number, static_cast<double>(dim.value));
        most = std::max(most.value_or(0), number);
    }
    return most;
}

ReceptiveFields receptiveFields(const InternalGraph& graph) { return FieldFinder(graph).find(); }

std::string fieldText(const ReceptiveFields& fields, NodeId node, NodeId input) {
    std::string text;
    for (std::size_t i = 0; i < fields.axes().size(); ++i) {
        if (fields.axes()[i].input != input) continue;
        const FieldSize size = fields.of(node, i);
        if (!text.empty()) text += "×";
        text += size.kind == Kind::All ? "all" : size.kind == Kind::Window ? std::to_string(size.size) : "0";
    }
    return text;
}

}  // namespace sonde::analysis
