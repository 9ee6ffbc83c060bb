#include "ui/panels/node_table/node_table_panel.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QScopedValueRollback>
#include <QTableView>
#include <QVBoxLayout>

#include "ui/panels/copy_rows.h"
#include "ui/panels/row_delegate.h"
#include "ui/theme/theme.h"
#include "ui/widgets/search_field.h"

namespace sonde::panels {

using context::InspectorContext;
using context::Selection;
using models::NodeTableModel;

NodeTablePanel::NodeTablePanel(InspectorContext& context, QWidget* parent)
    : QWidget(parent), m_context(context), m_model(context), m_view(new QTableView(this)), m_count(new QLabel(this)) {
    m_proxy.setSourceModel(&m_model);
    m_view->setModel(&m_proxy);
    m_view->setObjectName(QStringLiteral("nodeTable"));
    m_view->setAccessibleName(tr("All nodes"));
    m_view->setItemDelegate(new RowDelegate(m_view));
    m_view->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_view->setSelectionMode(QAbstractItemView::SingleSelection);
    m_view->setShowGrid(false);
    m_view->setAlternatingRowColors(true);
    m_view->setFrameShape(QFrame::NoFrame);
    m_view->setWordWrap(false);
    m_view->verticalHeader()->hide();
    m_view->verticalHeader()->setDefaultSectionSize(m_view->fontMetrics().height() + theme::kSmall);
    m_view->horizontalHeader()->setHighlightSections(false);
    m_view->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    static const int widths[] = {56, 200, 200, 110, 130, 140, 70, 90};
    for (int column = 0; column < NodeTableModel::ColumnCount; ++column) m_view->setColumnWidth(column, widths[column]);
    m_view->setSortingEnabled(true);
    m_view->sortByColumn(-1, Qt::AscendingOrder);
    copyRowsOnShortcut(m_view);

    auto* filter = new widgets::SearchField(this);
    filter->setNavigable(false);
    filter->setPlaceholderText(tr("Filter nodes"));
    filter->setMaximumWidth(320);
    auto* top = new QHBoxLayout;
    top->setContentsMargins(theme::kSmall, theme::kTight, theme::kSmall, theme::kTight);
    top->addWidget(filter, 1);
    top->addWidget(m_count);
    top->addStretch(1);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addLayout(top);
    column->addWidget(m_view);

    connect(filter, &widgets::SearchField::textChanged, this, [this](const QString& text) {
        m_proxy.setFilter(text);
        count();
    });
    connect(&m_model, &QAbstractItemModel::modelReset, this, &NodeTablePanel::count);
    connect(&context, &InspectorContext::selectionChanged, this, &NodeTablePanel::follow);
    connect(m_view->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& current) {
        if (m_following || !current.isValid()) return;
        graph::NodeId node;
        node.value = current.data(models::NodeRole).toUInt();
        m_context.navigateTo(node);
    });
    count();
}

void NodeTablePanel::count() {
    const int shown = m_proxy.rowCount();
    const int all = m_model.rowCount();
    m_count->setText(shown == all ? tr("%n node(s)", nullptr, all) : tr("%1 of %2 nodes, %3 hidden").arg(shown).arg(all).arg(all - shown));
}

void NodeTablePanel::follow(const Selection& selection) {
    const QScopedValueRollback guard(m_following, true);
    const int row = m_model.rowOf(selection.node);
    const QModelIndex index = row < 0 ? QModelIndex() : m_proxy.mapFromSource(m_model.index(row, 0));
    if (!index.isValid()) {
        m_view->selectionModel()->clear();
        return;
    }
    m_view->selectRow(index.row());
    m_view->scrollTo(index);
}

PanelInfo nodeTablePanel() {
    return {QStringLiteral("nodes"), QObject::tr("Node Table"), QStringLiteral("table"), PanelArea::Bottom,
            QStringLiteral("Alt+6"), [](InspectorContext& context) -> QWidget* { return new NodeTablePanel(context); }};
}

}  // namespace sonde::panels
