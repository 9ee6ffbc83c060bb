#include "core/session/debug/timeline.h"

#include <algorithm>

namespace sonde::session::debug {

Timeline::Changes Timeline::changes(const Trace& trace, std::size_t known, std::span<const ItemId> open) {
    Changes changes;
    for (const ItemId item : open)
        if (item < trace.size()) changes.changed.emplace_back(item, trace[item]);
    if (trace.size() > known) changes.added.reserve(trace.size() - known);
    for (std::size_t item = known; item < trace.size(); ++item)
        changes.added.push_back(trace[static_cast<ItemId>(item)]);
    return changes;
}

namespace {

void insertSorted(std::vector<ItemId>& items, ItemId item) {
    const auto place = std::ranges::lower_bound(items, item);
    if (place == items.end() || *place != item) items.insert(place, item);
}

}  // namespace

/// To be added to: of its own, and with room, so that few more items later cost no more than those.
Timeline::Data& Timeline::own(std::size_t added) {
    if (m_data.use_count() > 1) m_data = std::make_shared<Data>(*m_data);
    if (const std::size_t needed = size() + added; needed >= m_data->items.capacity()) {
        const std::size_t room = needed + needed / 2;
        m_data->items.reserve(room);
        m_data->units.reserve(room + 1);
        m_data->ns.reserve(room + 1);
    }
    return *m_data;
}

void Timeline::add(const Changes& changes) {
    const std::size_t known = size();
    Data& data = own(changes.added.size());
    for (const auto& [id, item] : changes.changed) data.items[id] = item;
    data.items.insert(data.items.end(), changes.added.begin(), changes.added.end());
    const auto list = [&data](ItemId id) {
        const Item& item = data.items[id];
        for (std::size_t bit = 0; bit < kEvents; ++bit)
            if ((item.events >> bit & 1) != 0) insertSorted(data.events[bit], id);
        return item.end == kNoItem;
    };
    std::vector<ItemId> open;
    for (const auto& [id, item] : changes.changed)
        if (list(id)) open.push_back(id);
    for (std::size_t i = known; i < size(); ++i) {
        const auto id = static_cast<ItemId>(i);
        if (list(id)) open.push_back(id);
        const std::size_t row = data.items[id].depth;
        if (row >= data.rows.size()) data.rows.resize(row + 1);
        data.rows[row].push_back(id);
    }
    data.open = std::move(open);
    data.place(known == 0 ? 0 : known - 1);  // what was last may have got something inside, and its time
}

/// An item without any inside takes up its own width; what is around others begins and ends with them.
void Timeline::Data::place(std::size_t from) {
    units.resize(items.size() + 1, 0);
    ns.resize(items.size() + 1, 0);
    for (std::size_t i = from; i < items.size(); ++i) {
        const bool hasInside = i + 1 < items.size() && items[i + 1].parent == static_cast<ItemId>(i);
        units[i + 1] = units[i] + (hasInside ? 0 : 1);
        ns[i + 1] = ns[i] + (hasInside ? 0 : std::max<std::int64_t>(items[i].elapsedNs, 0));
    }
}

double Timeline::at(ItemId item, TimelineScale scale) const {
    if (m_data->items.empty()) return 0;
    return scale == TimelineScale::Uniform ? static_cast<double>(m_data->units[item])
                                           : static_cast<double>(m_data->ns[item]);
}

ItemId Timeline::endOf(ItemId item) const {
    const ItemId end = m_data->items[item].end;
    return end == kNoItem ? static_cast<ItemId>(size()) : std::min(end, static_cast<ItemId>(size()));
}

namespace {

/// The first of indices from `from` to `count` that `isBehind` is true of, if it is true of all after that.
template <typename Behind>
std::size_t firstOf(std::size_t from, std::size_t count, const Behind& isBehind) {
    while (from < count) {
        const std::size_t middle = from + (count - from) / 2;
        if (isBehind(middle)) count = middle;
        else from = middle + 1;
    }
    return from;
}

}  // namespace

ItemId Timeline::itemAt(double position, TimelineScale scale) const {
    if (m_data->items.empty() || position < 0 || position >= length(scale)) return kNoItem;
    // Of all that begin there the last is innermost, or the only one with a width.
    const std::size_t behind =
        firstOf(0, size(), [&](std::size_t i) { return at(static_cast<ItemId>(i), scale) > position; });
    return static_cast<ItemId>(behind - 1);
}

ItemId Timeline::itemAt(double position, std::size_t row, TimelineScale scale) const {
    if (row >= m_data->rows.size() || position < 0) return kNoItem;
    const std::vector<ItemId>& items = m_data->rows[row];
    const std::size_t index = firstOf(0, items.size(), [&](std::size_t i) { return end(items[i], scale) > position; });
    return index < items.size() && begin(items[index], scale) <= position ? items[index] : kNoItem;
}

ItemId Timeline::operationAt(ItemId item) const {
    while (item < size() && m_data->items[item].kind != Item::Kind::Operation) ++item;
    return item < size() ? item : kNoItem;
}

ItemId Timeline::previousInRow(ItemId item) const {
    const std::vector<ItemId>& row = m_data->rows[m_data->items[item].depth];
    const auto here = std::ranges::lower_bound(row, item);
    return here == row.begin() ? kNoItem : *std::prev(here);
}

ItemId Timeline::nextInRow(ItemId item) const {
    const std::vector<ItemId>& row = m_data->rows[m_data->items[item].depth];
    const auto next = std::ranges::upper_bound(row, item);
    return next == row.end() ? kNoItem : *next;
}

std::vector<TimelineBar> Timeline::bars(std::size_t row, TimelineScale scale, double from, double to,
                                        double least) const {
    std::vector<TimelineBar> bars;
    if (row >= m_data->rows.size() || !(to > from) || !(least > 0)) return bars;
    const std::vector<ItemId>& items = m_data->rows[row];
    std::size_t i = firstOf(0, items.size(), [&](std::size_t k) { return end(items[k], scale) > from; });
    while (i < items.size() && begin(items[i], scale) < to) {
        const double start = begin(items[i], scale);
        std::size_t next = i + 1;
        if (end(items[i], scale) - start < least) {
            next = firstOf(next, items.size(), [&](std::size_t k) { return begin(items[k], scale) >= start + least; });
            const ItemId last = items[next - 1];
            // One that is wide enough is a bar of its own.
            if (next - 1 > i && end(last, scale) - begin(last, scale) >= least) --next;
        }
        bars.push_back({items[i], items[next - 1], start, end(items[next - 1], scale)});
        i = next;
    }
    return bars;
}

std::vector<ItemId> Timeline::thinned(std::span<const ItemId> items, TimelineScale scale, double from, double to,
                                      double least) const {
    std::vector<ItemId> some;
    const std::size_t count = firstOf(0, items.size(), [&](std::size_t k) { return items[k] >= size(); });
    const auto beginOf = [&](std::size_t k) { return begin(items[k], scale); };
    std::size_t i = firstOf(0, count, [&](std::size_t k) { return beginOf(k) >= from; });
    while (i < count && beginOf(i) < to) {
        some.push_back(items[i]);
        const double beyond = beginOf(i) + least;
        i = firstOf(i + 1, count, [&](std::size_t k) { return beginOf(k) >= beyond; });
    }
    return some;
}

std::string nameOf(const graph::InternalGraph& graph, const Item& item) {
    switch (item.kind) {
        case Item::Kind::Module: {
            const std::string& qualname = graph.scope(item.scope).qualname;
            return qualname.empty() ? graph.scope(item.scope).moduleClass : qualname;
        }
        case Item::Kind::Body:
            return item.iteration >= 0 ? "iteration " + std::to_string(item.iteration) : std::string("branch");
        case Item::Kind::Operation: break;
    }
    const graph::Expr& expr = graph.expr(item.expr);
    return expr.outputs.empty() ? expr.target : graph.node(expr.outputs.front()).name;
}

std::string moduleOf(const graph::InternalGraph& graph, const Item& item) {
    return item.scope.valid() ? graph.scope(item.scope).qualname : std::string();
}

std::string_view eventName(std::size_t bit) {
    constexpr std::array<std::string_view, Timeline::kEvents> kNames{"nan", "inf", "overflow", "zero"};
    return kNames[bit];
}

}  // namespace sonde::session::debug
