#include "ui/panels/sweep/sweep_panel.h"

#include <QAction>
#include <QBoxLayout>
#include <QCheckBox>
#include <QFileDialog>
#include <QHeaderView>
#include <QProgressBar>
#include <QSplitter>
#include <QStackedWidget>
#include <QTableView>
#include <QToolButton>

#include <algorithm>

#include "ui/actions/action_registry.h"
#include "ui/context/inspector_context.h"
#include "ui/panels/sweep/sweep_plot.h"
#include "ui/panels/table_view.h"
#include "ui/theme/theme.h"
#include "ui/widgets/empty_state.h"
#include "ui/widgets/labels.h"
#include "ui/widgets/search_field.h"
#include "ui/widgets/tool_button.h"

namespace sonde::panels {

using context::InspectorContext;

SweepPanel::SweepPanel(InspectorContext& context, QWidget* parent)
    : Panel(parent), m_sweeps(context.sweeps()), m_model(context.sweeps()), m_stack(new QStackedWidget(this)),
      m_view(makeTableView(tr("Inputs of the sweep"), m_stack)), m_splitter(new QSplitter),
      m_plot(new SweepPlot(context.sweeps(), m_model)), m_filter(makeTableFilter(tr("Filter inputs"), m_stack)),
      m_broken(new QCheckBox(tr("Breaks condition"))), m_progress(new QProgressBar),
      m_cancel(widgets::makeToolButton(QStringLiteral("cancel"), tr("Cancel the sweep; its rows stay"), m_stack)),
      m_save(widgets::makeToolButton(QStringLiteral("save"), tr("Save the table as CSV"), m_stack)),
      m_summary(new widgets::ElidedLabel),
      m_empty(new widgets::EmptyState(
          QStringLiteral("list"), tr("No sweep"),
          tr("Use Run \u203a Sweep over Inputs to run the model on a folder of images or arrays, or on the cases of an "
             ".npz: statistics of nodes, inputs that break a condition, accuracy."),
          {}, m_stack)),
      m_top(new QBoxLayout(QBoxLayout::LeftToRight)) {
    m_proxy.setSourceModel(&m_model);
    m_view->setModel(&m_proxy);
    m_view->setObjectName(QStringLiteral("sweepTable"));
    m_view->sortByColumn(models::SweepTableModel::kInput, Qt::AscendingOrder);
    m_view->setToolTip(tr("Click an input to run the model on it; double-click a number to select its node"));
    // The end of a heading says which statistic it is.
    m_view->horizontalHeader()->setTextElideMode(Qt::ElideMiddle);
    m_broken->setObjectName(QStringLiteral("breaksCondition"));
    m_broken->setToolTip(tr("List only inputs for which the condition is false"));
    m_progress->setObjectName(QStringLiteral("sweepProgress"));
    m_progress->setTextVisible(false);
    m_progress->setMaximumWidth(theme::kLarge * 8);
    m_cancel->setObjectName(QStringLiteral("cancelSweep"));
    m_save->setObjectName(QStringLiteral("saveSweep"));
    m_summary->setElideMode(Qt::ElideRight);
    m_summary->setObjectName(QStringLiteral("sweepSummary"));

    auto* page = new QWidget;
    m_top->setContentsMargins(theme::kSmall, theme::kTight, theme::kSmall, theme::kTight);
    m_top->setSpacing(theme::kSmall);
    auto* right = new QHBoxLayout;
    right->setSpacing(theme::kSmall);
    for (QWidget* widget :
         {static_cast<QWidget*>(m_progress), static_cast<QWidget*>(m_cancel), static_cast<QWidget*>(m_broken),
          static_cast<QWidget*>(m_filter), static_cast<QWidget*>(m_save)})
        right->addWidget(widget, widget == m_filter ? 1 : 0);
    m_top->addWidget(m_summary, 1);
    m_top->addLayout(right, 1);
    m_splitter->addWidget(m_view);
    m_splitter->addWidget(m_plot);
    m_splitter->setChildrenCollapsible(false);
    m_splitter->setStretchFactor(0, 3);
    m_splitter->setStretchFactor(1, 2);
    auto* inner = new QVBoxLayout(page);
    inner->setContentsMargins(0, 0, 0, 0);
    inner->setSpacing(0);
    inner->addLayout(m_top);
    inner->addWidget(m_splitter, 1);
    m_stack->addWidget(m_empty);
    m_stack->addWidget(page);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(m_stack);

    connect(m_filter, &widgets::SearchField::textChanged, this, &SweepPanel::filter);
    connect(m_broken, &QCheckBox::toggled, this, &SweepPanel::filter);
    connect(m_cancel, &QToolButton::clicked, &m_sweeps, &context::Sweeps::cancel);
    connect(m_save, &QToolButton::clicked, this, &SweepPanel::save);
    connect(&m_sweeps, &context::Sweeps::changed, this, &SweepPanel::refresh);
    connect(&m_model, &QAbstractItemModel::modelReset, this, [this] {
        m_view->setColumnWidth(models::SweepTableModel::kInput, theme::kLarge * 10);
        for (int i = models::SweepTableModel::kInput + 1; i < m_model.columnCount(); ++i)
            m_view->setColumnWidth(
                i, std::clamp(m_view->horizontalHeader()->sectionSizeHint(i), theme::kLarge * 5, theme::kLarge * 9));
    });
    const auto choose = [this](const QModelIndex& row) {
        const int index = m_proxy.mapToSource(row).row();
        if (index >= 0) m_sweeps.use(static_cast<std::size_t>(index));
    };
    connect(m_view, &QTableView::clicked, this, choose);
    connect(m_view, &QTableView::activated, this, choose);
    connect(m_view, &QTableView::doubleClicked, this,
            [this, navigation = &context.navigation()](const QModelIndex& cell) {
                const int node = m_model.statisticOf(cell.column()).node;
                if (node >= 0) navigation->navigateTo(m_sweeps.sweep().nodes()[static_cast<std::size_t>(node)].second);
            });
    connect(m_view->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            [this](const QModelIndex& row) { m_plot->setCurrentInput(m_proxy.mapToSource(row).row()); });
    connect(m_view->horizontalHeader(), &QHeaderView::sectionClicked, m_plot, &SweepPlot::showColumn);
    setFocusProxy(m_view);
    refresh();
}

QString SweepPanel::summary() const { return m_summary->text(); }

void SweepPanel::resizeEvent(QResizeEvent* event) {
    Panel::resizeEvent(event);
    constexpr int kRoomy = 700, kRoomyForPlot = 600;
    m_top->setDirection(width() < kRoomy ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight);
    m_splitter->setOrientation(width() < kRoomyForPlot ? Qt::Vertical : Qt::Horizontal);
}

void SweepPanel::refresh() {
    const bool has = !m_sweeps.choice().inputs.isEmpty();
    setHasContent(has);
    m_stack->setCurrentIndex(has ? 1 : 0);
    m_summary->setText(m_sweeps.text());
    m_progress->setVisible(m_sweeps.isActive());
    m_cancel->setVisible(m_sweeps.isActive());
    m_progress->setRange(0, static_cast<int>(m_sweeps.inputs().size()));
    m_progress->setValue(static_cast<int>(m_sweeps.rows().size()));
    m_broken->setVisible(m_sweeps.isKnown() && m_sweeps.sweep().hasCondition());
    m_save->setEnabled(m_sweeps.isKnown() && !m_sweeps.isActive());
}

void SweepPanel::filter() {
    m_proxy.setFilter(m_filter->text() + (m_broken->isChecked() ? QStringLiteral(" condition:false") : QString()));
}

void SweepPanel::save() {
    if (!m_sweeps.isKnown()) return;
    auto* dialog = new QFileDialog(this, tr("Save Sweep"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(QStringLiteral("csv"));
    dialog->setNameFilters({tr("Comma-separated values (*.csv)")});
    connect(dialog, &QFileDialog::fileSelected, &m_sweeps, &context::Sweeps::saveTo);
    dialog->open();
}

void SweepPanel::join(const PanelHost& host) {
    host.actions.bind(QStringLiteral("run.save_sweep"), this, [this] { save(); });
}

PanelInfo sweepPanel() {
    PanelInfo info{
        QStringLiteral("sweep"),       QObject::tr("Sweep"),
        QStringLiteral("list"),        PanelArea::Bottom,
        QStringLiteral("Alt+Shift+0"), [](InspectorContext& context) -> Panel* { return new SweepPanel(context); }};
    info.coming = PanelComing::ToFront;
    info.size = {0, 240};
    info.join = [](QWidget& panel, const PanelHost& host) { static_cast<SweepPanel&>(panel).join(host); };
    return info;
}

}  // namespace sonde::panels
