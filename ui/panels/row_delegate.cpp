#include "ui/panels/row_delegate.h"

#include "core/base/diagnostics.h"
#include "ui/models/roles.h"
#include "ui/theme/theme.h"

namespace sonde::panels {

void RowDelegate::initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const {
    QStyledItemDelegate::initStyleOption(option, index);
    const QVariant severity = index.data(models::SeverityRole);
    if (severity.isValid() && severity.toInt() != static_cast<int>(base::Severity::Info)) {
        const bool error = severity.toInt() == static_cast<int>(base::Severity::Error);
        option->palette.setColor(QPalette::Text,
                                 theme::color(error ? theme::ColorRole::Error : theme::ColorRole::Warning));
        if (error) option->font.setBold(true);  // not by hue alone
    } else if (index.data(models::MutedRole).toBool()) {
        option->palette.setColor(QPalette::Text, theme::color(theme::ColorRole::MutedText));
        option->font.setItalic(true);
    }
}

}  // namespace sonde::panels
