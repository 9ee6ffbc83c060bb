#include "ui/panels/findings/findings_panel.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QSplitter>
#include <QStackedWidget>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/actions/action_registry.h"
#include "ui/context/count_text.h"
#include "ui/context/inspector_context.h"
#include "ui/models/node_text.h"
#include "ui/panels/table_view.h"
#include "ui/theme/theme.h"
#include "ui/widgets/empty_state.h"
#include "ui/widgets/labels.h"
#include "ui/widgets/progress_strip.h"
#include "ui/widgets/search_field.h"

namespace sonde::panels {

using context::Findings;
using models::FindingTableModel;
using session::FindingGroup;

namespace {

/// Of equal findings, how many are told one by one; the canvas has marks on all of them.
constexpr std::size_t kMaxTold = 30;

QString detailsOf(const session::FindingReport& report, const FindingGroup& group) {
    QStringList parts{models::shown(group.id)};
    if (group.count() > 1)
        parts << QObject::tr("%1 findings: %2.").arg(group.count()).arg(models::paragraph(group.description));
    for (std::size_t i = 0; i < std::min(group.count(), kMaxTold); ++i)
        parts << models::paragraph(report.findings[group.members[i]].finding.message);
    if (group.count() > kMaxTold) parts << QObject::tr("… and %1 more").arg(group.count() - kMaxTold);
    parts << QObject::tr("What to do: %1").arg(models::paragraph(group.advice));
    if (group.accepted) parts << QObject::tr("Accepted: %1").arg(models::paragraph(*group.accepted));
    return parts.join(QStringLiteral("\n\n"));
}

/// What the list does not tell: what was not checked, and why. Empty if there is nothing.
QString notCheckedText(const std::optional<session::FindingReport>& report) {
    if (!report) return {};
    QStringList ids, parts;
    for (const std::string& id : report->notChecked) ids << models::shown(id);
    if (!ids.isEmpty()) parts << QObject::tr("Not checked: %1.").arg(ids.join(QStringLiteral(", ")));
    for (const std::string& note : report->notes) {
        const QString text = models::paragraph(note);
        parts << text.left(1).toUpper() + text.mid(1);
    }
    return parts.join(QStringLiteral("\n\n"));
}

}  // namespace

FindingsPanel::FindingsPanel(context::OpenModel& opened, context::Navigation& navigation, Findings& findings,
                             QWidget* parent)
    : Panel(parent), m_opened(opened), m_navigation(navigation), m_findings(findings), m_model(opened, findings),
      m_stack(new QStackedWidget(this)), m_empty(new widgets::EmptyState(QStringLiteral("check"), tr("No findings"))),
      m_splitter(new QSplitter), m_view(makeTableView(tr("Findings"), m_stack)), m_count(new widgets::ElidedLabel),
      m_progress(new widgets::ProgressStrip), m_again(new QToolButton), m_details(new QLabel), m_reason(new QLineEdit),
      m_accept(new QPushButton) {
    m_proxy.setSourceModel(&m_model);
    m_view->setModel(&m_proxy);
    m_view->setObjectName(QStringLiteral("findingTable"));
    static constexpr int kWidths[] = {78, 84, 150, 52, 180, 320};
    setColumnWidths(m_view, kWidths);
    m_view->horizontalHeader()->setStretchLastSection(true);
    m_splitter->addWidget(makeList());
    m_splitter->addWidget(makeDetails());
    m_splitter->setSizes({600, 360});  // parts of what there is
    m_splitter->setChildrenCollapsible(false);
    m_stack->addWidget(m_empty);
    m_stack->addWidget(m_splitter);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_progress);
    column->addWidget(m_stack, 1);
    setFocusProxy(m_view);
    connectParts();
    refresh();
}

QWidget* FindingsPanel::makeList() {
    auto* list = new QWidget;
    widgets::SearchField* filter = makeTableFilter(tr("Filter findings"), list);
    QHBoxLayout* top = stackTable(list, filter, m_count, m_view);
    m_again->setObjectName(QStringLiteral("lookAgain"));
    m_again->setAutoRaise(true);
    top->addWidget(m_again);
    connect(filter, &widgets::SearchField::textChanged, this, [this](const QString& text) {
        m_proxy.setFilter(text);
        count();
    });
    return list;
}

