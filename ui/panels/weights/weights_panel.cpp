#include "ui/panels/weights/weights_panel.h"

#include <QFile>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QMenu>
#include <QScopedValueRollback>
#include <QStackedWidget>
#include <QTableView>
#include <QToolButton>

#include <algorithm>

#include "core/analysis/weights/weight_columns.h"
#include "ui/actions/action_registry.h"
#include "ui/context/count_text.h"
#include "ui/context/stored.h"
#include "ui/models/short_text.h"
#include "ui/panels/table_view.h"
#include "ui/panels/weights/bins_delegate.h"
#include "ui/panels/weights/layer_histograms_view.h"
#include "ui/panels/weights/spectrum_view.h"
#include "ui/theme/theme.h"
#include "ui/widgets/empty_state.h"
#include "ui/widgets/labels.h"
#include "ui/widgets/progress_strip.h"
#include "ui/widgets/search_field.h"
#include "ui/widgets/tool_button.h"

namespace sonde::panels {

using models::WeightTableModel;

namespace {

QString hiddenKey() { return QStringLiteral("weights/hidden"); }

/// What the name says already, and what is rarely asked for.
QStringList usuallyHidden() { return {QStringLiteral("module"), QStringLiteral("kind")}; }

int widthAtFirst(const QString& id) {
    if (id == u"name") return 220;
    if (id == u"histogram") return 120;
    return id == u"module" || id == u"op" || id == u"tied" || id == u"shape" ? 120 : 80;
}

}  // namespace

WeightsPanel::WeightsPanel(context::OpenModel& opened, context::Navigation& navigation, context::Weights& weights,
                           context::Messages& messages, QWidget* parent)
    : Panel(parent), m_opened(opened), m_navigation(navigation), m_weights(weights), m_messages(messages),
      m_model(weights), m_stack(new QStackedWidget(this)),
      m_empty(new widgets::EmptyState(QStringLiteral("table"), tr("No weights"), {}, {}, m_stack)),
      m_page(new QWidget(m_stack)), m_views(new QStackedWidget), m_table(makeTableView(tr("Weights"), m_views)),
      m_layers(new LayerHistogramsView(m_views)), m_spectrum(new SpectrumView(m_views)),
      m_count(new widgets::ElidedLabel({}, m_page)), m_progress(new widgets::ProgressStrip(this)) {
    m_filter = makeTableFilter(tr("Filter weights"), m_page);
    buildTable();
    auto* top = new QHBoxLayout;
    top->setContentsMargins(theme::kSmall, theme::kTight, theme::kSmall, theme::kTight);
    top->setSpacing(theme::kSmall);
    top->addWidget(m_filter, 1);
    top->addWidget(m_count, 2);
    for (QToolButton* button :
         {addViewButton(View::Table, QStringLiteral("table"), tr("Statistics of each weight")),
          addViewButton(View::Layers, QStringLiteral("histogram"), tr("Histograms by layer (Ctrl+F6)")),
          addViewButton(View::Spectrum, QStringLiteral("line"), tr("Singular values of the weight (Ctrl+Shift+F6)"))})
        top->addWidget(button);
    auto* columns = widgets::makeToolButton(QStringLiteral("list"), tr("Choose columns"), m_page);
    columns->setObjectName(QStringLiteral("weightColumns"));
    buildColumnMenu(columns);
    top->addWidget(columns);
    auto* csv = widgets::makeToolButton(QStringLiteral("export"), tr("Save these rows as CSV"), m_page);
    connect(csv, &QToolButton::clicked, this, &WeightsPanel::askForCsv);
    top->addWidget(csv);
    auto* inner = new QVBoxLayout(m_page);
    inner->setContentsMargins(0, 0, 0, 0);
    inner->setSpacing(0);
    inner->addLayout(top);
    inner->addWidget(m_views, 1);
    m_views->addWidget(m_table);
    m_views->addWidget(m_layers);
    m_views->addWidget(m_spectrum);
    m_stack->addWidget(m_empty);
    m_stack->addWidget(m_page);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_stack, 1);
    column->addWidget(m_progress);
    m_progress->hide();
    connectWeights();
    setFocusProxy(m_table);
    setView(View::Table);
    refresh();
}

QToolButton* WeightsPanel::addViewButton(View view, const QString& icon, const QString& tip) {
    QToolButton* button = widgets::makeToolButton(icon, tip, m_page);
    button->setCheckable(true);
    m_buttons.push_back(button);
    connect(button, &QToolButton::clicked, this,
            [this, view] { view == View::Spectrum ? showSpectrum() : setView(view); });
    return button;
}

