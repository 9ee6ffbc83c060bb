#pragma once

#include <QPointer>
#include <QSet>

#include "ui/panels/inputs/input_part.h"

class QLabel;
class QPushButton;

namespace sonde::context {
class OpenModel;
}

namespace sonde::panels {

class DrawingWindow;

/// A drawing as the value of an input: its pixels as the model gets them, and the window with the pad.
class DrawPart : public InputPart {
    Q_OBJECT
  public:
    DrawPart(context::OpenModel& opened, const QString& inputName, QWidget* parent = nullptr);
    void refresh(const context::ModelInput& input) override;
    /// Shows the window with the pad, and gives it the focus.
    void openPad();

    /// Whether an input of that type can be drawn.
    static bool fits(const context::ModelInput& input);

  private:
    void showPicture();

    context::OpenModel& m_opened;
    QString m_name;
    QString m_source;
    QString m_lastGiven;
    /// By the window itself, which may be further already: the pad is not set back to them.
    QSet<QString> m_given;
    QLabel* m_picture;
    QPushButton* m_open;
    QPointer<DrawingWindow> m_window;
};

}  // namespace sonde::panels
