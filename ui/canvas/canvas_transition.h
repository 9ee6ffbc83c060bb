#pragma once

#include <QVariantAnimation>

#include <vector>

#include "ui/canvas/graph_canvas.h"
#include "ui/context/background.h"

namespace sonde::canvas {

/// The way from one picture to the next: items that are in both move, new ones fade in.
struct GraphCanvas::Transition {
    struct Move {
        std::uint32_t item;
        QRectF from;  ///< in units of the new scene; null if the item is new
    };
    ~Transition() { context::freeLater(std::move(before)); }

    std::shared_ptr<ScenePainter> before;
    Camera cameraBefore;
    std::vector<Move> moves;
    QVariantAnimation animation;
    double t = 0;
};

}  // namespace sonde::canvas
