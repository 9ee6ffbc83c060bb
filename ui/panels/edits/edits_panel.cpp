#include "ui/panels/edits/edits_panel.h"

#include <QAction>
#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QStackedWidget>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

#include "ui/actions/action_registry.h"
#include "ui/context/inspector_context.h"
#include "ui/context/lessons.h"
#include "ui/panels/edits/edit_form.h"
#include "ui/panels/row_delegate.h"
#include "ui/panels/table_view.h"
#include "ui/theme/theme.h"
#include "ui/widgets/empty_state.h"
#include "ui/widgets/flow_layout.h"
#include "ui/widgets/labels.h"

namespace sonde::panels {

using context::InspectorContext;

namespace {

/// What the tools of the panel do, in their order; all are in the menus, too.
constexpr const char* kTools[] = {"edit.undo_value", "edit.redo_value", "run.with_edits", "run.baseline",
                                  "file.save_edited"};

constexpr int kEditColumns[] = {230, 260, 80};         // pixels
constexpr int kEditColumnsOfNarrow[] = {140, 90, 60};  // without a scroll bar

}  // namespace

EditsPanel::EditsPanel(context::OpenModel& opened, context::Navigation& navigation, context::Edits& edits,
                       context::Debugger& debugger, const context::Lessons& lessons, QWidget* parent)
    : Panel(parent), m_opened(opened), m_navigation(navigation), m_edits(edits), m_debugger(debugger),
      m_lessons(lessons), m_model(edits), m_form(new EditForm(edits, this)), m_stack(new QStackedWidget(this)),
      m_view(makeTableView(tr("Edits"), m_stack)), m_tools(new QWidget(this)),
      m_state(new widgets::ElidedLabel({}, m_tools)) {
    m_view->setModel(&m_model);
    m_view->setSortingEnabled(false);
    m_view->setItemDelegate(new RowDelegate(m_view));
    m_view->setObjectName(QStringLiteral("editTable"));
    m_view->setSelectionMode(QAbstractItemView::ExtendedSelection);
    m_view->setTextElideMode(Qt::ElideMiddle);  // the slice is at the end
    constexpr int kMinRows = 2;
    m_view->setMinimumHeight(m_view->horizontalHeader()->sizeHint().height() +
                             kMinRows * m_view->verticalHeader()->defaultSectionSize() + 2 * m_view->frameWidth());
    setColumnWidths(m_view, kEditColumns);
    m_view->horizontalHeader()->setStretchLastSection(true);
    const auto action = [this](const QString& text, const QKeySequence& key, void (EditsPanel::*act)()) {
        auto* made = new QAction(text, m_view);
        made->setShortcut(key);
        made->setShortcutContext(Qt::WidgetShortcut);
        connect(made, &QAction::triggered, this, act);
        m_view->addAction(made);
    };
    action(tr("&Switch On or Off"), Qt::Key_Space, &EditsPanel::switchSelected);
    action(tr("&Remove"), QKeySequence::Delete, &EditsPanel::removeSelected);
    m_view->setContextMenuPolicy(Qt::ActionsContextMenu);
    m_stack->addWidget(new widgets::EmptyState(
        QStringLiteral("edit"), tr("No edits"),
        tr("Type above what to change. Only what depends on it runs again; undo shows the former values.")));
    m_stack->addWidget(m_view);
    buildTools();
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_form);
    column->addWidget(m_stack, 1);
    column->addWidget(m_tools);
    connect(&edits, &context::Edits::changed, this, &EditsPanel::refresh);
    connect(&debugger, &context::Debugger::changed, this, &EditsPanel::refresh);
    connect(&lessons, &context::Lessons::answered, this, &EditsPanel::refresh);
    for (const auto signal : {&context::OpenModel::documentOpened, &context::OpenModel::documentClosed})
        connect(&opened, signal, this, &EditsPanel::refresh);
    connect(m_view->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &EditsPanel::goTo);
    connect(m_view, &QTableView::clicked, this, &EditsPanel::goTo);
    refresh();
}

