#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/session/debug/breakpoints.h"
#include "core/session/debug/recorded_run.h"

namespace sonde::session::debug {

enum class Direction : std::uint8_t { Forward, Back };

/// How far to go.
struct Target {
    enum class Kind : std::uint8_t {
        Breakpoint,  ///< no further than breakpoints
        Into,        ///< the next item
        Over,        ///< the next one that is not inside of where the run is
        Out,         ///< the next one after what that is inside of; back: that itself
        Event,       ///< the next operation that has nothing inside, wherever it is
        Node,        ///< the operation `expr`
        Item         ///< the item `item`, which is ahead
    };
    Kind kind = Kind::Breakpoint;
    graph::ExprId expr;
    ItemId item = kNoItem;
};

enum class Reason : std::uint8_t { Step, Breakpoint, Start, End, Paused, Failed };

/// Where a run is looked at, and why there.
struct Place {
    ItemId item = kNoItem;  ///< none: before the start or, with `isEnd`, after the end
    bool isEnd = false;
    Reason reason = Reason::Start;
    std::vector<int> breakpoints;  ///< those that stop there
};

/// Goes from a place to the target, or to the first breakpoint on the way, or to an end of the run. Forward, log points
/// on the way are recorded, and hits counted.
Place move(const document::Document& document, RecordedRun& run, const Place& from, const Target& target,
           Direction direction, Breakpoints& points, const base::WorkContext& work);

/// Brings a run as far as another one of the same model is, and to a place of that: to the same step, or to its end if
/// the other one is at its end or the run has no such step. Breakpoints do not count.
Place follow(RecordedRun& run, const RecordedRun& other, const Place& place, const base::WorkContext& work);

}  // namespace sonde::session::debug
