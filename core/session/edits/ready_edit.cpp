#include "core/session/edits/ready_edit.h"

#include <algorithm>
#include <cmath>

#include "core/analysis/weight_positions.h"
#include "core/base/number_text.h"
#include "core/exec/flatten.h"
#include "core/expression/syntax.h"
#include "core/graph/same_weight.h"
#include "core/io/npz/npy.h"
#include "core/session/edits/changed_elements.h"
#include "core/session/edits/selection.h"

namespace sonde::session {

using graph::Expr;
using graph::ExprId;
using graph::InternalGraph;
using graph::NodeId;
using tensor::Tensor;
using tensor::Value;
using Part = EditPlace::Part;

struct ReadyEdit::State {
    Edit edit;
    Target target = Target::Computed;
    NodeId node;
    std::vector<NodeId> nodes;
    std::vector<NodeId> operands;
    Slice slice;
    expression::Expression expression;
    std::vector<std::pair<std::string, std::size_t>> names;  ///< of texts; position in `operands`, kItself
    bool areConstant = true;                                 ///< the values of all names
    bool hasFixedSlice = true;                               ///< of those of the slice
    Tensor file;
    std::string title;  ///< "'conv1[0]'"

    static constexpr std::size_t kItself = static_cast<std::size_t>(-1);
};

namespace {

/// Where nodes are in a program: what may be read when.
class Order {
  public:
    explicit Order(const InternalGraph& graph) : m_graph(graph), m_position(graph.exprCount(), 0) {
        for (std::size_t next = 0; const ExprId id : graph.recursiveOrder(graph.mainId()))
            m_position[id.index()] = next++;
    }

    /// Whether a value is there, in the same iteration, whenever another one has just been computed. By source.
    bool isBefore(NodeId node, NodeId other) const {
        if (position(node) >= position(other) || !isAround(node, other)) return false;
        // A loop comes before what is inside of it, and its results after.
        for (ExprId owner = m_graph.body(bodyOf(other)).owner; owner.valid();
             owner = m_graph.body(m_graph.expr(owner).body).owner)
            if (owner == m_graph.node(node).producer) return false;
        return true;
    }
    /// Whether a value is in the same body as another, or in one around it.
    bool isAround(NodeId node, NodeId other) const {
        const graph::BodyId row = exec::rowOf(m_graph, bodyOf(node));
        for (graph::BodyId body = exec::rowOf(m_graph, bodyOf(other));;) {
            if (body == row) return true;
            const ExprId owner = m_graph.body(body).owner;
            if (!owner.valid()) return false;
            body = exec::rowOf(m_graph, m_graph.expr(owner).body);
        }
    }

  private:
    std::size_t position(NodeId node) const { return m_position[m_graph.node(node).producer.index()]; }
    graph::BodyId bodyOf(NodeId node) const { return m_graph.expr(m_graph.node(node).producer).body; }