void WeightsPanel::buildTable() {
    m_proxy.setSourceModel(&m_model);
    m_table->setModel(&m_proxy);
    m_table->setObjectName(QStringLiteral("weightTable"));
    m_table->setItemDelegate(new BinsDelegate(m_table));
    std::vector<int> widths;
    for (int i = 0; i < m_model.columnCount(); ++i) widths.push_back(widthAtFirst(WeightTableModel::columnId(i)));
    setColumnWidths(m_table, widths);
    QHeaderView& header = *m_table->horizontalHeader();
    header.setSectionsMovable(true);
    header.moveSection(WeightTableModel::histogramColumn(),
                       header.visualIndex(WeightTableModel::columnOf(QStringLiteral("std"))) + 1);
    const QStringList hidden = context::stored(hiddenKey(), usuallyHidden()).toStringList();
    for (int i = 0; i < m_model.columnCount(); ++i)
        m_table->setColumnHidden(i, hidden.contains(WeightTableModel::columnId(i)));
    connect(m_filter, &widgets::SearchField::textChanged, this, [this](const QString& text) {
        m_proxy.setFilter(text);
        count();
    });
    connect(m_table, &QTableView::activated, this, &WeightsPanel::openTensor);
    m_table->setContextMenuPolicy(Qt::ActionsContextMenu);
}

void WeightsPanel::buildColumnMenu(QToolButton* button) {
    auto* menu = new QMenu(button);
    for (int i = 0; i < m_model.columnCount(); ++i) {
        QAction* action = menu->addAction(m_model.headerData(i, Qt::Horizontal, Qt::DisplayRole).toString());
        action->setToolTip(m_model.headerData(i, Qt::Horizontal, Qt::ToolTipRole).toString());
        action->setCheckable(true);
        action->setEnabled(WeightTableModel::columnId(i) != u"name");
        action->setObjectName(WeightTableModel::columnId(i));
        connect(action, &QAction::triggered, this, [this, i](bool on) { setColumnShown(i, on); });
    }
    menu->setToolTipsVisible(true);
    connect(menu, &QMenu::aboutToShow, this, [this, menu] {
        for (int i = 0; i < m_model.columnCount(); ++i) menu->actions()[i]->setChecked(!m_table->isColumnHidden(i));
    });
    button->setMenu(menu);
    button->setPopupMode(QToolButton::InstantPopup);
}

void WeightsPanel::setColumnShown(int column, bool shown) {
    m_table->setColumnHidden(column, !shown);
    QStringList hidden;
    for (int i = 0; i < m_model.columnCount(); ++i)
        if (m_table->isColumnHidden(i)) hidden << WeightTableModel::columnId(i);
    context::store(hiddenKey(), hidden);
}

void WeightsPanel::connectWeights() {
    connect(&m_model, &QAbstractItemModel::modelReset, this, [this] {
        giveNamesRoom();
        refresh();
    });
    connect(&m_weights, &context::Weights::measured, this, &WeightsPanel::count);
    connect(&m_weights, &context::Weights::layersChanged, this, &WeightsPanel::refreshView);
    connect(&m_weights, &context::Weights::spectrumChanged, this, &WeightsPanel::refreshView);
    connect(&m_weights, &context::Weights::activityChanged, this, &WeightsPanel::showActivity);
    connect(&m_weights, &context::Weights::progressed, m_progress, [this](const base::Progress& progress) {
        m_progress->setProgress(QString::fromStdString(progress.what), static_cast<qint64>(progress.done),
                                static_cast<qint64>(progress.total));
    });
    connect(m_progress, &widgets::ProgressStrip::cancelRequested, &m_weights, &context::Weights::cancel);
    connect(&m_opened, &context::OpenModel::documentOpened, this, [this] {
        m_decomposed.reset();
        setView(View::Table);
        refresh();
        if (isVisible()) m_weights.compute();
    });
    connect(&m_opened, &context::OpenModel::documentClosed, this, &WeightsPanel::refresh);
    connect(&m_navigation, &context::Navigation::selectionChanged, this, &WeightsPanel::follow);
    connect(m_empty, &widgets::EmptyState::actionTriggered, &m_weights, &context::Weights::compute);
    connect(m_layers, &LayerHistogramsView::activated, this, &WeightsPanel::chooseLayer);
}

/// The module; of a weight that is in none the weight itself.
void WeightsPanel::chooseLayer(const QString& layer, int row) {
    if (!m_opened.isOpen() || !m_weights.layers()) return;
    if (m_opened.document()->modules->find(layer.toStdString()))
        return m_navigation.navigateTo(m_navigation.selectionOf(layer));
    for (const std::size_t weight : m_weights.layers()->layers[static_cast<std::size_t>(row)].rows)
        if (const graph::NodeId node = m_model.weight(static_cast<int>(weight)).node; node.valid())
            return m_navigation.navigateTo(node);
}

