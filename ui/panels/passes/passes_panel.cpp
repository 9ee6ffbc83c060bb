#include "ui/panels/passes/passes_panel.h"

#include <QButtonGroup>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QListWidget>
#include <QPushButton>
#include <QScopedValueRollback>
#include <QToolButton>
#include <QTreeWidget>
#include <QVBoxLayout>

#include "core/passes/pass.h"
#include "ui/context/count_text.h"
#include "ui/context/inspector_context.h"
#include "ui/context/text.h"
#include "ui/models/node_text.h"
#include "ui/models/roles.h"
#include "ui/panels/copy_rows.h"
#include "ui/theme/icon.h"
#include "ui/theme/theme.h"

namespace sonde::panels {

using context::InspectorContext;

namespace {

enum Column { WhatColumn, NodeColumn, OperatorColumn, ModuleColumn, WhyColumn, ColumnCount };
constexpr int kPassesWidth = 250;
constexpr std::size_t kMaxListed = 3000;       ///< nodes of one pass and kind; each row takes time in the list
constexpr int kGraphRole = Qt::UserRole + 50;  ///< int: 0 after the passes, else the graph before them

QToolButton* choice(const QString& title, const QString& toolTip) {
    auto* button = new QToolButton;
    button->setText(title);
    button->setToolTip(toolTip);
    button->setCheckable(true);
    button->setAutoRaise(true);
    button->setFocusPolicy(Qt::StrongFocus);
    return button;
}

}  // namespace

PassesPanel::PassesPanel(context::OpenModel& opened, context::Loader& loader, context::Navigation& navigation,
                         QWidget* parent)
    : Panel(parent), m_opened(opened), m_loader(loader), m_navigation(navigation), m_passes(new QListWidget(this)),
      m_apply(new QPushButton(theme::icon(QStringLiteral("run")), tr("Apply"), this)),
      m_clear(new QPushButton(tr("None"), this)),
      m_before(choice(tr("Before"), tr("Show the graph as it was before the passes"))),
      m_after(choice(tr("After"), tr("Show the graph after the passes"))), m_summary(new QLabel(this)),
      m_report(new QTreeWidget(this)) {
    m_passes->setAccessibleName(tr("Passes"));
    m_passes->setToolTip(tr("Ticked passes are applied from top to bottom, each after the passes that it requires"));
    m_passes->setFrameShape(QFrame::NoFrame);
    for (const passes::Pass& pass : passes::passes()) {
        auto* item = new QListWidgetItem(context::text(pass.name), m_passes);
        item->setToolTip(context::text(pass.description));
        item->setData(Qt::UserRole, context::text(pass.id));
        item->setFlags(Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemIsUserCheckable);
        item->setCheckState(Qt::Unchecked);
    }
    m_apply->setToolTip(tr("Reload the model and apply the ticked passes; the outputs are compared after each pass"));
    m_clear->setToolTip(tr("Show the model without passes again"));
    m_report->setAccessibleName(tr("Changes made by the passes"));
    m_report->setFrameShape(QFrame::NoFrame);
    m_report->setUniformRowHeights(true);
    m_report->setColumnCount(ColumnCount);
    m_report->setHeaderLabels({tr("Pass"), tr("Node"), tr("Operator"), tr("Module"), tr("Why")});
    static const int widths[] = {170, 170, 140, 140};
    for (int column = 0; column < WhyColumn; ++column) m_report->setColumnWidth(column, widths[column]);
    copyRowsOnShortcut(m_report);
    m_summary->setTextFormat(Qt::PlainText);

    auto* group = new QButtonGroup(this);
    group->addButton(m_before);
    group->addButton(m_after);
    auto* buttons = new QHBoxLayout;
    buttons->setContentsMargins(theme::kSmall, theme::kTight, theme::kSmall, theme::kTight);
    buttons->addWidget(m_apply);
    buttons->addWidget(m_clear);
    buttons->addStretch(1);
    auto* left = new QVBoxLayout;
    left->setSpacing(0);
    left->addLayout(buttons);
    left->addWidget(m_passes);
    auto* top = new QHBoxLayout;
    top->setContentsMargins(theme::kSmall, theme::kTight, theme::kSmall, theme::kTight);
    top->addWidget(m_before);
    top->addWidget(m_after);
    top->addSpacing(theme::kSmall);
    top->addWidget(m_summary, 1);
    auto* right = new QVBoxLayout;
    right->setSpacing(0);
    right->addLayout(top);
    right->addWidget(m_report);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(0);
    m_passes->setFixedWidth(kPassesWidth);
    m_passes->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    row->addLayout(left);
    row->addLayout(right, 1);

    connect(m_apply, &QPushButton::clicked, this, &PassesPanel::apply);
    connect(m_clear, &QPushButton::clicked, this, [this] {
        for (int i = 0; i < m_passes->count(); ++i) m_passes->item(i)->setCheckState(Qt::Unchecked);
        apply();
    });
    connect(m_before, &QToolButton::clicked, this, [this] { m_loader.showGraph(m_opened.graphBeforePasses()); });
    connect(m_after, &QToolButton::clicked, this, [this] { m_loader.showGraph(0); });
    connect(m_report, &QTreeWidget::currentItemChanged, this, &PassesPanel::choose);
    connect(&opened, &context::OpenModel::documentOpened, this, &PassesPanel::rebuild);
    connect(&opened, &context::OpenModel::documentClosed, this, &PassesPanel::rebuild);
    connect(&theme::Theme::instance(), &theme::Theme::changed, this, &PassesPanel::fillReport);
    setFocusProxy(m_passes);
    rebuild();
}

void PassesPanel::rebuild() {
    const auto& whole = m_opened.whole();
    setEnabled(whole != nullptr);
    setHasContent(whole != nullptr);
    const bool changed = whole && whole->original;
    m_before->setEnabled(changed);
    m_after->setEnabled(changed);
    m_before->setChecked(changed && m_opened.shownGraph() == m_opened.graphBeforePasses());
    m_after->setChecked(!m_before->isChecked());
    if (whole == m_shown) return;  // another graph of the same model: the report stays as it is, with its place
    m_shown = whole;
    for (int i = 0; i < m_passes->count(); ++i) {
        const std::string id = m_passes->item(i)->data(Qt::UserRole).toString().toStdString();
        const bool on = whole && std::find(whole->options.passes.begin(), whole->options.passes.end(), id) !=
                                     whole->options.passes.end();
        m_passes->item(i)->setCheckState(on ? Qt::Checked : Qt::Unchecked);
    }
    fillReport();
}

void PassesPanel::fillReport() {
    const QScopedValueRollback guard(m_filling, true);
    m_report->clear();
    const auto& whole = m_opened.whole();
    std::size_t removed = 0, added = 0, changed = 0;
    if (whole) {
        for (const passes::PassReport& report : whole->passReports) {
            auto* top = new QTreeWidgetItem(m_report, {context::text(report.pass)});
            // A pass's own count may leave out what it changed.
            const bool isCounted = report.count > 0 || report.empty();
            top->setText(NodeColumn,
                         !report.skipped.empty() ? tr("skipped")
                         : !isCounted
                             ? context::countedText(report.changes(), tr("1 node changed"), tr("%1 nodes changed"))
                         : report.count == 1 ? tr("applied once")
                                             : tr("applied %1 times").arg(context::countText(report.count)));
            top->setText(WhyColumn,
                         report.skipped.empty() ? models::shown(report.description) : models::shown(report.skipped));
            top->setToolTip(WhyColumn, top->text(WhyColumn));
            if (report.compared) top->setText(OperatorColumn, tr("outputs agree"));
            const auto add = [&](const std::vector<passes::NodeChange>& changes, const QString& what,
                                 theme::ColorRole role, int graph) {
                std::size_t listed = 0;
                for (const passes::NodeChange& change : changes) {
                    if (listed++ == kMaxListed) {
                        new QTreeWidgetItem(top, {what, tr("%1 more").arg(changes.size() - kMaxListed)});
                        break;
                    }
                    QString why = models::shown(change.why);
                    if (!change.replacedByName.empty())
                        why = tr("replaced by %1: %2").arg(models::shown(change.replacedByName), why);
                    auto* item = new QTreeWidgetItem(top, {what, models::shown(change.name), models::shown(change.op),
                                                           models::shown(change.qualname), why});
                    item->setForeground(WhatColumn, theme::color(role));
                    item->setData(0, models::NodeRole, change.node.value);
                    item->setData(0, kGraphRole, graph);
                    item->setToolTip(WhyColumn, why);
                }
            };
            add(report.went, tr("−  removed"), theme::ColorRole::DiffRemoved, m_opened.graphBeforePasses());
            add(report.came, tr("+  added"), theme::ColorRole::DiffAdded, 0);
            add(report.changed, tr("~  changed"), theme::ColorRole::DiffChanged, 0);
            removed += report.went.size(), added += report.came.size(), changed += report.changed.size();
            top->setExpanded(true);
        }
    }
    m_summary->setText(!whole || whole->passReports.empty()
                           ? tr("No pass has been applied")
                           : context::countedText(removed, tr("1 node removed"), tr("%1 nodes removed")) +
                                 tr(", %1 added, %2 changed").arg(added).arg(changed));
}

void PassesPanel::choose(QTreeWidgetItem* item) {
    if (m_filling || !item || !item->parent() || !item->data(0, models::NodeRole).isValid()) return;
    const QScopedValueRollback guard(m_filling, true);
    m_loader.showGraph(item->data(0, kGraphRole).toInt());
    graph::NodeId node;
    node.value = item->data(0, models::NodeRole).toUInt();
    const graph::InternalGraph& graph = m_opened.graph();
    if (!node.valid() || node.index() >= graph.nodeCount() || graph.isErased(graph.node(node).producer)) return;
    m_navigation.navigateTo(node);
}

void PassesPanel::apply() {
    if (!m_opened.whole()) return;
    document::OpenOptions options = m_opened.whole()->options;
    options.passes.clear();
    for (int i = 0; i < m_passes->count(); ++i)
        if (m_passes->item(i)->checkState() == Qt::Checked)
            options.passes.push_back(m_passes->item(i)->data(Qt::UserRole).toString().toStdString());
    m_loader.retrace(options);
}

PanelInfo passesPanel() {
    return {QStringLiteral("passes"),
            QObject::tr("Passes"),
            QStringLiteral("compare"),
            PanelArea::Bottom,
            QStringLiteral("Alt+9"),
            [](InspectorContext& context) -> Panel* {
                return new PassesPanel(context.model(), context.loader(), context.navigation());
            },
            PanelComing::OnDemand};
}

}  // namespace sonde::panels
