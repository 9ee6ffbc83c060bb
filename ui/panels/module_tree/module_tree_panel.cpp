#include "ui/panels/module_tree/module_tree_panel.h"

#include <QHeaderView>
#include <QMenu>
#include <QScopedValueRollback>
#include <QTreeView>
#include <QVBoxLayout>

#include <algorithm>

#include "ui/actions/action_registry.h"
#include "ui/context/inspector_context.h"
#include "ui/context/selection.h"
#include "ui/models/short_text.h"
#include "ui/panels/copy_rows.h"
#include "ui/panels/row_delegate.h"
#include "ui/theme/theme.h"
#include "ui/widgets/search_field.h"

namespace sonde::panels {
namespace {

constexpr int kClassWidth = 84;

}  // namespace

using context::InspectorContext;
using context::Selection;
using models::ModuleTreeModel;

ModuleTreePanel::ModuleTreePanel(context::OpenModel& opened, context::Navigation& navigation,
                                 context::Canvases& canvases, context::Debugger& debugger,
                                 context::Breakpoints& breakpoints, QWidget* parent)
    : Panel(parent), m_navigation(navigation), m_canvases(canvases), m_breakpoints(breakpoints), m_model(opened),
      m_filter(new widgets::SearchField(this)), m_view(new QTreeView(this)) {
    m_filter->setNavigable(false);
    m_filter->setPlaceholderText(tr("Filter modules"));
    m_proxy.setSourceModel(&m_model);
    m_view->setModel(&m_proxy);
    m_view->setObjectName(QStringLiteral("moduleTree"));
    m_view->setAccessibleName(tr("Modules of the model"));
    m_view->setItemDelegate(new RowDelegate(m_view, ModuleTreeModel::NameColumn));
    m_view->setUniformRowHeights(true);
    m_view->setFrameShape(QFrame::NoFrame);
    m_view->setMinimumHeight(2 * m_view->fontMetrics().height());  // the column is shared with other panels
    m_view->setExpandsOnDoubleClick(false);
    m_view->setTextElideMode(Qt::ElideMiddle);  // what tells encoder_layer_3 from encoder_layer_4 is at the end
    m_view->header()->setStretchLastSection(false);
    m_view->header()->setSectionResizeMode(ModuleTreeModel::NameColumn, QHeaderView::Stretch);
    m_view->header()->setSectionResizeMode(ModuleTreeModel::ClassColumn, QHeaderView::Interactive);
    m_view->header()->setSectionResizeMode(ModuleTreeModel::ParametersColumn, QHeaderView::ResizeToContents);
    m_view->header()->resizeSection(ModuleTreeModel::ClassColumn, kClassWidth);
    m_view->header()->setMinimumSectionSize(40);
    m_view->setIndentation(12);
    copyRowsOnShortcut(m_view);

    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    auto* top = new QVBoxLayout;
    top->setContentsMargins(theme::kSmall, theme::kTight, theme::kSmall, theme::kTight);
    top->addWidget(m_filter);
    column->addLayout(top);
    column->addWidget(m_view);

    connect(m_filter, &widgets::SearchField::textChanged, this, [this](const QString& text) {
        m_proxy.setFilter(text);
        text.isEmpty() ? m_view->expandToDepth(0) : m_view->expandAll();
        fitColumns();
        follow(m_navigation.selection());
    });
    connect(m_filter, &widgets::SearchField::left, m_view, [this] { m_view->setFocus(); });
    connect(m_view->selectionModel(), &QItemSelectionModel::currentChanged, this, &ModuleTreePanel::choose);
    connect(m_view, &QTreeView::clicked, this, &ModuleTreePanel::choose);
    connect(m_view, &QTreeView::activated, this, &ModuleTreePanel::toggleInCanvas);
    for (const auto signal : {&QTreeView::expanded, &QTreeView::collapsed})
        connect(m_view, signal, this, &ModuleTreePanel::fitColumns);
    connect(&navigation, &context::Navigation::selectionChanged, this, &ModuleTreePanel::follow);
    connect(&opened, &context::OpenModel::documentOpened, this, [this] {
        m_view->expandToDepth(0);
        fitColumns();
    });
    connect(&debugger, &context::Debugger::changed, this, [this, &opened, &debugger] {
        const graph::NodeId current = debugger.current();
        m_model.setCurrent(current.valid() && opened.isOpen() ? m_navigation.selectionOf(current).qualname : QString());
    });
    connect(&breakpoints, &context::Breakpoints::changed, this, &ModuleTreePanel::followPoints);
    connect(&opened, &context::OpenModel::documentOpened, this, &ModuleTreePanel::followPoints);
    followPoints();
    m_view->expandToDepth(0);
    // The model alone is no module.
    const auto fill = [this] { setHasContent(m_model.rowCount(m_model.index(0, 0)) > 0); };
    connect(&m_model, &QAbstractItemModel::modelReset, this, fill);
    fill();
    setFocusProxy(m_view);
}

void ModuleTreePanel::follow(const Selection& selection) {
    const QScopedValueRollback guard(m_following, true);
    if (selection.isNone() || selection.qualname.isNull()) {
        m_view->selectionModel()->clearSelection();
        return;
    }
    const QModelIndex index = m_proxy.mapFromSource(m_model.indexOf(selection.qualname));
    if (!index.isValid()) return;
    m_view->setCurrentIndex(index);
    m_view->scrollTo(index);
}

/// Breakpoints on operations are at the module that these are in.
void ModuleTreePanel::followPoints() {
    using Point = context::Breakpoints::Point;
    QHash<QString, ModuleTreeModel::Points> points;
    for (const Point& point : m_breakpoints.all()) {
        const graph::NodeId node = m_breakpoints.nodeOf(point);
        if (!node.valid() || point.kind == Point::Kind::Operator) continue;
        const bool isModule = point.kind == Point::Kind::Module;
        const QString module = isModule ? QString::fromStdString(point.name) : m_navigation.selectionOf(node).qualname;
        ModuleTreeModel::Points& at = points[module.isNull() ? QStringLiteral("") : module];
        const bool isOff = at.icon.isEmpty() || at.icon.endsWith(QLatin1String("-off"));
        if (isOff) at.icon = context::Breakpoints::iconOf(point);
        const QString tip = context::Breakpoints::tipOf(point);
        const bool isNode = point.kind == Point::Kind::Node;
        at.texts << models::oneLine(isNode ? tr("%1, at %2").arg(tip, context::Breakpoints::titleOf(point)) : tip);
    }
    m_model.setPoints(std::move(points));
}

void ModuleTreePanel::choose(const QModelIndex& index) {
    if (m_following || !index.isValid()) return;
    const Selection selection = m_navigation.selectionOf(index.data(models::QualnameRole).toString());
    if (selection == m_navigation.selection()) return;
    m_navigation.navigateTo(selection);
}

void ModuleTreePanel::resizeEvent(QResizeEvent* event) {
    Panel::resizeEvent(event);
    fitColumns();
}

/// In a narrow panel the names need the room, those deep in the tree most; the rest is in the tool tip and in the
/// details.
void ModuleTreePanel::fitColumns() {
    constexpr int kCharacters = 18, kFewCharacters = 14;
    const int character = fontMetrics().averageCharWidth();
    const int numbers = fontMetrics().horizontalAdvance(QStringLiteral("000.0 k")) + 2 * theme::kSmall;
    m_view->setColumnHidden(ModuleTreeModel::ClassColumn, width() - kClassWidth - numbers < kCharacters * character);
    const QAbstractItemView& view = *m_view;  // whose hint is for everybody
    const int names = std::max(kFewCharacters * character, view.sizeHintForColumn(ModuleTreeModel::NameColumn));
    m_view->setColumnHidden(ModuleTreeModel::ParametersColumn, width() - numbers < names);
}

void ModuleTreePanel::toggleInCanvas(const QModelIndex& index) {
    const Selection selection = m_navigation.selectionOf(index.data(models::QualnameRole).toString());
    if (selection.kind != Selection::Kind::Scope) return;
    m_canvases.active().setExpanded(selection.scope, !m_canvases.active().isExpanded(selection.scope));
    m_navigation.reveal(selection);
}

void ModuleTreePanel::join(const PanelHost& host) {
    connect(&m_navigation, &context::Navigation::treeRequested, this, host.show);
    m_view->setContextMenuPolicy(Qt::CustomContextMenu);
    connect(m_view, &QWidget::customContextMenuRequested, this,
            [this, &actions = host.actions](const QPoint& at) { showMenu(at, actions); });
}

/// What can be done with the module under the mouse, which is selected with that; by the menu key, with the selected
/// one.
void ModuleTreePanel::showMenu(const QPoint& at, actions::ActionRegistry& actions) {
    const QModelIndex under = m_view->indexAt(at);
    if (under.isValid()) m_view->setCurrentIndex(under);
    if (!m_view->currentIndex().isValid()) return;
    auto* menu = new QMenu(m_view);
    menu->setObjectName(QStringLiteral("moduleMenu"));
    menu->setAttribute(Qt::WA_DeleteOnClose);
    static const QStringList ids{"run.watch", "run.end",         "break.toggle",      "run.to_here",   "run.module",
                                 "",          "view.expand_all", "view.collapse_all", "focus.isolate", "focus.hide",
                                 "",          "go.bookmark",     "edit.copy_name"};
    for (const QString& id : ids)
        id.isEmpty() ? static_cast<void>(menu->addSeparator()) : menu->addAction(actions.action(id));
    const QRect current = m_view->visualRect(m_view->currentIndex());
    menu->popup(m_view->viewport()->mapToGlobal(under.isValid() ? at : current.center()));
}

PanelInfo moduleTreePanel() {
    PanelInfo info{QStringLiteral("modules"),
                   QObject::tr("Modules"),
                   QStringLiteral("tree"),
                   PanelArea::Left,
                   QStringLiteral("Alt+1"),
                   [](InspectorContext& context) -> Panel* {
                       return new ModuleTreePanel(context.model(), context.navigation(), context.canvases(),
                                                  context.debugger(), context.breakpoints());
                   }};
    info.size = {300, 300};
    info.join = [](QWidget& panel, const PanelHost& host) { static_cast<ModuleTreePanel&>(panel).join(host); };
    return info;
}

}  // namespace sonde::panels
