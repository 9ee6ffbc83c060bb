#include "ui/widgets/tool_button.h"

#include <QToolButton>

#include "ui/theme/icon.h"
#include "ui/theme/theme.h"

namespace sonde::widgets {

QToolButton* makeToolButton(const QString& icon, const QString& text, QWidget* parent) {
    auto* button = new QToolButton(parent);
    button->setAutoRaise(true);
    button->setIcon(theme::icon(icon));
    button->setIconSize({theme::kIconSize, theme::kIconSize});
    button->setToolTip(text);
    button->setAccessibleName(text);
    button->setFocusPolicy(Qt::TabFocus);
    return button;
}

}  // namespace sonde::widgets
