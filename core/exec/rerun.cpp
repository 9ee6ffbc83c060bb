#include "core/exec/rerun.h"

#include <algorithm>

#include "core/exec/dependants.h"
#include "core/exec/flatten.h"
#include "core/exec/plan_impl.h"

namespace sonde::exec {

namespace {

/// By source node: how it is known before anything runs.
enum class Known : std::uint8_t { No, Always, Kept };

class RerunPlanner {
  public:
    RerunPlanner(const InternalGraph& graph, const Edits& edits, const Recording& kept)
        : m_graph(graph), m_edits(edits), m_kept(kept), m_sources(valueSources(graph)),
          m_changed(dependantsOf(graph, edits)), m_known(graph.nodeCount(), Known::No) {}

    std::vector<NodeId> given() {
        std::vector<NodeId> nodes;
        for (const NodeId input : m_graph.inputs()) m_known[input.index()] = Known::Always;
        for (const graph::ExprId id : m_graph.recursiveOrder(m_graph.mainId())) {
            if (rowOf(m_graph, m_graph.expr(id).body) != m_graph.mainId()) continue;  // of a loop or branch
            for (const NodeId node : m_graph.expr(id).outputs) {
                if (m_sources[node.index()] != node) continue;
                if (m_graph.node(node).constant) m_known[node.index()] = Known::Always;
                else if (m_known[node.index()] == Known::No && isKept(node)) {
                    m_known[node.index()] = Known::Kept;
                    nodes.push_back(node);
                }
            }
        }
        return nodes;
    }

  private:
    bool isKept(NodeId node) const {
        if (m_changed.exprs[m_graph.node(node).producer.index()] || m_kept.iterations(node) != 1) return false;
        for (const ValueEdit& edit : m_edits.values) {
            if (edit.node != node) continue;
            // What is read for the edit is to be there as early.
            for (const NodeId operand : edit.operands)
                if (m_known[operand.index()] == Known::No) return false;
        }
        return true;
    }

    const InternalGraph& m_graph;
    const Edits& m_edits;
    const Recording& m_kept;
    const std::vector<NodeId> m_sources;
    const Dependants m_changed;
    std::vector<Known> m_known;
};

}  // namespace

base::Result<Rerun> planRerun(std::shared_ptr<const InternalGraph> graph, PlanOptions options, const Recording& kept) {
    const Edits none;
    options.given = RerunPlanner(*graph, options.edits ? *options.edits : none, kept).given();
    Rerun rerun;
    for (const NodeId node : options.given) rerun.given.push_back(*kept.value(node));
    SONDE_ASSIGN(rerun.plan, Plan::make(std::move(graph), std::move(options)));
    // Such a plan runs once, as a rule: nothing of it is left to that run.
    (void)rerun.plan->impl().joined(rerun.plan->graph().mainId());
    return rerun;
}

}  // namespace sonde::exec
