// Of the viewer: elements that are seen as other numbers than those that are stored.

#include <QComboBox>
#include <QSignalBlocker>
#include <QStackedWidget>
#include <QToolButton>

#include <algorithm>
#include <stop_token>
#include <string_view>
#include <utility>

#include "core/analysis/element_readings.h"
#include "ui/context/window_hint.h"
#include "ui/panels/tensor_viewer/tensor_viewer.h"
#include "ui/widgets/empty_state.h"

namespace sonde::panels {
namespace {

/// Up to this many elements the numbers are there before a worker would have begun.
constexpr std::int64_t kReadAtOnce = 32768;
/// A few complex numbers are read best as they are written.
constexpr std::int64_t kFewNumbers = 16;

QString textOf(std::string_view from) { return QString::fromUtf8(from.data(), static_cast<qsizetype>(from.size())); }

}  // namespace

void TensorViewer::setQuantization(std::optional<analysis::Quantization> quantization) {
    m_quantization = std::move(quantization);
}

const analysis::Quantization* TensorViewer::quantization() const {
    const bool isQuantized = m_quantization && m_stored.defined() && analysis::isQuantizedType(m_stored.dtype());
    return isQuantized ? &*m_quantization : nullptr;
}

QString TensorViewer::reading() const {
    const auto chosen = m_readings.constFind(m_storedKey);
    if (chosen != m_readings.constEnd()) {
        const auto all = analysis::readingsOf(m_stored, quantization());
        return std::ranges::any_of(all, [&](const auto* one) { return textOf(one->id) == *chosen; }) ? *chosen
                                                                                                     : QString();
    }
    const bool isComplex = m_stored.defined() && tensor::isComplex(m_stored.dtype());
    return isComplex && m_stored.numel() > kFewNumbers ? QStringLiteral("magnitude") : QString();
}

void TensorViewer::setReading(const QString& id) {
    m_readings[m_storedKey] = id;
    showStored();
}

void TensorViewer::offerReadings() {
    const QSignalBlocker quiet(m_readingBox);
    m_readingBox->clear();
    m_readingBox->addItem(tr("As stored"), QString());
    for (const analysis::ElementReading* one : analysis::readingsOf(m_stored, quantization())) {
        m_readingBox->addItem(textOf(one->title), textOf(one->id));
        m_readingBox->setItemData(m_readingBox->count() - 1, textOf(one->description), Qt::ToolTipRole);
    }
    m_readingBox->setCurrentIndex(std::max(0, m_readingBox->findData(reading())));
    m_readingBox->setVisible(m_hasControls && m_readingBox->count() > 1);
}

void TensorViewer::showTensor(const QString& key, const tensor::Tensor& tensor) {
    m_storedKey = key;
    m_stored = tensor;
    showStored();
}

void TensorViewer::showStored() {
    m_readingJob.abandon();
    offerReadings();
    const QString how = reading();
    m_shown.isEditable = m_isStoredEditable && how.isEmpty();
    m_edit->setEnabled(m_shown.isEditable);
    if (how.isEmpty()) return showElements(m_storedKey, m_stored);
    const auto read = [tensor = m_stored, id = how.toStdString(), by = m_quantization](const std::stop_token& stop) {
        return analysis::readElements(tensor, id, by ? &*by : nullptr, stop);
    };
    if (m_stored.numel() <= kReadAtOnce) return takeReading(read({}));
    showNothing(tr("Computing"), m_readingBox->currentText());
    m_readingJob.start([read](const base::WorkContext& work) { return read(work.stop); },
                       [this](base::Result<tensor::Tensor> made) { takeReading(std::move(made)); });
}

void TensorViewer::takeReading(base::Result<tensor::Tensor> made) {
    if (made) return showElements(m_storedKey + QStringLiteral(" \u00b7 ") + reading(), *made);
    showNothing(QString::fromStdString(made.error().what), context::windowHint(made.error().hint));
}

/// In place of the elements.
void TensorViewer::showNothing(const QString& what, const QString& hint) {
    m_statsJob.abandon();
    m_shown.tensor = {};
    m_shown.stats.reset();
    m_key.clear();
    m_nothing->setContent(QStringLiteral("tensor"), what, hint);
    m_stack->setCurrentWidget(m_nothing);
    m_place->show();
    refreshStatistics();
    Q_EMIT shownChanged();
}

/// "as phase: float32[3,4]" and "scale 0.5, zero point 128", behind the type that the value has.
QStringList TensorViewer::readingText() const {
    QStringList parts;
    if (!reading().isEmpty())
        parts << tr("as %1: %2")
                     .arg(m_readingBox->currentText().toLower(), QString::fromStdString(m_shown.tensor.typeText()));
    if (const auto* by = quantization()) parts << QString::fromStdString(analysis::quantizationText(*by));
    return parts;
}

}  // namespace sonde::panels
