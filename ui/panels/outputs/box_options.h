#pragma once

#include <QWidget>

#include "core/session/outputs/show_outputs.h"

class QComboBox;
class QDoubleSpinBox;

namespace sonde::panels {

/// How the numbers of an output are boxes: what the user says in place of what was found.
class BoxOptions : public QWidget {
    Q_OBJECT
  public:
    explicit BoxOptions(QWidget* parent = nullptr);

    /// `outputs`: names of the others, which may have scores and classes.
    void show(const session::outputs::BoxLayout& layout, const QStringList& outputs);
    session::outputs::BoxLayout layout() const;

  Q_SIGNALS:
    /// By the user.
    void changed();

  private:
    QComboBox *m_corners, *m_unit, *m_direction, *m_score, *m_classes;
    QDoubleSpinBox* m_threshold;
    session::outputs::BoxLayout m_shown;
    bool m_isShowing = false;
};

}  // namespace sonde::panels
