#include <algorithm>
#include <exception>
#include <unordered_map>

#include "core/trace/traced_module/graph_editor.h"
#include "core/trace/traced_module/traced_module_tracer.h"

namespace sonde::trace {

struct GraphEditor::State {
    explicit State(ModuleGraph& edited) : graph(edited), tracer(TraceModuleOptions{}), active(tracer) {}

    ModuleGraph& graph;
    TracedModuleTracer tracer;
    ActiveTracer active;
    std::optional<std::size_t> after;  ///< place in the body; none: after what is used
    std::size_t first = 0;             ///< length of the body before
    int exceptions = 0;
    std::unordered_map<TracedNode*, Var> vars;
    std::vector<TracedNode*> bound;  ///< nodes that have a value now
    bool done = false;

    void unbind() {
        for (TracedNode* node : bound) GraphBuilder::setValue(*node, std::nullopt);
        bound.clear();
    }
    std::size_t place() const;
    void finish();
};

GraphEditor::GraphEditor(ModuleGraph& graph, TracedExpr* after) : m_state(std::make_unique<State>(graph)) {
    m_state->first = graph.body().size();
    m_state->exceptions = std::uncaught_exceptions();
    if (after) {
        const auto& body = graph.body();
        const auto found = std::ranges::find(body, after);
        m_state->after = found == body.end() ? 0 : static_cast<std::size_t>(found - body.begin()) + 1;
    }
    State* state = m_state.get();
    state->tracer.beginEditing(graph);
}

GraphEditor::GraphEditor(GraphEditor&&) noexcept = default;

GraphEditor::~GraphEditor() {
    if (!m_state || m_state->done) return;
    if (std::uncaught_exceptions() > m_state->exceptions) {
        discard();
    } else {
        commit();
    }
}

base::Result<GraphEditor> ModuleGraph::edit(TracedExpr* after) {
    if (after) {
        const bool isInput =
            std::ranges::any_of(m_inputs, [&](const TracedNode* input) { return &input->expr() == after; });
        if (!isInput && std::ranges::find(m_body, after) == m_body.end())
            return base::usageError("Expr to insert after is not in graph.", m_name);
    }
    if (!owner()) return base::usageError("the module of the graph no longer exists", m_name);
    if (Tracer::active()) return base::usageError("a trace or another edit is in progress", m_name);
    return GraphEditor(*this, after);
}

Var GraphEditor::operator[](TracedNode* node) {
    if (const auto known = m_state->vars.find(node); known != m_state->vars.end()) return known->second;
    // Values that show shape and dtype while the graph is edited; what is computed from them gets its own in the same
    // way.
    std::optional<tensor::Value> value;
    if (const auto shape = node->type().staticShape();
        shape && node->type().isTensor() && node->type().dtype != tensor::DType::Undefined) {
        if (auto zeros = tensor::Tensor::zeros(node->type().dtype, *shape)) value = tensor::Value(std::move(*zeros));
    }
    GraphBuilder::setValue(*node, value);
    m_state->bound.push_back(node);
    return m_state->vars.emplace(node, m_state->tracer.varOf(node, std::move(value))).first->second;
}

Module& GraphEditor::module(std::string_view path) { return m_state->graph.owner()->use(path); }

TracedNode* GraphEditor::node(const Var& value) const { return m_state->tracer.nodeOf(value); }

std::size_t GraphEditor::State::place() const {
    const auto& body = graph.body();
    std::size_t position = after.value_or(0);
    for (std::size_t i = first; i < body.size(); ++i) {
        for (const TracedNode* input : body[i]->inputs()) {
            for (std::size_t k = position; k < first; ++k) {
                if (body[k] == &input->expr()) position = k + 1;
            }
        }
    }
    return position;
}

void GraphEditor::State::finish() {
    unbind();
    done = true;
}

void GraphEditor::commit() {
    if (m_state->done) return;
    GraphBuilder(m_state->graph).moveTail(m_state->first, m_state->place());
    m_state->finish();
    m_state.reset();
}

void GraphEditor::discard() {
    if (!m_state || m_state->done) return;
    while (m_state->graph.body().size() > m_state->first)
        GraphBuilder(m_state->graph).remove(*m_state->graph.body().back());
    m_state->finish();
    m_state.reset();
}

}  // namespace sonde::trace
