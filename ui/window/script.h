#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QStringList>
#include <QTimer>

#include <optional>

#include "core/base/result.h"
#include "ui/window/script_verbs.h"

namespace sonde::window {

class MainWindow;
struct ScriptCommand;

/// Drives the real window from a text, one command a line; '#' begins a comment line. Nothing in it reaches behind the
/// window: nodes are clicked with mouse events, keys are key events. The commands are in script_commands.cpp.
///
/// NODE as on the command line: name, #number, or QUALNAME: for a module's output. After each command that may cause
/// background work the script waits until nothing is at work.
class Script : public QObject {
    Q_OBJECT
  public:
    /// `model` is opened first unless it is empty. Relative file names in `text` stand for files in `folder`.
    Script(MainWindow& window, const QString& model, const QString& text, const QString& folder,
           QObject* parent = nullptr);

    /// What the script reads is looked for in `folder` first.
    void readFrom(const QString& folder) { m_verbs.readFrom(folder); }

    /// Begins with the next turn of the event loop; finished() tells the end.
    void start();
    /// Why it ended early; none if every line was done. Of a line: Usage, with "line N" in `where`; of the first model:
    /// what opening it gave.
    const std::optional<base::Error>& error() const { return m_error; }

  Q_SIGNALS:
    void finished();

  private:
    void poll();
    void step();
    void fail(base::Error error);
    void waitForIdle();
    base::Result<void> perform(const QString& name, const QString& arguments);
    base::Result<void> perform(const ScriptCommand& command, const QString& arguments);

    MainWindow& m_window;
    ScriptVerbs m_verbs;
    QString m_model;
    QStringList m_lines;
    int m_line = 0;
    QTimer m_poll;
    QElapsedTimer m_waiting;
    int m_quietTurns = 0;
    QString m_asked;  ///< arguments of the last command of a panel
    std::optional<base::Error> m_error;
};

}  // namespace sonde::window
