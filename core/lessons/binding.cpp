#include "core/lessons/binding.h"

#include <algorithm>

#include "core/analysis/query/query.h"
#include "core/analysis/reach.h"
#include "core/base/glob.h"
#include "core/exec/flatten.h"
#include "core/graph/scope_output.h"
#include "core/lessons/kinds.h"
#include "core/lessons/source_text.h"

namespace sonde::lessons {

using graph::ExprId;
using graph::NodeId;

namespace {

std::vector<NodeId> oneOf(const std::vector<NodeId>& nodes, std::size_t position) {
    if (position >= nodes.size()) return {};
    return {nodes[position]};
}

}  // namespace

BoundLesson::BoundLesson(Lesson lesson, std::shared_ptr<const graph::InternalGraph> graph,
                         std::shared_ptr<const graph::ModuleTree> modules, const std::function<bool(NodeId)>& isReached,
                         bool hasNan)
    : m_lesson(std::move(lesson)), m_graph(std::move(graph)), m_modules(std::move(modules)) {
    for (const BindingRule& rule : m_lesson.bindings) {
        std::vector<NodeId> found = nodes(rule.source);
        // A branch that was not taken has no numbers to show.
        if (isReached && std::ranges::any_of(found, isReached))
            std::erase_if(found, [&isReached](NodeId node) { return !isReached(node); });
        if (found.empty()) {
            // What depends on something that is missing is not missing itself.
            const std::string& of = rule.source.of;
            if (!rule.isOptional && (of.empty() || node(of).valid()))
                m_missing.push_back(rule.purpose.empty() ? describe(rule.source) : rule.purpose);
            continue;
        }
        using Pick = BindingRule::Pick;
        m_bound[rule.name] = rule.pick == Pick::First  ? found.front()
                             : rule.pick == Pick::Last ? found.back()
                                                       : found[found.size() / 2];
    }
    m_isUnfit = m_lesson.needsNoNan && hasNan;
    if (m_isUnfit) m_missing.insert(m_missing.begin(), "a run without NaN");
    for (std::size_t i = 0; i < m_lesson.steps.size(); ++i)
        if (std::ranges::all_of(m_lesson.steps[i].names,
                                [this](const std::string& name) { return node(name).valid(); }))
            m_steps.push_back(i);
}

std::string BoundLesson::missingText() const {
    if (m_isUnfit)
        return "the lesson needs " + m_missing.front() +
               ", and this one has some already: look for where they begin, or give the model another input";
    std::string text;
    for (std::size_t i = 0; i < m_missing.size(); ++i)
        text += (i == 0 ? "" : i + 1 == m_missing.size() ? " and " : ", ") + m_missing[i];
    return "the lesson needs " + text +
           (m_missing.size() == 1 ? ", which the model has not" : ", which the model lacks");
}

NodeId BoundLesson::node(const std::string& name) const {
    const auto found = m_bound.find(name);
    return found == m_bound.end() ? NodeId() : found->second;
}

bool BoundLesson::dependsOnRun() const {
    return std::ranges::any_of(m_bound, [this](const auto& named) {
        ExprId at = m_graph->body(m_graph->expr(m_graph->node(named.second).producer).body).owner;
        // A body without an operator is that of a called module: it runs.
        while (at.valid() && m_graph->expr(at).op.name.empty()) at = m_graph->body(m_graph->expr(at).body).owner;
        return at.valid();
    });
}

std::string BoundLesson::withNodes(std::string_view text) const {
    return replaceNames(text, [this](const std::string& name) {
        const NodeId bound = node(name);
        return bound.valid() ? "`#" + std::to_string(bound.index()) + "`" : "`" + name + "`";
    });
}

std::vector<NodeId> BoundLesson::nodes(const Source& source) const {
    const NodeId of = node(source.of);
    if (!source.of.empty() && !of.valid()) return {};
    const ExprId producer = of.valid() ? m_graph->node(of).producer : ExprId();
    using Kind = Source::Kind;
    switch (source.kind) {
        case Kind::Operators: return limited(nodesOf(*m_graph, *operatorKind(source.text)), source);
        case Kind::Query: {
            bool isKnown = true;
            const std::string text = replaceNames(source.text, [&](const std::string& name) {
                isKnown = isKnown && node(name).valid();
                return isKnown ? "#" + std::to_string(node(name).index()) : std::string("#0");
            });
            const auto query = analysis::Query::parse(text);
            if (!query || !isKnown) return {};
            return limited(query->run(*m_graph, {.modules = m_modules.get()}), source);
        }
        case Kind::Module: return ofModule(source.text);
        case Kind::Name: return {of};
        case Kind::Input: return oneOf(computedInputs(*m_graph, producer), source.position);
        case Kind::Weight: {
            std::vector<NodeId> weights = weightsOf(*m_graph, producer);
            // Those of a called module are read inside of it.
            if (weights.empty())
                weights = weightsOf(*m_graph, m_graph->node(exec::valueSources(*m_graph)[of.index()]).producer);
            return oneOf(weights, source.position);
        }
        case Kind::User: {
            std::vector<NodeId> users;
            for (const ExprId user : m_graph->node(of).users)
                if (!m_graph->isErased(user) && !m_graph->expr(user).outputs.empty())
                    users.push_back(m_graph->expr(user).outputs.front());
            return oneOf(users, source.position);
        }
        case Kind::Skip:
        case Kind::Branch: break;
    }
    const ResidualSum sum = residualOf(ValueFlow(*m_graph), producer);
    const NodeId operand = source.kind == Kind::Skip ? sum.skip : sum.branch;
    if (!operand.valid()) return {};
    return {operand};
}

std::vector<NodeId> BoundLesson::limited(std::vector<NodeId> nodes, const Source& source) const {
    const auto keep = [&](const std::string& name, analysis::Flow flow) {
        if (name.empty() || nodes.empty()) return;
        if (!node(name).valid()) return nodes.clear();
        const ExprId from = m_graph->node(node(name)).producer;
        const auto distance = analysis::distances(*m_graph, {from}, flow);
        std::erase_if(nodes, [&](NodeId each) {
            const ExprId expr = m_graph->node(each).producer;
            return expr == from || distance[expr.index()] == analysis::kUnreached;
        });
    };
    keep(source.after, analysis::Flow::Downstream);
    keep(source.before, analysis::Flow::Upstream);
    return nodes;
}

std::vector<NodeId> BoundLesson::ofModule(const std::string& pattern) const {
    constexpr std::size_t kMaxModules = 64;  // each takes time by the size of the graph
    return graph::moduleOutputs(
        *m_graph, [&](std::string_view qualname) { return base::globMatches(pattern, qualname, false); }, kMaxModules);
}

}  // namespace sonde::lessons