void EditsPanel::buildTools() {
    auto* row = new widgets::FlowLayout(m_tools, theme::kSmall, theme::kTight);
    row->setContentsMargins(theme::kSmall, theme::kTight, theme::kSmall, theme::kTight);
    m_state->setObjectName(QStringLiteral("editState"));
    m_state->setElideMode(Qt::ElideRight);
    for (const char* id : kTools) {
        auto* button = new QToolButton(m_tools);
        button->setObjectName(QLatin1String(id));
        button->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
        button->setAutoRaise(true);
        row->addWidget(button);
    }
    row->addWidget(m_state);
}

void EditsPanel::resizeEvent(QResizeEvent* event) {
    Panel::resizeEvent(event);
    arrange();
}

/// The tools take one line of a low panel, as icons where there is no room for more; their state what is left of it.
void EditsPanel::arrange() {
    constexpr int kLow = 200, kNarrow = 600, kMinState = 80;  // pixels
    const bool isLow = height() < kLow, isNarrow = isLow && width() < kNarrow;
    const auto taken = [this](Qt::ToolButtonStyle style) {
        int sum = 2 * theme::kSmall;
        for (auto* const button : m_tools->findChildren<QToolButton*>()) {
            button->setToolButtonStyle(style);
            sum += button->sizeHint().width() + theme::kSmall;
        }
        return sum;
    };
    int used = taken(Qt::ToolButtonTextBesideIcon);
    if (isLow && used + m_state->sizeHint().width() > width()) used = taken(Qt::ToolButtonIconOnly);
    m_state->setMaximumWidth(isLow ? std::max(width() - used, kMinState) : QWIDGETSIZE_MAX);
    const int margin = isLow ? 0 : theme::kTight;
    m_tools->layout()->setContentsMargins(theme::kSmall, margin, theme::kSmall, margin);
    if (std::exchange(m_isNarrow, isNarrow) != isNarrow)
        setColumnWidths(m_view, isNarrow ? kEditColumnsOfNarrow : kEditColumns);
}

void EditsPanel::refresh() {
    const bool hasAny = m_model.rowCount() > 0;
    m_stack->setCurrentIndex(hasAny ? 1 : 0);
    m_form->setOpen(m_opened.isOpen());
    m_state->setText(stateText());
    arrange();
    setFocusProxy(hasAny ? static_cast<QWidget*>(m_view) : m_form);
    setHasContent(hasAny && m_opened.isOpen() && !m_lessons.ownsRun());  // those of a lesson are in its text
    if (std::exchange(m_rows, m_model.rowCount()) < m_model.rowCount()) m_view->scrollToBottom();  // the new one
}

QString EditsPanel::stateText() const {
    if (!m_edits.areOn()) return {};
    if (!m_edits.isCounterfactual()) return tr("What is shown is without the edits");
    switch (m_debugger.shown()) {
        case context::ShownValues::Baseline: return tr("Counterfactual run; shown are the values without the edits");
        case context::ShownValues::Difference:
            return tr("Counterfactual run; shown is the difference from the baseline");
        case context::ShownValues::Counterfactual: break;
    }
    return tr("Counterfactual run: what is shown has the edits");
}

void EditsPanel::goTo(const QModelIndex& index) {
    const QVariant number = index.data(models::NodeRole);
    if (!number.isValid() || !m_opened.isOpen()) return;
    graph::NodeId node;
    node.value = number.toUInt();
    m_navigation.navigateTo(node);
}

/// From the last one on: rows before keep their positions.
void EditsPanel::removeSelected() {
    QModelIndexList rows = m_view->selectionModel()->selectedRows();
    std::ranges::sort(rows, [](const QModelIndex& a, const QModelIndex& b) { return a.row() > b.row(); });
    for (const QModelIndex& row : rows) m_edits.remove(row.row());
}

