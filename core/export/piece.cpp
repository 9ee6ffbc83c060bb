#include "core/export/piece.h"

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_set>

#include "core/analysis/infer.h"
#include "core/exec/expr_effect.h"
#include "core/exec/flatten.h"
#include "core/exec/runner.h"
#include "core/graph/inline_calls.h"
#include "core/graph/operation_count.h"
#include "core/graph/source_files.h"
#include "core/ops/registry/registry.h"

namespace sonde::exporting {

namespace {

using graph::Argument;
using graph::BodyId;
using graph::Expr;
using graph::ExprId;
using graph::ExprKind;
using graph::InternalGraph;
using graph::NodeId;
using tensor::Value;

bool isConstant(const InternalGraph& graph, NodeId node) {
    const ExprKind kind = graph.expr(graph.node(node).producer).kind;
    return kind == ExprKind::Constant || kind == ExprKind::GetAttr;
}

bool isInput(const InternalGraph& graph, NodeId node) { return std::ranges::count(graph.inputs(), node) > 0; }

std::string nobodyNeeds(const std::string& name) { return "no end of the piece depends on '" + name + "'"; }

/// Borders are in the main body, where calls around them were put in place: what is inside of a branch or a loop has no
/// value of its own.
base::Result<void> checkPlace(const InternalGraph& graph, NodeId node) {
    const Expr& producer = graph.expr(graph.node(node).producer);
    if (producer.body == graph.mainId()) return {};
    const ExprId owner = graph.body(producer.body).owner;
    std::string name = owner.valid() ? graph.expr(owner).target : "a body";
    std::string hint = "a piece has whole branches and loops";
    if (owner.valid() && !graph.expr(owner).outputs.empty()) {
        const std::string& output = graph.node(graph.expr(owner).outputs.front()).name;
        name = "'" + output + "'";
        hint += ": begin or end at " + name;
    }
    return base::usageError("'" + graph.node(node).name + "' is inside of " + name, "cut", hint);
}

base::Result<void> checkEnds(const Document& document, const PieceEnds& ends) {
    const InternalGraph& graph = *document.graph;
    if (ends.to.empty()) return base::usageError("a piece needs an end", document.location, "give --to NODE");
    for (const NodeId node : ends.from) SONDE_TRY(checkPlace(graph, node));
    for (const NodeId node : ends.to) {
        SONDE_TRY(checkPlace(graph, node));
        const std::string name = "'" + graph.node(node).name + "'";
        if (isInput(graph, node)) return base::usageError(name + " is an input of the model", "--to");
        if (isConstant(graph, node)) return base::usageError(name + " is a constant of the model", "--to");
        if (std::ranges::count(ends.from, node) > 0)
            return base::usageError(name + " is where the piece begins and where it ends", "--from, --to");
    }
    return {};
}

/// The graph between the borders.
class Cutter {
  public:
    Cutter(const InternalGraph& whole, const PieceEnds& ends) : m_graph(whole), m_ends(ends) {}

    /// `border`: what the beginnings were in the run.
    base::Result<InternalGraph> cut(std::span<const Value> border) {
        m_isOriginalInput.insert(m_graph.inputs().begin(), m_graph.inputs().end());
        for (std::size_t i = 0; i < m_ends.from.size(); ++i) makeInput(m_ends.from[i], border[i].tensor());
        setResults();
        findAlive();
        for (std::size_t i = 0; i < m_ends.from.size(); ++i) {
            if (m_alive.contains(m_graph.node(m_inputOf[i]).producer)) continue;
            return base::usageError(nobodyNeeds(m_graph.node(m_inputOf[i]).name), "--from");
        }
        eraseRest();
        SONDE_TRY(checkRandom());
        SONDE_TRY(m_graph.validate());
        return std::move(m_graph);
    }

