#include "ui/dialogs/print_dialog.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QDoubleSpinBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPrintDialog>
#include <QPrintPreviewWidget>
#include <QPrinterInfo>
#include <QPushButton>
#include <QVBoxLayout>

#include "ui/context/count_text.h"
#include "ui/context/stored.h"
#include "ui/context/window_hint.h"
#include "ui/theme/theme.h"
#include "ui/widgets/progress_strip.h"

namespace sonde::dialogs {

namespace {

constexpr double kMarginMm = 10;

}  // namespace

void PrintDialog::setUp(QPrinter& printer) const {
    printer.setPageMargins(QMarginsF(kMarginMm, kMarginMm, kMarginMm, kMarginMm), QPageLayout::Millimeter);
    printer.setPageOrientation(m_choice.landscape ? QPageLayout::Landscape : QPageLayout::Portrait);
}

PrintDialog::PrintDialog(PrintChoice choice, Take take, QWidget* parent)
    : QDialog(parent), m_choice(choice), m_take(std::move(take)),
      m_printer(std::make_shared<QPrinter>(QPrinter::HighResolution)), m_what(new QComboBox(this)),
      m_pagesBox(new QComboBox(this)), m_turn(new QComboBox(this)), m_scale(new QDoubleSpinBox(this)),
      m_count(new QLabel(this)), m_controls(new QWidget(this)), m_progress(new widgets::ProgressStrip(this)) {
    setWindowTitle(tr("Print"));
    if (m_printer->pageLayout().pageSize().id() == QPageSize::Custom) m_printer->setPageSize(QPageSize(QPageSize::A4));
    m_what->addItems({tr("Whole graph"), tr("Visible part")});
    m_what->setObjectName(QStringLiteral("what"));
    m_what->setCurrentIndex(choice.whole ? 0 : 1);
    m_pagesBox->addItems({tr("One page"), tr("As many pages as needed")});
    m_pagesBox->setObjectName(QStringLiteral("pages"));
    m_pagesBox->setCurrentIndex(choice.onePage ? 0 : 1);
    m_turn->addItems({tr("Portrait"), tr("Landscape")});
    m_turn->setObjectName(QStringLiteral("turn"));
    m_turn->setCurrentIndex(choice.landscape ? 1 : 0);
    m_scale->setObjectName(QStringLiteral("scale"));
    m_scale->setRange(10, 300);
    m_scale->setDecimals(0);
    m_scale->setSingleStep(10);
    m_scale->setSuffix(QStringLiteral(" %"));
    m_scale->setValue(choice.scale * 100);
    m_scale->setKeyboardTracking(false);
    m_preview = new QPrintPreviewWidget(m_printer.get(), this);
    auto* form = new QFormLayout(m_controls);
    form->setContentsMargins(0, 0, 0, 0);
    form->addRow(tr("&Content"), m_what);
    form->addRow(tr("P&ages"), m_pagesBox);
    form->addRow(tr("&Orientation"), m_turn);
    form->addRow(tr("&Size"), m_scale);
    form->addRow(QString(), m_count);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, Qt::Vertical, this);
    QPushButton* print = buttons->addButton(tr("P&rint…"), QDialogButtonBox::ActionRole);
    QPushButton* pdf = buttons->addButton(tr("Save as P&DF…"), QDialogButtonBox::ActionRole);
    print->setToolTip(tr("Choose a printer"));
    // Without a printer the system's dialog could only be cancelled.
    print->setEnabled(!QPrinterInfo::availablePrinterNames().isEmpty());
    if (!print->isEnabled()) print->setToolTip(tr("No printer is set up on this computer"));
    auto* left = new QVBoxLayout;
    left->addWidget(m_controls);
    left->addStretch(1);
    left->addWidget(m_progress);
    left->addWidget(buttons);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(theme::kLarge, theme::kLarge, theme::kLarge, theme::kLarge);
    row->addLayout(left);
    row->addWidget(m_preview, 1);
    resize(860, 620);