/// As wide as the names, but no wider than half of the panel: the figures are what one looks for.
void WeightsPanel::giveNamesRoom() {
    const int column = WeightTableModel::columnOf(QStringLiteral("name"));
    int widest = 0;
    for (int row = 0; row < m_model.rowCount(); ++row)
        widest = std::max(widest, fontMetrics().horizontalAdvance(m_model.index(row, column).data().toString()));
    const int least = m_table->horizontalHeader()->sectionSizeHint(column);
    m_table->setColumnWidth(column, std::clamp(widest + theme::kLarge, least, std::max(least, width() / 2)));
}

void WeightsPanel::showEvent(QShowEvent* event) {
    Panel::showEvent(event);
    m_weights.compute();
}

void WeightsPanel::showActivity() {
    if (m_weights.isActive() && !m_progress->isActive()) m_progress->start(tr("reading the weights"));
    if (!m_weights.isActive()) m_progress->finish();
    count();
    if (!m_weights.report()) refresh();
}

void WeightsPanel::refresh() {
    const bool has = m_model.rowCount() > 0;
    setHasContent(has);
    const QString icon = QStringLiteral("table");
    if (!m_opened.isOpen()) m_empty->setContent(icon, tr("No weights"), tr("Open a model to see its weights."));
    else if (m_weights.report())
        m_empty->setContent(icon, tr("No weights"), tr("The model has no parameters and no buffers."));
    else if (m_weights.isActive()) m_empty->setContent(icon, tr("Reading the weights"));
    else m_empty->setContent(icon, tr("Weights were not read"), {}, tr("Read Weights"));
    m_stack->setCurrentWidget(has ? m_page : static_cast<QWidget*>(m_empty));
    m_decomposed.reset();
    count();
    refreshView();
    follow();
}

QString WeightsPanel::countLine() const { return m_count->text(); }

void WeightsPanel::count() {
    const session::WeightReport* const report = m_weights.report();
    if (!report) return m_count->setText({});
    const int shown = m_proxy.rowCount(), all = m_model.rowCount();
    std::int64_t elements = 0, bytes = 0;
    for (int row = 0; row < shown; ++row) {
        const analysis::WeightRow& weight = m_model.weight(m_proxy.mapToSource(m_proxy.index(row, 0)).row());
        elements += weight.elements;
        bytes += weight.bytes;
    }
    QStringList parts{shown == all ? (all == 1 ? tr("1 weight") : tr("%1 weights").arg(context::countText(all)))
                                   : tr("%1 of %2 weights").arg(context::countText(shown), context::countText(all))};
    parts << context::countedText(elements, tr("1 element"), tr("%1 elements"))
          << QString::fromStdString(analysis::bytesText(bytes));
    if (!m_weights.isKnown())
        parts << tr("%1 read").arg(context::countText(static_cast<qint64>(report->figures.size())));
    m_count->setText(parts.join(QStringLiteral("  \u00b7  ")));
}

void WeightsPanel::setView(View view) {
    m_view = view;
    m_views->setCurrentIndex(static_cast<int>(view));
    for (std::size_t i = 0; i < m_buttons.size(); ++i) m_buttons[i]->setChecked(i == static_cast<std::size_t>(view));
    setFocusProxy(m_views->currentWidget());
    if (view == View::Layers) m_weights.computeLayers();
    refreshView();
}

void WeightsPanel::refreshView() {
    if (m_view == View::Layers) {
        if (m_weights.isKnown() && !m_weights.layers()) m_weights.computeLayers();
        if (const session::LayerHistograms* layers = m_weights.layers();
            layers && m_layers->count() != static_cast<int>(layers->layers.size()))
            m_layers->setLayers(*layers);
    }
    if (!m_weights.layers() && m_layers->count() > 0) m_layers->setLayers({});
    if (m_view != View::Spectrum) return;
    if (!m_decomposed || !m_weights.report())
        return m_spectrum->setMessage(tr("Choose a weight in the table to see its singular values."));
    const QString name = models::shown(m_weights.report()->rows[*m_decomposed].name);
    if (const analysis::Spectrum* found = m_weights.spectrum(*m_decomposed)) m_spectrum->setSpectrum(name, *found);
    else if (m_weights.decomposed() == m_decomposed)
        m_spectrum->setMessage(tr("Computing the singular values of %1").arg(name));
    else m_spectrum->setMessage(tr("No singular values of %1 were computed").arg(name));
}

std::optional<std::size_t> WeightsPanel::currentWeight() const {
    const QModelIndex current = m_proxy.mapToSource(m_table->currentIndex());
    return current.isValid() ? std::optional(static_cast<std::size_t>(current.row())) : std::nullopt;
}

void WeightsPanel::showSpectrum() {
    m_decomposed = currentWeight();
    if (m_decomposed) m_weights.computeSpectrum(*m_decomposed);
    setView(View::Spectrum);
}

