#pragma once

#include <QObject>
#include <QString>

#include <map>
#include <optional>
#include <vector>

#include "core/session/session.h"
#include "ui/context/debugger.h"
#include "ui/context/job.h"
#include "ui/context/stored.h"

namespace sonde::context {

class Messages;

/// Expression watches, watched groups, what is kept of watched values, and the history of runs, for views. While a
/// debugged run is shown, results of expressions are those of its place. Belongs to the UI thread; no verb blocks.
class Watches : public QObject {
    Q_OBJECT
  public:
    using Entry = session::ExpressionWatches::Entry;
    using Group = session::WatchGroups::Entry;

    Watches(session::Session& session, Debugger& debugger, Messages& messages);

    const std::vector<Entry>& expressions() const { return m_session.expressionWatches().entries(); }
    const Entry* expression(int id) const { return m_session.expressionWatches().find(id); }
    /// Of the last run, or of the place where a debugged run is; null where there is none.
    const session::ExpressionResult* result(int id) const;
    const std::vector<Group>& groups() const { return m_session.points().groups.entries(); }
    const session::History& history() const { return m_session.history(); }

    /// How a watched node was found in this model; empty of one that was set in it.
    QString foundText(graph::NodeId node) const;
    /// What was kept of a watched value in the last run: "whole", "sample of 1,000", "statistics"; empty before a run.
    QString keptText(graph::NodeId node) const;
    /// What is left of a value that was not kept whole; else null.
    const session::WatchSummary* summary(graph::NodeId node) const { return m_session.runs().summary(node); }
    /// "12 of 68 values kept as statistics: budget 256 MiB"; empty if all that was watched was kept.
    QString overBudgetText() const;

    const session::WatchPolicy& policy() const { return m_session.runs().policy(); }
    /// From the next run on; kept by the user's settings.
    void setPolicy(const session::WatchPolicy& policy);
    void setHistoryLimit(int runs);

    /// The number of the new watch; nothing if there are too many, which is reported.
    std::optional<int> addExpression(const QString& text, graph::NodeId pin = {});
    void setExpression(int id, const QString& text);
    void setPin(int id, graph::NodeId node);
    void setEnabled(int id, bool enabled);
    void removeExpression(int id);
    /// What cannot be watched is reported.
    bool addGroup(session::WatchGroup group);
    void removeGroup(const session::WatchGroup& group);
    /// An expression of a node to begin with: "max(abs(conv1))"; "0" of none.
    QString firstExpression(graph::NodeId node) const;
    void clear();

    /// By the context: the session's expressions, results or history are others.
    void follow();
    /// By the context: another model, or none.
    void reset();

  Q_SIGNALS:
    /// Expressions, their results, or the history.
    void changed();
    void policyChanged();

  private:
    void evaluateHere();
    void forgetHere();

    session::Session& m_session;
    Debugger& m_debugger;
    Messages& m_messages;
    Job m_job;
    std::map<int, session::ExpressionResult> m_here;  ///< at the place of the debugged run
};

}  // namespace sonde::context