QWidget* FindingsPanel::makeDetails() {
    m_details->setObjectName(QStringLiteral("findingDetails"));
    m_details->setWordWrap(true);
    m_details->setTextFormat(Qt::PlainText);
    m_details->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_details->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    m_details->setContentsMargins(theme::kSmall, theme::kSmall, theme::kSmall, theme::kSmall);
    auto* scroll = new QScrollArea;
    scroll->setWidget(m_details);
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setFocusPolicy(Qt::NoFocus);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_reason->setObjectName(QStringLiteral("reason"));
    m_reason->setPlaceholderText(tr("Reason to accept it"));
    m_reason->setAccessibleName(tr("Reason to accept the finding"));
    m_accept->setObjectName(QStringLiteral("acceptFinding"));
    auto* row = new QHBoxLayout;
    row->setContentsMargins(theme::kSmall, theme::kTight, theme::kSmall, theme::kTight);
    row->setSpacing(theme::kSmall);
    row->addWidget(m_reason, 1);
    row->addWidget(m_accept);
    auto* side = new QWidget;
    side->setMinimumWidth(theme::kLarge * 12);
    auto* column = new QVBoxLayout(side);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(scroll, 1);
    column->addLayout(row);
    return side;
}

void FindingsPanel::connectParts() {
    connect(&m_findings, &Findings::started, this, [this] {
        m_progress->start(tr("Looking for findings"));
        explainEmpty();
        count();
    });
    connect(&m_findings, &Findings::progressed, this, [this](const base::Progress& now) {
        m_progress->setProgress(QString::fromStdString(now.what), static_cast<qint64>(now.done),
                                static_cast<qint64>(now.total));
    });
    connect(&m_findings, &Findings::finished, this, [this] {
        m_progress->finish();
        refresh();
    });
    connect(m_progress, &widgets::ProgressStrip::cancelRequested, &m_findings, &Findings::cancel);
    connect(&m_model, &QAbstractItemModel::modelReset, this, &FindingsPanel::refresh);
    connect(&m_findings, &Findings::changed, this, &FindingsPanel::refresh);
    connect(m_empty, &widgets::EmptyState::actionTriggered, &m_findings, &Findings::look);
    connect(m_view->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &FindingsPanel::showDetails);
    connect(m_view, &QTableView::clicked, this, &FindingsPanel::choose);
    connect(m_view, &QTableView::activated, this, &FindingsPanel::choose);
    connect(m_reason, &QLineEdit::textChanged, this, [this](const QString& text) {
        if (m_reason->isVisible()) m_accept->setEnabled(!text.trimmed().isEmpty());
    });
    connect(m_reason, &QLineEdit::returnPressed, this, &FindingsPanel::acceptOrTakeBack);
    connect(m_accept, &QPushButton::clicked, this, &FindingsPanel::acceptOrTakeBack);
}

QString FindingsPanel::details() const { return m_details->text(); }
QString FindingsPanel::countText() const { return m_count->text(); }

void FindingsPanel::resizeEvent(QResizeEvent* event) {
    Panel::resizeEvent(event);
    constexpr int kRoomy = 620;
    m_splitter->setOrientation(width() < kRoomy ? Qt::Vertical : Qt::Horizontal);
}

int FindingsPanel::groupAt(const QModelIndex& row) const { return row.isValid() ? m_proxy.mapToSource(row).row() : -1; }

void FindingsPanel::refresh() {
    const bool has = m_model.rowCount() > 0;
    setHasContent(has);
    m_stack->setCurrentIndex(has ? 1 : 0);
    explainEmpty();
    count();
    // After a change the rows are others: the same finding stays selected.
    if (has && !m_view->currentIndex().isValid() && !m_chosenId.isEmpty())
        for (int row = 0; row < m_proxy.rowCount(); ++row)
            if (m_proxy.index(row, FindingTableModel::Finding).data().toString() == m_chosenId) {
                m_view->setCurrentIndex(m_proxy.index(row, 0));
                break;
            }
    showDetails();
}

