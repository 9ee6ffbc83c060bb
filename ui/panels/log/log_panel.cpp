#include "ui/panels/log/log_panel.h"

#include <QHeaderView>
#include <QTreeView>
#include <QVBoxLayout>

#include "ui/context/inspector_context.h"
#include "ui/panels/copy_rows.h"
#include "ui/panels/row_delegate.h"

namespace sonde::panels {

using context::InspectorContext;

LogPanel::LogPanel(context::OpenModel& opened, context::Navigation& navigation, context::Messages& messages,
                   QWidget* parent)
    : Panel(parent), m_model(messages), m_view(new QTreeView(this)) {
    m_view->setModel(&m_model);
    m_view->setItemDelegate(new RowDelegate(m_view));
    m_view->setAccessibleName(tr("Messages"));
    m_view->setRootIsDecorated(false);
    m_view->setUniformRowHeights(true);
    m_view->setAlternatingRowColors(true);
    m_view->setFrameShape(QFrame::NoFrame);
    m_view->setSelectionMode(QAbstractItemView::ExtendedSelection);
    m_view->header()->resizeSection(models::MessageModel::TextColumn, 520);
    m_view->header()->resizeSection(models::MessageModel::WhereColumn, 260);
    copyRowsOnShortcut(m_view);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(m_view);
    connect(&m_model, &QAbstractItemModel::rowsInserted, m_view, &QTreeView::scrollToBottom, Qt::QueuedConnection);
    const auto fill = [this] { setHasContent(m_model.rowCount() > 0); };
    connect(&m_model, &QAbstractItemModel::rowsInserted, this, fill);
    fill();
    const auto jump = [&opened, &navigation](const QModelIndex& index) {
        const QVariant number = index.data(models::NodeRole);
        graph::NodeId node;
        if (number.isValid()) node.value = number.toUInt();
        if (node.valid() && opened.isOpen()) navigation.navigateTo(node);
    };
    connect(m_view, &QTreeView::clicked, this, jump);
    connect(m_view, &QTreeView::activated, this, jump);
    setFocusProxy(m_view);
}

PanelInfo logPanel() {
    return {QStringLiteral("log"),
            QObject::tr("Log"),
            QStringLiteral("log"),
            PanelArea::Bottom,
            QStringLiteral("Alt+7"),
            [](InspectorContext& context) -> Panel* {
                return new LogPanel(context.model(), context.navigation(), context.messages());
            },
            PanelComing::OnDemand};
}

}  // namespace sonde::panels
