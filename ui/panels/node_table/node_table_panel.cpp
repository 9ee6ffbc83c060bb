#include "ui/panels/node_table/node_table_panel.h"

#include <QFile>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QScopedValueRollback>
#include <QTableView>
#include <QToolButton>

#include "ui/actions/action_registry.h"
#include "ui/context/count_text.h"
#include "ui/context/engine.h"
#include "ui/context/inspector_context.h"
#include "ui/context/precision.h"
#include "ui/context/selection.h"
#include "ui/context/stored.h"
#include "ui/context/value_measures.h"
#include "ui/panels/table_view.h"
#include "ui/theme/theme.h"
#include "ui/widgets/labels.h"
#include "ui/widgets/search_field.h"
#include "ui/widgets/tool_button.h"

namespace sonde::panels {

using context::InspectorContext;
using context::Selection;

NodeTablePanel::NodeTablePanel(context::OpenModel& opened, context::Navigation& navigation, context::Runs& runs,
                               context::Inputs& inputs, context::Messages& messages, context::ValueMeasures& statistics,
                               context::Comparison& comparison, context::Notes& notes,
                               context::Breakpoints& breakpoints, context::Precision& precision,
                               context::Engine& engine, context::Profile& profile, QWidget* parent)
    : Panel(parent), m_opened(opened), m_navigation(navigation), m_runs(runs), m_messages(messages),
      m_statistics(statistics),
      m_model(opened, runs, inputs, statistics, comparison, notes, breakpoints, &precision, &engine),
      m_view(makeTableView(tr("All nodes"), this)), m_count(new widgets::ElidedLabel({}, this)) {
    m_proxy.setSourceModel(&m_model);
    m_view->setModel(&m_proxy);
    m_view->setObjectName(QStringLiteral("nodeTable"));
    std::vector<int> widths;
    for (const models::NodeColumn& column : models::nodeColumns()) widths.push_back(column.width);
    setColumnWidths(m_view, widths);
    // Weights have a panel of their own.
    for (int column = 0; column < models::NodeColumnCount; ++column)
        m_view->setColumnHidden(column, models::nodeColumns()[static_cast<std::size_t>(column)].source ==
                                            models::NodeColumn::Source::Weights);

    // Notes are beside the names once there are any.
    m_view->horizontalHeader()->moveSection(models::NoteColumn, models::NameColumn + 1);
    const auto showNotes = [this, &notes] { m_view->setColumnHidden(models::NoteColumn, notes.all().empty()); };
    connect(&notes, &context::Notes::changed, this, showNotes);
    connect(&opened, &context::OpenModel::documentOpened, this, showNotes);
    showNotes();
    // Times are beside each other.
    QHeaderView* const header = m_view->horizontalHeader();
    header->moveSection(header->visualIndex(models::EngineTimeColumn), header->visualIndex(models::TimeColumn) + 1);
    // What only another run tells is there once it was made.
    const auto showRuns = [this, &engine, &precision, &profile] {
        m_view->setColumnHidden(models::EngineTimeColumn, !engine.isCompared());
        m_view->setColumnHidden(models::PrecisionColumn, !precision.report());
        for (int column = models::ProfiledTimeColumn; column <= models::ByteRateColumn; ++column)
            m_view->setColumnHidden(column, !profile.report());
    };
    connect(&comparison, &context::Comparison::changed, this, showRuns);
    connect(&precision, &context::Precision::changed, this, showRuns);
    connect(&profile, &context::Profile::changed, this, showRuns);
    connect(&profile, &context::Profile::changed, &m_model, &models::NodeTableModel::refreshProfile);
    showRuns();
    widgets::SearchField* filter = makeTableFilter(tr("Filter nodes"), this);
    filter->setToolTip(tr("Rows that hold each word; note:word looks in the column Note alone, note: finds all notes"));
    QHBoxLayout* top = stackTable(this, filter, m_count, m_view);
    m_measure = widgets::makeToolButton(QStringLiteral("histogram"),
                                        tr("Compute statistics for all nodes (Ctrl+Shift+V)"), this);
    m_measure->setObjectName(QStringLiteral("measure"));
    top->addWidget(m_measure);
    connect(m_measure, &QToolButton::clicked, &statistics, &context::ValueMeasures::compute);
    const auto offer = [this] {
        m_measure->setEnabled(m_runs.recording() && !m_runs.isRunning() && !m_statistics.isKnown());
    };
    connect(&statistics, &context::ValueMeasures::changed, this, offer);
    connect(&runs, &context::Runs::runFinished, this, offer);
    connect(&runs, &context::Runs::runStarted, this, offer);
    connect(&opened, &context::OpenModel::documentOpened, this, offer);
    offer();
    auto* csv = widgets::makeToolButton(QStringLiteral("export"), tr("Save these rows as CSV"), this);
    csv->setObjectName(QStringLiteral("exportCsv"));
    top->addWidget(csv);
    connect(csv, &QToolButton::clicked, this, &NodeTablePanel::askForCsv);

    connect(filter, &widgets::SearchField::textChanged, this, [this](const QString& text) {
        m_proxy.setFilter(text);
        countSoon();
    });
    m_soon.setSingleShot(true);
    connect(&m_soon, &QTimer::timeout, this, &NodeTablePanel::count);
    connect(&m_model, &QAbstractItemModel::modelReset, this, [this] {
        setHasContent(m_model.rowCount() > 0);
        countSoon();
    });
    connect(&runs, &context::Runs::runFinished, this, &NodeTablePanel::countSoon);
    connect(&inputs, &context::Inputs::inputsChanged, this, &NodeTablePanel::countSoon);
    connect(&navigation, &context::Navigation::selectionChanged, this, &NodeTablePanel::follow);
    connect(m_view->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            [this](const QModelIndex& current) {
                if (m_following || !current.isValid()) return;
                graph::NodeId node;
                node.value = current.data(models::NodeRole).toUInt();
                m_navigation.navigateTo(node);
            });
    setFocusProxy(m_view);
    setHasContent(m_model.rowCount() > 0);
    countSoon();
}

void NodeTablePanel::paintEvent(QPaintEvent* event) {
    Panel::paintEvent(event);
    if (m_uncounted) m_soon.start();
}

void NodeTablePanel::countSoon() {
    m_uncounted = true;
    update();
}

/// The sums are of the rows that are shown: what one would get by adding up the columns.
void NodeTablePanel::count() {
    m_uncounted = false;
    const int shown = m_proxy.rowCount();
    const int all = m_model.rowCount();
    QStringList parts{
        shown == all ? context::countedText(all, tr("1 node"), tr("%1 nodes"))
                     : tr("%1 of %2 nodes, %3 hidden")
                           .arg(context::countText(shown), context::countText(all), context::countText(all - shown))};
    for (const int column : {models::ParametersColumn, models::BytesColumn, models::TimeColumn}) {
        models::ColumnSum sum;
        for (int row = 0; row < shown; ++row) {
            const int source = m_proxy.mapToSource(m_proxy.index(row, 0)).row();
            m_model.measures().addTo(sum, column, m_model.node(source));
        }
        const QString text = sum.text(column), stale = m_model.measures().staleReason(column);
        if (!text.isEmpty()) parts << (stale.isEmpty() ? text : tr("%1 (stale: %2)").arg(text, stale));
    }
    m_count->setText(parts.join(QStringLiteral("  \u00b7  ")));
    m_count->setToolTip(m_count->text() + QLatin1Char('\n') +
                        tr("Sums over the rows shown; time is that of the last run"));
}

base::Result<void> NodeTablePanel::writeCsv(const QString& path) const {
    QFile file(path);
    const QByteArray bytes = models::tableAsCsv(m_proxy);
    if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size())
        return base::usageError("the table cannot be written: " + file.errorString().toStdString(), path.toStdString());
    return {};
}

