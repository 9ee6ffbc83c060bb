#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QStringList>
#include <QTimer>

#include <optional>

#include "core/base/result.h"

namespace sonde::window {

class MainWindow;

/// Drives the real window from a text, one command a line; '#' begins a comment line. Nothing in it reaches behind the
/// window: nodes are clicked with mouse events, keys are key events. The commands are in script_commands.cpp.
///
/// NODE as on the command line: name, #number, or QUALNAME: for a module's output. Commands that cause background work
/// are followed by a wait where the next one needs its result; `open` and `run` wait for themselves.
class Script : public QObject {
    Q_OBJECT
  public:
    /// `model` is opened first unless it is empty. Relative file names in `text` stand for files in `folder`.
    Script(MainWindow& window, const QString& model, const QString& text, const QString& folder,
           QObject* parent = nullptr);

    /// Begins with the next turn of the event loop; finished() tells the end.
    void start();
    /// Why it ended early; none if every line was done. Of a line: Usage, with "line N" in `where`; of the first model:
    /// what opening it gave.
    const std::optional<base::Error>& error() const { return m_error; }

    static constexpr int kDefaultWaitSeconds = 60;

  Q_SIGNALS:
    void finished();

  private:
    void poll();
    void step();
    void openModel(const QString& model);
    void fail(base::Error error);
    void waitForIdle(int seconds);
    base::Result<void> perform(const QString& command, const QString& rest);

    base::Result<void> compare(const QString& with);
    base::Result<void> goToDifference(const QString& which);
    base::Result<void> traceAgain(const QString& words);
    base::Result<void> focus(const QString& how);
    base::Result<void> look(const QString& command, const QString& rest);
    base::Result<void> expand(const QString& what, bool open);
    base::Result<void> giveInput(const QString& rest);
    base::Result<void> showView(const QString& view);
    base::Result<void> zoom(const QString& how);
    base::Result<void> pressKeys(const QString& keys);
    base::Result<void> clickNode(const QString& node, bool twice);
    base::Result<void> takePicture(const QString& file);

    MainWindow& m_window;
    QString m_model;
    QStringList m_lines;
    QString m_folder;
    int m_line = 0;
    QTimer m_poll;
    QElapsedTimer m_waiting;
    int m_waitSeconds = 0;
    int m_quietTurns = 0;
    std::optional<base::Error> m_loadError;  ///< of the model that is being opened
    bool m_awaitsRun = false;                ///< whether it was refused is seen when all is idle
    std::optional<base::Error> m_error;
};

/// Saves what the window shows.
base::Result<void> saveScreenshot(MainWindow& window, const QString& file);
/// "1280x800".
base::Result<QSize> parseSize(const QString& text);

}  // namespace sonde::window
