#include "ui/dialogs/export_preview_table.h"

#include <QHeaderView>
#include <QScrollBar>

#include <algorithm>
#include <cmath>

#include "core/analysis/parameters.h"
#include "core/base/number_text.h"
#include "ui/context/count_text.h"
#include "ui/context/option_labels.h"
#include "ui/context/window_hint.h"
#include "ui/theme/theme.h"

namespace sonde::dialogs {

namespace {

constexpr int kMinRows = 3, kMinColumnWidth = 72, kErrorColumn = 4;

QString fileSizeText(std::uint64_t bytes) {
    return bytes == 0 ? QStringLiteral("–")
                      : QString::fromStdString(analysis::bytesText(static_cast<std::int64_t>(bytes)));
}

QString numberOrDash(double value, int digits) {
    return std::isnan(value) ? QStringLiteral("–") : QString::fromStdString(base::roundedText(value, digits));
}

/// A line for each thing that is to be said of a form.
QString detailsOf(const session::ExportMeasure& measure) {
    QStringList lines;
    if (measure.error) lines << context::windowTextWithHint(*measure.error);
    for (const session::ExportedOutput& output : measure.outputs) {
        if (!output.note.empty())
            lines << QStringLiteral("%1: %2").arg(QString::fromStdString(output.name),
                                                  QString::fromStdString(output.note));
    }
    for (const base::Diagnostic& note : measure.notes) lines << context::withOptionLabels(note.what);
    return lines.join(u'\n');
}

}  // namespace

ExportPreviewTable::ExportPreviewTable(QWidget* parent) : QTableWidget(0, 6, parent), m_modelRow(new QTableView(this)) {
    setHorizontalHeaderLabels(
        {tr("Step"), tr("Operations"), tr("Weights"), tr("File"), tr("Largest error"), tr("Run")});
    const QStringList tips{tr("Each row adds one option to those above"),
                           tr("Operations that a run computes"),
                           tr("Bytes of all weights and constants"),
                           tr("Bytes of the file"),
                           tr("Largest |e − g| / max(min(|e|, |g|), 1) of all outputs on the current inputs"),
                           tr("Median time of a run here")};
    for (int i = 0; i < columnCount(); ++i) horizontalHeaderItem(i)->setToolTip(tips.at(i));
    horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    horizontalHeader()->setSectionResizeMode(0, QHeaderView::Stretch);
    horizontalHeader()->setMinimumSectionSize(kMinColumnWidth);
    horizontalHeader()->setHighlightSections(false);
    verticalHeader()->hide();
    verticalHeader()->setDefaultSectionSize(fontMetrics().height() + theme::kSmall);
    setMinimumHeight(verticalHeader()->defaultSectionSize() * kMinRows + horizontalHeader()->sizeHint().height());
    setSelectionBehavior(SelectRows);
    setSelectionMode(SingleSelection);
    setEditTriggers(NoEditTriggers);
    setTabKeyNavigation(false);
    setAccessibleName(tr("Preview"));
    m_modelRow->setObjectName(QStringLiteral("modelRow"));
    m_modelRow->setModel(model());
    m_modelRow->horizontalHeader()->hide();
    m_modelRow->verticalHeader()->hide();
    m_modelRow->verticalHeader()->setDefaultSectionSize(verticalHeader()->defaultSectionSize());
    m_modelRow->setFrameShape(NoFrame);
    m_modelRow->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_modelRow->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_modelRow->setSelectionMode(NoSelection);
    m_modelRow->setFocusPolicy(Qt::NoFocus);
    m_modelRow->setAttribute(Qt::WA_TransparentForMouseEvents);
    connect(verticalScrollBar(), &QScrollBar::valueChanged, this, &ExportPreviewTable::placeModelRow);
    connect(horizontalHeader(), &QHeaderView::geometriesChanged, this, &ExportPreviewTable::placeModelRow);
    placeModelRow();
}

QSize ExportPreviewTable::sizeHint() const {
    const int line = verticalHeader()->defaultSectionSize();
    return {480, line * std::max(rowCount(), kMinRows) + horizontalHeader()->sizeHint().height() + 2 * frameWidth()};
}

void ExportPreviewTable::scrollTo(const QModelIndex& index, ScrollHint hint) {
    QTableWidget::scrollTo(index, hint);
    if (index.row() > 0 && visualRect(index).top() < verticalHeader()->defaultSectionSize())
        verticalScrollBar()->setValue(index.row() - 1);
}

/// Over the first row that is seen while the model's own is scrolled away.
void ExportPreviewTable::placeModelRow() {
    const QRect area = viewport()->geometry();
    m_modelRow->setGeometry(area.left(), area.top(), area.width(), verticalHeader()->defaultSectionSize());
    for (int i = 0; i < columnCount(); ++i) m_modelRow->setColumnWidth(i, columnWidth(i));
    m_modelRow->setVisible(rowCount() > 0 && verticalScrollBar()->value() > 0);
    m_modelRow->scrollToTop();
}

void ExportPreviewTable::resizeEvent(QResizeEvent* event) {
    QTableWidget::resizeEvent(event);
    if (currentItem()) scrollToItem(currentItem());
    placeModelRow();
}

void ExportPreviewTable::show(const session::ExportPreview* preview) {
    setRowCount(0);
    clearSpans();
    m_details.clear();
    if (!preview) return;
    addRow(preview->model, true);
    for (const session::ExportMeasure& form : preview->forms) addRow(form, false);
    setCurrentCell(rowCount() - 1, 0);
    updateGeometry();
    placeModelRow();
}

void ExportPreviewTable::addRow(const session::ExportMeasure& measure, bool isModel) {
    const int row = rowCount();
    insertRow(row);
    const QString error = isModel                                    ? QString()
                          : measure.error && measure.outputs.empty() ? tr("failed")
                                                                     : numberOrDash(measure.largestError(), 3);
    const QStringList texts{QString::fromStdString(measure.label),
                            context::countText(static_cast<qint64>(measure.operations)),
                            fileSizeText(measure.weightBytes),
                            fileSizeText(measure.fileBytes),
                            error,
                            measure.ns ? QString::fromStdString(measure.timeText()) : QStringLiteral("–")};
    m_details << detailsOf(measure);
    if (!measure.isCounted()) return addFailure(row, measure);
    for (int i = 0; i < texts.size(); ++i) {
        auto* item = new QTableWidgetItem(texts.at(i));
        if (i > 0) item->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
        if (i == kErrorColumn && measure.error && !isModel) item->setForeground(theme::color(theme::ColorRole::Error));
        item->setToolTip(m_details.back().isEmpty() ? texts.at(i) : m_details.back());
        setItem(row, i, item);
    }
}

/// In place of numbers that there are none of.
void ExportPreviewTable::addFailure(int row, const session::ExportMeasure& measure) {
    setItem(row, 0, new QTableWidgetItem(QString::fromStdString(measure.label)));
    auto* what = new QTableWidgetItem(tr("failed: %1").arg(context::windowText(*measure.error)));
    what->setForeground(theme::color(theme::ColorRole::Error));
    setItem(row, 1, what);
    setSpan(row, 1, 1, columnCount() - 1);
    for (const int column : {0, 1}) item(row, column)->setToolTip(m_details.back());
}

QString ExportPreviewTable::details() const {
    const int row = currentRow() < 0 ? rowCount() - 1 : currentRow();
    return m_details.value(row);
}

}  // namespace sonde::dialogs
