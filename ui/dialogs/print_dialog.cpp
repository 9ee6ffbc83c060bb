#include "ui/dialogs/print_dialog.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QDoubleSpinBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QPrintDialog>
#include <QPrintPreviewWidget>
#include <QPrinterInfo>
#include <QPushButton>
#include <QVBoxLayout>

#include "ui/context/stored.h"
#include "ui/theme/theme.h"

namespace sonde::dialogs {

namespace {

constexpr double kMarginMm = 10;

}  // namespace

void PrintDialog::setUp(QPrinter& printer, const PrintChoice& choice) {
    printer.setPageMargins(QMarginsF(kMarginMm, kMarginMm, kMarginMm, kMarginMm), QPageLayout::Millimeter);
    printer.setPageOrientation(choice.landscape ? QPageLayout::Landscape : QPageLayout::Portrait);
}

PrintDialog::PrintDialog(PrintChoice choice, Paint paint, QWidget* parent)
    : QDialog(parent), m_choice(choice), m_paint(std::move(paint)), m_printer(QPrinter::HighResolution), m_what(new QComboBox(this)),
      m_pagesBox(new QComboBox(this)), m_turn(new QComboBox(this)), m_scale(new QDoubleSpinBox(this)), m_count(new QLabel(this)) {
    setWindowTitle(tr("Print"));
    if (m_printer.pageLayout().pageSize().id() == QPageSize::Custom) m_printer.setPageSize(QPageSize(QPageSize::A4));
    m_what->addItems({tr("The whole graph"), tr("What the canvas shows")});
    m_what->setObjectName(QStringLiteral("what"));
    m_what->setCurrentIndex(choice.whole ? 0 : 1);
    m_pagesBox->addItems({tr("On one page"), tr("On as many as it needs")});
    m_pagesBox->setObjectName(QStringLiteral("pages"));
    m_pagesBox->setCurrentIndex(choice.onePage ? 0 : 1);
    m_turn->addItems({tr("Upright"), tr("On its side")});
    m_turn->setObjectName(QStringLiteral("turn"));
    m_turn->setCurrentIndex(choice.landscape ? 1 : 0);
    m_scale->setObjectName(QStringLiteral("scale"));
    m_scale->setRange(10, 300);
    m_scale->setDecimals(0);
    m_scale->setSingleStep(10);
    m_scale->setSuffix(QStringLiteral(" %"));
    m_scale->setValue(choice.scale * 100);
    m_scale->setKeyboardTracking(false);
    m_preview = new QPrintPreviewWidget(&m_printer, this);
    auto* form = new QFormLayout;
    form->addRow(tr("&What"), m_what);
    form->addRow(tr("P&ages"), m_pagesBox);
    form->addRow(tr("Pa&per"), m_turn);
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
    left->addLayout(form);
    left->addStretch(1);
    left->addWidget(buttons);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(theme::kLarge, theme::kLarge, theme::kLarge, theme::kLarge);
    row->addLayout(left);
    row->addWidget(m_preview, 1);
    resize(860, 620);

    connect(m_preview, &QPrintPreviewWidget::paintRequested, this, [this](QPrinter* printer) { m_pages = m_paint(*printer, m_choice); });
    for (QComboBox* box : {m_what, m_pagesBox, m_turn}) connect(box, &QComboBox::currentIndexChanged, this, &PrintDialog::refresh);
    connect(m_scale, &QDoubleSpinBox::valueChanged, this, &PrintDialog::refresh);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(print, &QPushButton::clicked, this, &PrintDialog::print);
    connect(pdf, &QPushButton::clicked, this, &PrintDialog::savePdf);
    refresh();
}

void PrintDialog::refresh() {
    m_choice = {m_what->currentIndex() == 0, m_pagesBox->currentIndex() == 0, m_turn->currentIndex() == 1, m_scale->value() / 100};
    m_scale->setEnabled(!m_choice.onePage);
    setUp(m_printer, m_choice);
    m_preview->updatePreview();
    if (m_choice.onePage) m_preview->setSinglePageViewMode();
    else m_preview->setAllPagesViewMode();
    m_count->setText(m_pages == 1 ? tr("1 page") : tr("%1 pages").arg(m_pages));
}

void PrintDialog::print() {
    auto* dialog = new QPrintDialog(&m_printer, this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, qOverload<QPrinter*>(&QPrintDialog::accepted), this, [this](QPrinter* printer) {
        m_paint(*printer, m_choice);
        accept();
    });
    dialog->open();
}

bool PrintDialog::printToPdf(const QString& path) {
    QPrinter printer(QPrinter::HighResolution);
    printer.setOutputFormat(QPrinter::PdfFormat);
    printer.setOutputFileName(path);
    printer.setPageSize(m_printer.pageLayout().pageSize());
    setUp(printer, m_choice);
    return m_paint(printer, m_choice) > 0 && QFileInfo(path).size() > 0;
}

void PrintDialog::savePdf() {
    auto* dialog = new QFileDialog(this, tr("Save as PDF"), context::stored(QStringLiteral("files/folder")).toString(), tr("PDF file (*.pdf)"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(QStringLiteral("pdf"));
    connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& path) {
        if (printToPdf(path)) accept();
        else m_count->setText(tr("%1 cannot be written").arg(path));
    });
    dialog->open();
}

}  // namespace sonde::dialogs
