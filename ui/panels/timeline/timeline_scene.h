#pragma once

#include <QColor>
#include <QFont>
#include <QRect>
#include <QString>

#include <memory>
#include <vector>

#include "core/session/debug/accesses.h"
#include "core/session/debug/timeline.h"

class QPainter;

namespace sonde::panels {

using session::debug::ItemId;
using session::debug::kNoItem;
using session::debug::TimelineScale;

/// What a timeline shows. Read while the run goes on.
struct TimelineScene {
    const session::debug::Timeline* timeline = nullptr;
    std::shared_ptr<const graph::InternalGraph> graph;
    ItemId place = kNoItem;  ///< the current item; none: before the start, or after the end
    bool isEnd = false;      ///< after the end
    bool isComplete = false;
    double expected = 0;                   ///< operations of the whole run, as far as that is known before it is done
    session::debug::AccessItems accesses;  ///< of the selected value
    graph::ExprId selected;                ///< the operation that computes it
    std::vector<ItemId> hits;              ///< where breakpoints have stopped, in order
    std::vector<ItemId> points;            ///< what has a breakpoint, in order

    /// The place; none: also if the run has begun anew since, and is not as far yet.
    ItemId current() const { return timeline && place < timeline->size() ? place : kNoItem; }
};

/// Which part of it, and where: pixels of the widget to units of the scale.
struct TimelineWindow {
    TimelineScale scale = TimelineScale::Uniform;
    double from = 0;
    double perPixel = 1;
    int firstRow = 0;
    QSize size;
    int rulerHeight = 0, marksHeight = 0, rowHeight = 0;

    double positionOf(double x) const { return from + x * perPixel; }
    double xOf(double position) const { return (position - from) / perPixel; }
    double to() const { return positionOf(size.width()); }
    int rowsTop() const { return rulerHeight + marksHeight; }
    /// -1: above the rows.
    int rowAt(double y) const { return y < rowsTop() ? -1 : firstRow + static_cast<int>((y - rowsTop()) / rowHeight); }
    QRectF rectOf(int row, double begin, double end) const {
        return {xOf(begin), rowsTop() + (row - firstRow) * double(rowHeight), (end - begin) / perPixel,
                double(rowHeight)};
    }
};

/// What was drawn, for tests: it may not grow with the run.
struct TimelinePainted {
    std::size_t bars = 0, marks = 0;
};

/// Draws a timeline: ruler with breakpoints, marks of reads, writes and events, a row of bars for each depth, the
/// current place.
TimelinePainted paintTimeline(QPainter& painter, const TimelineScene& scene, const TimelineWindow& window,
                              bool hasFocus);

/// "1.25 ms", "step 1,200"
QString positionText(double position, TimelineScale scale);
/// Name of an item within a bar.
QString barText(const graph::InternalGraph& graph, const session::debug::Item& item);
/// Everything that is known of an item: name, module, operator, type, time, events. Lines of plain text.
QString itemFacts(const TimelineScene& scene, ItemId item);

}  // namespace sonde::panels