    const InternalGraph& m_graph;
    std::vector<std::size_t> m_position;
};

bool isInput(const InternalGraph& graph, NodeId node) {
    return std::ranges::find(graph.inputs(), node) != graph.inputs().end();
}

/// The byte of the first term with a name.
std::optional<std::size_t> byteOfName(const expression::Term& term, const std::string& name) {
    if (term.kind == expression::Term::Kind::Name && term.name == name) return term.at;
    for (const expression::Term& part : term.parts)
        if (const auto at = byteOfName(part, name)) return at;
    return std::nullopt;
}

/// In code points, from 1.
std::size_t columnOfName(const expression::Expression& expression, const std::string& name) {
    const std::size_t at = byteOfName(expression.root(), name).value_or(0);
    return 1 + static_cast<std::size_t>(
                   std::ranges::count_if(expression.text().substr(0, at), [](char c) { return (c & 0xC0) != 0x80; }));
}

/// Exporters fold layers, and name what comes of their weights anew: for "conv1.weight" those that module conv1 has.
/// Empty: it has none.
std::string weightsLike(const InternalGraph& graph, std::string_view name) {
    const std::size_t dot = name.rfind('.');
    if (dot == std::string_view::npos) return {};
    const std::string_view qualname = name.substr(0, dot);
    std::string names;
    for (std::size_t i = 0; i < graph.exprCount(); ++i) {
        const Expr& expr = graph.expr(ExprId(i));
        const bool isIt = !graph.isErased(ExprId(i)) && expr.qualname == qualname && analysis::isStored(expr);
        if (isIt && !expr.outputs.empty())
            names += (names.empty() ? "" : ", ") + expression::quoted(graph.node(expr.outputs.front()).name);
    }
    return names.empty() ? names : "the weights of " + std::string(qualname) + " are " + names;
}

}  // namespace

base::Result<NodeId> ReadyEdit::find(const document::Document& document, std::string_view name) {
    auto found = document.findNode(name);
    if (found || name.empty()) return found;
    base::Error error = found.error();
    if (std::string weights = weightsLike(*document.graph, name); !weights.empty()) error.hint = std::move(weights);
    return error;
}

base::Result<ReadyEdit> ReadyEdit::make(const document::Document& document, Edit edit, NodeId target,
                                        EditPlace& place) {
    const InternalGraph& graph = *document.graph;
    const std::vector<NodeId> sources = exec::valueSources(graph);
    auto state = std::make_shared<State>();
    state->node = sources[target.index()];
    state->nodes = {state->node};
    state->title = "'" + edit.target.name + (edit.slice.empty() ? "" : '[' + edit.slice + ']') + "'";
    if (graph.node(state->node).constant) {
        state->target = Target::Weight;
        state->nodes = graph::sameWeight(graph, state->node);
    } else if (isInput(graph, state->node)) {
        state->target = Target::Input;
    }
    SONDE_ASSIGN(state->slice, Slice::parse(edit.slice, place));
    std::vector<std::pair<std::string, Part>> names;
    for (std::string& name : state->slice.names()) names.emplace_back(std::move(name), Part::Slice);
    if (edit.kind == Edit::Kind::Expression) {
        auto parsed = expression::parse(edit.text);
        if (!parsed) {
            place = {Part::Value, expression::errorColumn(parsed.error()).value_or(1)};
            return base::usageError(parsed.error().what, {}, parsed.error().hint);
        }
        for (const std::string& name : parsed->names()) names.emplace_back(name, Part::Value);
        state->expression = std::move(*parsed);
    } else if (edit.kind == Edit::Kind::File) {
        place = {Part::Value, 1};
        auto file = io::readNpyFile(edit.text);
        if (!file) return base::usageError("'" + edit.text + "': " + file.error().what, {}, file.error().hint);
        state->file = std::move(*file);
    } else if (edit.kind == Edit::Kind::Noise && !(std::isfinite(edit.number) && edit.number >= 0)) {
        place = {Part::Value, 1};
        return base::usageError("the standard deviation is " + base::roundedText(edit.number, 6) +
                                ", and must be a number from 0 on");
    }
    const Order order(graph);
    const auto isFixed = [&](Part part, bool isConstant) {
        state->areConstant = state->areConstant && isConstant;
        if (part == Part::Slice) state->hasFixedSlice = state->hasFixedSlice && isConstant;
    };
    for (const auto& [name, part] : names) {
        const auto refuse = [&, part = part, name = name](const base::Error& error) {
            const bool isInSlice = part == Part::Slice;
            place = {part, columnOfName(isInSlice ? state->slice.expression() : state->expression, name)};
            if (isInSlice) place.column = Slice::columnInside(place.column);
            return base::usageError(error.what, {}, error.hint);
        };
        const auto found = find(document, name);
        if (!found) return refuse(found.error());
        const NodeId source = sources[found->index()];
        if (std::ranges::find(state->nodes, source) != state->nodes.end()) {
            state->names.emplace_back(name, State::kItself);
            isFixed(part, state->target == Target::Weight);
            continue;
        }
        const std::string both = "'" + name + "' cannot be read for '" + edit.target.name + "': ";
        const bool isConstant = graph.node(source).constant.has_value();
        if (state->target == Target::Weight && !isConstant)
            return refuse(base::usageError(both + "a weight has its value before anything is computed"));
        if (state->target == Target::Input && !isConstant && !isInput(graph, source))
            return refuse(base::usageError(both + "an input has its value before anything is computed"));
        if (state->target == Target::Computed && !isConstant && !order.isBefore(source, state->node))
            return refuse(
                base::usageError(both + (order.isAround(source, state->node) ? "it is computed later"
                                                                             : "it is inside of a loop or branch")));
        isFixed(part, isConstant);
        state->names.emplace_back(name, state->operands.size());
        state->operands.push_back(source);
    }
    state->edit = std::move(edit);
    place = {};
    ReadyEdit ready;
    ready.m_state = std::move(state);
    return ready;
}

const Edit& ReadyEdit::edit() const { return m_state->edit; }
ReadyEdit::Target ReadyEdit::target() const { return m_state->target; }
NodeId ReadyEdit::node() const { return m_state->node; }
const std::vector<NodeId>& ReadyEdit::nodes() const { return m_state->nodes; }
const std::vector<NodeId>& ReadyEdit::operands() const { return m_state->operands; }

bool ReadyEdit::hasFixedSlice() const { return m_state->hasFixedSlice; }

bool ReadyEdit::writesConstants() const {
    const Edit::Kind kind = m_state->edit.kind;
    const bool isComputed = kind == Edit::Kind::Noise || kind == Edit::Kind::Scale || kind == Edit::Kind::Swap;
    return !isComputed && m_state->areConstant;
}

ReadyEdit ReadyEdit::with(Edit::Kind kind) const {
    auto state = std::make_shared<State>(*m_state);
    state->edit.kind = kind;
    ReadyEdit other;
    other.m_state = std::move(state);
    return other;
}

base::Result<Value> ReadyEdit::apply(const Value& value, std::span<const Value> operands, const base::WorkContext& work,
                                     EditPlace& place) const {
    const State& state = *m_state;
    place = {};
    const auto failed = [&](base::Error error) {
        if (error.kind == base::ErrorKind::Cancelled) return error;
        return base::runError(state.title + ": " + error.what, {}, error.hint);
    };
    const auto names = [&](std::string_view name) -> base::Result<Value> {
        const auto found = std::ranges::find(state.names, name, &std::pair<std::string, std::size_t>::first);
        if (found == state.names.end()) return base::usageError("there is no '" + std::string(name) + "'");
        return found->second == State::kItself ? value : operands[found->second];
    };
    const auto computed = [&]() -> base::Result<Tensor> {
        if (state.edit.kind == Edit::Kind::File) return state.file;
        auto result = expression::evaluateArray(state.expression, names, work);
        if (result || result.error().kind == base::ErrorKind::Cancelled) return result;
        place = {Part::Value, expression::errorColumn(result.error()).value_or(1)};
        return base::usageError(result.error().what, {}, result.error().hint);
    };
    const bool isOverwritten = state.edit.kind == Edit::Kind::Expression || state.edit.kind == Edit::Kind::File;
    if (!value.isTensor() || value.tensor().dtype() == tensor::DType::String) {
        if (!value.isNumber() || !isOverwritten || !state.slice.isEverything())
            return failed(base::usageError("the value is " + value.typeText() + ", and only tensors are edited so"));
        auto number = computed();
        if (!number) return failed(std::move(number).error());
        auto changed = changedNumber(value, *number);
        if (changed) return changed;
        place = {Part::Value, 1};
        return failed(std::move(changed).error());
    }
    SONDE_ASSIGN(const Tensor whole, value.tensor().contiguous());
    SONDE_ASSIGN(Tensor copy, whole.clone());
    auto selection = Selection::make(copy, state.slice, names, work, place);
    if (!selection) return failed(std::move(selection).error());
    auto part = isOverwritten ? computed() : selection->read();
    if (!part) return failed(std::move(part).error());
    auto changed = isOverwritten ? fittingElements(*part, copy.dtype(), selection->shape())
                                 : changedElements(state.edit, std::move(*part));
    if (!changed) {
        place = {Part::Value, 1};
        return failed(std::move(changed).error());
    }
    selection->write(*changed);
    return Value(std::move(copy));
}

}  // namespace sonde::session
