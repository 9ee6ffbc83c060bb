#pragma once

#include <QWidget>

#include <optional>
#include <string>

#include "core/base/result.h"
#include "ui/context/job.h"

class QCheckBox;
class QLabel;
class QLineEdit;

namespace sonde::dialogs {

/// Which ONNX Runtime: the library's file, and the consent to run its code, which is remembered for exactly its
/// content.
class EngineChoice : public QWidget {
    Q_OBJECT
  public:
    explicit EngineChoice(QWidget* parent = nullptr);
    ~EngineChoice() override;

    QString path() const;
    void setPath(const QString& path);
    /// The file was read, and the user agreed to its code, now or before.
    bool isReady() const;
    /// The file is being read.
    bool isBusy() const { return m_reading.isActive(); }
    /// Remembers the consent and the file. Errors: cannot be written.
    base::Result<void> agree();

  Q_SIGNALS:
    void changed();

  private:
    struct Library {
        std::string hash;
        bool isAgreed = false;
    };
    void read();
    void browse();
    void refresh();

    context::Job m_reading;
    QLineEdit* m_path;
    QCheckBox* m_consent;
    QLabel* m_note;
    std::optional<Library> m_library;
    QString m_error;
};

}  // namespace sonde::dialogs
