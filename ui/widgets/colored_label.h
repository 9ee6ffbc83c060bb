#pragma once

#include <QLabel>

#include "ui/theme/color_role.h"

namespace sonde::widgets {

/// A label in a colour of the theme, also after the theme has changed.
class ColoredLabel : public QLabel {
    Q_OBJECT
  public:
    explicit ColoredLabel(theme::ColorRole role, QWidget* parent = nullptr);

    void setColorRole(theme::ColorRole role);

  private:
    void color();

    theme::ColorRole m_role;
};

}  // namespace sonde::widgets
