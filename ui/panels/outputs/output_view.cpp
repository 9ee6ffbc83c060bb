#include "ui/panels/outputs/output_view.h"

#include <QFontInfo>
#include <QHeaderView>
#include <QLabel>
#include <QTableView>
#include <QTimer>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

#include "ui/models/short_text.h"
#include "ui/panels/outputs/output_pictures.h"
#include "ui/panels/table_view.h"
#include "ui/theme/theme.h"
#include "ui/widgets/line_plot.h"
#include "ui/widgets/marked_picture.h"

namespace sonde::panels {

namespace outputs = session::outputs;

namespace {

constexpr double kLargeText = 1.5;

}  // namespace

OutputView::OutputView(QWidget* parent)
    : QWidget(parent), m_text(new QLabel), m_picture(new widgets::MarkedPicture), m_plot(new widgets::LinePlot),
      m_list(makeTableView(tr("Output"), this)) {
    m_text->setObjectName(QStringLiteral("outputText"));
    m_text->setAccessibleName(tr("Output as text"));
    m_text->setWordWrap(true);
    m_text->setTextFormat(Qt::PlainText);
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    m_text->setContentsMargins(theme::kSmall, theme::kSmall, theme::kSmall, theme::kSmall);
    m_picture->setObjectName(QStringLiteral("outputPicture"));
    m_plot->setObjectName(QStringLiteral("outputPlot"));
    m_plot->setAccessibleName(tr("Waveform"));
    m_list->setObjectName(QStringLiteral("outputList"));
    m_list->setModel(&m_rows);
    m_list->setSortingEnabled(false);  // as the form has them
    m_list->setItemDelegate(new OutputRowDelegate(m_list));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(theme::kTight);
    column->addWidget(m_text);
    column->addWidget(m_picture, 3);
    column->addWidget(m_plot, 3);
    column->addWidget(m_list, 2);
    connect(m_list->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& row) {
        if (!m_picture->marks().empty()) m_picture->setCurrent(row.isValid() ? row.row() : -1);
    });
    connect(m_picture, &widgets::MarkedPicture::currentChanged, this, [this](int mark) {
        if (mark < 0) m_list->clearSelection();
        else m_list->selectRow(mark);
    });
    connect(&theme::Theme::instance(), &theme::Theme::changed, this, &OutputView::repaintPicture);
    setFocusProxy(m_list);
}

void OutputView::setLarge(bool large) {
    if (large == m_isLarge) return;
    m_isLarge = large;
    const double scale = large ? kLargeText : 1;
    static_cast<OutputRowDelegate*>(m_list->itemDelegate())->setTextScale(scale);
    m_list->verticalHeader()->setDefaultSectionSize(qRound(m_list->fontMetrics().height() * scale) + theme::kSmall);
    m_fitted.clear();
    fitColumns();
    showText(m_output.content);
}

QString OutputView::text() const { return m_text->isHidden() ? QString() : m_text->text(); }

void OutputView::show(const outputs::ShownOutput& output) {
    const bool isSame = output.name == m_output.name && output.form == m_output.form;
    const int current = isSame ? m_list->currentIndex().row() : -1;
    m_output = output;
    m_rows.show(output.content);
    m_list->setAccessibleName(tr("Output %1").arg(models::shown(output.name)));
    m_list->setVisible(!m_rows.isEmpty());
    constexpr int kMinRows = 3;
    m_list->setMinimumHeight(m_list->horizontalHeader()->sizeHint().height() + 2 * m_list->frameWidth() +
                             std::min(m_rows.rowCount(), kMinRows) * m_list->verticalHeader()->defaultSectionSize());
    if (!isSame) m_fitted.clear();
    fitColumns();
    showText(output.content);
    repaintPicture();
    showPlot(output.content);
    if (current >= 0 && current < m_rows.rowCount()) m_list->selectRow(current);
}

