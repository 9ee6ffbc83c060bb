#include "core/session/debug/place.h"

#include <optional>

#include "core/session/debug/plan_size.h"

namespace sonde::session::debug {

namespace {

/// Of a run that has ended.
Place endOf(const RecordedRun& run) {
    const exec::Recording& recording = *run.recording();
    const Trace& trace = run.trace();
    if (!recording.error) return {kNoItem, true, Reason::End, {}};
    ItemId failed = kNoItem;
    if (!recording.failures.empty() && trace.size() > 0)
        failed = trace.lastOf(recording.failures.front().expr, static_cast<ItemId>(trace.size() - 1));
    if (failed == kNoItem && trace.size() > 0) failed = static_cast<ItemId>(trace.size() - 1);
    return {failed, false, Reason::Failed, {}};
}

class Mover {
  public:
    Mover(const document::Document& document, RecordedRun& run, const Place& from, const Target& target,
          Breakpoints& points, const base::WorkContext& work)
        : m_document(document), m_run(run), m_trace(run.trace()), m_from(from), m_target(target), m_points(points),
          m_work(work) {}

    Place forward() {
        if (m_from.isEnd) return end();
        // Operations up to here had their chance when this place was reached.
        ItemId next = 0;
        if (m_from.item != kNoItem) {
            next = m_from.item + 1;
            const ItemId operation = m_trace.operationAt(m_from.item);
            m_firstHit = operation == kNoItem ? next : operation + 1;
        }
        const RecordedRun::Until until{[this](ItemId item) {
                                           report(item);
                                           return isTarget(item) || m_points.mayStop(m_run, item);
                                       },
                                       0, kNoItem};
        for (;;) {
            for (; next < m_trace.size(); ++next)
                if (auto place = stopAt(next, true)) return *place;
            if (m_run.hasEnded()) return end();
            if (m_work.cancelled()) return {next == 0 ? kNoItem : next - 1, false, Reason::Paused, {}};
            m_run.advance(until, m_work.stop);
        }
    }

    Place back() {
        if (m_trace.size() == 0) return m_from;
        ItemId at = m_from.isEnd ? static_cast<ItemId>(m_trace.size()) : m_from.item;
        if (at == kNoItem || at == 0) return {at == kNoItem ? kNoItem : 0, false, Reason::Start, {}};
        m_backTo = targetBefore(at);
        while (at-- > 0) {
            if (m_work.cancelled()) return {at, false, Reason::Paused, {}};
            if (auto place = stopAt(at, false)) return *place;
        }
        return {0, false, Reason::Start, {}};
    }

  private:
    bool isTarget(ItemId item) const {
        switch (m_target.kind) {
            case Target::Kind::Breakpoint: return false;
            case Target::Kind::Node:
                return m_trace[item].kind == Item::Kind::Operation && m_trace[item].expr == m_target.expr;
            case Target::Kind::Item: return item == m_target.item;
            case Target::Kind::Into: return true;
            case Target::Kind::Event: return isEvent(item);
            case Target::Kind::Over: return m_from.item == kNoItem || !m_trace.isInside(item, m_from.item);
            case Target::Kind::Out: break;
        }
        if (m_from.item == kNoItem) return false;
        const ItemId around = m_trace.around(m_from.item);
        return around != kNoItem && !m_trace.isInside(item, around);
    }

    /// How many operations have begun. Nobody looks at short moves, for which the graph is not counted.
    void report(ItemId item) {
        constexpr ItemId kShort = 16;
        if (!m_work.progress || ++m_asked < kShort) return;
        for (; m_counted <= item; ++m_counted) m_begun += isEvent(m_counted) ? 1 : 0;
        if (!m_total) m_total = operationCount(m_run.plan());
        m_work.report("operations", m_begun, *m_total);
    }

    bool isEvent(ItemId item) const {
        return m_trace[item].kind == Item::Kind::Operation && m_run.graph().expr(m_trace[item].expr).bodies.empty();
    }

    /// Where a step back leads; none for targets that are looked for.
    ItemId targetBefore(ItemId at) const {
        const bool isEnd = at == m_trace.size();
        switch (m_target.kind) {
            case Target::Kind::Into: return at - 1;
            case Target::Kind::Event: {
                ItemId event = at - 1;
                while (event > 0 && !isEvent(event)) --event;
                return event;
            }
            case Target::Kind::Over: {
                if (!isEnd) return m_trace.previousBeside(at);
                ItemId last = at - 1;
                while (m_trace[last].parent != kNoItem) last = m_trace[last].parent;
                return last;
            }
            case Target::Kind::Out: return isEnd || m_trace.around(at) == kNoItem ? 0 : m_trace.around(at);
            default: return kNoItem;
        }
    }

    std::optional<Place> stopAt(ItemId item, bool isForward) {
        const bool isReached = isForward || m_target.kind == Target::Kind::Node ? isTarget(item) : item == m_backTo;
        std::vector<int> stops;
        // A module or an iteration is where its first operation is.
        const ItemId operation = isReached ? m_trace.operationAt(item) : item;
        if (operation != kNoItem && m_trace[operation].kind == Item::Kind::Operation &&
            (!isForward || operation >= m_firstHit))
            stops = m_points.at(m_document, m_run, operation, isForward, m_work);
        if (isReached) return Place{item, false, stops.empty() ? Reason::Step : Reason::Breakpoint, std::move(stops)};
        if (!stops.empty()) return Place{item, false, Reason::Breakpoint, std::move(stops)};
        return std::nullopt;
    }

    Place end() const { return endOf(m_run); }

    const document::Document& m_document;
    RecordedRun& m_run;
    const Trace& m_trace;
    const Place& m_from;
    const Target& m_target;
    Breakpoints& m_points;
    const base::WorkContext& m_work;
    ItemId m_firstHit = 0;
    ItemId m_backTo = kNoItem;
    ItemId m_asked = 0, m_counted = 0;  ///< items
    std::size_t m_begun = 0;
    std::optional<std::size_t> m_total;  ///< 0: branches and loops leave it open
};

}  // namespace

Place move(const document::Document& document, RecordedRun& run, const Place& from, const Target& target,
           Direction direction, Breakpoints& points, const base::WorkContext& work) {
    Mover mover(document, run, from, target, points, work);
    return direction == Direction::Forward ? mover.forward() : mover.back();
}

Place follow(RecordedRun& run, const RecordedRun& other, const Place& place, const base::WorkContext& work) {
    const Trace& trace = run.trace();
    const std::size_t steps = other.trace().size();
    if (place.item == kNoItem && !place.isEnd) return place;
    const bool isToEnd = other.hasEnded();
    while (!run.hasEnded() && (isToEnd || trace.size() < steps) && !work.cancelled())
        run.advance({[&](ItemId item) { return !isToEnd && item + 1 >= steps; }, 0, kNoItem}, work.stop);
    const bool isAtEnd = place.isEnd || place.reason == Reason::Failed;
    if (!isAtEnd && place.item < trace.size()) return place;
    if (run.hasEnded()) return endOf(run);
    return {trace.size() == 0 ? kNoItem : static_cast<ItemId>(trace.size() - 1), false, Reason::Paused, {}};
}

}  // namespace sonde::session::debug
