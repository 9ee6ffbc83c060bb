#pragma once

#include <QFrame>

#include "ui/context/inspector_context.h"

class QCheckBox;
class QComboBox;
class QGridLayout;
class QLabel;
class QLineEdit;
class QToolButton;

namespace sonde::widgets {
class ElidedLabel;
}

namespace sonde::panels {

/// Chooses where one model input's value comes from: a file, random numbers, zeros. A file may be dropped on it.
class InputEditor : public QFrame {
    Q_OBJECT
  public:
    InputEditor(context::InspectorContext& context, const QString& inputName, QWidget* parent = nullptr);

    /// Shows what the context has for the input now.
    void refresh();

  protected:
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

  private:
    enum Mode { File, Random, Zeros, None };
    void chooseMode(int mode);
    void commit();
    void browse();
    void showFile(const QString& path);
    void arrange(bool isNarrow);

    context::InspectorContext& m_context;
    QString m_name;
    QGridLayout* m_grid;
    bool m_isNarrow = false;
    widgets::ElidedLabel* m_type;
    QComboBox* m_mode;
    QLineEdit* m_source;
    QToolButton* m_browse;
    QWidget* m_imageRow;
    QCheckBox* m_resize;
    QComboBox* m_preset;
    QLabel* m_state;
};

}  // namespace sonde::panels
