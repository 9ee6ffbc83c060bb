#include "ui/panels/problems/problems_panel.h"

#include <QAction>
#include <QFileDialog>
#include <QHeaderView>
#include <QLabel>
#include <QScopedValueRollback>
#include <QScrollArea>
#include <QSplitter>
#include <QStackedWidget>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

#include "ui/actions/action_registry.h"
#include "ui/context/inspector_context.h"
#include "ui/context/lessons.h"
#include "ui/context/text.h"
#include "ui/context/window_hint.h"
#include "ui/models/node_text.h"
#include "ui/panels/table_view.h"
#include "ui/theme/theme.h"
#include "ui/widgets/empty_state.h"
#include "ui/widgets/labels.h"
#include "ui/widgets/search_field.h"
#include "ui/widgets/tool_button.h"

namespace sonde::panels {

using analysis::Problem;
using context::InspectorContext;
using context::Message;
using context::Problems;
using models::ProblemTableModel;

ProblemsPanel::ProblemsPanel(session::Session& session, context::OpenModel& opened, context::Navigation& navigation,
                             Problems& problems, context::Messages& messages, context::Debugger& debugger,
                             context::Runs& runs, context::Comparison& comparison, const context::Lessons& lessons,
                             QWidget* parent)
    : Panel(parent), m_opened(opened), m_navigation(navigation), m_problems(problems), m_messages(messages),
      m_debugger(debugger), m_runs(runs), m_comparison(comparison), m_lessons(lessons),
      m_empty(new widgets::EmptyState(QStringLiteral("warning"), tr("No problems"))),
      m_debugged(session, debugger, problems), m_model(opened, problems, m_debugged), m_stack(new QStackedWidget(this)),
      m_view(makeTableView(tr("Problems"), m_stack)), m_splitter(new QSplitter), m_details(new QLabel),
      m_count(new widgets::ElidedLabel),
      m_save(widgets::makeToolButton(QStringLiteral("save"), tr("Save the list as JSON, JUnit XML or text"), m_stack)),
      m_why(new QToolButton(m_stack)) {
    m_proxy.setSourceModel(&m_model);
    m_view->setModel(&m_proxy);
    m_view->setObjectName(QStringLiteral("problemTable"));
    m_view->setSelectionMode(QAbstractItemView::ExtendedSelection);
    static constexpr int kWidths[] = {90, 64, 130, 130, 320};
    setColumnWidths(m_view, kWidths);
    m_view->horizontalHeader()->setStretchLastSection(true);
    m_details->setObjectName(QStringLiteral("problemDetails"));
    m_details->setWordWrap(true);
    m_details->setTextFormat(Qt::PlainText);
    m_details->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_details->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    m_details->setContentsMargins(theme::kSmall, theme::kSmall, theme::kSmall, theme::kSmall);
    m_save->setObjectName(QStringLiteral("saveProblems"));

    auto* page = new QWidget;
    widgets::SearchField* filter = makeTableFilter(tr("Filter problems"), page);
    auto* scroll = new QScrollArea;
    scroll->setWidget(m_details);
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setFocusPolicy(Qt::NoFocus);
    auto* list = new QWidget;
    QHBoxLayout* top = stackTable(list, filter, m_count, m_view);
    m_why->setObjectName(QStringLiteral("whyProblem"));
    m_why->setAutoRaise(true);
    m_why->setIconSize(m_save->iconSize());
    top->addWidget(m_why);
    top->addWidget(m_save);
    m_splitter->addWidget(list);
    m_splitter->addWidget(scroll);
    m_splitter->setSizes({600, 300});  // parts of what there is
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setMinimumWidth(theme::kLarge * 10);
    m_splitter->setChildrenCollapsible(false);
    auto* inner = new QVBoxLayout(page);
    inner->setContentsMargins(0, 0, 0, 0);
    inner->addWidget(m_splitter);
    m_stack->addWidget(m_empty);
    m_stack->addWidget(page);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(m_stack);

    connect(filter, &widgets::SearchField::textChanged, this, [this](const QString& text) {
        m_proxy.setFilter(text);
        count();
    });
    connect(m_save, &QToolButton::clicked, this, &ProblemsPanel::save);
    connect(&m_model, &QAbstractItemModel::modelReset, this, &ProblemsPanel::refresh);
    connect(&m_debugged, &context::DebuggedProblems::changed, this, &ProblemsPanel::refresh);
    connect(&lessons, &context::Lessons::answered, this, &ProblemsPanel::refresh);
    connect(&runs, &context::Runs::runFinished, this, &ProblemsPanel::explainEmpty);
    connect(&comparison, &context::Comparison::changed, this, &ProblemsPanel::explainEmpty);
    connect(&navigation, &context::Navigation::selectionChanged, this, &ProblemsPanel::follow);
    connect(m_view->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& row) {
        showDetails();
        if (!m_following) choose(row);
    });
    connect(m_view, &QTableView::clicked, this, &ProblemsPanel::choose);
    connect(m_view, &QTableView::activated, this, &ProblemsPanel::choose);
    m_view->setContextMenuPolicy(Qt::ActionsContextMenu);
    setFocusProxy(m_view);
    refresh();
}