/// The row of the selected weight, or the first that the selected operation or module reads.
void WeightsPanel::follow() {
    if (!m_opened.isOpen() || m_following) return;
    const context::Selection& selection = m_navigation.selection();
    int row = m_model.rowOf(*m_opened.document()->graph, selection.node);
    if (row < 0) row = m_model.rowOfModule(selection.qualname);
    const QModelIndex index = row < 0 ? QModelIndex() : m_proxy.mapFromSource(m_model.index(row, 0));
    if (!index.isValid()) return;
    m_table->selectRow(index.row());
    m_table->scrollTo(index);
}

void WeightsPanel::openTensor(const QModelIndex& index) {
    if (!index.isValid() || !m_opened.isOpen()) return;
    const analysis::WeightRow& weight = m_model.weight(m_proxy.mapToSource(index).row());
    if (!weight.node.valid())
        return m_messages.report(context::Message{base::Severity::Info,
                                                  tr("Nothing in the graph stands for this weight"),
                                                  QString::fromStdString(weight.name),
                                                  tr("No operation reads it"),
                                                  {}});
    const QScopedValueRollback guard(m_following, true);
    m_navigation.select(weight.node);
    if (m_showTensor) m_showTensor();
}

void WeightsPanel::selectConsumers() {
    const std::optional<std::size_t> current = currentWeight();
    if (!current || !m_opened.isOpen()) return;
    const analysis::WeightRow& weight = m_model.weight(static_cast<int>(*current));
    const graph::InternalGraph& graph = m_opened.graph();
    std::vector<graph::NodeId> nodes;
    for (const graph::ExprId user : weight.users)
        if (const graph::Expr& expr = graph.expr(user); !expr.outputs.empty()) nodes.push_back(expr.outputs.front());
    if (nodes.empty())
        return m_messages.report(context::Message{
            base::Severity::Info, tr("No operation reads this weight"), QString::fromStdString(weight.name), {}, {}});
    const QScopedValueRollback guard(m_following, true);
    if (nodes.size() == 1) return m_navigation.navigateTo(nodes.front());
    m_navigation.reveal(m_navigation.selectionOf(nodes.front()));
    m_navigation.selectMany(nodes);
}

base::Result<void> WeightsPanel::selectWeight(const QString& name) {
    if (!m_weights.report())
        return base::usageError("the weights were not read yet", name.toStdString(), "`weights table` reads them");
    SONDE_ASSIGN(const std::size_t row, session::findWeight(*m_weights.report(), name.toStdString()));
    const QModelIndex index = m_proxy.mapFromSource(m_model.index(static_cast<int>(row), 0));
    if (!index.isValid()) return base::usageError("the filter hides the weight", name.toStdString());
    m_table->selectRow(index.row());
    m_table->scrollTo(index);
    return {};
}

base::Result<void> WeightsPanel::sortBy(const QString& id) {
    const int column = WeightTableModel::columnOf(id);
    if (column < 0) return base::usageError("the table of weights has no such column", id.toStdString());
    const bool isText = column != WeightTableModel::histogramColumn() &&
                        analysis::weightColumns()[static_cast<std::size_t>(column)].text;
    m_table->sortByColumn(column, isText ? Qt::AscendingOrder : Qt::DescendingOrder);
    return {};
}

void WeightsPanel::setFilter(const QString& text) { m_filter->setText(text); }

base::Result<void> WeightsPanel::writeCsv(const QString& path) const {
    QFile file(path);
    const QByteArray bytes = models::tableAsCsv(m_proxy);
    if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size())
        return base::usageError("the table cannot be written: " + file.errorString().toStdString(), path.toStdString());
    return {};
}

void WeightsPanel::askForCsv() {
    auto* dialog = new QFileDialog(this, tr("Save the Table of Weights"),
                                   context::stored(QStringLiteral("files/folder")).toString(), tr("CSV file (*.csv)"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(QStringLiteral("csv"));
    connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& path) {
        m_messages.reportSaving(writeCsv(path), {base::Severity::Info, tr("Table saved"), path, {}, {}});
    });
    dialog->open();
}

void WeightsPanel::join(const PanelHost& host) {
    m_show = host.show;
    m_showTensor = [&actions = host.actions] { actions.action(QStringLiteral("panel.tensor_viewer"))->trigger(); };
    host.actions.bind(QStringLiteral("weights.consumers"), this, [this] { selectConsumers(); });
    host.actions.bind(QStringLiteral("weights.spectrum"), this, [this] {
        m_show();
        showSpectrum();
    });
    host.actions.bind(QStringLiteral("weights.layers"), this, [this] {
        m_show();
        setView(View::Layers);
    });
    for (const char* id : {"weights.consumers", "weights.spectrum", "weights.layers"})
        m_table->addAction(host.actions.action(QLatin1String(id)));
}

}  // namespace sonde::panels
