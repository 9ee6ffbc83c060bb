#include "core/session/repeated_run.h"

#include <algorithm>
#include <utility>

namespace sonde::session {

using debug::ItemId;
using debug::kNoItem;
using graph::ExprId;
using graph::InternalGraph;
using graph::NodeId;

namespace {

/// The operation of the main program that a node is computed in: itself, or the loop, branch or call around it.
ExprId outermostOf(const InternalGraph& graph, NodeId node) {
    ExprId expr = graph.node(node).producer;
    while (graph.expr(expr).body != graph.mainId()) expr = graph.body(graph.expr(expr).body).owner;
    return expr;
}

}  // namespace

RepeatedRun::RepeatedRun(std::shared_ptr<const document::Document> document,
                         std::shared_ptr<const exec::Recording> recording, debug::RecordedTask task)
    : m_document(std::move(document)), m_recording(std::move(recording)),
      m_run(std::make_shared<debug::RecordedRun>(std::move(task))) {}

base::Result<std::shared_ptr<RepeatedRun>> RepeatedRun::of(const Session& session) {
    if (!session.document()) return base::usageError("no model is open");
    const Run& last = session.runs().last();
    if (!last.recording || !last.plan || session.runs().fileHasChanged())
        return base::usageError("there is no run to look into", {}, "run the model first");
    debug::RecordedTask task;
    task.plan = last.plan;
    task.inputs = last.inputs;
    task.runner = std::make_shared<exec::Runner>(session.runs().settings().threads);
    task.seed = session.runs().settings().seed;
    return std::shared_ptr<RepeatedRun>(new RepeatedRun(session.document(), last.recording, std::move(task)));
}

bool RepeatedRun::isOf(const Session& session) const {
    return session.document() == m_document && session.runs().last().recording == m_recording &&
           !session.runs().fileHasChanged();
}

base::Result<void> RepeatedRun::reach(NodeId node, const base::WorkContext& work) {
    const debug::Trace& trace = m_run->trace();
    const ExprId wanted = outermostOf(m_run->graph(), m_run->sourceOf(node));
    const auto isReached = [&] {
        const ItemId item = trace.timeOf(wanted, 0);
        return item != kNoItem && trace.isDone(item);
    };
    const std::size_t total = m_run->plan().steps().size();
    std::size_t done = 0;
    debug::RecordedRun::Until until;
    until.at = [&](ItemId item) {
        if (trace[item].depth == 0) work.report("computing the values again", std::min(++done, total), total);
        return isReached();
    };
    if (!isReached() && !m_run->hasEnded()) m_run->advance(until, work.stop);
    return work.cancelled() ? base::Result<void>(base::cancelled()) : base::Result<void>();
}

debug::View RepeatedRun::view(NodeId node, std::optional<std::size_t> iteration) const {
    const debug::Trace& trace = m_run->trace();
    debug::Place place;
    place.isEnd = true;  // of what was done so far
    if (iteration) {
        const ExprId producer = m_run->graph().node(m_run->sourceOf(node)).producer;
        if (const ItemId item = trace.timeOf(producer, *iteration); item != kNoItem) {
            place.item = item;
            place.isEnd = false;
        }
    }
    return {m_document, m_run, place};
}

}  // namespace sonde::session
