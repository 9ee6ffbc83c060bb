#pragma once

#include <QDialog>

namespace sonde::dialogs {

/// Version, licence, what Sonde is made of, and what it never does.
class AboutDialog : public QDialog {
    Q_OBJECT
  public:
    explicit AboutDialog(QWidget* parent = nullptr);
};

}  // namespace sonde::dialogs
