#pragma once

#include <QObject>

#include "ui/actions/action_registry.h"
#include "ui/context/inspector_context.h"

namespace sonde::window {

/// Steps from the selected node to another: along edges, and to the next problem or difference.
class GraphSteps : public QObject {
    Q_OBJECT
  public:
    /// `actions` tells the keys that messages name. Both must outlive it.
    GraphSteps(context::InspectorContext& context, const actions::ActionRegistry& actions);

    /// The node that commands are about: the selected one, or what the selected module returns; invalid if none.
    graph::NodeId actedOn() const;

  public Q_SLOTS:
    void goToProducer();
    void goToConsumer();
    /// `step` is 1 or -1, as below.
    void goToProblem(int step);
    void goToDifference(int step);
    /// The worst, however the selection came to where it is; only from there on to the next worst.
    void goToWorst();

  Q_SIGNALS:
    /// Why there is nothing to go to, and what to do.
    void said(const QString& text);

  private:
    void goAround(const std::vector<graph::NodeId>& nodes, int step, bool begins = false);
    void sayIfStale();
    QString noProblemText() const;
    QString noDifferenceText() const;
    QString keyOf(const char* action) const;

    context::InspectorContext& m_context;
    const actions::ActionRegistry& m_actions;
    graph::NodeId m_worst;            ///< that the last command went to, if nothing else was selected or compared since
    bool m_isSelectionOlder = false;  ///< than the comparison: where F7 begins is its first difference
};

}  // namespace sonde::window
