#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/graph/internal_graph.h"
#include "core/session/debug/trace.h"

namespace sonde::session::debug {

/// What the width of a bar shows.
enum class TimelineScale : std::uint8_t {
    Uniform,  ///< every operation that has nothing inside is 1 wide
    Time      ///< nanoseconds that operations took
};

/// Bars of a timeline that are drawn as one.
struct TimelineBar {
    ItemId first = kNoItem, last = kNoItem;  ///< of one row; the same for a bar of one item
    double begin = 0, end = 0;               ///< in units of the scale
};

/// The steps of a run as bars: a row for each depth, in which items are beside each other in the order of the run. A
/// copy of what a Trace had, for who draws it while the run goes on. All queries of a range cost as much as there is to
/// draw, not as much as there is in the run.
///
/// A copy of a timeline costs nothing until one of the two is added to. Not thread-safe, but copies are apart.
class Timeline {
  public:
    /// What a trace has that a timeline has not.
    struct Changes {
        std::vector<std::pair<ItemId, Item>> changed;
        std::vector<Item> added;
    };
    /// Items that are not done as far as the timeline knows: they may have changed.
    const std::vector<ItemId>& open() const { return m_data->open; }
    static Changes changes(const Trace& trace, std::size_t known, std::span<const ItemId> open);
    void add(const Changes& changes);
    /// Leaves none, and returns what there was.
    Timeline clear() {
        const std::size_t number = m_number + 1;
        Timeline before = std::exchange(*this, Timeline());
        m_number = number;
        return before;
    }
    /// Of the run: counts how often it was cleared.
    std::size_t number() const { return m_number; }

    std::size_t size() const { return m_data->items.size(); }
    const Item& operator[](ItemId item) const { return m_data->items[item]; }
    /// Rows: the largest depth + 1.
    std::size_t rowCount() const { return m_data->rows.size(); }

    /// In units of the scale, from the start of the run. An item that is not done ends where the run is.
    double begin(ItemId item, TimelineScale scale) const { return at(item, scale); }
    double end(ItemId item, TimelineScale scale) const { return at(endOf(item), scale); }
    double length(TimelineScale scale) const { return at(static_cast<ItemId>(size()), scale); }
    /// The item that comes after all that is inside of one.
    ItemId endOf(ItemId item) const;

    /// The innermost item at a position; none outside of the run.
    ItemId itemAt(double position, TimelineScale scale) const;
    /// The item of a row at a position; none if no item of that depth is there.
    ItemId itemAt(double position, std::size_t row, TimelineScale scale) const;
    /// The first operation at or after an item; none: there is none yet.
    ItemId operationAt(ItemId item) const;
    /// What comes before and after an item in its row, whatever that is inside of; none at the ends.
    ItemId previousInRow(ItemId item) const;
    ItemId nextInRow(ItemId item) const;

    /// The bars of a row between two positions. Items narrower than `least` are drawn as one bar with those beside them
    /// as far as that, so that there are no more than about 2 (to - from) / least bars.
    std::vector<TimelineBar> bars(std::size_t row, TimelineScale scale, double from, double to, double least) const;
    /// Those of sorted items that begin between two positions, but for those nearer than `least` to one before.
    std::vector<ItemId> thinned(std::span<const ItemId> items, TimelineScale scale, double from, double to,
                                double least) const;
    /// In order, the items in which an event came up, by the number of its bit in TensorEvent.
    const std::vector<ItemId>& withEvent(std::size_t bit) const { return m_data->events[bit]; }
    static constexpr std::size_t kEvents = 4;

  private:
    struct Data {
        std::vector<Item> items;
        std::vector<ItemId> open;
        std::vector<std::uint32_t> units;  ///< by item and one more: where it begins
        std::vector<std::int64_t> ns;      ///< likewise
        std::vector<std::vector<ItemId>> rows;
        std::array<std::vector<ItemId>, kEvents> events;

        void place(std::size_t from);
    };
    double at(ItemId item, TimelineScale scale) const;
    Data& own(std::size_t added);

    std::size_t m_number = 0;
    std::shared_ptr<Data> m_data = std::make_shared<Data>();
};

/// What an item is called: the name of the node that is computed, the module's qualname, "iteration 3".
std::string nameOf(const graph::InternalGraph& graph, const Item& item);
/// The qualname of the module that it is in, or is; empty: in none.
std::string moduleOf(const graph::InternalGraph& graph, const Item& item);
/// "nan", "inf", "overflow", "zero": of the bit of that number in TensorEvent.
std::string_view eventName(std::size_t bit);

}  // namespace sonde::session::debug
