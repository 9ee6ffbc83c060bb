#include "core/exec/join.h"

#include <algorithm>
#include <numeric>
#include <span>

#include "core/exec/flatten.h"
#include "core/ops/kernels/epilogue.h"

namespace sonde::exec {

namespace {

using graph::Argument;
using graph::Expr;
using ops::kernels::kNoInput;

class Joiner {
  public:
    Joiner(std::vector<Step> steps, const PlanImpl& plan, const InternalGraph& graph)
        : m_steps(std::move(steps)), m_plan(plan), m_graph(graph), m_taken(m_steps.size(), false),
          m_wanted(graph.nodeCount(), false), m_kept(graph.nodeCount(), false), m_ends(graph.nodeCount(), false),
          m_made(graph.nodeCount(), kNowhere) {
        for (std::size_t i = 0; i < m_steps.size(); ++i) {
            const Expr& expr = graph.expr(m_steps[i].expr);
            if (m_steps[i].kind == Step::Kind::Enter) continue;
            if (m_steps[i].hasEffect && m_steps[i].kind != Step::Kind::Leave) m_effects.push_back(i);
            for (NodeId node : expr.outputs) {
                // A call's outputs are made inside, unless they are put together when it is left.
                if (source(node) == node) m_made[node.index()] = i;
            }
        }
        collectReads();
        if (graph.bodyCount() > 1) countReaders();
        for (std::size_t i = 0; i < graph.nodeCount(); ++i) {
            const bool isKept = plan.keep[i] && !plan.options.measuresWatched;
            if (isKept || plan.isEnd[i]) m_wanted[plan.source[i].index()] = true;
            if (isKept) m_kept[plan.source[i].index()] = true;
            if (plan.isEnd[i]) m_ends[plan.source[i].index()] = true;
        }
        // What an edit reads is to be there itself.
        for (const auto& [node, edits] : plan.edits)
            plan.forEachOperand(std::span(&node, 1), [this](NodeId operand) {
                m_wanted[source(operand).index()] = m_ends[source(operand).index()] = true;
            });
    }

    std::vector<Step> run() {
        for (std::size_t i = 0; i < m_steps.size(); ++i) {
            Step& step = m_steps[i];
            step.isFused = m_taken[i];
            if (!step.isFused && step.call->runsEpilogue && !isEdited(step)) fuse(i, step);
        }
        return std::move(m_steps);
    }

  private:
    NodeId source(NodeId node) const { return m_plan.source[node.index()]; }
    /// Its result is another one before anybody reads it.
    bool isEdited(const Step& step) const {
        return std::ranges::any_of(m_graph.expr(step.expr).outputs,
                                   [this](NodeId node) { return m_plan.isEdited(source(node)); });
    }

    /// Calls of visit(step, what it reads), by source.
    template <typename Visit>
    void forEachRead(const Visit& visit) const {
        for (std::size_t i = 0; i < m_steps.size(); ++i) {
            const Step::Kind kind = m_steps[i].kind;
            if (kind == Step::Kind::Enter || kind == Step::Kind::Leave) continue;
            for (NodeId node : m_graph.expr(m_steps[i].expr).inputs) visit(i, source(node).index());
        }
    }

    /// One row for all nodes: a plan is made anew for each edit, and there this is most of what a small model takes.
    void collectReads() {
        m_readsEnd.assign(m_graph.nodeCount() + 1, 0);
        forEachRead([this](std::size_t, std::size_t node) { ++m_readsEnd[node + 1]; });
        std::partial_sum(m_readsEnd.begin(), m_readsEnd.end(), m_readsEnd.begin());
        m_reads.resize(m_readsEnd.back());
        // Now each is where its reads begin; filling them moves it to where they end.
        forEachRead([this](std::size_t step, std::size_t node) { m_reads[m_readsEnd[node]++] = step; });
    }
    /// The steps that read a node, in order.
    std::span<const std::size_t> readsOf(NodeId node) const {
        const std::size_t begin = node.index() == 0 ? 0 : m_readsEnd[node.index() - 1];
        return std::span(m_reads).subspan(begin, m_readsEnd[node.index()] - begin);
    }

    /// Readers anywhere: exprs that did not make it into the plan count too, they only make values live longer. Calls
    /// hand their inputs on and do not read them.
    void countReaders() {
        m_readers.assign(m_graph.nodeCount(), 0);
        for (std::size_t i = 0; i < m_graph.exprCount(); ++i) {
            if (m_graph.isErased(graph::ExprId(i))) continue;
            const Expr& expr = m_graph.expr(graph::ExprId(i));
            for (std::size_t k = isCall(expr) ? m_graph.body(expr.bodies.front()).inputs.size() : 0;
                 k < expr.inputs.size(); ++k) {
                ++m_readers[source(expr.inputs[k]).index()];
            }
        }
        for (std::size_t i = 0; i < m_graph.bodyCount(); ++i) {
            const graph::Body& body = m_graph.body(graph::BodyId(i));
            for (NodeId node : body.outputs) {
                if (!isHandedOn(body, node)) ++m_readers[source(node).index()];
            }
        }
    }

