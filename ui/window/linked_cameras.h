#pragma once

#include <QObject>

#include "ui/canvas/graph_canvas.h"
#include "ui/context/inspector_context.h"

namespace sonde::window {

/// Two canvases on two models look at the same place: where both show a selected pair, each node is where the other
/// one is on its canvas, at one scale, as long as SecondModel::areCamerasLinked().
class LinkedCameras : public QObject {
    Q_OBJECT
  public:
    /// `compared` is on the second model of `context`. All must outlive it.
    LinkedCameras(context::InspectorContext& context, canvas::GraphCanvas& first, canvas::GraphCanvas& compared);

  private:
    void follow(canvas::GraphCanvas& from, canvas::GraphCanvas& to);
    QRectF selected(const canvas::GraphCanvas& canvas, const context::InspectorContext& context) const;

    context::InspectorContext& m_context;
    canvas::GraphCanvas& m_first;
    canvas::GraphCanvas& m_compared;
    bool m_isFollowing = false;
};

}  // namespace sonde::window
