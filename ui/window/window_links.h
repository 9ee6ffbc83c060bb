#pragma once

#include <QObject>

#include <memory>
#include <utility>
#include <vector>

#include "ui/context/inspector_context.h"

namespace sonde::window {

class WindowCanvases;

/// Windows that are linked show the same: what is selected in one is selected in the others, in the same model or in
/// another one. A child of its window, by which the others find it.
class WindowLinks : public QObject {
    Q_OBJECT
  public:
    /// The context and the canvases are those of `window` and must outlive it.
    WindowLinks(QWidget& window, context::InspectorContext& context, const WindowCanvases& canvases);

    /// Whether selecting here selects the same in other windows that are linked, and the reverse.
    bool isLinked() const { return m_isLinked; }
    void setLinked(bool linked);

  Q_SIGNALS:
    void linkedChanged(bool linked);

  private:
    void followSelection();
    graph::NodeId counterpart(const context::OpenModel& there);

    context::InspectorContext& m_context;
    const WindowCanvases& m_canvases;
    bool m_isLinked = false;
    bool m_isFollowing = false;  ///< the selection comes from another window
    /// The graphs for which pairs of nodes are known, and the pairs: see analysis::matchNodes().
    std::pair<std::weak_ptr<const graph::InternalGraph>, std::weak_ptr<const graph::InternalGraph>> m_matched;
    std::vector<graph::NodeId> m_match;
};

}  // namespace sonde::window
