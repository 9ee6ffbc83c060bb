#include "ui/panels/operators/operators_panel.h"

#include <QTableView>
#include <QTimer>

#include "ui/context/count_text.h"
#include "ui/context/inspector_context.h"
#include "ui/panels/table_view.h"
#include "ui/widgets/labels.h"
#include "ui/widgets/search_field.h"

namespace sonde::panels {

using context::InspectorContext;
using models::OperatorTableModel;

OperatorsPanel::OperatorsPanel(context::OpenModel& opened, context::Navigation& navigation, context::Runs& runs,
                               context::Inputs& inputs, context::ValueMeasures& statistics,
                               context::Comparison& comparison, QWidget* parent)
    : Panel(parent), m_navigation(navigation), m_model(opened, runs, statistics, comparison),
      m_view(makeTableView(tr("Operators"), this)), m_count(new widgets::ElidedLabel({}, this)) {
    m_proxy.setSourceModel(&m_model);
    m_view->setModel(&m_proxy);
    m_view->setObjectName(QStringLiteral("operatorTable"));
    m_view->sortByColumn(OperatorTableModel::Count, Qt::DescendingOrder);
    widgets::SearchField* filter = makeTableFilter(tr("Filter operators"), this);
    stackTable(this, filter, m_count, m_view);
    connect(filter, &widgets::SearchField::textChanged, this, [this](const QString& text) {
        m_proxy.setFilter(text);
        count();
    });
    connect(&m_model, &QAbstractItemModel::modelReset, this, &OperatorsPanel::count);
    connect(&inputs, &context::Inputs::inputsChanged, this, [this] {
        m_model.followStaleness();
        count();
    });
    connect(m_view, &QTableView::clicked, this, &OperatorsPanel::choose);
    connect(m_view, &QTableView::activated, this, &OperatorsPanel::choose);
    const auto fill = [this, &opened] { setHasContent(opened.isOpen()); };
    connect(&opened, &context::OpenModel::documentOpened, this, fill);
    connect(&opened, &context::OpenModel::documentClosed, this, fill);
    fill();
    m_model.setLive(false);
    connect(&m_model, &OperatorTableModel::wentStale, this, qOverload<>(&QWidget::update));
    setFocusProxy(m_view);
    count();
}

/// Only who is really seen is worth the work: docks that are tabs of one place all count as visible, one of them is
/// painted.
void OperatorsPanel::paintEvent(QPaintEvent* event) {
    Panel::paintEvent(event);
    QTimer::singleShot(0, &m_model, &OperatorTableModel::refresh);
}

void OperatorsPanel::count() {
    std::size_t operations = 0;
    for (int row = 0; row < m_proxy.rowCount(); ++row)
        operations += m_model.nodes(m_proxy.mapToSource(m_proxy.index(row, 0)).row()).size();
    QString text = context::countedText(m_proxy.rowCount(), tr("1 operator"), tr("%1 operators")) +
                   QStringLiteral("  \u00b7  ") +
                   context::countedText(operations, tr("1 operation"), tr("%1 operations"));
    if (m_proxy.rowCount() < m_model.rowCount())
        text += QStringLiteral("  \u00b7  ") +
                tr("%1 hidden").arg(context::countText(m_model.rowCount() - m_proxy.rowCount()));
    // The sums of the rows shown.
    const std::pair<int, int> sums[] = {{OperatorTableModel::Parameters, models::ParametersColumn},
                                        {OperatorTableModel::Memory, models::BytesColumn},
                                        {OperatorTableModel::Time, models::TimeColumn}};
    for (const auto& [column, kind] : sums) {
        models::ColumnSum sum;
        for (int row = 0; row < m_proxy.rowCount(); ++row) {
            sum.known += m_proxy.index(row, column).data(models::SortRole).toDouble();
            if (column == OperatorTableModel::Memory)
                sum.unknown += m_model.memory(m_proxy.mapToSource(m_proxy.index(row, 0)).row()).unknown;
        }
        QString part = sum.text(kind);
        if (part.isEmpty()) continue;
        if (const QString stale = m_model.staleReason(); column == OperatorTableModel::Time && !stale.isEmpty())
            part += tr(" (stale: %1)").arg(stale);
        text += QStringLiteral("  \u00b7  ") + part;
    }
    m_count->setText(text);
    m_count->setToolTip(text + QLatin1Char('\n') +
                        tr("Sums over the rows shown. A module that was traced into is counted by its operations"));
}

void OperatorsPanel::choose(const QModelIndex& row) {
    if (!row.isValid()) return;
    const std::vector<graph::NodeId> nodes = m_model.nodes(m_proxy.mapToSource(row).row());
    m_navigation.selectMany(nodes);
    m_navigation.setSearchHits(nodes, 0);
    m_navigation.reveal(m_navigation.selectionOf(nodes.front()));
}

PanelInfo operatorsPanel() {
    return {QStringLiteral("operators"),
            QObject::tr("Operators"),
            QStringLiteral("list"),
            PanelArea::Bottom,
            QStringLiteral("Alt+Shift+6"),
            [](InspectorContext& context) -> Panel* {
                return new OperatorsPanel(context.model(), context.navigation(), context.runs(), context.inputs(),
                                          context.valueMeasures(), context.comparison());
            },
            PanelComing::OnDemand};
}

}  // namespace sonde::panels
