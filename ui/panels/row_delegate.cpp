#include "ui/panels/row_delegate.h"

#include <QApplication>
#include <QPainter>
#include <QStyle>
#include <QTreeView>

#include <algorithm>

#include "core/base/diagnostics.h"
#include "ui/models/roles.h"
#include "ui/theme/elided_text.h"
#include "ui/theme/icon.h"
#include "ui/theme/theme.h"

namespace sonde::panels {

namespace {

/// The mark of breakpoints; empty if there are none, and where a row below it shows them.
QString pointMark(const QStyleOptionViewItem& option, const QModelIndex& index) {
    const QString mark = index.data(models::PointRole).toString();
    if (mark.isEmpty() || !index.data(models::PointBelowRole).toBool()) return mark;
    const auto* tree = qobject_cast<const QTreeView*>(option.widget);
    return tree && tree->isExpanded(index) ? QString() : mark;
}

/// Of a mark; in a selected row that of its text, where the mark's own would not be seen.
theme::ColorRole seenRole(theme::ColorRole role, const QStyleOptionViewItem& option) {
    if (!option.state.testFlag(QStyle::State_Selected)) return role;
    const bool isSeen = theme::contrast(theme::color(role), theme::color(theme::ColorRole::AccentSoft)) >= 3;
    return isSeen ? role : theme::ColorRole::AccentSoftText;
}

int markSize(const QStyleOptionViewItem& option) { return std::min(option.rect.height() - 4, theme::kIconSize); }

}  // namespace

void RowDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
    QStyledItemDelegate::paint(painter, option, index);
    const QString mark = pointMark(option, index);
    if (mark.isEmpty()) return;
    const int size = markSize(option);
    const QRect place(option.rect.right() - size - 1, option.rect.center().y() - size / 2, size, size);
    theme::icon(mark, seenRole(theme::ColorRole::ErrorMark, option)).paint(painter, place);
}

void RowDelegate::initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const {
    QStyledItemDelegate::initStyleOption(option, index);
    const QVariant severity = index.data(models::SeverityRole);
    if (severity.isValid() && severity.toInt() != static_cast<int>(base::Severity::Info)) {
        const bool error = severity.toInt() == static_cast<int>(base::Severity::Error);
        option->palette.setColor(QPalette::Text,
                                 theme::color(error ? theme::ColorRole::Error : theme::ColorRole::Warning));
        if (error) option->font.setBold(true);  // not by hue alone
        if (index.column() == m_signColumn) {
            // A selection has a background of its own.
            const bool isSelected = option->state.testFlag(QStyle::State_Selected);
            option->icon = theme::icon(QStringLiteral("warning"), isSelected ? theme::ColorRole::AccentSoftText
                                                                  : error    ? theme::ColorRole::Error
                                                                             : theme::ColorRole::Warning);
            option->features |= QStyleOptionViewItem::HasDecoration;
        }
    } else if (index.data(models::MutedRole).toBool()) {
        option->palette.setColor(QPalette::Text, theme::color(theme::ColorRole::MutedText));
        option->font.setItalic(true);
    }
    const int current = index.column() == std::max(m_signColumn, 0) ? index.data(models::CurrentRole).toInt() : 0;
    if (current > 0) {
        // What is below a row that is open has a row of its own.
        const auto* tree = qobject_cast<const QTreeView*>(option->widget);
        if (current == 1 || !tree || !tree->isExpanded(index)) {
            option->icon = theme::icon(QStringLiteral("current"), seenRole(theme::ColorRole::CurrentMark, *option));
            option->features |= QStyleOptionViewItem::HasDecoration;
            option->font.setBold(true);
        }
    }
    // Qt would cut a number where the column ends.
    const QStyle* const style = option->widget ? option->widget->style() : QApplication::style();
    const int margin = style->pixelMetric(QStyle::PM_FocusFrameHMargin, option, option->widget) + 1;
    int room = style->subElementRect(QStyle::SE_ItemViewItemText, option, option->widget).width() - 2 * margin;
    if (!pointMark(*option, index).isEmpty()) room -= markSize(*option) + 3;
    if (room > 0 && !option->features.testFlag(QStyleOptionViewItem::WrapText))
        option->text = theme::elidedText(option->text, option->textElideMode, room, QFontMetrics(option->font));
}

}  // namespace sonde::panels
