#include "ui/panels/copy_rows.h"

#include <QAbstractItemView>
#include <QAction>
#include <QClipboard>
#include <QGuiApplication>
#include <QHeaderView>
#include <QTableView>

#include <algorithm>

namespace sonde::panels {

void copyRowsOnShortcut(QAbstractItemView* view) {
    auto* copy = new QAction(QObject::tr("&Copy"), view);
    copy->setShortcut(QKeySequence::Copy);
    copy->setShortcutContext(Qt::WidgetShortcut);
    QObject::connect(copy, &QAction::triggered, view, [view] {
        QModelIndexList rows = view->selectionModel()->selectedRows();
        if (rows.isEmpty() && view->currentIndex().isValid()) rows << view->currentIndex();
        std::sort(rows.begin(), rows.end());
        QStringList lines;
        for (const QModelIndex& row : rows) {
            QStringList cells;
            for (int column = 0; column < view->model()->columnCount(row.parent()); ++column)
                cells << row.siblingAtColumn(column).data().toString();
            lines << cells.join(QLatin1Char('\t'));
        }
        QGuiApplication::clipboard()->setText(lines.join(QLatin1Char('\n')));
    });
    view->addAction(copy);
}

}  // namespace sonde::panels
