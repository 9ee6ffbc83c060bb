#include "core/analysis/model_structure.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "core/analysis/model_summary.h"
#include "core/analysis/weight_positions.h"
#include "core/tensor/symbolic.h"

namespace sonde::analysis {

using graph::Body;
using graph::Expr;
using graph::ExprId;
using graph::ExprKind;
using graph::InternalGraph;
using graph::NodeId;

namespace {

bool isOperation(const Expr& expr) {
    return !isStored(expr) && expr.kind != ExprKind::Input && expr.kind != ExprKind::Output;
}

/// Longest paths by node.
class Depths {
  public:
    explicit Depths(const InternalGraph& graph)
        : m_graph(graph), m_depth(graph.nodeCount(), 0), m_last(graph.nodeCount()), m_before(graph.nodeCount()) {}

    void follow(const Body& body) {
        for (const ExprId id : body.order) {
            const Expr& expr = m_graph.expr(id);
            // Of a called body: what the call was given is known.
            if (expr.kind == ExprKind::Input) continue;
            const bool isCall = expr.op.name.empty() && expr.bodies.size() == 1;
            if (isCall) {
                followCall(expr, m_graph.body(expr.bodies.front()));
                continue;
            }
            NodeId deepest;
            for (const NodeId input : expr.inputs)
                if (!deepest.valid() || m_depth[input.index()] > m_depth[deepest.index()]) deepest = input;
            const std::size_t own = isOperation(expr) ? 1 : 0;
            for (const NodeId output : expr.outputs) {
                m_depth[output.index()] = own + (deepest.valid() ? m_depth[deepest.index()] : 0);
                const NodeId before = deepest.valid() ? m_last[deepest.index()] : NodeId();
                m_last[output.index()] = own > 0 ? output : before;
                if (own > 0) m_before[output.index()] = before;
            }
        }
    }

    std::size_t depth(NodeId node) const { return m_depth[node.index()]; }
    std::vector<std::size_t> takeDepths() { return std::move(m_depth); }
    /// The results of the operations on the way to a node.
    std::vector<NodeId> path(NodeId node) const {
        std::vector<NodeId> nodes;
        for (NodeId at = m_last[node.index()]; at.valid(); at = m_before[at.index()]) nodes.push_back(at);
        std::ranges::reverse(nodes);
        return nodes;
    }

  private:
    void take(NodeId to, NodeId from) {
        m_depth[to.index()] = m_depth[from.index()];
        m_last[to.index()] = m_last[from.index()];
    }

    void followCall(const Expr& expr, const Body& body) {
        for (std::size_t i = 0; i < body.inputs.size() && i < expr.inputs.size(); ++i)
            take(body.inputs[i], expr.inputs[i]);
        follow(body);
        if (body.outputs.empty()) return;
        NodeId deepest = body.outputs.front();
        for (const NodeId output : body.outputs)
            if (depth(output) > depth(deepest)) deepest = output;
        for (std::size_t i = 0; i < expr.outputs.size(); ++i)
            take(expr.outputs[i], expr.outputs.size() == body.outputs.size() ? body.outputs[i] : deepest);
    }

    const InternalGraph& m_graph;
    std::vector<std::size_t> m_depth;
    std::vector<NodeId> m_last;    ///< the operation's result that is the end of the path
    std::vector<NodeId> m_before;  ///< of an operation's result: that of the one before on its path
};

/// The symbols in the name of an open dimension, "(H+1)//2" has H. Each text is read once.
class SymbolNames {
  public:
    const std::set<std::string>& of(const std::string& dim) {
        const auto [known, isNew] = m_known.try_emplace(dim);
        std::set<std::string>& symbols = known->second;
        if (isNew)
            tensor::Symbolic::parse(dim).bound([&symbols](std::string_view symbol) {
                symbols.emplace(symbol);
                return std::optional(std::int64_t{1});
            });
        return symbols;
    }