  private:
    void makeInput(NodeId node, const tensor::Tensor& value) {
        if (m_isOriginalInput.contains(node)) {
            m_inputOf.push_back(node);
            return;
        }
        const std::string name = m_graph.node(node).name;
        std::string former = name + "_before";
        while (m_graph.findNode(former).valid()) former += '_';
        (void)m_graph.rename(node, former);
        const NodeId made =
            m_graph.addInput(m_graph.mainId(), name, tensor::TypeInfo::tensor(value.dtype(), value.shape()), name);
        // The module that made it stays its origin.
        const Expr& producer = m_graph.expr(m_graph.node(node).producer);
        Expr& input = m_graph.mutableExpr(m_graph.node(made).producer);
        input.qualname = producer.qualname;
        input.moduleClass = producer.moduleClass;
        m_graph.replaceUses(node, made);
        m_inputOf.push_back(made);
    }

    void setResults() {
        std::vector<Argument> results;
        for (const NodeId node : m_ends.to) results.push_back(Argument::of(node));
        Argument result =
            results.size() == 1 ? results.front() : Argument::container(Argument::Kind::Tuple, std::move(results));
        m_graph.setResult(m_graph.mainId(), std::move(result));
    }

    void need(NodeId node) { needExpr(m_graph.node(node).producer); }

    void needExpr(ExprId id) {
        if (m_alive.insert(id).second) m_stack.push_back(id);
    }

    void follow() {
        while (!m_stack.empty()) {
            const ExprId id = m_stack.back();
            m_stack.pop_back();
            for (const NodeId input : m_graph.expr(id).inputs) need(input);
            for (const BodyId body : m_graph.expr(id).bodies) {
                for (const NodeId output : m_graph.body(body).outputs) need(output);
                for (const ExprId inner : m_graph.body(body).order) needExpr(inner);
            }
        }
    }

    /// Besides what the ends are computed from: writes and checks on values that the piece has.
    void findAlive() {
        for (const NodeId node : m_ends.to) need(node);
        follow();
        ExprId last;
        for (const ExprId id : m_graph.main().order)
            if (m_alive.contains(id)) last = id;
        for (std::size_t before = 0; before != m_alive.size();) {
            before = m_alive.size();
            for (const ExprId id : m_graph.main().order) {
                if (!m_alive.contains(id) && exec::hasEffect(m_graph, id) && readsAlive(id)) needExpr(id);
                if (id == last) break;
            }
            follow();
        }
    }

    bool readsAlive(ExprId id) const {
        return std::ranges::any_of(m_graph.expr(id).inputs, [&](NodeId node) {
            return !isConstant(m_graph, node) && m_alive.contains(m_graph.node(node).producer);
        });
    }

    void eraseRest() {
        const std::vector<ExprId> order = m_graph.recursiveOrder(m_graph.mainId());
        for (std::size_t i = order.size(); i-- > 0;)
            if (!m_graph.isErased(order[i]) && !m_alive.contains(order[i])) m_graph.erase(order[i]);
    }

    base::Result<void> checkRandom() const {
        for (const ExprId id : m_graph.recursiveOrder(m_graph.mainId())) {
            const Expr& expr = m_graph.expr(id);
            if (expr.op.name.empty() || expr.outputs.empty()) continue;
            const ops::OpDef* op = ops::Registry::all().find(expr.op.domain, expr.op.name, expr.op.version);
            if (!op || !op->random) continue;
            const std::string& name = m_graph.node(expr.outputs.front()).name;
            return base::usageError(
                "'" + name + "' (" + expr.op.name + ") is random: the piece would have other values", "cut",
                "begin the piece at its value: --from " + name);
        }
        return {};
    }