QString ProblemsPanel::details() const { return m_details->text(); }

void ProblemsPanel::resizeEvent(QResizeEvent* event) {
    Panel::resizeEvent(event);
    constexpr int kRoomy = 620;
    m_splitter->setOrientation(width() < kRoomy ? Qt::Vertical : Qt::Horizontal);
}

void ProblemsPanel::refresh() {
    const bool has = m_model.rowCount() > 0;
    explainEmpty();
    setHasContent(has && !m_lessons.hidesEdits());  // the first row would tell where the edit is
    m_stack->setCurrentIndex(has ? 1 : 0);
    count();
    follow();
    showDetails();
}

/// What there would be, or that the last run and what it was compared with gave no cause.
void ProblemsPanel::explainEmpty() {
    const QString icon = QStringLiteral("warning");
    if (m_debugger.isShown())
        return m_empty->setContent(icon, tr("No problems so far"),
                                   tr("A run is being debugged: NaN, infinity and failures are listed here, origins "
                                      "first, as it comes to them."));
    const bool isDone = m_opened.isOpen() && m_runs.state() == session::RunState::Finished && m_runs.recording();
    QString text = isDone ? tr("The last run made no NaN and no infinity, and nothing failed.")
                          : tr("Run the model (F5): failures, NaN and infinity are listed here, origins first.");
    if (isDone && m_comparison.isKnown() && !m_comparison.isStale()) text += u' ' + m_comparison.summary() + u'.';
    else
        text +=
            u' ' + tr("Run \u203a Compare \u203a Compare with File also lists where values depart from a reference.");
    m_empty->setContent(icon, tr("No problems"), text);
}

void ProblemsPanel::count() {
    const int hidden = m_model.rowCount() - m_proxy.rowCount();
    const QString which = m_debugged.areShown() ? tr("so far: ") + m_debugged.countText() : m_problems.countText();
    m_count->setText(which + (hidden > 0 ? QStringLiteral("  \u00b7  ") + tr("%1 hidden").arg(hidden) : QString()));
}

/// The row of the selected node is selected: where F8 and the canvas go, the list goes too.
void ProblemsPanel::follow() {
    const graph::NodeId node = m_opened.isOpen() ? m_navigation.selection().node : graph::NodeId();
    const Problem* const current = m_model.problem(m_proxy.mapToSource(m_view->currentIndex()).row());
    if (current && node.valid() && current->node == node) return;
    const int row = m_model.rowOf(node);
    const QScopedValueRollback guard(m_following, true);
    if (row < 0) m_view->setCurrentIndex({});
    else m_view->setCurrentIndex(m_proxy.mapFromSource(m_model.index(row, 0)));
}

