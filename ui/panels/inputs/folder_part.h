#pragma once

#include <memory>

#include "core/session/input_folder.h"
#include "ui/context/job.h"
#include "ui/panels/inputs/input_part.h"

class QToolButton;

namespace sonde::widgets {
class ElidedLabel;
}

namespace sonde::panels {

/// Goes through the files of the folder that an input's file is in. The folder is listed in the background.
class FolderPart : public InputPart {
    Q_OBJECT
  public:
    explicit FolderPart(const QString& inputName, QWidget* parent = nullptr);
    void refresh(const context::ModelInput& input) override;

    /// Gives the first file of a folder.
    void openFolder(const QString& path);
    /// Whether there is a file so many places further.
    bool canStep(int by) const;
    void step(int by);

  private:
    void list(const QString& path, bool givesFirst);
    void showPlace();

    QString m_source;
    std::shared_ptr<const session::InputFolder> m_folder;
    QString m_listed;  ///< the file that it was last listed for
    context::Job m_job;
    widgets::ElidedLabel* m_text;
    QToolButton *m_previous, *m_next;
};

}  // namespace sonde::panels
