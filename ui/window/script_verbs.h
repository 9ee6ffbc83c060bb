#pragma once

#include <QObject>
#include <QSize>
#include <QString>

#include <optional>
#include <utility>

#include "core/base/result.h"

class QWidget;

namespace sonde::window {

class MainWindow;

/// What the commands of a window script do that no single action of the menus does: one function for each, which gets
/// the rest of the line. Background work goes on when they return. See script_commands.cpp for the table.
class ScriptVerbs : public QObject {
    Q_OBJECT
  public:
    using Done = base::Result<void>;

    /// Relative file names stand for files in `folder`.
    ScriptVerbs(MainWindow& window, const QString& folder, QObject* parent = nullptr);
    void readFrom(const QString& folder) { m_scriptFolder = folder; }

    Done open(const QString& model);
    /// The model that the script begins with: a question of the window is an error then.
    Done openFirst(const QString& model);
    Done openSample(const QString& id);
    Done giveInput(const QString& rest);
    Done run(const QString& rest);
    Done setValue(const QString& line) { return addEdit(line, true); }
    Done editValue(const QString& line) { return addEdit(line, false); }
    Done compare(const QString& with);
    Done bisect(const QString& with);
    Done savePiece(const QString& file);
    Done measurePrecision(const QString& how);
    Done goToDifference(const QString& which);
    Done diffModels(const QString& how);
    Done sweep(const QString& line);
    Done labelOutputs(const QString& file);
    Done readTokens(const QString& file);
    Done watch(const QString& node);
    Done end(const QString& node);
    Done clear(const QString& rest);
    Done checkCurrent(const QString& where);
    Done select(const QString& what);
    Done click(const QString& node) { return clickNode(node, false); }
    Done doubleClick(const QString& node) { return clickNode(node, true); }
    Done expand(const QString& what) { return setExpanded(what, true); }
    Done collapse(const QString& what) { return setExpanded(what, false); }
    Done search(const QString& text);
    Done focus(const QString& how);
    Done showInstance(const QString& number);
    Done showGraph(const QString& module);
    Done traceAgain(const QString& words);
    Done colorBy(const QString& column);
    Done zoom(const QString& how);
    Done showPanel(const QString& panel);
    Done exportModel(const QString& how);
    Done acceptFinding(const QString& line);
    Done writeReport(const QString& line);
    Done showHelp(const QString& page);
    Done setTheme(const QString& mode);
    Done setSize(const QString& size);
    Done pressKeys(const QString& keys);
    Done triggerAction(const QString& id);
    Done wait(const QString& seconds);
    Done takeScreenshot(const QString& file);

    /// An error if the menu item cannot be chosen now.
    Done checkEnabled(const QString& action) const;
    /// Does what the menu item does, if it is enabled.
    void trigger(const QString& action);
    /// The same of one that can be checked, unless it is.
    void setChecked(const QString& action, bool checked);

    /// How long the last command lets the window work: `wait SECONDS`.
    int waitSeconds() const { return m_waitSeconds; }
    /// Before each command.
    void begin() { m_waitSeconds = kDefaultWaitSeconds; }
    /// What has become of the last command now that nothing is at work any more: why the model could not be opened,
    /// nothing was compared, or no run began. Known once.
    std::optional<base::Error> takeFailure();

    static constexpr int kDefaultWaitSeconds = 60;

  private:
    Done setExpanded(const QString& what, bool open);
    Done addEdit(const QString& line, bool isSet);
    Done writeExport(const QString& file, bool isBeside);
    Done compareWithEngine(const QString& library);
    Done clickNode(const QString& text, bool twice);
    QWidget* keyTarget() const;
    /// Of a file that is written.
    QString inFolder(const QString& file) const;
    /// Of a file that is read: beside the script, or else where files are written.
    QString toRead(const QString& file) const;

    MainWindow& m_window;
    QString m_folder, m_scriptFolder;
    int m_waitSeconds = kDefaultWaitSeconds;
    bool m_opensFirst = false;
    std::optional<base::Error> m_loadError;  ///< of what the last command began: opening, comparing, editing …
    bool m_awaitsRun = false;                ///< whether it was refused is seen when all is idle
    bool m_awaitsSweep = false;              ///< why it did not begin is known then
    QString m_awaitedInput;                  ///< that was given a value, which is read by then; empty: none
};

/// Saves what the window shows.
base::Result<void> saveScreenshot(MainWindow& window, const QString& file);
/// "1280x800".
base::Result<QSize> parseSize(const QString& text);

}  // namespace sonde::window
