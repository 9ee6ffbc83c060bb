#include "ui/panels/differences/differences_panel.h"

#include <QAction>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QScopedValueRollback>
#include <QStackedWidget>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/actions/action_registry.h"
#include "ui/context/inspector_context.h"
#include "ui/panels/table_view.h"
#include "ui/theme/theme.h"
#include "ui/widgets/empty_state.h"
#include "ui/widgets/labels.h"
#include "ui/widgets/search_field.h"

namespace sonde::panels {

using context::InspectorContext;
using models::ModelDifferenceTableModel;
using session::DifferenceRow;

DifferencesPanel::DifferencesPanel(InspectorContext& context, QWidget* parent)
    : Panel(parent), m_context(context), m_second(context.second()), m_model(context.second()),
      m_stack(new QStackedWidget(this)), m_view(makeTableView(tr("Differences of the models"), m_stack)),
      m_filter(makeTableFilter(tr("Filter differences"), m_stack)), m_summary(new widgets::ElidedLabel),
      m_empty(new widgets::EmptyState(
          QStringLiteral("compare"), tr("No other model"),
          tr("Use File \u203a Compare with Model to see another model beside this one, with what was added, removed, "
             "changed and moved, and how weights, cost and values differ."),
          {}, m_stack)) {
    m_proxy.setSourceModel(&m_model);
    m_view->setModel(&m_proxy);
    m_view->setObjectName(QStringLiteral("modelDifferenceTable"));
    m_view->sortByColumn(ModelDifferenceTableModel::Order, Qt::AscendingOrder);
    static constexpr int kWidths[] = {36, 108, 200, 200, 260, 92, 92};
    setColumnWidths(m_view, kWidths);
    m_view->horizontalHeader()->setStretchLastSection(true);
    m_summary->setObjectName(QStringLiteral("differenceSummary"));
    m_summary->setElideMode(Qt::ElideRight);
    m_summary->setToolTip(
        tr("Matched: values of operations with a counterpart \u00f7 all of both models; metadata, cost "
           "and other names are no difference"));
    m_filter->setToolTip(tr("Words that a row has in any column; kind:changed, what:strides look in one column only"));

    auto* page = new QWidget;
    m_top = new QBoxLayout(QBoxLayout::LeftToRight);
    m_top->setContentsMargins(theme::kSmall, theme::kTight, theme::kSmall, theme::kTight);
    m_top->setSpacing(theme::kSmall);
    m_buttons = new QHBoxLayout;
    m_buttons->setSpacing(theme::kTight);
    m_buttons->addWidget(m_filter, 1);
    m_top->addWidget(m_summary, 2);
    m_top->addLayout(m_buttons, 1);
    auto* inner = new QVBoxLayout(page);
    inner->setContentsMargins(0, 0, 0, 0);
    inner->setSpacing(0);
    inner->addLayout(m_top);
    inner->addWidget(m_view);
    m_stack->addWidget(m_empty);
    m_stack->addWidget(page);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(m_stack);

    connect(m_filter, &widgets::SearchField::textChanged, &m_proxy, &models::TableFilter::setFilter);
    connect(&m_second, &context::SecondModel::changed, this, &DifferencesPanel::refresh);
    connect(&m_model, &QAbstractItemModel::modelReset, this, &DifferencesPanel::refresh);
    connect(m_view->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            [this](const QModelIndex& row) { choose(row); });
    connect(m_view, &QTableView::clicked, this, &DifferencesPanel::choose);
    setFocusProxy(m_view);
    refresh();
}

QString DifferencesPanel::summary() const { return m_summary->text(); }

/// What came of it is worth a line of its own where the controls would cut it off.
void DifferencesPanel::resizeEvent(QResizeEvent* event) {
    Panel::resizeEvent(event);
    constexpr int kRoomy = 800;
    m_top->setDirection(width() < kRoomy ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight);
}

void DifferencesPanel::refresh() {
    const bool has = !m_second.location().isEmpty();
    setHasContent(has);
    m_stack->setCurrentIndex(has ? 1 : 0);
    m_summary->setText(m_second.summary());
    if (has) follow();
}

/// The row of what is selected on either canvas.
void DifferencesPanel::follow() {
    if (!m_second.isOpen()) return;
    const graph::NodeId first = m_context.navigation().selection().node,
                        second = m_second.context()->navigation().selection().node;
    const DifferenceRow* const current = m_model.row(m_proxy.mapToSource(m_view->currentIndex()).row());
    if (current && ((current->a.valid() && current->a == first) || (current->b.valid() && current->b == second)))
        return;
    // All that a figure leads to is selected; the first of it may have a row of its own.
    if (current && ((!current->nodesA.empty() && current->nodesA.front() == first) ||
                    (!current->nodesB.empty() && current->nodesB.front() == second)))
        return;
    // A figure of the whole model stays chosen while nothing is selected.
    if (current && !current->a.valid() && !current->b.valid() && !first.valid() && !second.valid()) return;
    const int row = m_model.rowOf(first, second);
    const QScopedValueRollback guard(m_isFollowing, true);
    m_view->setCurrentIndex(row < 0 ? QModelIndex() : m_proxy.mapFromSource(m_model.index(row, 0)));
}

void DifferencesPanel::choose(const QModelIndex& row) {
    if (m_isFollowing || !row.isValid()) return;
    const DifferenceRow* const chosen = m_model.row(m_proxy.mapToSource(row).row());
    if (chosen) (void)m_second.goTo(*chosen);
}

/// To the next row that has a node, as the table has them; round and round.
void DifferencesPanel::step(int by) {
    const int count = m_proxy.rowCount();
    int row = m_view->currentIndex().row();
    if (row < 0 && by < 0) row = 0;
    for (int tried = 0; tried < count; ++tried) {
        row = (row + by + count) % count;
        const QModelIndex index = m_proxy.index(row, 0);
        const DifferenceRow* const next = m_model.row(m_proxy.mapToSource(index).row());
        const bool leads = next && next->kind != DifferenceRow::Kind::NotCompared &&
                           next->kind != DifferenceRow::Kind::OtherForm &&
                           (next->a.valid() || next->b.valid() || !next->nodesA.empty() || !next->nodesB.empty());
        if (!leads) continue;
        {
            const QScopedValueRollback guard(m_isFollowing, true);
            m_view->setCurrentIndex(index);
        }
        m_view->scrollTo(index);
        (void)m_second.goTo(*next);
        return;
    }
}

void DifferencesPanel::join(const PanelHost& host) {
    host.actions.bind(QStringLiteral("compare.next_model"), this, [this] { step(1); });
    host.actions.bind(QStringLiteral("compare.previous_model"), this, [this] { step(-1); });
    for (const char* id : {"compare.previous_model", "compare.next_model", "compare.pair", "compare.unpair",
                           "compare.run_both", "compare.link_cameras", "file.close_compared"}) {
        QAction* const action = host.actions.action(QLatin1String(id));
        auto* button = new QToolButton(this);
        button->setDefaultAction(action);
        button->setAutoRaise(true);
        button->setIconSize({theme::kIconSize, theme::kIconSize});
        m_buttons->addWidget(button);
    }
}

PanelInfo differencesPanel() {
    PanelInfo info{QStringLiteral("differences"),
                   QObject::tr("Differences"),
                   QStringLiteral("compare"),
                   PanelArea::Bottom,
                   QStringLiteral("Alt+Shift+K"),
                   [](InspectorContext& context) -> Panel* { return new DifferencesPanel(context); }};
    info.coming = PanelComing::ToFront;
    info.size = {0, 240};
    info.join = [](QWidget& panel, const PanelHost& host) { static_cast<DifferencesPanel&>(panel).join(host); };
    return info;
}

}  // namespace sonde::panels
