#include "ui/widgets/colored_label.h"

#include "ui/theme/theme.h"

namespace sonde::widgets {

ColoredLabel::ColoredLabel(theme::ColorRole role, QWidget* parent) : QLabel(parent), m_role(role) {
    connect(&theme::Theme::instance(), &theme::Theme::changed, this, &ColoredLabel::color);
    color();
}

void ColoredLabel::setColorRole(theme::ColorRole role) {
    m_role = role;
    color();
}

void ColoredLabel::color() { setStyleSheet(QStringLiteral("color: %1").arg(theme::color(m_role).name())); }

}  // namespace sonde::widgets
