#pragma once

#include <QDialog>

#include "core/session/watch/watch_policy.h"

namespace sonde::dialogs {

/// What the dialog cannot reach itself; look and motion it gives to the theme at once.
struct Settings {
    bool wheelZooms = true;
    int threads = 0;               ///< 0: one per processor
    int debugMemoryMib = 1024;     ///< for values of a run that is debugged
    session::WatchPolicy watched;  ///< what a run keeps of watched values
    bool findsGroups = true;       ///< ONNX files that name no modules are shown with groups found in the graph
};

/// Look, mouse wheel, text size, threads, memory, groups; ways to labels and keys. Every change works at once.
class SettingsDialog : public QDialog {
    Q_OBJECT
  public:
    explicit SettingsDialog(const Settings& settings, QWidget* parent = nullptr);

  Q_SIGNALS:
    void changed(const sonde::dialogs::Settings& settings);
    void labelsRequested();
    void keysRequested();

  private:
    // The rows, each with what happens when it is changed.
    QWidget* lookChoice();
    QWidget* textSize();
    QWidget* motionChoice();
    QWidget* wheelChoice();
    QWidget* threadCount();
    QWidget* debugMemory();
    QWidget* watchedChoice();
    QWidget* watchedMemory();
    QWidget* groupsChoice();
    QWidget* furtherDialogs();

    Settings m_settings;
};

/// Gives the theme what was chosen in an earlier session.
void applySavedLook();

}  // namespace sonde::dialogs
