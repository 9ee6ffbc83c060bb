#include "ui/panels/table_view.h"

#include <QBoxLayout>
#include <QHeaderView>
#include <QTableView>

#include <algorithm>

#include "ui/panels/copy_rows.h"
#include "ui/panels/row_delegate.h"
#include "ui/theme/theme.h"
#include "ui/widgets/search_field.h"

namespace sonde::panels {

namespace {

/// Qt makes the first row current when the focus comes, which would go to its node. Here the first key does that.
class PanelTable : public QTableView {
  public:
    using QTableView::QTableView;
    void reset() override {
        QTableView::reset();
        setCurrentIndex({});
    }
};

}  // namespace

QTableView* makeTableView(const QString& accessibleName, QWidget* parent) {
    auto* view = new PanelTable(parent);
    view->setAccessibleName(accessibleName);
    view->setItemDelegate(new RowDelegate(view));
    view->setSelectionBehavior(QAbstractItemView::SelectRows);
    view->setSelectionMode(QAbstractItemView::SingleSelection);
    view->setEditTriggers(QAbstractItemView::NoEditTriggers);
    view->setTabKeyNavigation(false);  // Tab leaves the table; arrows walk in it
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

void setColumnWidths(QTableView* view, std::span<const int> widths) {
    view->ensurePolished();  // headings have the font of the style sheet
    for (int column = 0; column < static_cast<int>(widths.size()); ++column)
        view->setColumnWidth(column, std::max(widths[static_cast<std::size_t>(column)],
                                              view->horizontalHeader()->sectionSizeHint(column)));
}

widgets::SearchField* makeTableFilter(const QString& placeholder, QWidget* parent) {
    auto* filter = new widgets::SearchField(parent);
    filter->setNavigable(false);
    filter->setPlaceholderText(placeholder);
    filter->setMaximumWidth(320);
    filter->setMinimumWidth(120);
    return filter;
}

QHBoxLayout* stackTable(QWidget* panel, widgets::SearchField* filter, QWidget* count, QTableView* view) {
    auto* top = new QHBoxLayout;
    top->setContentsMargins(theme::kSmall, theme::kTight, theme::kSmall, theme::kTight);
    top->setSpacing(theme::kSmall);
    top->addWidget(filter, 1);
    top->addWidget(count, 2);
    auto* column = new QVBoxLayout(panel);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addLayout(top);
    column->addWidget(view);
    return top;
}

}  // namespace sonde::panels
