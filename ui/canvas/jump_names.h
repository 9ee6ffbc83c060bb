#pragma once

#include <QRectF>
#include <QString>

#include <vector>

#include "ui/canvas/canvas_style.h"
#include "ui/canvas/scene_index.h"

namespace sonde::canvas {

/// Between a name and the end of its plate.
inline constexpr double kNameSide = 7;

/// The name at an end of a line between two columns (SceneLayout::jumps): what it leads to, or where it comes from.
struct JumpName {
    QRectF rect;          ///< scene units
    QString text;         ///< elided from the front: the end of a name tells it from others
    layout::ItemId item;  ///< what it names
    QPointF other;        ///< the other end of the line
    graph::NodeId value;  ///< the first that the line carries
};

/// Of the size of letters at a zoom, in pixels per scene unit. Far out names are written larger, so that they are read
/// where cards are, and farther out at least as large on the screen as can be read: in steps, so that names need not be
/// placed anew for each zoom.
double jumpNameFactor(double scale);

/// All names of a scene that have room: of two that would overlap the first stays, none is on a closed box, and all are
/// within the bounds of the picture. A name that has no room at the middle of its line's end lies beside that or is
/// shortened, as long as it tells its item from others in the same box. Where letters are larger than close to the end
/// of a qualname does. Linear.
std::vector<JumpName> jumpNames(const SceneIndex& index, const graph::InternalGraph& graph, const TextMeasure& measure,
                                double factor = 1);

}  // namespace sonde::canvas
