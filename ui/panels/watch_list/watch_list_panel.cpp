#include "ui/panels/watch_list/watch_list_panel.h"

#include <QAction>
#include <QActionGroup>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QInputDialog>
#include <QLabel>
#include <QMenu>
#include <QScopedValueRollback>
#include <QSplitter>
#include <QStackedWidget>
#include <QTabWidget>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/actions/action_registry.h"
#include "ui/context/count_text.h"
#include "ui/context/inspector_context.h"
#include "ui/context/selection.h"
#include "ui/models/module_result.h"
#include "ui/panels/table_view.h"
#include "ui/panels/watch_list/history_delegate.h"
#include "ui/panels/watch_list/watch_history.h"
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
                               context::Runs& runs, context::Inputs& inputs, WatchListModel::Kind kind,
                               context::Watches* watched, QWidget* parent)
    : QWidget(parent), m_opened(opened), m_navigation(navigation), m_points(points), m_watches(watched), m_kind(kind),
      m_model(opened, points, runs, inputs, kind, watched), m_stack(new QStackedWidget(this)),
      m_view(makeTableView(kind == WatchListModel::Kind::Watches ? tr("Watch points") : tr("End points"), m_stack)) {
    const bool watches = kind == WatchListModel::Kind::Watches;
    m_proxy.setSourceModel(&m_model);
    m_view->setModel(&m_proxy);
    m_view->setObjectName(watches ? QStringLiteral("watchTable") : QStringLiteral("endTable"));
    m_view->setSelectionMode(QAbstractItemView::ExtendedSelection);
    m_view->horizontalHeader()->setStretchLastSection(true);
    static constexpr int kWidths[] = {150, 130, 84, 104, 62, 76, 76, 76, 76, 44, 44, 52, 200, 90, 120, 150};
    setColumnWidths(m_view, kWidths);  // with the sort indicator

    addActions();

    m_stack->addWidget(
        watches ? new widgets::EmptyState(
                      QStringLiteral("watch"), tr("No watch points"),
                      tr("Select a node and press F9: its value is kept at each run. Ctrl+F2 adds an expression."))
                : new widgets::EmptyState(QStringLiteral("end"), tr("No end points"),
                                          tr("Select a node and press Shift+F9: the run stops once it is computed.")));
    if (m_watches) {
        m_view->setItemDelegate(new HistoryDelegate(m_view));
        // What a person looks at most is in front of the statistics.
        m_view->horizontalHeader()->moveSection(WatchListModel::ValueColumn, 1);
        m_view->horizontalHeader()->moveSection(WatchListModel::HistoryColumn, 2);
        m_view->horizontalHeader()->moveSection(WatchListModel::KeptColumn, 3);
        m_view->horizontalHeader()->moveSection(WatchListModel::ChangeColumn, 2);
        m_splitter = new QSplitter(m_stack);
        m_history = new WatchHistory(m_model, m_splitter);
        m_splitter->addWidget(m_view);
        m_splitter->addWidget(m_history);
        m_splitter->setStretchFactor(0, 3);
        m_splitter->setStretchFactor(1, 1);
        m_history->hide();
        m_stack->addWidget(m_splitter);
    } else {
        for (const int column : {WatchListModel::HistoryColumn, WatchListModel::KeptColumn})
            m_view->setColumnHidden(column, true);
        m_stack->addWidget(m_view);
    }
    // Of a run with edits alone.
    m_view->setColumnHidden(WatchListModel::ChangeColumn, true);
    connect(&m_model, &QAbstractItemModel::dataChanged, this,
            [this] { m_view->setColumnHidden(WatchListModel::ChangeColumn, !m_model.hasChanges()); });
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
                if (m_history) m_history->setRow(current.isValid() ? sourceRow(current) : -1);
                if (!m_following && nodeAt(current).valid()) m_navigation.navigateTo(nodeAt(current));
            });
    connect(m_view, &QTableView::clicked, this, [this](const QModelIndex& index) {
        if (nodeAt(index).valid() && nodeAt(index) != m_navigation.selection().node)
            m_navigation.navigateTo(nodeAt(index));
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

void NodeValueTable::addActions() {
    const auto add = [this](const QString& text, const QKeySequence& key, void (NodeValueTable::*act)()) {
        auto* action = new QAction(text, m_view);
        action->setShortcut(key);
        action->setShortcutContext(Qt::WidgetShortcut);
        connect(action, &QAction::triggered, this, act);
        m_view->addAction(action);
    };
    const bool watches = m_kind == WatchListModel::Kind::Watches;
    add(watches ? tr("&Remove Watch Point") : tr("&Remove End Point"), QKeySequence::Delete,
        &NodeValueTable::removeSelected);
    if (m_watches) m_view->setEditTriggers(QAbstractItemView::DoubleClicked);
    m_view->setContextMenuPolicy(Qt::ActionsContextMenu);
}

void NodeValueTable::removeSelected() {
    std::vector<WatchListModel::Row> rows;
    for (const QModelIndex& index : m_view->selectionModel()->selectedRows())
        rows.push_back(m_model.row(sourceRow(index)));
    using Kind = WatchListModel::Row::Kind;
    for (const WatchListModel::Row& row : rows) {
        if (row.kind == Kind::Missing) m_points.forgetMissing(row.name);
        if (row.kind == Kind::Expression) m_watches->removeExpression(row.expression);
        if (row.kind == Kind::Group) m_watches->removeGroup(row.group);
        if (row.kind != Kind::Node) continue;
        if (m_kind == WatchListModel::Kind::Watches) m_points.setWatched(row.node, false);
        else m_points.setEnd(row.node, false);
    }
}

void NodeValueTable::editCurrent() {
    const QModelIndex current = m_view->currentIndex();
    if (current.isValid()) m_view->edit(current.siblingAtColumn(WatchListModel::NameColumn));
}

/// The result of the current expression on the node that is selected; off if it is there already.
void NodeValueTable::pinCurrent() {
    const QModelIndex current = m_view->currentIndex();
    if (!current.isValid()) return;
    const WatchListModel::Row row = m_model.row(sourceRow(current));
    if (row.kind != WatchListModel::Row::Kind::Expression) return;
    const NodeId node = m_navigation.selection().node;
    const context::Watches::Entry* const entry = m_watches->expression(row.expression);
    if (entry) m_watches->setPin(row.expression, entry->pin == node ? NodeId() : node);
}

/// Of the node that is selected, or of what the selected module returns, and pinned to it.
void NodeValueTable::addExpression() {
    const NodeId node = m_opened.isOpen() ? models::resultOf(m_opened, m_navigation.selection()) : NodeId();
    const auto id = m_watches->addExpression(m_watches->firstExpression(node), node);
    if (!id) return;
    const QModelIndex index =
        m_proxy.mapFromSource(m_model.index(m_model.rowOfExpression(*id), WatchListModel::NameColumn));
    const QScopedValueRollback guard(m_following, true);
    m_view->setCurrentIndex(index);
    m_view->scrollTo(index);
    m_view->setFocus();
    m_view->edit(index);
}

QWidget* NodeValueTable::history() const { return m_history; }

void NodeValueTable::setHistoryVisible(bool visible) {
    if (m_history) m_history->setVisible(visible);
}

void NodeValueTable::follow(const Selection& selection) {
    const QScopedValueRollback guard(m_following, true);
    const int row = selection.node.valid() ? m_model.rowOf(selection.node) : -1;
    if (row < 0) {
        // An expression or a module in the list is no node, and stays.
        const QModelIndex current = m_view->currentIndex();
        if (!current.isValid() || m_model.row(sourceRow(current)).kind == WatchListModel::Row::Kind::Node)
            m_view->selectionModel()->clear();
        return;
    }
    const QModelIndex index = m_proxy.mapFromSource(m_model.index(row, 0));
    if (m_view->selectionModel()->isRowSelected(index.row())) return;
    m_view->selectRow(index.row());
}

WatchListPanel::WatchListPanel(context::OpenModel& opened, context::Navigation& navigation, context::Points& points,
                               context::Runs& runs, context::Inputs& inputs, context::Watches& watches, QWidget* parent)
    : Panel(parent), m_points(points), m_context(watches), m_tabs(new QTabWidget(this)),
      m_watches(new NodeValueTable(opened, navigation, points, runs, inputs, WatchListModel::Kind::Watches, &watches)),
      m_ends(new NodeValueTable(opened, navigation, points, runs, inputs, WatchListModel::Kind::Ends)) {
    m_tabs->setDocumentMode(true);
    m_tabs->addTab(m_watches, theme::icon(QStringLiteral("watch")), QString());
    m_tabs->addTab(m_ends, theme::icon(QStringLiteral("end")), QString());
    m_tabs->setCornerWidget(makeCorner());
    const auto count = [this] {
        const int watched = m_watches->model().rowCount();
        const int ends = m_ends->model().rowCount();
        m_tabs->setTabText(0, tr("Watch points  %1").arg(context::countText(watched)));
        m_tabs->setTabText(1, tr("End points  %1").arg(context::countText(ends)));
        setHasContent(watched + ends > 0);
        m_clear->setEnabled((m_tabs->currentIndex() == 0 ? watched : ends) > 0);
        const QString budget = m_context.overBudgetText();
        m_budget->setText(budget);
        m_budget->setVisible(!budget.isEmpty());
    };
    connect(&points, &context::Points::watchChanged, this, count);
    connect(&points, &context::Points::endChanged, this, count);
    connect(&watches, &context::Watches::changed, this, count);
    connect(&runs, &context::Runs::runFinished, this, count);
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

/// Behind the tabs: what did not fit, and buttons.
QWidget* WatchListPanel::makeCorner() {
    auto* corner = new QWidget(m_tabs);
    auto* row = new QHBoxLayout(corner);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(theme::kTight);
    m_budget = new QLabel(corner);
    m_budget->setObjectName(QStringLiteral("watchBudget"));
    m_budget->setTextFormat(Qt::PlainText);
    auto* add = widgets::makeToolButton(QStringLiteral("add"), tr("Add an expression (Ctrl+F2)"), corner);
    auto* plot = widgets::makeToolButton(QStringLiteral("line"), tr("History of the current row"), corner);
    plot->setObjectName(QStringLiteral("watchPlot"));
    plot->setCheckable(true);
    m_options = widgets::makeToolButton(QStringLiteral("settings"), tr("What is kept of watched values"), corner);
    m_options->setObjectName(QStringLiteral("watchOptions"));
    m_options->setPopupMode(QToolButton::InstantPopup);
    m_options->setMenu(new QMenu(m_options));
    m_clear = widgets::makeToolButton(QStringLiteral("delete"), tr("Clear this list"), corner);
    row->addWidget(m_budget);
    for (QToolButton* button : {add, plot, m_options, m_clear}) row->addWidget(button);
    connect(add, &QToolButton::clicked, this, &WatchListPanel::addExpression);
    connect(plot, &QToolButton::toggled, this, [this](bool on) { m_watches->setHistoryVisible(on); });
    connect(m_options->menu(), &QMenu::aboutToShow, this, &WatchListPanel::fillOptions);
    connect(m_clear, &QToolButton::clicked, this,
            [this] { m_tabs->currentWidget() == m_watches ? m_context.clear() : m_points.clearEnds(); });
    return corner;
}

void WatchListPanel::fillOptions() {
    QMenu* const menu = m_options->menu();
    menu->clear();
    const auto choice = [&](QActionGroup* group, const QString& text, bool isChosen, std::function<void()> choose) {
        QAction* const action = menu->addAction(text);
        action->setCheckable(true);
        action->setChecked(isChosen);
        group->addAction(action);
        connect(action, &QAction::triggered, this, std::move(choose));
    };
    const session::WatchPolicy policy = m_context.policy();
    const auto with = [this, policy](auto change) {
        return [this, policy, change] {
            session::WatchPolicy changed = policy;
            change(changed);
            m_context.setPolicy(changed);
        };
    };
    using session::WatchKeep;
    menu->addSection(tr("Keep"));
    auto* keep = new QActionGroup(menu);
    for (const auto& [value, text] : {std::pair{WatchKeep::Full, tr("&Whole Values")},
                                      {WatchKeep::Sample, tr("&Samples of %1").arg(policy.sampleElements)},
                                      {WatchKeep::Statistics, tr("S&tatistics")}})
        choice(keep, text, policy.keep == value, with([value = value](auto& changed) { changed.keep = value; }));
    menu->addSection(tr("Memory for Watched Values"));
    auto* budget = new QActionGroup(menu);
    const std::size_t mib = policy.budgetBytes >> 20;
    bool isListed = false;
    for (const std::size_t size : {64U, 256U, 1024U, 4096U}) {
        isListed = isListed || size == mib;
        choice(budget, tr("%1 MiB").arg(size), size == mib,
               with([size](auto& changed) { changed.budgetBytes = size << 20; }));
    }
    choice(budget, isListed ? tr("&Other…") : tr("&Other… (%1 MiB)").arg(mib), !isListed, [this, policy, mib] {
        auto* dialog = new QInputDialog(this);
        dialog->setAttribute(Qt::WA_DeleteOnClose);
        dialog->setInputMode(QInputDialog::IntInput);
        dialog->setWindowTitle(tr("Watched Values"));
        dialog->setLabelText(tr("Memory in MiB:"));
        dialog->setIntRange(0, 1 << 24);
        dialog->setIntValue(static_cast<int>(mib));
        connect(dialog, &QInputDialog::intValueSelected, this, [this, policy](int chosen) {
            session::WatchPolicy changed = policy;
            changed.budgetBytes = static_cast<std::size_t>(chosen) << 20;
            m_context.setPolicy(changed);
        });
        dialog->open();
    });
    menu->addSection(tr("History"));
    auto* runs = new QActionGroup(menu);
    for (const int count : {10, 20, 50, 200})
        choice(runs, tr("%1 Runs").arg(count), m_context.history().limit() == static_cast<std::size_t>(count),
               [this, count] { m_context.setHistoryLimit(count); });
}

void WatchListPanel::addExpression() {
    m_tabs->setCurrentWidget(m_watches);
    m_watches->addExpression();
}

PanelInfo watchListPanel() {
    PanelInfo info{QStringLiteral("watches"),
                   QObject::tr("Watch List"),
                   QStringLiteral("watch"),
                   PanelArea::Bottom,
                   QStringLiteral("Alt+5"),
                   [](InspectorContext& context) -> Panel* {
                       return new WatchListPanel(context.model(), context.navigation(), context.points(),
                                                 context.runs(), context.inputs(), context.watches());
                   }};
    info.size = {0, 190};
    info.join = [](QWidget& panel, const PanelHost& host) {
        auto* const list = qobject_cast<WatchListPanel*>(&panel);
        host.actions.bind(QStringLiteral("run.watch_expression"), list, [list, show = host.show] {
            show();
            list->addExpression();
        });
        NodeValueTable* const table = list->watches();
        host.actions.bind(QStringLiteral("run.watch_edit"), table, [table] { table->editCurrent(); });
        host.actions.bind(QStringLiteral("run.watch_pin"), table, [table] { table->pinCurrent(); });
        for (const char* id : {"run.watch_edit", "run.watch_pin"})
            table->view()->addAction(host.actions.action(QLatin1String(id)));
    };
    return info;
}

}  // namespace sonde::panels