void NodeTablePanel::askForCsv() {
    if (!m_opened.isOpen()) return;
    auto* dialog = new QFileDialog(this, tr("Save the Table"),
                                   context::stored(QStringLiteral("files/folder")).toString(), tr("CSV file (*.csv)"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(QStringLiteral("csv"));
    connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& path) {
        m_messages.reportSaving(writeCsv(path), {base::Severity::Info, tr("Table saved"), path, {}, {}});
    });
    dialog->open();
}

void NodeTablePanel::follow(const Selection& selection) {
    const QScopedValueRollback guard(m_following, true);
    const int row = m_model.rowOf(selection.node);
    const QModelIndex index = row < 0 ? QModelIndex() : m_proxy.mapFromSource(m_model.index(row, 0));
    if (!index.isValid()) {
        m_view->selectionModel()->clear();
        return;
    }
    m_view->selectRow(index.row());
    m_view->scrollTo(index);
}

PanelInfo nodeTablePanel() {
    PanelInfo info{QStringLiteral("nodes"),
                   QObject::tr("Node Table"),
                   QStringLiteral("table"),
                   PanelArea::Bottom,
                   QStringLiteral("Alt+6"),
                   [](InspectorContext& context) -> Panel* {
                       return new NodeTablePanel(context.model(), context.navigation(), context.runs(),
                                                 context.inputs(), context.messages(), context.valueMeasures(),
                                                 context.comparison(), context.notes(), context.breakpoints(),
                                                 context.precision(), context.engine(), context::profileOf(context));
                   }};
    info.coming = PanelComing::OnDemand;
    info.join = [](QWidget& panel, const PanelHost& host) {
        auto* table = static_cast<NodeTablePanel*>(&panel);
        host.actions.bind(QStringLiteral("file.export_table"), table, [table] { table->askForCsv(); });
    };
    return info;
}

}  // namespace sonde::panels