void FindingsPanel::explainEmpty() {
    const QString icon = QStringLiteral("check");
    if (m_findings.isActive())
        return m_empty->setContent(icon, tr("Looking for findings"), tr("The model runs, and its weights are read."));
    if (m_findings.isKnown())
        return m_empty->setContent(icon, tr("Nothing was found"),
                                   (tr("Neither in the file nor in a run on the inputs that are given.") +
                                    QStringLiteral("\n\n") + notCheckedText(m_findings.report()))
                                       .trimmed(),
                                   tr("Look Again"));
    m_empty->setContent(icon, tr("Findings"),
                        tr("Faults, losses and leftovers that an auditor must know of: bad weights, dead channels, "
                           "layers in training mode, paths in the metadata …"),
                        m_opened.isOpen() ? tr("Look for Findings") : QString());
}

void FindingsPanel::count() {
    QString text = m_findings.countText();
    if (text.isEmpty()) text = tr("all accepted");
    if (m_findings.isActive()) text = tr("Looking …");
    else if (m_findings.isStale()) text = tr("Stale, inputs changed: ") + text;
    if (const int hidden = m_model.rowCount() - m_proxy.rowCount(); hidden > 0)
        text += QStringLiteral("  \u00b7  ") + context::countedText(hidden, tr("1 row hidden"), tr("%1 rows hidden"));
    m_count->setText(text);
}

void FindingsPanel::showDetails() {
    const FindingGroup* const group = m_model.group(groupAt(m_view->currentIndex()));
    if (group) m_chosenId = models::shown(group->id);
    m_details->setText(group ? detailsOf(*m_findings.report(), *group)
                             : (tr("Select a row to see why it matters and what to do.") + QStringLiteral("\n\n") +
                                notCheckedText(m_findings.report()))
                                   .trimmed());
    const bool isAccepted = group && group->accepted;
    m_reason->setVisible(group && !isAccepted);
    m_accept->setVisible(group != nullptr);
    m_reason->clear();
    m_accept->setEnabled(isAccepted);
    m_accept->setText(isAccepted ? tr("Take &Back") : tr("&Accept"));
    m_accept->setToolTip(isAccepted
                             ? tr("Treat it as a finding again")
                             : tr("Keep it in the list as accepted, with this reason; kept in the session file"));
}

/// All nodes of the row are selected; the first is shown.
void FindingsPanel::choose(const QModelIndex& row) {
    const FindingGroup* const group = m_model.group(groupAt(row));
    if (!group || !m_opened.isOpen()) return;
    const std::vector<graph::NodeId> nodes = m_findings.nodesOf(*group);
    if (nodes.empty()) return;
    if (nodes.size() == 1) return m_navigation.navigateTo(nodes.front());
    m_navigation.selectMany(nodes);
    m_navigation.reveal(m_navigation.selectionOf(nodes.front()));
}

void FindingsPanel::acceptOrTakeBack() {
    const int row = groupAt(m_view->currentIndex());
    const FindingGroup* const group = m_model.group(row);
    if (!group) return;
    if (group->accepted) m_findings.takeBack(row);
    else m_findings.accept(row, m_reason->text());
}

void FindingsPanel::join(const PanelHost& host) {
    host.actions.bind(QStringLiteral("go.findings"), this, [this] { m_findings.look(); });
    m_again->setDefaultAction(host.actions.action(QStringLiteral("go.findings")));
    m_again->setToolButtonStyle(Qt::ToolButtonIconOnly);
}

PanelInfo findingsPanel() {
    PanelInfo info{QStringLiteral("findings"),
                   QObject::tr("Findings"),
                   QStringLiteral("check"),
                   PanelArea::Bottom,
                   QStringLiteral("Alt+Shift+U"),
                   [](context::InspectorContext& context) -> Panel* {
                       return new FindingsPanel(context.model(), context.navigation(), context.findings());
                   }};
    info.coming = PanelComing::ToFront;
    info.size = {0, 264};
    info.join = [](QWidget& panel, const PanelHost& host) { static_cast<FindingsPanel&>(panel).join(host); };
    return info;
}

}  // namespace sonde::panels
