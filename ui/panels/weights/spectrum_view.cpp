#include "ui/panels/weights/spectrum_view.h"

#include <QCheckBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QVBoxLayout>

#include "core/session/weights/weights.h"
#include "ui/theme/theme.h"
#include "ui/widgets/labels.h"
#include "ui/widgets/line_plot.h"
#include "ui/widgets/number_text.h"

namespace sonde::panels {

SpectrumView::SpectrumView(QWidget* parent)
    : QWidget(parent), m_name(new widgets::ElidedLabel({}, this)), m_text(new QLabel(this)),
      m_readOut(new QLabel(this)), m_logarithmic(new QCheckBox(tr("Logarithmic"), this)),
      m_plot(new widgets::LinePlot(this)) {
    setObjectName(QStringLiteral("spectrum"));
    m_text->setObjectName(QStringLiteral("spectrumText"));
    m_text->setWordWrap(true);
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_text->setToolTip(
        tr("Effective rank: exp(\u2212\u03a3 p\u00b7ln p), p = \u03c3 / \u03a3\u03c3 (Roy and Vetterli 2007)\n"
           "Stable rank: \u2016A\u2016\u00b2 / \u03c3\u2081\u00b2 (Rudelson and Vershynin 2007)\n"
           "Numerical rank: count of \u03c3 above \u03c3\u2081\u00b7max(rows, columns)\u00b72\u207b\u00b2\u00b3\n"
           "Above 4,096 rows and columns: the 256 largest \u03c3 by a randomised projection "
           "(Halko, Martinsson, Tropp 2011)"));
    m_plot->setAccessibleName(tr("Singular values, largest first"));
    m_logarithmic->setToolTip(tr("Heights by the logarithm of the singular value"));
    auto* top = new QHBoxLayout;
    top->addWidget(m_name, 1);
    top->addWidget(m_readOut);
    top->addWidget(m_logarithmic);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(theme::kSmall, theme::kTight, theme::kSmall, theme::kTight);
    column->setSpacing(theme::kTight);
    column->addLayout(top);
    column->addWidget(m_text);
    column->addWidget(m_plot, 1);
    connect(m_logarithmic, &QCheckBox::toggled, this, &SpectrumView::applyScale);
    connect(m_plot, &widgets::LinePlot::cellHovered, this, [this](qint64, qint64 index, double) { showValue(index); });
    setMessage({});
}

QString SpectrumView::text() const { return m_text->text(); }
QString SpectrumView::readOut() const { return m_readOut->text(); }

void SpectrumView::setMessage(const QString& text) {
    m_spectrum.reset();
    m_name->setText({});
    m_text->setText(text);
    m_readOut->clear();
    for (QWidget* widget : {static_cast<QWidget*>(m_plot), static_cast<QWidget*>(m_logarithmic)}) widget->hide();
}

void SpectrumView::setSpectrum(const QString& name, const analysis::Spectrum& spectrum) {
    m_spectrum = std::make_shared<const analysis::Spectrum>(spectrum);
    m_name->setText(tr("%1 as %2 \u00d7 %3 (%4)")
                        .arg(name, widgets::countText(spectrum.rows), widgets::countText(spectrum.cols),
                             QString::fromStdString(spectrum.matrix)));
    m_text->setText(QString::fromStdString(session::spectrumText(spectrum)));
    m_readOut->clear();
    m_plot->setField(1, static_cast<qint64>(spectrum.values.size()), [kept = m_spectrum](qint64, qint64 index) {
        return kept->values[static_cast<std::size_t>(index)];
    });
    applyScale();
    for (QWidget* widget : {static_cast<QWidget*>(m_plot), static_cast<QWidget*>(m_logarithmic)}) widget->show();
}

void SpectrumView::applyScale() {
    if (!m_spectrum || m_spectrum->values.empty()) return;
    m_plot->setScale({0.0, m_spectrum->values.front(), m_logarithmic->isChecked()});
}

void SpectrumView::showValue(qint64 index) {
    if (!m_spectrum || index < 0 || index >= static_cast<qint64>(m_spectrum->values.size())) return m_readOut->clear();
    double known = 0;
    for (qint64 i = 0; i <= index; ++i)
        known += m_spectrum->values[static_cast<std::size_t>(i)] * m_spectrum->values[static_cast<std::size_t>(i)];
    const double share = m_spectrum->squares > 0 ? 100 * known / m_spectrum->squares : 0;
    m_readOut->setText(tr("\u03c3 %1 = %2, %3 % of \u2016A\u2016\u00b2 up to here")
                           .arg(widgets::countText(index + 1),
                                widgets::numberText(m_spectrum->values[static_cast<std::size_t>(index)], 4),
                                QString::number(share, 'f', 1)));
}

}  // namespace sonde::panels