void ProblemsPanel::showDetails() {
    const Problem* problem = m_model.problem(m_proxy.mapToSource(m_view->currentIndex()).row());
    if (!problem) return m_details->setText(tr("Select a row to see why it happens and what to try."));
    const std::string place = problem->node.valid() ? analysis::placeText(m_opened.graph(), problem->node) : "";
    const QString advice = problem->advice.empty() && problem->role == analysis::ProblemRole::Carrier
                               ? tr("Inherited from an input: look at the origin.")
                               : models::paragraph(problem->advice);
    m_details->setText((place.empty() ? QString() : models::shown(place) + QStringLiteral("\n\n")) +
                       models::paragraph(problem->message) + QStringLiteral("\n\n") + advice);
}

void ProblemsPanel::choose(const QModelIndex& row) {
    const QVariant node = row.isValid() ? row.data(models::NodeRole) : QVariant();
    if (!node.isValid() || !m_opened.isOpen()) return;
    graph::NodeId chosen;
    chosen.value = node.toUInt();
    m_navigation.navigateTo(chosen);
}

/// Anything but values that differ: these have a list of their own, which comes with them.
bool ProblemsPanel::isUrgent() const {
    const auto& rows = m_problems.rows();
    return std::ranges::any_of(rows, [&](const Problem& row) {
        if (row.role == analysis::ProblemRole::Carrier) return false;
        if (row.kind != analysis::ProblemKind::Divergence || !row.node.valid()) return true;
        const graph::InternalGraph& graph = m_opened.graph();
        return graph.expr(graph.node(row.node).producer).kind == graph::ExprKind::Input;
    });
}

void ProblemsPanel::join(const PanelHost& host) {
    host.actions.bind(QStringLiteral("go.save_problems"), this, [this] { save(); });
    // A row is selected before its menu comes, and so is its node.
    QAction* const why = host.actions.action(QStringLiteral("values.why"));
    m_view->addAction(why);
    m_why->setDefaultAction(why);
    const auto rise = [this, raise = host.raise] {
        if (m_debugged.areShown()) return;  // who steps looks at the timeline
        const bool isUrgentNow = m_opened.isOpen() && m_model.rowCount() > 0 && isUrgent();
        if (isUrgentNow && !std::exchange(m_wasUrgent, isUrgentNow)) raise();
        m_wasUrgent = isUrgentNow;
    };
    connect(&m_problems, &Problems::changed, this, rise, Qt::QueuedConnection);
}

void ProblemsPanel::save() {
    if (!m_opened.isOpen()) return;
    auto* dialog = new QFileDialog(this, tr("Save Problems"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setNameFilters({tr("JSON (*.json)"), tr("JUnit XML (*.xml)"), tr("Text (*.txt)")});
    dialog->setDefaultSuffix(QStringLiteral("json"));
    connect(dialog, &QFileDialog::filterSelected, dialog, [dialog](const QString& filter) {
        dialog->setDefaultSuffix(filter.contains(u"xml")   ? QStringLiteral("xml")
                                 : filter.contains(u"txt") ? QStringLiteral("txt")
                                                           : QStringLiteral("json"));
    });
    connect(dialog, &QFileDialog::fileSelected, this, &ProblemsPanel::saveTo);
    dialog->open();
}

bool ProblemsPanel::saveTo(const QString& path) {
    const base::Result<void> written = m_debugged.areShown() ? m_debugged.save(path) : m_problems.save(path);
    m_messages.reportSaving(written, {base::Severity::Info, tr("Problems saved"), path, {}, {}});
    return static_cast<bool>(written);
}

PanelInfo problemsPanel() {
    PanelInfo info{QStringLiteral("problems"),
                   QObject::tr("Problems"),
                   QStringLiteral("warning"),
                   PanelArea::Bottom,
                   QStringLiteral("Alt+0"),
                   [](InspectorContext& context) -> Panel* {
                       return new ProblemsPanel(context.session(), context.model(), context.navigation(),
                                                context.problems(), context.messages(), context.debugger(),
                                                context.runs(), context.comparison(), context::lessonsOf(context));
                   }};
    info.join = [](QWidget& panel, const PanelHost& host) { static_cast<ProblemsPanel&>(panel).join(host); };
    return info;
}

}  // namespace sonde::panels