void EditsPanel::switchSelected() {
    for (const QModelIndex& row : m_view->selectionModel()->selectedRows())
        m_edits.setEnabled(row.row(), !m_edits.all()[static_cast<std::size_t>(row.row())].edit.isEnabled);
}

void EditsPanel::saveModel() {
    if (!m_opened.isOpen()) return;
    const QFileInfo model(QString::fromStdString(m_opened.document()->location));
    const QString name = model.completeBaseName().section(u':', -1) + QStringLiteral("_edited.onnx");
    const QString folder = model.isFile() ? model.absolutePath() : QString();
    auto* dialog = new QFileDialog(this, tr("Save Edited Model"), folder, tr("ONNX models (*.onnx)"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(QStringLiteral("onnx"));
    dialog->selectFile(name);
    connect(dialog, &QFileDialog::fileSelected, &m_edits, &context::Edits::saveModel);
    dialog->open();
}

void EditsPanel::join(const PanelHost& host) {
    actions::ActionRegistry& actions = host.actions;
    using context::ShownValues;
    static constexpr std::pair<const char*, ShownValues> kShown[] = {
        {"values.show_value", ShownValues::Counterfactual},
        {"values.show_baseline", ShownValues::Baseline},
        {"values.show_difference", ShownValues::Difference}};
    for (const auto& [id, shown] : kShown)
        actions.bind(QLatin1String(id), this, [this, shown = shown] { m_debugger.setShown(shown); });
    actions.bind(QStringLiteral("edit.undo_value"), this, [this] { m_edits.undo(); });
    actions.bind(QStringLiteral("edit.redo_value"), this, [this] { m_edits.redo(); });
    actions.bind(QStringLiteral("edit.clear_values"), this, [this] {
        for (int row = m_model.rowCount(); row-- > 0;) m_edits.remove(row);
    });
    actions.bind(QStringLiteral("run.with_edits"), this, [this] { m_edits.run(); });
    actions.bind(QStringLiteral("run.baseline"), this, [this] { m_edits.runBaseline(); });
    actions.bind(QStringLiteral("file.save_edited"), this, [this] { saveModel(); });
    for (const char* id : kTools)
        if (auto* button = m_tools->findChild<QToolButton*>(QLatin1String(id)))
            button->setDefaultAction(actions.action(QLatin1String(id)));
    arrange();
    connect(&m_edits, &context::Edits::accepted, this, [this](const QObject* asker) {
        // A lesson may ask where its edit is: the list would tell.
        m_isFirst = m_model.rowCount() == 1 && !qobject_cast<const context::Lessons*>(asker);
        raiseFirst();
    });
    connect(&m_debugger, &context::Debugger::changed, this, &EditsPanel::raiseFirst);
    m_raise = host.raise;
    connect(&m_edits, &context::Edits::begun, this, [this, show = host.show](graph::NodeId node, const QString& slice) {
        if (!m_opened.isOpen() || !node.valid()) return;
        show();
        m_form->begin(QString::fromStdString(m_opened.graph().node(node).name), slice);
    });
}

/// The first edit shows the list once its run stands still: the timeline of that has come to the front by then.
void EditsPanel::raiseFirst() {
    if (!m_isFirst || m_debugger.isRunning()) return;
    m_isFirst = false;
    if (m_raise) m_raise();
}

PanelInfo editsPanel() {
    PanelInfo info{QStringLiteral("edits"),
                   QObject::tr("Edits"),
                   QStringLiteral("edit"),
                   PanelArea::Bottom,
                   QStringLiteral("Alt+Shift+5"),
                   [](InspectorContext& context) -> Panel* {
                       return new EditsPanel(context.model(), context.navigation(), context.edits(), context.debugger(),
                                             context::lessonsOf(context));
                   }};
    info.size = {0, 190};
    info.join = [](QWidget& panel, const PanelHost& host) { static_cast<EditsPanel&>(panel).join(host); };
    return info;
}

}  // namespace sonde::panels
