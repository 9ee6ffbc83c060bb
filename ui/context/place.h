#pragma once

#include <QPointF>

#include "core/graph/ids.h"

namespace sonde::context {

/// Where a canvas looks, so that it can be found again in another session, in a window of another size.
struct Place {
    enum class Kind {
        First,   ///< where a model is shown from at first
        Fitted,  ///< all of the picture
        Moved,   ///< something stands `offset` away from the middle
    };
    Kind kind = Kind::First;
    graph::NodeId node;    ///< what is there: a node,
    graph::ScopeId scope;  ///< or a module
    QPointF offset;        ///< of its upper left corner from the middle of the canvas, device-independent pixels
    double scale = 1;      ///< device-independent pixels per scene unit

    bool operator==(const Place&) const = default;
};

}  // namespace sonde::context
