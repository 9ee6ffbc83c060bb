#include "core/exec/join.h"

#include <unordered_map>

#include "core/ops/kernels/followers.h"

namespace sonde::exec {

namespace {

using graph::Argument;
using graph::Expr;
using ops::kernels::kNoInput;

class Joiner {
  public:
    Joiner(const std::vector<Step>& steps, const Plan::Impl& plan, const InternalGraph& graph)
        : m_steps(steps), m_plan(plan), m_graph(graph), m_taken(steps.size(), false), m_readers(graph.nodeCount(), 0) {
        for (std::size_t i = 0; i < steps.size(); ++i) {
            const Expr& expr = graph.expr(steps[i].expr);
            for (NodeId node : expr.outputs) m_made[node] = i;
            for (NodeId node : expr.inputs) m_readBy[node].push_back(i);
        }
        countReaders();
    }

    std::vector<Step> run() {
        std::vector<Step> result;
        for (std::size_t i = 0; i < m_steps.size(); ++i) {
            if (m_taken[i]) continue;
            Step step = m_steps[i];
            if (leads(step)) follow(i, step);
            result.push_back(std::move(step));
        }
        return result;
    }

  private:
    /// Readers anywhere: exprs that did not make it into the plan count too, they only make values live longer.
    void countReaders() {
        for (std::size_t i = 0; i < m_graph.exprCount(); ++i) {
            if (m_graph.isErased(graph::ExprId(i))) continue;
            for (NodeId node : m_graph.expr(graph::ExprId(i)).inputs) ++m_readers[node.index()];
        }
        for (std::size_t i = 0; i < m_graph.bodyCount(); ++i) {
            for (NodeId node : m_graph.body(graph::BodyId(i)).outputs) ++m_readers[node.index()];
        }
    }

    bool isPlain(const Step& step) const {
        const Expr& expr = m_graph.expr(step.expr);
        return step.kind == Step::Kind::Operator && expr.outputs.size() == 1 && expr.bodies.empty();
    }

    bool leads(const Step& step) const { return isPlain(step) && ops::kernels::isLeader(*step.op); }

    void follow(std::size_t leader, Step& step) {
        NodeId result = m_graph.expr(step.expr).outputs.front();
        std::unordered_map<NodeId, std::size_t> own{{result, 0}};
        for (bool found = true; found;) {
            found = false;
            for (std::size_t candidate : m_readBy[result]) {
                if (candidate <= leader || m_taken[candidate]) continue;
                Step next = m_steps[candidate];
                if (!canFollow(next, result, leader, own)) continue;
                const bool wanted = m_plan.keep[result.index()] || m_plan.isEnd[result.index()] || m_readers[result.index()] != 1;
                next.overwrites = !wanted;
                m_taken[candidate] = true;
                result = m_graph.expr(next.expr).outputs.front();
                m_made[result] = leader;
                step.followers.push_back(std::move(next));
                own.emplace(result, step.followers.size());
                found = true;
                break;
            }
        }
    }

    /// Sets where the step reads the result and what else of this chain it reads.
    bool canFollow(Step& step, NodeId result, std::size_t leader, const std::unordered_map<NodeId, std::size_t>& own) const {
        if (!isPlain(step) || !ops::kernels::followerOf(*step.op)) return false;
        step.ownInputs.assign(step.arguments.size(), kNoInput);
        step.followsAt = kNoInput;
        for (std::size_t i = 0; i < step.arguments.size(); ++i) {
            const Argument* argument = step.arguments[i];
            if (!argument || argument->kind == Argument::Kind::Constant || argument->kind == Argument::Kind::Omitted) continue;
            if (argument->kind != Argument::Kind::Node) return false;
            if (argument->node == result) {
                if (step.followsAt != kNoInput) return false;
                step.followsAt = i;
            } else if (const auto found = own.find(argument->node); found != own.end()) {
                step.ownInputs[i] = found->second;
            } else if (const auto made = m_made.find(argument->node);
                       made != m_made.end() && made->second >= leader && !m_graph.node(argument->node).constant) {
                return false;
            }
        }
        return step.followsAt != kNoInput;
    }

    const std::vector<Step>& m_steps;
    const Plan::Impl& m_plan;
    const InternalGraph& m_graph;
    std::vector<bool> m_taken;                               ///< by step: follows another one
    std::vector<std::size_t> m_readers;                      ///< by node
    std::unordered_map<NodeId, std::size_t> m_made;          ///< the step, or its leader
    std::unordered_map<NodeId, std::vector<std::size_t>> m_readBy;
};

}  // namespace

std::vector<Step> joinFollowers(const std::vector<Step>& steps, const Plan::Impl& plan, const InternalGraph& graph) {
    return Joiner(steps, plan, graph).run();
}

}  // namespace sonde::exec
