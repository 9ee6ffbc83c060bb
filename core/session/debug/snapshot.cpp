#include "core/session/debug/snapshot.h"

#include <algorithm>

#include "core/exec/flatten.h"
#include "core/session/debug/plan_size.h"

namespace sonde::session::debug {

namespace {

using graph::Expr;
using graph::ExprId;

bool isLeaf(const RecordedRun& run, ItemId item) {
    const Item& at = run.trace()[item];
    return at.kind == Item::Kind::Operation && run.graph().expr(at.expr).bodies.empty();
}

void noteBranch(const graph::InternalGraph& graph, const Expr& expr, exec::Recording& recording) {
    const ExprId owner = graph.body(expr.body).owner;
    if (!owner.valid() || exec::isCall(graph.expr(owner)) || graph.expr(owner).bodies.size() < 2) return;
    const auto& bodies = graph.expr(owner).bodies;
    const auto branch = static_cast<std::size_t>(std::ranges::find(bodies, expr.body) - bodies.begin());
    std::vector<std::size_t>& taken = recording.branchesTaken[owner];
    if (std::ranges::find(taken, branch) == taken.end()) taken.push_back(branch);
}

}  // namespace

Snapshot snapshotAt(const RecordedRun& run, const Place& place) {
    const graph::InternalGraph& graph = run.graph();
    const Trace& trace = run.trace();
    Snapshot snapshot;
    snapshot.recording = std::make_shared<exec::Recording>();
    exec::Recording& recording = *snapshot.recording;
    recording.states.assign(graph.exprCount(), exec::ExprState::NotReached);
    recording.elapsed.assign(graph.exprCount(), 0);
    recording.computedNodes.assign(graph.nodeCount(), false);

    const bool isBefore = place.item == kNoItem && !place.isEnd;
    const ItemId operation = place.item == kNoItem ? kNoItem : trace.operationAt(place.item);
    // What is done at the place itself has happened too, if it is known already.
    const bool isDone = operation != kNoItem && isLeaf(run, operation) && trace.isDone(operation);
    const auto end = place.isEnd ? static_cast<ItemId>(trace.size())
                     : isBefore  ? 0
                     : isDone    ? operation + 1
                                 : place.item;
    for (ItemId item = 0; item < end; ++item) {
        const Item& at = trace[item];
        if (at.kind != Item::Kind::Operation) continue;
        const Expr& expr = graph.expr(at.expr);
        noteBranch(graph, expr, recording);
        snapshot.position += isLeaf(run, item) ? 1 : 0;
        if (!trace.isDone(item) || at.end > end) continue;  // the place is inside of it
        recording.states[at.expr.index()] = exec::ExprState::Done;
        recording.elapsed[at.expr.index()] += at.elapsedNs;
        recording.totalNs += at.elapsedNs;
        for (const graph::NodeId node : expr.outputs) recording.computedNodes[node.index()] = true;
    }
    if (place.item != kNoItem && !isDone) ++snapshot.position;  // what is done next, if only inside of that
    snapshot.total = operationCount(run.plan());
    if (run.hasEnded() && !run.recording()->error) {
        snapshot.total = 0;
        for (ItemId item = 0; item < trace.size(); ++item) snapshot.total += isLeaf(run, item) ? 1 : 0;
    }
    if (place.item != kNoItem) snapshot.pass = trace.passOf(place.item);
    for (const auto& [node, bad] : run.badValues())
        if (recording.computedNodes[node.index()]) recording.bad.emplace(node, bad);
    if (const exec::Recording* const whole = run.recording(); whole && whole->error) {
        const bool isThere = place.reason == Reason::Failed || place.isEnd ||
                             (operation != kNoItem && std::ranges::any_of(whole->failures, [&](const auto& failure) {
                                  return failure.expr == trace[operation].expr;
                              }));
        if (isThere) {
            recording.error = whole->error;
            recording.failedAt = whole->failedAt;
            recording.failures = whole->failures;
            for (const exec::Failure& failure : whole->failures) {
                recording.states[failure.expr.index()] = exec::ExprState::Failed;
                for (const graph::NodeId node : graph.expr(failure.expr).outputs)
                    recording.computedNodes[node.index()] = false;
            }
        }
    }
    return snapshot;
}

}  // namespace sonde::session::debug
