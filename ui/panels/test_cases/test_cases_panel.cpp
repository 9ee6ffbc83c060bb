#include "ui/panels/test_cases/test_cases_panel.h"

#include <QEvent>
#include <QHeaderView>
#include <QScopedValueRollback>
#include <QStackedWidget>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

#include "ui/context/inspector_context.h"
#include "ui/panels/table_view.h"
#include "ui/theme/theme.h"
#include "ui/widgets/empty_state.h"
#include "ui/widgets/labels.h"

namespace sonde::panels {

using context::InspectorContext;
using context::TestCases;
using models::TestCaseTableModel;

namespace {

constexpr int kNameWidth = 125, kMinNameWidth = 40, kResultWidth = 80;

}  // namespace

TestCasesPanel::TestCasesPanel(context::OpenModel& opened, context::Navigation& navigation, context::TestCases& cases,
                               context::Comparison& comparison, QWidget* parent)
    : Panel(parent), m_opened(opened), m_navigation(navigation), m_cases(cases), m_comparison(comparison),
      m_model(opened, cases), m_stack(new QStackedWidget(this)), m_view(makeTableView(tr("Test cases"), m_stack)),
      m_summary(new widgets::ElidedLabel) {
    m_proxy.setSourceModel(&m_model);
    m_view->setModel(&m_proxy);
    m_view->setObjectName(QStringLiteral("testCaseTable"));
    m_view->sortByColumn(TestCaseTableModel::Case, Qt::AscendingOrder);
    static constexpr int kWidths[] = {50, kNameWidth, kNameWidth, 110, 80, kResultWidth};
    setColumnWidths(m_view, kWidths);
    m_view->horizontalHeader()->setStretchLastSection(true);
    m_view->viewport()->installEventFilter(this);
    m_summary->setElideMode(Qt::ElideRight);

    auto* page = new QWidget;
    auto* inner = new QVBoxLayout(page);
    inner->setContentsMargins(0, 0, 0, 0);
    inner->setSpacing(0);
    auto* top = new QHBoxLayout;
    top->setContentsMargins(theme::kSmall, theme::kTight, theme::kSmall, theme::kTight);
    top->addWidget(m_summary);
    inner->addLayout(top);
    inner->addWidget(m_view);
    m_stack->addWidget(new widgets::EmptyState(
        QStringLiteral("check"), tr("No test cases"),
        tr("Run \u203a Run Test Cases runs those in the file of a dump and checks every output. A dump has them if it was "
           "exported with inputs: File \u203a Export Model, Test cases."),
        {}, m_stack));
    m_stack->addWidget(page);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(m_stack);

    connect(&cases, &TestCases::changed, this, &TestCasesPanel::refresh);
    connect(&opened, &context::OpenModel::documentOpened, this, &TestCasesPanel::refresh);
    connect(&opened, &context::OpenModel::documentClosed, this, &TestCasesPanel::refresh);
    connect(m_view->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &TestCasesPanel::choose);
    connect(m_view, &QTableView::clicked, this, &TestCasesPanel::choose);
    connect(m_view, &QTableView::activated, this, &TestCasesPanel::choose);
    setFocusProxy(m_view);
    refresh();
}

QString TestCasesPanel::summary() const { return m_summary->text(); }

void TestCasesPanel::refresh() {
    const bool known = m_opened.isOpen() && !m_cases.results().empty();
    setHasContent(known);
    m_stack->setCurrentIndex(known ? 1 : 0);
    m_summary->setText(m_cases.isActive() ? tr("Running the test cases \u2026") : m_cases.summary());
    if (known) follow();
}

/// The case whose inputs the window has is selected; keys begin there.
void TestCasesPanel::follow() {
    const auto shown = m_cases.shown();
    const QModelIndex current = m_proxy.mapToSource(m_view->currentIndex());
    if (!shown || (current.isValid() && m_model.caseOf(current.row()) == *shown)) return;
    const int row = m_model.rowOf(*shown);
    if (row < 0) return;
    const QScopedValueRollback guard(m_following, true);
    m_view->selectRow(m_proxy.mapFromSource(m_model.index(row, 0)).row());
}

/// In a narrow panel the names are shortened: what came of a case is always seen.
void TestCasesPanel::fitColumns() {
    int left = m_view->viewport()->width() - kResultWidth;
    for (const int column : {TestCaseTableModel::Case, TestCaseTableModel::Error, TestCaseTableModel::Allowed})
        left -= m_view->columnWidth(column);
    // Of two names that are no names any more the output's is left.
    const bool isTight = left < 2 * kMinNameWidth;
    m_view->setColumnHidden(TestCaseTableModel::Node, isTight);
    const int width = std::clamp(isTight ? left : left / 2, kMinNameWidth, kNameWidth);
    if (std::exchange(m_nameWidth, width) == width) return;
    for (const int column : {TestCaseTableModel::Output, TestCaseTableModel::Node})
        m_view->setColumnWidth(column, width);
}

bool TestCasesPanel::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::Resize) fitColumns();
    return Panel::eventFilter(watched, event);
}

void TestCasesPanel::choose(const QModelIndex& index) {
    if (m_following || !index.isValid() || !m_opened.isOpen()) return;
    const std::size_t chosen = m_model.caseOf(m_proxy.mapToSource(index).row());
    if (const QVariant node = index.data(models::NodeRole); node.isValid()) {
        graph::NodeId output;
        output.value = node.toUInt();
        m_navigation.navigateTo(output);
    }
    if (m_cases.shown() == chosen) return;
    m_rises = true;
    m_cases.show(chosen);
}

/// The list comes with results. What they are compared with comes later, and would cover it.
void TestCasesPanel::join(const PanelHost& host) {
    connect(&m_cases, &TestCases::changed, this,
            [this] { m_rises = m_cases.isActive() || (m_rises && !m_cases.results().empty()); });
    connect(&m_comparison, &context::Comparison::changed, this, [this, raise = host.raise] {
        if (!m_rises || !m_comparison.isKnown() || m_comparison.isActive()) return;
        m_rises = false;
        raise();
    });
}

PanelInfo testCasesPanel() {
    PanelInfo info{QStringLiteral("test_cases"),
                   QObject::tr("Test Cases"),
                   QStringLiteral("check"),
                   PanelArea::Bottom,
                   QStringLiteral("Alt+Shift+9"),
                   [](InspectorContext& context) -> Panel* {
                       return new TestCasesPanel(context.model(), context.navigation(), context.testCases(),
                                                 context.comparison());
                   }};
    info.coming = PanelComing::ToFront;
    info.join = [](QWidget& panel, const PanelHost& host) { static_cast<TestCasesPanel&>(panel).join(host); };
    return info;
}

}  // namespace sonde::panels
