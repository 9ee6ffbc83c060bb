#include "ui/dialogs/export_preview_table.h"

#include <QHeaderView>

#include <cmath>

#include "core/analysis/parameters.h"
#include "core/base/number_text.h"
#include "ui/context/count_text.h"
#include "ui/theme/theme.h"

namespace sonde::dialogs {

namespace {

constexpr int kShownRows = 7, kMinRows = 3;

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
    if (measure.error) lines << QString::fromStdString(measure.error->text());
    for (const session::ExportedOutput& output : measure.outputs) {
        if (!output.note.empty())
            lines << QStringLiteral("%1: %2").arg(QString::fromStdString(output.name),
                                                  QString::fromStdString(output.note));
    }
    for (const base::Diagnostic& note : measure.notes) lines << QString::fromStdString(note.what);
    return lines.join(u'\n');
}

}  // namespace

ExportPreviewTable::ExportPreviewTable(QWidget* parent) : QTableWidget(0, 6, parent) {
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
    horizontalHeader()->setHighlightSections(false);
    verticalHeader()->hide();
    verticalHeader()->setDefaultSectionSize(fontMetrics().height() + theme::kSmall);
    setMinimumHeight(verticalHeader()->defaultSectionSize() * kMinRows + horizontalHeader()->sizeHint().height());
    setSelectionBehavior(SelectRows);
    setSelectionMode(SingleSelection);
    setEditTriggers(NoEditTriggers);
    setTabKeyNavigation(false);
    setAccessibleName(tr("Preview"));
}

QSize ExportPreviewTable::sizeHint() const {
    const int line = verticalHeader()->defaultSectionSize();
    return {480, line * kShownRows + horizontalHeader()->sizeHint().height() + 2};
}

void ExportPreviewTable::resizeEvent(QResizeEvent* event) {
    QTableWidget::resizeEvent(event);
    if (currentItem()) scrollToItem(currentItem());
}

void ExportPreviewTable::show(const session::ExportPreview* preview) {
    setRowCount(0);
    m_details.clear();
    if (!preview) return;
    addRow(preview->model, true);
    for (const session::ExportMeasure& form : preview->forms) addRow(form, false);
    setCurrentCell(rowCount() - 1, 0);
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
    for (int i = 0; i < texts.size(); ++i) {
        auto* item = new QTableWidgetItem(texts.at(i));
        if (i > 0) item->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
        if (i == 4 && measure.error && !isModel) item->setForeground(theme::color(theme::ColorRole::Error));
        item->setToolTip(m_details.back().isEmpty() ? texts.at(i) : m_details.back());
        setItem(row, i, item);
    }
}

QString ExportPreviewTable::details() const {
    const int row = currentRow() < 0 ? rowCount() - 1 : currentRow();
    return m_details.value(row);
}

}  // namespace sonde::dialogs
