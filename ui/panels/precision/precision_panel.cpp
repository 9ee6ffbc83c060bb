#include "ui/panels/precision/precision_panel.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QScopedValueRollback>
#include <QStackedWidget>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/context/inspector_context.h"
#include "ui/context/text.h"
#include "ui/context/window_hint.h"
#include "ui/panels/table_view.h"
#include "ui/theme/theme.h"
#include "ui/widgets/empty_state.h"
#include "ui/widgets/labels.h"
#include "ui/widgets/progress_strip.h"
#include "ui/widgets/search_field.h"
#include "ui/widgets/tool_button.h"

namespace sonde::panels {

using context::InspectorContext;
using context::Precision;
using models::PrecisionTableModel;

PrecisionPanel::PrecisionPanel(context::OpenModel& opened, context::Navigation& navigation, Precision& precision,
                               QWidget* parent)
    : Panel(parent), m_opened(opened), m_navigation(navigation), m_precision(precision), m_model(opened, precision),
      m_stack(new QStackedWidget(this)),
      m_empty(new widgets::EmptyState(QStringLiteral("precision"), {}, {}, {}, m_stack)),
      m_view(makeTableView(tr("Errors of a lower precision"), m_stack)), m_summary(new widgets::ElidedLabel),
      m_progress(new widgets::ProgressStrip),
      m_first(widgets::makeToolButton(QStringLiteral("go-to"), tr("Select the node where the error begins"), m_stack)),
      m_close(widgets::makeToolButton(QStringLiteral("clear"), tr("Forget the errors, and their colours"), m_stack)) {
    build();
    connect(&m_precision, &Precision::changed, this, &PrecisionPanel::refresh);
    connect(&m_precision, &Precision::progressed, this, [this](const base::Progress& progress) {
        if (m_progress->isActive())
            m_progress->setProgress(QString::fromStdString(progress.what), static_cast<qint64>(progress.done),
                                    static_cast<qint64>(progress.total));
    });
    connect(m_progress, &widgets::ProgressStrip::cancelRequested, &m_precision, &Precision::cancel);
    connect(m_close, &QToolButton::clicked, &m_precision, &Precision::clear);
    connect(m_first, &QToolButton::clicked, this, [this] {
        if (m_precision.report() && m_precision.report()->begins.valid())
            m_navigation.navigateTo(m_precision.report()->begins);
    });
    connect(&m_navigation, &context::Navigation::selectionChanged, this, &PrecisionPanel::follow);
    const auto choose = [this](const QModelIndex& row) {
        const QVariant node = row.isValid() ? row.data(models::NodeRole) : QVariant();
        if (m_following || !node.isValid() || !m_opened.isOpen()) return;
        graph::NodeId chosen;
        chosen.value = node.toUInt();
        m_navigation.navigateTo(chosen);
    };
    connect(m_view->selectionModel(), &QItemSelectionModel::currentRowChanged, this, choose);
    connect(m_view, &QTableView::clicked, this, choose);
    setFocusProxy(m_view);
    refresh();
}

void PrecisionPanel::build() {
    m_proxy.setSourceModel(&m_model);
    m_view->setModel(&m_proxy);
    m_view->setObjectName(QStringLiteral("precisionTable"));
    m_view->sortByColumn(PrecisionTableModel::Order, Qt::AscendingOrder);
    static constexpr int kWidths[] = {40, 150, 110, 100, 72, 80, 80, 80, 92, 92, 220};
    setColumnWidths(m_view, kWidths);
    m_view->horizontalHeader()->setStretchLastSection(true);
    m_summary->setObjectName(QStringLiteral("precisionSummary"));
    m_summary->setElideMode(Qt::ElideRight);
    m_first->setObjectName(QStringLiteral("precisionFirst"));
    m_close->setObjectName(QStringLiteral("precisionClose"));
    auto* page = new QWidget;
    widgets::SearchField* filter = makeTableFilter(tr("Filter nodes"), page);
    connect(filter, &widgets::SearchField::textChanged, this, [this](const QString& text) { m_proxy.setFilter(text); });
    QHBoxLayout* top = stackTable(page, filter, m_summary, m_view);
    top->addWidget(m_first);
    top->addWidget(m_close);
    m_stack->addWidget(m_empty);
    m_stack->addWidget(page);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_stack, 1);
    column->addWidget(m_progress);
}

QString PrecisionPanel::summary() const { return m_summary->text(); }

void PrecisionPanel::refresh() {
    setHasContent(m_precision.hasAny());
    if (!m_precision.isActive()) m_progress->finish();
    else if (!m_progress->isActive())
        m_progress->start(tr("Measuring errors"), widgets::ProgressStrip::kDelayMs, tr("Cancel"));
    const bool isKnown = m_precision.report() != nullptr;
    m_stack->setCurrentIndex(isKnown ? 1 : 0);
    explainEmpty();
    if (!isKnown) return;
    m_summary->setText(m_precision.summary().join(QStringLiteral("  \u00b7  ")));
    m_first->setEnabled(m_precision.report()->begins.valid());
    follow();
}

void PrecisionPanel::explainEmpty() {
    const QString icon = QStringLiteral("precision");
    const auto& error = m_precision.error();
    const bool isCancelled = error && error->kind == base::ErrorKind::Cancelled;
    if (m_precision.isActive())
        m_empty->setContent(icon, tr("Measuring errors"), tr("The model is run with and without rounding."));
    else if (error)
        m_empty->setContent(icon, isCancelled ? tr("Cancelled") : context::windowText(*error),
                            isCancelled ? QString() : context::windowHint(error->hint));
    else
        m_empty->setContent(
            icon, tr("Nothing measured"),
            tr("Run \u203a Precision by Node shows where float16, bfloat16, int8 or a quantised model loses "
               "precision, and how the error grows."));
}

void PrecisionPanel::follow() {
    const int row = m_opened.isOpen() ? m_model.rowOf(m_navigation.selection().node) : -1;
    const QScopedValueRollback guard(m_following, true);
    if (row < 0) m_view->setCurrentIndex({});
    else m_view->setCurrentIndex(m_proxy.mapFromSource(m_model.index(row, 0)));
}

void PrecisionPanel::join(const PanelHost& host) { connect(&m_precision, &Precision::started, this, host.raise); }

PanelInfo precisionPanel() {
    PanelInfo info{QStringLiteral("precision"),
                   QObject::tr("Precision"),
                   QStringLiteral("precision"),
                   PanelArea::Bottom,
                   QStringLiteral("Alt+Q"),
                   [](InspectorContext& context) -> Panel* {
                       return new PrecisionPanel(context.model(), context.navigation(), context.precision());
                   }};
    info.coming = PanelComing::ToFront;
    info.size = {0, 240};
    info.join = [](QWidget& panel, const PanelHost& host) { static_cast<PrecisionPanel&>(panel).join(host); };
    return info;
}

}  // namespace sonde::panels
