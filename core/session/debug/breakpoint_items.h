#pragma once

#include <vector>

#include "core/session/debug/breakpoints.h"
#include "core/session/debug/timeline.h"

namespace sonde::session::debug {

/// The items of a timeline that have a breakpoint which is enabled, in order. Not those of tensor events, which may
/// come up anywhere.
class BreakpointItems {
  public:
    /// Begins anew with these breakpoints; no item is known.
    void setPoints(const graph::InternalGraph& graph, const Breakpoints& points);
    /// Adds what the timeline has got since, or begins anew with a shorter one.
    void add(const Timeline& timeline);
    const std::vector<ItemId>& items() const { return m_items; }

    /// In order, where breakpoints have stopped in the run.
    static std::vector<ItemId> hits(const Breakpoints& points);

  private:
    bool isAt(const Item& item) const;

    std::vector<bool> m_exprs, m_scopes;
    bool m_hasAny = false;
    std::vector<ItemId> m_items;
    std::size_t m_known = 0;
};

}  // namespace sonde::session::debug