    connect(m_preview, &QPrintPreviewWidget::paintRequested, this,
            [this](QPrinter* printer) { paintPreview(*printer); });
    for (context::Job* job : {&m_previewJob, &m_job}) {
        connect(job, &context::Job::progressed, m_progress, [this](const base::Progress& now) {
            m_progress->setProgress(QString::fromStdString(now.what), static_cast<qint64>(now.done),
                                    static_cast<qint64>(now.total));
        });
        connect(job, &context::Job::finished, m_progress, &widgets::ProgressStrip::finish);
        connect(m_progress, &widgets::ProgressStrip::cancelRequested, job, &context::Job::cancel);
    }
    for (QComboBox* box : {m_what, m_pagesBox, m_turn})
        connect(box, &QComboBox::currentIndexChanged, this, &PrintDialog::refresh);
    connect(m_scale, &QDoubleSpinBox::valueChanged, this, &PrintDialog::refresh);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(print, &QPushButton::clicked, this, &PrintDialog::print);
    connect(pdf, &QPushButton::clicked, this, &PrintDialog::savePdf);
    refresh();
}

void PrintDialog::refresh() {
    m_choice = {m_what->currentIndex() == 0, m_pagesBox->currentIndex() == 0, m_turn->currentIndex() == 1,
                m_scale->value() / 100, m_printer->pageLayout().pageSize().id()};
    m_scale->setEnabled(!m_choice.onePage);
    setUp(*m_printer);
    m_shown = {};
    m_count->setText(tr("Rendering…"));
    m_progress->start(tr("Rendering"));
    m_previewJob.start(
        [source = m_take(m_choice), page = m_printer->pageLayout().paintRect(QPageLayout::Point).size()](
            const base::WorkContext& work) { return source.preview(page, work); },
        [this](PrintSource::Preview preview) {
            m_shown = std::move(preview);
            m_preview->updatePreview();
            if (m_choice.onePage) m_preview->setSinglePageViewMode();
            else m_preview->setAllPagesViewMode();
            const auto shown = static_cast<int>(m_shown.pictures.size());
            m_count->setText(m_shown.pages == 1 ? tr("1 page") : tr("%1 pages").arg(context::countText(m_shown.pages)));
            if (shown < m_shown.pages)
                m_count->setText(m_count->text() + u'\n' + tr("%1 of them in this preview").arg(shown));
        });
}

void PrintDialog::paintPreview(QPrinter& printer) const {
    QPainter painter(&printer);
    painter.setRenderHint(QPainter::SmoothPixmapTransform);
    const QRectF page(QPointF(), printer.pageLayout().paintRectPixels(printer.resolution()).size());
    for (std::size_t i = 0; i < m_shown.pictures.size(); ++i) {
        if (i > 0) printer.newPage();
        painter.drawImage(page, m_shown.pictures[i]);
    }
}

void PrintDialog::begin() {
    m_previewJob.abandon();
    m_controls->setEnabled(false);
    m_progress->start(tr("Printing"), 0);
}

void PrintDialog::print() {
    auto* dialog = new QPrintDialog(m_printer.get(), this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, qOverload<QPrinter*>(&QPrintDialog::accepted), this, [this] {
        begin();
        m_job.start(
            [source = m_take(m_choice), printer = m_printer](const base::WorkContext& work) {
                source.print(*printer, work);
                if (work.cancelled()) printer->abort();
                return work.cancelled();
            },
            [this](bool cancelled) { cancelled ? m_controls->setEnabled(true) : accept(); });
    });
    dialog->open();
}

void PrintDialog::printToPdf(const QString& path) {
    begin();
    m_job.start(
        [source = m_take(m_choice), path](const base::WorkContext& work) { return source.writePdf(path, work); },
        [this, path](const base::Result<void>& written) {
            m_controls->setEnabled(true);
            if (written) return Q_EMIT pdfSaved(path);
            m_count->setText(context::windowTextWithHint(written.error()));
        });
}

void PrintDialog::savePdf() {
    auto* dialog = new QFileDialog(this, tr("Save as PDF"), context::stored(QStringLiteral("files/folder")).toString(),
                                   tr("PDF file (*.pdf)"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(QStringLiteral("pdf"));
    connect(this, &PrintDialog::pdfSaved, this, &QDialog::accept);
    connect(dialog, &QFileDialog::fileSelected, this, &PrintDialog::printToPdf);
    dialog->open();
}

}  // namespace sonde::dialogs