    /// Without other bodies than the main one each node knows them: to look at all exprs would take longer than all
    /// else.
    std::size_t readersOf(NodeId node) const {
        if (!m_readers.empty()) return m_readers[node.index()];
        return m_graph.node(node).users.size() +
               static_cast<std::size_t>(std::ranges::count(m_graph.main().outputs, node));
    }

    /// A result of a called body that one of the call's outputs simply is.
    bool isHandedOn(const graph::Body& body, NodeId node) const {
        if (!body.owner.valid() || m_graph.isErased(body.owner)) return false;
        const Expr& owner = m_graph.expr(body.owner);
        if (!isCall(owner) || owner.bodies.front() != body.id) return false;
        for (NodeId output : owner.outputs) {
            if (output != source(output) && source(output) == source(node)) return true;
        }
        return false;
    }

    /// Nothing of what comes after a check is done before it.
    bool hasEffectBetween(std::size_t first, std::size_t last) const {
        const auto next = std::ranges::upper_bound(m_effects, first);
        return next != m_effects.end() && *next < last;
    }

    bool isPlain(const Step& step) const {
        const Expr& expr = m_graph.expr(step.expr);
        return step.kind == Step::Kind::Operator && expr.outputs.size() == 1 && expr.bodies.empty();
    }

    void fuse(std::size_t first, Step& step) {
        NodeId result = source(m_graph.expr(step.expr).outputs.front());
        std::vector<NodeId> own{result};
        for (bool found = true; found;) {
            found = false;
            for (std::size_t candidate : readsOf(result)) {
                if (candidate <= first || m_taken[candidate] || hasEffectBetween(first, candidate)) continue;
                if (!isElementWise(m_steps[candidate])) continue;
                Step next = m_steps[candidate];
                if (!canFuse(next, result, first, own)) continue;
                const bool wanted = m_wanted[result.index()] || readersOf(result) != 1;
                next.overwrites = !wanted;
                next.onlyKept = wanted && !m_ends[result.index()] && readersOf(result) == 1;
                m_taken[candidate] = true;
                result = source(m_graph.expr(next.expr).outputs.front());
                next.isKept = m_kept[result.index()];
                m_made[result.index()] = first;
                step.epilogue.push_back(std::move(next));
                own.push_back(result);
                found = true;
                break;
            }
        }
    }

    bool isElementWise(const Step& step) const { return isPlain(step) && !isEdited(step) && step.call->joinsEpilogue; }

    /// Sets where the step reads the result and what else of this chain it reads.
    bool canFuse(Step& step, NodeId result, std::size_t first, const std::vector<NodeId>& own) const {
        step.ownInputs.assign(step.call->arguments.size(), kNoInput);
        step.fusedAt = kNoInput;
        for (std::size_t i = 0; i < step.call->arguments.size(); ++i) {
            const Argument* argument = step.call->arguments[i];
            if (!argument || argument->kind == Argument::Kind::Constant || argument->kind == Argument::Kind::Omitted)
                continue;
            if (argument->kind != Argument::Kind::Node) return false;
            const NodeId node = source(argument->node);
            if (node == result) {
                if (step.fusedAt != kNoInput) return false;
                step.fusedAt = i;
            } else if (const auto found = std::ranges::find(own, node); found != own.end()) {
                step.ownInputs[i] = static_cast<std::size_t>(found - own.begin());
            } else if (const std::size_t made = m_made[node.index()];
                       made != kNowhere && made >= first && !m_graph.node(node).constant) {
                return false;
            }
        }
        return step.fusedAt != kNoInput;
    }

    static constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

    std::vector<Step> m_steps;
    const PlanImpl& m_plan;
    const InternalGraph& m_graph;
    std::vector<bool> m_taken;            ///< by step: fused to another one
    std::vector<std::size_t> m_readers;   ///< by source node; empty: see readersOf()
    std::vector<bool> m_wanted;           ///< by source node: kept, or an end point
    std::vector<bool> m_kept;             ///< by source node
    std::vector<bool> m_ends;             ///< by source node
    std::vector<std::size_t> m_effects;   ///< steps that have one, in order
    std::vector<std::size_t> m_made;      ///< by source node: the step, or the one that it is fused to
    std::vector<std::size_t> m_reads;     ///< steps that read a node, of one source node after the other
    std::vector<std::size_t> m_readsEnd;  ///< by source node, in m_reads
};

}  // namespace

std::vector<Step> fuseEpilogues(std::vector<Step> steps, const PlanImpl& plan, const InternalGraph& graph) {
    return Joiner(std::move(steps), plan, graph).run();
}

}  // namespace sonde::exec
