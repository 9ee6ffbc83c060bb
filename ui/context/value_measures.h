#pragma once

#include <QObject>

#include "core/session/node_statistics.h"

namespace sonde::context {

/// The session's statistics of all nodes, for views: see session::NodeStatistics. While a run is debugged there are
/// none: they are of another one. Belongs to the UI thread; no verb blocks.
class ValueMeasures : public QObject {
    Q_OBJECT
  public:
    explicit ValueMeasures(session::NodeStatistics& statistics) : m_of(statistics) {}

    bool isKnown() const { return !m_isHidden && m_of.isKnown(); }
    bool isActive() const { return m_of.isActive(); }
    /// Null if nothing is known of the node.
    const analysis::TensorStats* of(graph::NodeId node) const { return m_isHidden ? nullptr : m_of.of(node); }

    /// By the context: whether another run is shown than the one that they are of.
    void setHidden(bool hidden) {
        if (hidden == m_isHidden) return;
        m_isHidden = hidden;
        Q_EMIT changed();
    }

  public Q_SLOTS:
    /// Computes them in the background, unless they are known. Needs a run before, for its inputs.
    void compute() { m_of.compute(); }
    void cancel() { m_of.cancel(); }

  Q_SIGNALS:
    /// They are there, or gone.
    void changed();

  private:
    session::NodeStatistics& m_of;
    bool m_isHidden = false;
};

}  // namespace sonde::context
