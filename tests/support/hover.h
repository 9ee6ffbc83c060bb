#pragma once

#include <QAbstractItemView>
#include <QCoreApplication>
#include <QHelpEvent>
#include <QToolTip>

namespace sonde::test {

/// What the window shows while the mouse rests on a place of a widget.
inline QString hovered(QWidget* widget, const QPoint& place) {
    QToolTip::showText(widget->mapToGlobal(place), QStringLiteral("(nothing)"), widget);
    QHelpEvent event(QEvent::ToolTip, place, widget->mapToGlobal(place));
    QCoreApplication::sendEvent(widget, &event);
    return QToolTip::text();
}

/// The same of a cell of a table or list.
inline QString hovered(QAbstractItemView* view, const QModelIndex& cell) {
    view->scrollTo(cell);
    QCoreApplication::processEvents();
    return hovered(view->viewport(), view->visualRect(cell).center());
}

}  // namespace sonde::test
