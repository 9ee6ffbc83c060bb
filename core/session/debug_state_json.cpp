#include "core/session/debug_state_json.h"

#include <algorithm>

#include "core/session/debug/value_json.h"

namespace sonde::session {

using debug::Item;
using graph::NodeId;
using nlohmann::ordered_json;

namespace {

constexpr std::int64_t kMaxWatchedElements = 16;  ///< of a watched tensor; of a larger one its statistics
constexpr std::size_t kMaxWatches = 1'000;        ///< values that one answer lists

std::string_view stateName(DebugState state) {
    switch (state) {
        case DebugState::Stopped: return "stopped";
        case DebugState::Running: return "running";
        case DebugState::Finished: return "finished";
        case DebugState::Failed: break;
    }
    return "failed";
}

std::string_view reasonName(debug::Reason reason) {
    switch (reason) {
        case debug::Reason::Step: return "step";
        case debug::Reason::Breakpoint: return "breakpoint";
        case debug::Reason::Start: return "start";
        case debug::Reason::End: return "end";
        case debug::Reason::Paused: return "paused";
        case debug::Reason::Failed: break;
    }
    return "failed";
}

/// What watched nodes have by now; nothing is computed for it.
void addWatched(ordered_json& head, Session& session, const base::WorkContext& work) {
    const auto& watched = session.points().watched.nodes();
    for (std::size_t i = 0; i < watched.size() && i < kMaxWatches; ++i) {
        const auto value = session.debugger().valueSoFar(watched[i], work);
        if (!value) continue;
        ordered_json& shown = head["watched"][session.document()->graph->node(watched[i]).name];
        if (value->isTensor() && value->tensor().numel() > kMaxWatchedElements)
            shown = debug::statsJson(value->tensor());
        else debug::addValue(shown, *value);
    }
}

/// What watched expressions come to by now; left out where a node is not computed yet.
void addExpressions(ordered_json& head, Session& session, const base::WorkContext& work) {
    for (const ExpressionWatches::Entry& entry : session.expressionWatches().entries()) {
        if (!entry.isEnabled || entry.parsed.empty()) continue;
        bool isKnown = session.debugger().hasBegun();
        const auto names = [&](std::string_view name) -> base::Result<tensor::Value> {
            SONDE_ASSIGN(const NodeId node, session.document()->findNode(name));
            auto value = session.debugger().valueSoFar(node, work);
            isKnown = isKnown && value.has_value();
            return value;
        };
        const ExpressionResult result = evaluateWatch(entry.parsed, names, work);
        if (!isKnown) continue;
        ordered_json shown{{"id", entry.id}};
        if (result.error) shown["error"] = result.error->what;
        if (result.column) shown["column"] = *result.column;
        if (!result.value.isNone()) debug::addValue(shown, result.value);
        else if (result.stats) shown["value"] = result.type;
        head["expressions"][entry.text] = std::move(shown);
    }
}

/// A breakpoint on a module stops at the first operation in it. Empty: no such one has stopped the run.
std::string moduleOfBreakpoint(const Debugger& debugger) {
    const std::vector<int>& stopping = debugger.place().breakpoints;
    for (const debug::Breakpoint& point : debugger.breakpoints().all())
        if (point.kind == debug::Breakpoint::Kind::Module && std::ranges::find(stopping, point.id) != stopping.end())
            return point.name;
    return {};
}

void addPlace(ordered_json& head, const Session& session) {
    const debug::RecordedRun& run = *session.debugger().run();
    const debug::ItemId item = session.debugger().place().item;
    const Item& place = run.trace()[item];
    head["position"] = item;
    head["depth"] = place.depth;
    if (place.kind == Item::Kind::Module) head["module"] = run.graph().scope(place.scope).qualname;
    else if (const std::string module = moduleOfBreakpoint(session.debugger()); !module.empty())
        head["module"] = module;
    if (place.kind != Item::Kind::Module)
        if (const auto& qualname = run.graph().expr(place.expr).qualname) head["qualname"] = *qualname;
    if (auto pass = run.trace().passOf(item); !pass.empty()) head["iteration"] = std::move(pass);
}

}  // namespace

ordered_json debugStateJson(Session& session, const base::WorkContext& work) {
    const Debugger& at = session.debugger();
    ordered_json head{{"state", stateName(at.state())}, {"current", nullptr}};
    const NodeId current = at.current();
    if (current.valid()) head["current"] = session.document()->graph->node(current).name;
    if (at.hasBegun() && at.place().item != debug::kNoItem) addPlace(head, session);
    if (at.hasBegun()) {
        head["reason"] = reasonName(at.place().reason);
        if (!at.place().breakpoints.empty()) head["breakpoints"] = at.place().breakpoints;
        // A run goes on where a condition cannot be judged.
        for (const debug::Breakpoint& point : at.breakpoints().all())
            if (point.error)
                head["breakpoint_problems"].push_back({{"id", point.id}, {"problem", point.error->text()}});
    }
    if (at.state() == DebugState::Failed && at.error()) {
        head["failure"] = at.error()->text();
        if (!at.error()->hint.empty()) head["hint"] = at.error()->hint;
    }
    addWatched(head, session, work);
    addExpressions(head, session, work);
    return head;
}

void addLogTo(ordered_json& answer, Session& session) {
    for (const debug::LogEntry& entry : session.debugger().takeLog()) {
        const debug::RecordedRun& run = *session.debugger().run();
        ordered_json json{{"id", entry.id}, {"position", entry.item}};
        const auto& outputs = run.graph().expr(run.trace()[entry.item].expr).outputs;
        if (!outputs.empty()) json["node"] = run.graph().node(outputs.front()).name;
        if (auto pass = run.trace().passOf(entry.item); !pass.empty()) json["iteration"] = std::move(pass);
        if (entry.value) debug::addValue(json, *entry.value);
        else json["error"] = entry.value.error().text();
        answer["log"].push_back(std::move(json));
    }
    if (const std::size_t dropped = session.debugger().takeDroppedLog()) answer["log_dropped"] = dropped;
}

}  // namespace sonde::session
