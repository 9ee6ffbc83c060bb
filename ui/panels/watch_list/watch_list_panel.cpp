#include "ui/panels/watch_list/watch_list_panel.h"

#include <QAction>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QScopedValueRollback>
#include <QStackedWidget>
#include <QTabWidget>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/context/count_text.h"
#include "ui/context/inspector_context.h"
#include "ui/context/selection.h"
#include "ui/panels/table_view.h"
#include "ui/theme/icon.h"
#include "ui/theme/theme.h"
#include "ui/widgets/empty_state.h"
#include "ui/widgets/tool_button.h"

namespace sonde::panels {

using context::InspectorContext;
using context::Selection;
using graph::NodeId;
using models::WatchListModel;

namespace {

constexpr int kMaxNumberWidth = 240;  ///< of a column that grows by itself, in pixels

NodeId nodeAt(const QModelIndex& index) {
    NodeId node;
    const QVariant number = index.data(models::NodeRole);
    if (number.isValid()) node.value = number.toUInt();
    return node;
}

}  // namespace

NodeValueTable::NodeValueTable(context::OpenModel& opened, context::Navigation& navigation, context::Points& points,
                               context::Runs& runs, context::Inputs& inputs, WatchListModel::Kind kind, QWidget* parent)
    : QWidget(parent), m_navigation(navigation), m_points(points), m_kind(kind),
      m_model(opened, points, runs, inputs, kind), m_stack(new QStackedWidget(this)),
      m_view(makeTableView(kind == WatchListModel::Kind::Watches ? tr("Watch points") : tr("End points"), m_stack)) {
    const bool watches = kind == WatchListModel::Kind::Watches;
    m_proxy.setSourceModel(&m_model);
    m_view->setModel(&m_proxy);
    m_view->setObjectName(watches ? QStringLiteral("watchTable") : QStringLiteral("endTable"));
    m_view->setSelectionMode(QAbstractItemView::ExtendedSelection);
    m_view->horizontalHeader()->setStretchLastSection(true);
    static constexpr int kWidths[] = {150, 130, 84, 104, 62, 76, 76, 76, 76, 44, 44, 52};
    setColumnWidths(m_view, kWidths);  // with the sort indicator

    auto* remove = new QAction(watches ? tr("&Remove Watch Point") : tr("&Remove End Point"), m_view);
    remove->setShortcut(QKeySequence::Delete);
    remove->setShortcutContext(Qt::WidgetShortcut);
    connect(remove, &QAction::triggered, this, &NodeValueTable::removeSelected);
    m_view->addAction(remove);
    m_view->setContextMenuPolicy(Qt::ActionsContextMenu);

    m_stack->addWidget(
        watches ? new widgets::EmptyState(QStringLiteral("watch"), tr("No watch points"),
                                          tr("Select a node and press F9: its value is kept at each run."))
                : new widgets::EmptyState(QStringLiteral("end"), tr("No end points"),
                                          tr("Select a node and press Shift+F9: the run stops once it is computed.")));
    m_stack->addWidget(m_view);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(m_stack);

    const auto showFilled = [this] { m_stack->setCurrentIndex(m_model.rowCount() > 0 ? 1 : 0); };
    connect(&m_model, &QAbstractItemModel::rowsInserted, this, showFilled);
    connect(&m_model, &QAbstractItemModel::rowsRemoved, this, showFilled);
    connect(&m_model, &QAbstractItemModel::modelReset, this, showFilled);
    connect(&navigation, &context::Navigation::selectionChanged, this, &NodeValueTable::follow);
    connect(m_view->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            [this](const QModelIndex& current) {
                if (!m_following && current.isValid()) m_navigation.navigateTo(nodeAt(current));
            });
    connect(m_view, &QTableView::clicked, this, [this](const QModelIndex& index) {
        if (nodeAt(index) != m_navigation.selection().node) m_navigation.navigateTo(nodeAt(index));
    });
    // Later: while another model is being opened the rows are still those of the one before.
    m_widen.setSingleShot(true);
    connect(&m_widen, &QTimer::timeout, this, &NodeValueTable::widenToNumbers);
    connect(&m_model, &QAbstractItemModel::rowsInserted, &m_widen, [this] { m_widen.start(0); });
    connect(&m_model, &QAbstractItemModel::dataChanged, &m_widen, [this] { m_widen.start(0); });
    connect(&m_model, &QAbstractItemModel::modelReset, &m_widen, [this] { m_widen.start(0); });
    showFilled();
    setFocusProxy(m_view);
}

/// Columns of shapes and numbers hold what they show; those that a person made wider stay so.
void NodeValueTable::widenToNumbers() {
    const QAbstractItemView* const view = m_view;
    for (int column = WatchListModel::ShapeColumn; column < WatchListModel::ValueColumn; ++column) {
        const int needed = std::min(view->sizeHintForColumn(column) + 1, kMaxNumberWidth);
        if (needed > m_view->columnWidth(column)) m_view->setColumnWidth(column, needed);
    }
}

void NodeValueTable::removeSelected() {
    std::vector<NodeId> nodes;
    for (const QModelIndex& index : m_view->selectionModel()->selectedRows()) nodes.push_back(nodeAt(index));
    for (const NodeId node : nodes) {
        if (m_kind == WatchListModel::Kind::Watches) m_points.setWatched(node, false);
        else m_points.setEnd(node, false);
    }
}

void NodeValueTable::follow(const Selection& selection) {
    const QScopedValueRollback guard(m_following, true);
    const int row = selection.node.valid() ? m_model.rowOf(selection.node) : -1;
    if (row < 0) {
        m_view->selectionModel()->clear();
        return;
    }
    const QModelIndex index = m_proxy.mapFromSource(m_model.index(row, 0));
    if (m_view->selectionModel()->isRowSelected(index.row())) return;
    m_view->selectRow(index.row());
}

WatchListPanel::WatchListPanel(context::OpenModel& opened, context::Navigation& navigation, context::Points& points,
                               context::Runs& runs, context::Inputs& inputs, QWidget* parent)
    : Panel(parent), m_points(points), m_tabs(new QTabWidget(this)),
      m_watches(new NodeValueTable(opened, navigation, points, runs, inputs, WatchListModel::Kind::Watches)),
      m_ends(new NodeValueTable(opened, navigation, points, runs, inputs, WatchListModel::Kind::Ends)) {
    m_tabs->setDocumentMode(true);
    m_tabs->addTab(m_watches, theme::icon(QStringLiteral("watch")), QString());
    m_tabs->addTab(m_ends, theme::icon(QStringLiteral("end")), QString());
    auto* clear = widgets::makeToolButton(QStringLiteral("delete"), tr("Clear this list"), m_tabs);
    m_tabs->setCornerWidget(clear);
    connect(clear, &QToolButton::clicked, this,
            [this] { m_tabs->currentWidget() == m_watches ? m_points.clearWatched() : m_points.clearEnds(); });
    const auto count = [this, clear] {
        const int watches = m_watches->model().rowCount();
        const int ends = m_ends->model().rowCount();
        m_tabs->setTabText(0, tr("Watch points  %1").arg(context::countText(watches)));
        m_tabs->setTabText(1, tr("End points  %1").arg(context::countText(ends)));
        setHasContent(watches + ends > 0);
        clear->setEnabled((m_tabs->currentIndex() == 0 ? watches : ends) > 0);
    };
    connect(&points, &context::Points::watchChanged, this, count);
    connect(&points, &context::Points::endChanged, this, count);
    connect(&opened, &context::OpenModel::documentOpened, this, count);
    connect(&opened, &context::OpenModel::documentClosed, this, count);
    connect(m_tabs, &QTabWidget::currentChanged, this, count);
    connect(m_tabs, &QTabWidget::currentChanged, this, [this] { setFocusProxy(m_tabs->currentWidget()); });
    setFocusProxy(m_tabs->currentWidget());
    count();
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(m_tabs);
}

PanelInfo watchListPanel() {
    PanelInfo info{QStringLiteral("watches"),
                   QObject::tr("Watch List"),
                   QStringLiteral("watch"),
                   PanelArea::Bottom,
                   QStringLiteral("Alt+5"),
                   [](InspectorContext& context) -> Panel* {
                       return new WatchListPanel(context.model(), context.navigation(), context.points(),
                                                 context.runs(), context.inputs());
                   }};
    info.size = {0, 190};
    return info;
}

}  // namespace sonde::panels
