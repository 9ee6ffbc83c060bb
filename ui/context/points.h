#pragma once

#include <QObject>

#include <vector>

#include "core/session/session.h"

namespace sonde::context {

using graph::NodeId;

/// The watch and end points of the session, for views. Belongs to the UI thread.
class Points : public QObject {
    Q_OBJECT
  public:
    explicit Points(session::Session& session) : m_session(session) {}

    /// In the order in which they were set.
    const std::vector<NodeId>& watched() const { return m_session.points().watched.nodes(); }
    const std::vector<NodeId>& ends() const { return m_session.points().ends.nodes(); }
    const session::PointSet& watchedSet() const { return m_session.points().watched; }
    const session::PointSet& endSet() const { return m_session.points().ends; }
    bool isWatched(NodeId node) const { return m_session.points().watched.contains(node); }
    /// By itself or in a group.
    bool isKept(NodeId node) const { return m_session.points().keeps(node); }
    bool isEnd(NodeId node) const { return m_session.points().ends.contains(node); }

  public Q_SLOTS:
    void toggleWatch(sonde::graph::NodeId node) { setWatched(node, !isWatched(node)); }
    void setWatched(sonde::graph::NodeId node, bool watched) { m_session.setWatched(node, watched); }
    void toggleEnd(sonde::graph::NodeId node) { setEnd(node, !isEnd(node)); }
    void setEnd(sonde::graph::NodeId node, bool end) { m_session.setEnd(node, end); }
    /// Of one that the model has no node for: what NodeIdentity::text() gave.
    void forgetMissing(const std::string& identity) { m_session.forgetMissing(session::NodeIdentity::of(identity)); }
    void clearWatched() { m_session.clearWatched(); }
    void clearEnds() { m_session.clearEnds(); }

  Q_SIGNALS:
    void watchChanged();
    void endChanged();

  private:
    session::Session& m_session;
};

}  // namespace sonde::context
