#pragma once

#include <QDialog>

namespace sonde::dialogs {

/// What the dialog cannot reach itself; look and motion it gives to the theme at once.
struct Settings {
    bool wheelZooms = true;
    int threads = 0;  ///< 0: one per processor
};

/// Look, mouse wheel, text size, threads. Every change works at once.
class SettingsDialog : public QDialog {
    Q_OBJECT
  public:
    explicit SettingsDialog(const Settings& settings, QWidget* parent = nullptr);

  Q_SIGNALS:
    void changed(const sonde::dialogs::Settings& settings);

  private:
    Settings m_settings;
};

/// Gives the theme what was chosen in an earlier session.
void applySavedLook();

}  // namespace sonde::dialogs
