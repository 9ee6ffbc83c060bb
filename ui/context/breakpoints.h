#pragma once

#include <QObject>
#include <QString>

#include <map>
#include <vector>

#include "core/session/debug/breakpoints.h"
#include "core/session/session.h"
#include "ui/context/selection.h"

namespace sonde::context {

class Debugger;
class Messages;

/// The session's breakpoints and log points, for views. What log points write goes to the messages. Belongs to the UI
/// thread.
class Breakpoints : public QObject {
    Q_OBJECT
  public:
    using Point = session::debug::Breakpoint;

    Breakpoints(session::Session& session, Debugger& debugger, Messages& messages);

    const std::vector<Point>& all() const { return m_session.debugger().breakpoints().all(); }
    /// Null: there is none of that number any more.
    const Point* find(int id) const;
    /// What is set at a selected node or module itself.
    std::vector<const Point*> at(const Selection& selection) const;
    bool isLayer(const Point& point, const Selection& selection) const;
    bool isAt(const Selection& selection) const { return !at(selection).empty(); }
    /// What stops at all operations of the selected operator: "op:Relu"; empty if no operation is selected.
    QString operatorOf(const Selection& selection) const;
    /// How the place of a selected node or module is written; empty: a run cannot stop there.
    QString placeOf(const Selection& selection) const;
    /// The node that a breakpoint leads to: its own, or the first of its module or operator; none if it has no place.
    graph::NodeId nodeOf(const Point& point) const;
    /// Where it was met in this run, each operation once.
    std::vector<graph::ExprId> hitsOf(const Point& point) const;
    /// "conv1", "op:Relu", "first NaN": what a list calls it.
    static QString titleOf(const Point& point);
    /// What is set at a place, for a tool tip: "Breakpoint 2 if max(x) > 3 (disabled)", "Log point 1: max(x)".
    static QString tipOf(const Point& point);
    /// The icon for it, of theme::icon(): a disc, with "=" if it has a condition, a diamond; hollow if it is disabled.
    static QString iconOf(const Point& point);
    /// What a log point has written last in this run; empty: nothing yet.
    QString lastLog(int id) const;
    /// Whether it is one of those that the run stopped at.
    bool isStoppedAt(int id) const;

    /// See session::Debugger::addBreakpoint.
    base::Result<int> add(const QString& where, const QString& expression, bool isLog);
    base::Result<void> setExpression(int id, const QString& text);
    base::Result<void> setIgnored(int id, int hits);

  public Q_SLOTS:
    /// Sets one without a condition, or removes all that are there.
    void toggle(const sonde::context::Selection& selection);
    /// The same for a place as in add(): "nan", "op:Relu".
    void togglePlace(const QString& where);
    void setEnabled(int id, bool enabled);
    void remove(int id);
    void clear();

  Q_SIGNALS:
    /// The list, its hits, or what was written.
    void changed();
    /// Why something was not done.
    void refused(const QString& text);
    /// The user has set one, and there was none; changed() came before.
    void firstAdded();

  private:
    void takeLog();

    session::Session& m_session;
    Debugger& m_debugger;
    Messages& m_messages;
    std::map<int, QString> m_lastLog;
};

}  // namespace sonde::context