  private:
    std::unordered_map<std::string, std::set<std::string>> m_known;
};

std::string nameOfAxis(const std::string& value, std::size_t axis) { return value + "." + std::to_string(axis); }

}  // namespace

ModelStructure structureOf(const InternalGraph& graph) {
    ModelStructure structure;
    std::map<std::tuple<std::string, std::string, int>, OperatorUse> uses;
    for (const ExprId id : graph.recursiveOrder(graph.mainId())) {
        const Expr& expr = graph.expr(id);
        if (!isOperation(expr) || expr.op.name.empty()) continue;
        OperatorUse& use = uses[{expr.op.domain, expr.op.name, expr.op.version}];
        if (use.count++ == 0) {
            use.domain = expr.op.domain;
            use.name = expr.op.name;
            use.version = expr.op.version;
            // A definition may be looked up once: it depends on nothing else of the expr.
            use.isUnsupported = isUnsupported(expr);
        }
        if (!expr.outputs.empty()) use.nodes.push_back(expr.outputs.front());
        if (expr.bodies.empty()) continue;
        ControlFlow control{id, {}};
        for (const graph::BodyId body : expr.bodies) control.bodies.push_back(graph.body(body).label);
        structure.control.push_back(std::move(control));
    }
    for (auto& [key, use] : uses) structure.operators.push_back(std::move(use));
    Depths depths(graph);
    depths.follow(graph.main());
    NodeId end;
    for (const NodeId output : graph.outputs())
        if (!end.valid() || depths.depth(output) > depths.depth(end)) end = output;
    if (end.valid()) {
        structure.depth = depths.depth(end);
        structure.path = depths.path(end);
    }
    structure.depths = depths.takeDepths();
    return structure;
}

std::vector<DynamicDimension> dynamicDimensions(const InternalGraph& graph, const std::vector<NamedValue>& inputs,
                                                const std::vector<NamedValue>& outputs) {
    std::vector<DynamicDimension> dimensions;
    std::unordered_map<std::string, std::size_t> known;
    const auto dimension = [&](const std::string& name) -> DynamicDimension& {
        const auto [found, isNew] = known.try_emplace(name, dimensions.size());
        if (isNew) dimensions.push_back({name, {}, {}, {}});
        return dimensions[found->second];
    };
    SymbolNames names;
    const auto eachOpen = [&graph](NodeId node, const auto& visit) {
        const tensor::TypeInfo& type = graph.node(node).type;
        for (std::size_t axis = 0; type.shape && axis < type.shape->size(); ++axis)
            if (const tensor::Dim& dim = (*type.shape)[axis]; !dim.symbol.empty()) visit(axis, dim.symbol);
    };
    for (const NamedValue& input : inputs)
        eachOpen(input.node, [&](std::size_t axis, const std::string& symbol) {
            for (const std::string& name : names.of(symbol))
                dimension(name).inputs.push_back(nameOfAxis(input.name, axis));
        });
    for (std::size_t i = 0; i < graph.nodeCount(); ++i) {
        if (graph.isErased(graph.node(NodeId(i)).producer)) continue;
        std::set<std::string> all;
        eachOpen(NodeId(i), [&](std::size_t, const std::string& symbol) {
            const auto& found = names.of(symbol);
            all.insert(found.begin(), found.end());
        });
        for (const std::string& name : all) dimension(name).nodes.push_back(NodeId(i));
    }
    for (const NamedValue& output : outputs)
        eachOpen(output.node, [&](std::size_t axis, const std::string& symbol) {
            for (const std::string& name : names.of(symbol))
                dimension(name).outputs.push_back(nameOfAxis(output.name, axis) + " = " + symbol);
        });
    return dimensions;
}

void bindDimensions(std::vector<DynamicDimension>& dimensions, const InternalGraph& open, const InternalGraph& bound) {
    if (dimensions.empty()) return;
    std::unordered_map<std::string, DynamicDimension*> byName;
    for (DynamicDimension& dimension : dimensions) byName[dimension.name] = &dimension;
    for (std::size_t i = 0; i < std::min(open.nodeCount(), bound.nodeCount()); ++i) {
        const auto& named = open.node(NodeId(i)).type.shape;
        const auto& sized = bound.node(NodeId(i)).type.shape;
        if (!named || !sized || named->size() != sized->size()) continue;
        for (std::size_t axis = 0; axis < named->size(); ++axis) {
            if ((*named)[axis].symbol.empty() || !(*sized)[axis].known()) continue;
            const auto found = byName.find((*named)[axis].symbol);
            if (found != byName.end() && !found->second->size) found->second->size = (*sized)[axis].value;
        }
    }
}

}  // namespace sonde::analysis