/// Wide enough for what is in them; with further runs they only grow. One that the user has set stays.
void OutputView::fitColumns() {
    constexpr int kFitted = 20;
    const int maxFirst = m_isLarge ? 320 : 180, barWidth = m_isLarge ? 180 : 90;
    for (int i = 0; i < m_rows.columnCount(); ++i) m_list->setColumnHidden(i, false);
    int leastBar = barWidth / 2;
    for (int i = 0; i < std::min(m_rows.columnCount(), kFitted); ++i) {
        const int before = m_list->columnWidth(i);
        if (const auto fitted = m_fitted.find(i); fitted != m_fitted.end() && fitted->second != before) continue;
        m_list->resizeColumnToContents(i);
        // Large letters leave a column too little from the next.
        int width = m_list->columnWidth(i) + (m_isLarge ? 2 * theme::kSmall : 0);
        if (i == 0) width = std::min(width, maxFirst);
        if (i == m_rows.barColumn()) {
            leastBar = width;
            width = std::max(width, barWidth);
        }
        if (m_fitted.contains(i)) width = std::max(width, before);
        m_list->setColumnWidth(i, width);
        m_fitted[i] = width;
    }
    if (m_isLarge) makeRoom(leastBar);
}

/// Bars give way to numbers that would be cut, as far as those on them allow; then go the index and the value of
/// classes, and names are shortened.
void OutputView::makeRoom(int leastBar) {
    const auto excess = [this] { return m_list->horizontalHeader()->length() - m_list->viewport()->width(); };
    const int bar = m_rows.barColumn();
    const auto shorten = [&](int column, int least) {
        const int width = m_list->columnWidth(column);
        if (excess() <= 0 || !m_fitted.contains(column) || m_fitted[column] != width || width <= least) return;
        m_fitted[column] = std::max(least, width - excess());
        m_list->setColumnWidth(column, m_fitted[column]);
    };
    constexpr int kMinName = 120;
    if (bar < 0) return;
    shorten(bar, leastBar);
    if (!std::holds_alternative<outputs::Classes>(m_output.content)) return;
    for (int column = m_rows.columnCount() - 1; column > bar && excess() > 0; --column)
        m_list->setColumnHidden(column, true);
    shorten(0, kMinName);
}

void OutputView::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    // The list has its size after this.
    if (m_isLarge) QTimer::singleShot(0, this, &OutputView::fitColumns);
}

void OutputView::showText(const outputs::Content& content) {
    const auto* const scalar = std::get_if<outputs::Scalar>(&content);
    const auto* const text = std::get_if<outputs::TokenText>(&content);
    m_text->setVisible(scalar || text);
    if (scalar) {
        const QString note = QString::fromStdString(scalar->note);
        m_text->setText(models::paragraph(scalar->text) + (note.isEmpty() ? QString() : QStringLiteral("   ") + note));
    } else if (text && !text->text.empty()) {
        m_text->setText(models::paragraph(text->text));
    } else if (text) {
        QString ids;
        for (const auto& token : text->tokens)
            ids += (ids.isEmpty() ? QString() : QStringLiteral(" ")) + QString::number(token.id);
        m_text->setText(models::paragraph(ids.toStdString()));
    }
    QFont font = scalar ? theme::Theme::instance().titleFont() : theme::Theme::instance().uiFont();
    if (m_isLarge) font.setPixelSize(qRound(QFontInfo(font).pixelSize() * kLargeText));
    m_text->setFont(font);
}

void OutputView::repaintPicture() {
    OutputPicture shown = pictureOf(m_output.content);
    m_picture->setVisible(!shown.size.isEmpty());
    if (shown.size.isEmpty()) return;
    m_picture->setAccessibleName(tr("Picture of output %1").arg(models::shown(m_output.name)));
    m_picture->setPicture(shown.image, shown.size, std::move(shown.marks),
                          QString::fromStdString(outputs::summaryText(m_output.content)));
}

void OutputView::showPlot(const outputs::Content& content) {
    const auto* const wave = std::get_if<outputs::Waveform>(&content);
    m_plot->setVisible(wave != nullptr);
    if (!wave) return;
    const double most = std::max({std::abs(wave->low), std::abs(wave->high), 1e-12});
    m_plot->setScale({wave->low < 0 ? -most : 0, most, false});
    const tensor::Tensor samples = wave->samples;
    const std::int64_t length = samples.dim(1);
    m_plot->setField(samples.dim(0), length, [samples, length](qint64 row, qint64 column) {
        return static_cast<double>(samples.data<float>()[row * length + column]);
    });
}

}  // namespace sonde::panels
