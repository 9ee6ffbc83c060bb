#pragma once

#include <QObject>

#include "ui/actions/action_registry.h"
#include "ui/context/inspector_context.h"

class QStatusBar;
class QToolButton;

namespace sonde::widgets {
class ElidedLabel;
class ProgressStrip;
}  // namespace sonde::widgets

namespace sonde::window {

/// The status bar: what is selected or pointed at, how far loading and running are, and how many problems the last run
/// has.
class WindowStatus : public QObject {
    Q_OBJECT
  public:
    /// All must outlive it.
    WindowStatus(QStatusBar& bar, context::InspectorContext& context, const actions::ActionRegistry& actions);

    /// Answers a command that has nothing to do: in the log, and in the status until something else happens.
    void say(const QString& text);
    /// The same of what the log has already.
    void show(const QString& text);
    void refresh();

  Q_SIGNALS:
    void problemsClicked();
    void findingsClicked();

  private:
    void connectContext();
    void connectProgress();
    QString keyOf(const char* action) const;
    QString text(const context::Selection& shown) const;
    void refreshProblems(const QString& text);
    void refreshFindings();
    void connectFindings();
    void forgetSaid() { m_said.clear(); }

    QStatusBar& m_bar;
    context::InspectorContext& m_context;
    const actions::ActionRegistry& m_actions;
    widgets::ProgressStrip* m_progress;
    widgets::ElidedLabel* m_status;
    QToolButton* m_findings;  ///< how many there are; hidden if nobody looked, or there are none
    QToolButton* m_problems;  ///< what is wrong with the values of the last run; hidden if nothing is
    QString m_place;          ///< of the debugged run, as it was shown last
    QString m_said;           ///< see say()
};

}  // namespace sonde::window
