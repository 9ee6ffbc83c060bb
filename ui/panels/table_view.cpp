#include "ui/panels/table_view.h"

#include <QHeaderView>
#include <QTableView>

#include "ui/panels/copy_rows.h"
#include "ui/panels/row_delegate.h"
#include "ui/theme/theme.h"

namespace sonde::panels {

QTableView* makeTableView(const QString& accessibleName, QWidget* parent) {
    auto* view = new QTableView(parent);
    view->setAccessibleName(accessibleName);
    view->setItemDelegate(new RowDelegate(view));
    view->setSelectionBehavior(QAbstractItemView::SelectRows);
    view->setSelectionMode(QAbstractItemView::SingleSelection);
    view->setShowGrid(false);
    view->setAlternatingRowColors(true);
    view->setFrameShape(QFrame::NoFrame);
    view->setWordWrap(false);
    view->verticalHeader()->hide();
    view->verticalHeader()->setDefaultSectionSize(view->fontMetrics().height() + theme::kSmall);
    view->horizontalHeader()->setHighlightSections(false);
    view->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    view->setSortingEnabled(true);
    view->sortByColumn(-1, Qt::AscendingOrder);
    copyRowsOnShortcut(view);
    return view;
}

}  // namespace sonde::panels
