#include "ui/context/debugged_iterations.h"

#include <algorithm>

#include "core/session/session.h"

namespace sonde::context {

namespace {

using session::debug::Item;
using session::debug::Trace;

/// In which the body of a node was given its inputs.
std::vector<ItemId> itemsOfBody(const Trace& trace, graph::BodyId body) {
    std::vector<ItemId> items;
    for (auto at = static_cast<ItemId>(trace.size()); at-- > 0;) {
        at = trace.lastOf(body, at);
        if (at == session::debug::kNoItem) break;
        items.push_back(at);
    }
    std::ranges::reverse(items);
    return items;
}

}  // namespace

DebuggedIterations iterationsOf(const session::Session& session, NodeId node) {
    DebuggedIterations found;
    const session::Debugger& debugger = session.debugger();
    if (!node.valid() || !debugger.hasBegun() || debugger.isRunning()) return found;
    const session::debug::RecordedRun& run = *debugger.run();
    const Trace& trace = run.trace();
    const graph::Expr& maker = run.graph().expr(run.graph().node(run.sourceOf(node)).producer);
    if (maker.kind == graph::ExprKind::Input) {
        if (maker.body != run.graph().mainId()) found.items = itemsOfBody(trace, maker.body);
    } else {
        for (std::size_t i = 0; i < trace.times(maker.id); ++i)
            if (const ItemId item = trace.timeOf(maker.id, i); trace.isDone(item)) found.items.push_back(item);
    }
    const ItemId item = session::debug::View::itemOf(run, debugger.place(), node);
    if (const auto here = std::ranges::find(found.items, item); here != found.items.end())
        found.at = static_cast<std::size_t>(here - found.items.begin());
    return found;
}

/// What has others inside gives its value behind them.
ItemId placeOf(const session::Session& session, const DebuggedIterations& iterations, std::size_t iteration) {
    const Trace& trace = session.debugger().run()->trace();
    const ItemId item = iterations.items[iteration];
    const bool hasInside = trace[item].kind == Item::Kind::Operation && trace[item].end > item + 1;
    return hasInside && trace[item].end < trace.size() ? trace[item].end : item;
}

}  // namespace sonde::context