    InternalGraph m_graph;
    const PieceEnds& m_ends;
    std::vector<NodeId> m_inputOf;  ///< of each beginning
    std::set<NodeId> m_isOriginalInput;
    std::set<ExprId> m_alive;
    std::vector<ExprId> m_stack;
};

/// The values of nodes in a run, as tensors.
base::Result<std::vector<Value>> tensorsOf(const InternalGraph& graph, const exec::Recording& recording,
                                           std::span<const NodeId> nodes, std::span<const Value> inputs,
                                           std::string_view option) {
    std::vector<Value> values;
    for (const NodeId node : nodes) {
        const auto at = static_cast<std::size_t>(std::ranges::find(graph.inputs(), node) - graph.inputs().begin());
        const std::optional<Value>& constant = graph.node(node).constant;
        const Value* value = at < inputs.size() ? &inputs[at] : recording.value(node);
        if (!value && constant) value = &*constant;
        // The run ends as soon as all ends are computed.
        if (!value) return base::usageError(nobodyNeeds(graph.node(node).name), std::string(option));
        if (!value->isTensor())
            return base::usageError("'" + graph.node(node).name + "' is " + value->typeText() +
                                        ", and a piece begins and ends with tensors",
                                    std::string(option), "begin at what it is computed from");
        values.push_back(*value);
    }
    return values;
}

std::shared_ptr<Document> pieceDocument(const Document& whole, std::shared_ptr<const InternalGraph> graph) {
    auto document = std::make_shared<Document>();
    document->title = "piece of " + whole.title;
    document->location = whole.location;
    document->format = whole.format;
    document->properties = whole.properties;
    document->modules = whole.modules;
    document->options = whole.options;
    document->options.passes.clear();
    for (const NodeId node : graph->inputs()) document->inputs.push_back({graph->node(node).name, node});
    for (const NodeId node : graph->outputs()) document->outputs.push_back({graph->node(node).name, node});
    document->graph = std::move(graph);
    return document;
}

/// A node of the main body with the same value, such as that of the call that returns it; the node itself if none has.
NodeId inMain(const InternalGraph& graph, const std::vector<NodeId>& sources, NodeId node) {
    const auto isMain = [&](NodeId each) { return graph.expr(graph.node(each).producer).body == graph.mainId(); };
    if (isMain(node)) return node;
    for (std::size_t i = 0; i < sources.size(); ++i) {
        const NodeId other(i);
        const bool isErased = !graph.node(other).producer.valid() || graph.isErased(graph.node(other).producer);
        if (!isErased && sources[i] == sources[node.index()] && isMain(other)) return other;
    }
    return node;
}

/// As nodes of the main body, without what is named twice.
std::vector<NodeId> borderOf(const InternalGraph& graph, const std::vector<NodeId>& nodes) {
    const std::vector<NodeId> sources = exec::valueSources(graph);
    std::vector<NodeId> result;
    for (const NodeId named : nodes)
        if (const NodeId node = inMain(graph, sources, named); std::ranges::count(result, node) == 0)
            result.push_back(node);
    return result;
}

/// The calls that a node is inside of; none if a branch or a loop is between, which no piece begins or ends in.
std::vector<ExprId> callsAround(const InternalGraph& graph, NodeId node) {
    std::vector<ExprId> calls;
    for (BodyId body = graph.expr(graph.node(node).producer).body; body != graph.mainId();) {
        const ExprId owner = graph.body(body).owner;
        if (!owner.valid() || !exec::isCall(graph.expr(owner))) return {};
        calls.push_back(owner);
        body = graph.expr(owner).body;
    }
    return calls;
}

std::vector<ExprId> callsAround(const InternalGraph& graph, const PieceEnds& ends) {
    std::set<ExprId> found;
    for (const std::vector<NodeId>* nodes : {&ends.from, &ends.to}) {
        for (const NodeId node : *nodes) {
            const std::vector<ExprId> calls = callsAround(graph, node);
            found.insert(calls.begin(), calls.end());
        }
    }
    return {found.begin(), found.end()};
}

/// What operations read, in them too, of the main body.
std::vector<NodeId> readBy(const InternalGraph& graph, ExprId id) {
    std::vector<NodeId> read = graph.expr(id).inputs;
    for (const BodyId body : graph.expr(id).bodies)
        for (const ExprId inner : graph.recursiveOrder(body))
            for (const NodeId input : graph.expr(inner).inputs)
                if (graph.expr(graph.node(input).producer).body == graph.mainId()) read.push_back(input);
    std::erase_if(read, [&](NodeId node) { return isConstant(graph, node); });
    return read;
}

/// Ends that begin before each value that is no tensor, one operation back; nothing if all are tensors, or one is an
/// input. `passed`: the names of those that are left out.
std::optional<PieceEnds> beginningEarlier(const InternalGraph& graph, const exec::Recording& recording,
                                          const PieceEnds& ends, std::vector<std::string>& passed) {
    PieceEnds earlier{{}, ends.to, true};
    const auto begin = [&](NodeId node) {
        if (std::ranges::count(earlier.from, node) == 0) earlier.from.push_back(node);
    };
    bool isOther = false;
    for (const NodeId node : ends.from) {
        const Value* const value = recording.value(node);
        if (!value || value->isTensor() || isInput(graph, node)) {
            begin(node);
            continue;
        }
        isOther = true;
        passed.push_back(graph.node(node).name);
        for (const NodeId read : readBy(graph, graph.node(node).producer)) begin(read);
    }
    // The model's inputs are there anyway.
    std::erase_if(earlier.from, [&](NodeId node) { return isInput(graph, node); });
    return isOther ? std::optional(std::move(earlier)) : std::nullopt;
}

base::Result<Piece> cutInlined(const Document& document, PieceEnds ends, std::span<const ExprId> calls,
                               std::span<const Value> inputs, std::uint64_t seed, const base::WorkContext& work) {
    graph::InlinedGraph inlined = graph::inlineCalls(*document.graph, calls);
    for (std::vector<NodeId>* nodes : {&ends.from, &ends.to})
        for (NodeId& node : *nodes) node = inlined.nodes[node.index()];
    Document open = document;
    open.graph = graph::withFiles(std::make_shared<const InternalGraph>(std::move(inlined.graph)),
                                  graph::filesOf(document.graph));
    return cutPiece(open, ends, inputs, seed, work);
}

}  // namespace

base::Result<Piece> cutPiece(const Document& document, const PieceEnds& given, std::span<const Value> inputs,
                             std::uint64_t seed, const base::WorkContext& work) {
    const InternalGraph& graph = *document.graph;
    const PieceEnds ends{borderOf(graph, given.from), borderOf(graph, given.to), given.mayBeginEarlier};
    if (const std::vector<ExprId> calls = callsAround(graph, ends); !calls.empty())
        return cutInlined(document, ends, calls, inputs, seed, work);
    SONDE_TRY(checkEnds(document, ends));
    exec::PlanOptions options;
    options.watch = ends.from;
    options.end = ends.to;
    SONDE_ASSIGN(const auto plan, exec::Plan::make(document.graph, options));
    exec::Runner runner;
    exec::Recording recording = runner.run(*plan, inputs, work, {.seed = seed});
    if (recording.error) return std::move(*recording.error);
    std::vector<std::string> passed;
    if (const auto earlier = ends.mayBeginEarlier ? beginningEarlier(graph, recording, ends, passed) : std::nullopt) {
        SONDE_ASSIGN(Piece piece, cutPiece(document, *earlier, inputs, seed, work));
        piece.earlier.insert(piece.earlier.begin(), passed.begin(), passed.end());
        return piece;
    }
    SONDE_ASSIGN(const auto border, tensorsOf(graph, recording, ends.from, inputs, "--from"));
    for (std::size_t i = 0; i < ends.to.size(); ++i) {
        if (recording.outputs[i].isTensor()) continue;
        return base::usageError("'" + graph.node(ends.to[i]).name + "' is " + recording.outputs[i].typeText() +
                                    ", and a piece begins and ends with tensors",
                                "--to", "end at a tensor that is computed from it");
    }
    SONDE_ASSIGN(InternalGraph cut, Cutter(graph, ends).cut(border));
    Piece piece;
    for (const NodeId node : cut.inputs()) {
        const auto at = static_cast<std::size_t>(std::ranges::find(graph.inputs(), node) - graph.inputs().begin());
        if (at < graph.inputs().size()) {
            piece.inputs.push_back(at < inputs.size() ? inputs[at] : Value());
            continue;
        }
        const NodeId former = graph.findNode(cut.node(node).name);
        piece.inputs.push_back(
            border[static_cast<std::size_t>(std::ranges::find(ends.from, former) - ends.from.begin())]);
    }
    piece.outputs = recording.outputs;
    base::Diagnostics findings;
    analysis::inferTypes(cut, findings);
    piece.operations = graph::operationCount(cut);
    piece.document = pieceDocument(document, graph::withFiles(std::make_shared<const InternalGraph>(std::move(cut)),
                                                              graph::filesOf(document.graph)));
    return piece;
}

}  // namespace sonde::exporting
