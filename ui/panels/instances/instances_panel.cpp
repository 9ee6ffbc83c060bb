#include "ui/panels/instances/instances_panel.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QStackedWidget>
#include <QTableView>
#include <QVBoxLayout>

#include "ui/context/count_text.h"
#include "ui/context/inspector_context.h"
#include "ui/models/node_text.h"
#include "ui/panels/table_view.h"
#include "ui/theme/theme.h"
#include "ui/widgets/empty_state.h"

namespace sonde::panels {

using context::InspectorContext;
using models::InstanceTableModel;

InstancesPanel::InstancesPanel(context::OpenModel& opened, context::Navigation& navigation, context::Runs& runs,
                               context::Inputs& inputs, QWidget* parent)
    : Panel(parent), m_opened(opened), m_navigation(navigation), m_model(opened, navigation, runs, inputs),
      m_stack(new QStackedWidget(this)), m_view(makeTableView(tr("The same value in every block"), m_stack)),
      m_title(new QLabel), m_compute(new QPushButton(tr("Compute Values"))) {
    m_proxy.setSourceModel(&m_model);
    m_view->setModel(&m_proxy);
    m_view->setObjectName(QStringLiteral("instanceTable"));
    m_view->sortByColumn(InstanceTableModel::Instance, Qt::AscendingOrder);
    static constexpr int kWidths[] = {220, 200, 140, 90, 90, 90, 90, 80};
    setColumnWidths(m_view, kWidths);
    m_compute->setObjectName(QStringLiteral("computeValues"));
    auto* page = new QWidget;
    auto* top = new QHBoxLayout;
    top->setContentsMargins(theme::kSmall, theme::kTight, theme::kSmall, theme::kTight);
    top->addWidget(m_title, 1);
    top->addWidget(m_compute);
    auto* inner = new QVBoxLayout(page);
    inner->setContentsMargins(0, 0, 0, 0);
    inner->setSpacing(0);
    inner->addLayout(top);
    inner->addWidget(m_view);
    m_stack->addWidget(
        new widgets::EmptyState(QStringLiteral("list"), tr("No repeated blocks"),
                                tr("Select a node inside a repeated block to compare its value in all of them.")));
    m_stack->addWidget(page);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(m_stack);
    connect(m_compute, &QPushButton::clicked, this, [this] { m_model.requestValues(); });
    connect(&m_model, &QAbstractItemModel::modelReset, this, &InstancesPanel::follow);
    connect(&m_model, &QAbstractItemModel::dataChanged, this, &InstancesPanel::follow);
    connect(&navigation, &context::Navigation::selectionChanged, this, &InstancesPanel::follow);
    const auto go = [this](const QModelIndex& index) {
        graph::NodeId node;
        node.value = index.data(models::NodeRole).toUInt();
        if (m_opened.isOpen()) m_navigation.navigateTo(node);
    };
    connect(m_view, &QTableView::clicked, this, go);
    connect(m_view, &QTableView::activated, this, go);
    setFocusProxy(m_view);
    follow();
}

void InstancesPanel::follow() {
    setHasContent(m_model.rowCount() > 0);
    m_stack->setCurrentIndex(hasContent() ? 1 : 0);
    m_compute->setVisible(m_model.lacksValues());
    if (m_model.rowCount() == 0) return;
    const graph::NodeId selected = m_navigation.selection().node;
    m_title->setText(tr("%1 in %2 repeated blocks")
                         .arg(selected.valid() ? models::operatorText(
                                                     m_opened.graph().expr(m_opened.graph().node(selected).producer))
                                               : QString())
                         .arg(context::countText(m_model.rowCount())));
    const int row = m_model.rowOf(selected);
    if (row >= 0) m_view->selectRow(m_proxy.mapFromSource(m_model.index(row, 0)).row());
}

PanelInfo instancesPanel() {
    return {QStringLiteral("instances"),
            QObject::tr("Repeated Blocks"),
            QStringLiteral("compare"),
            PanelArea::Bottom,
            QStringLiteral("Alt+Shift+7"),
            [](InspectorContext& context) -> Panel* {
                return new InstancesPanel(context.model(), context.navigation(), context.runs(), context.inputs());
            },
            PanelComing::OnDemand};
}

}  // namespace sonde::panels
