#include "ui/panels/inputs/noise_part.h"

#include <QSignalBlocker>
#include <QSlider>

#include <algorithm>
#include <cmath>

#include "core/io/inputs/noise.h"
#include "ui/context/input_spec.h"
#include "ui/context/text.h"
#include "ui/theme/theme.h"
#include "ui/widgets/flow_layout.h"
#include "ui/widgets/number_field.h"

namespace sonde::panels {

namespace {

constexpr int kPlaces = 200;
constexpr int kSliderWidth = 100;

/// Small amplitudes have more room: half of the slider is a quarter of the end.
double amplitudeAt(int place, double most) {
    const double part = static_cast<double>(place) / kPlaces;
    return std::round(part * part * most * 1e4) / 1e4;
}

int placeOf(double amplitude, double most) {
    return static_cast<int>(std::lround(std::sqrt(std::clamp(amplitude / most, 0.0, 1.0)) * kPlaces));
}

}  // namespace

NoisePart::NoisePart(const QString& inputName, QWidget* parent)
    : InputPart(parent), m_slider(new QSlider(Qt::Horizontal)), m_amplitude(new widgets::NumberField),
      m_seed(new widgets::NumberField) {
    setObjectName(QStringLiteral("noise"));
    auto* row = new widgets::FlowLayout(this, theme::kSmall, theme::kTight);
    row->setContentsMargins(0, 0, 0, 0);
    m_slider->setRange(0, kPlaces);
    m_slider->setPageStep(kPlaces / 10);
    m_slider->setObjectName(QStringLiteral("noiseSlider"));
    m_slider->setToolTip(tr("Amplitude of the noise that is added to the value; 0: none"));
    m_slider->setAccessibleName(tr("Noise on input %1").arg(inputName));
    m_amplitude->setIntegral(false);
    m_amplitude->setObjectName(QStringLiteral("noiseAmplitude"));
    m_amplitude->setToolTip(m_slider->toolTip());
    m_amplitude->setAccessibleName(tr("Amplitude of the noise on input %1").arg(inputName));
    m_seed->setObjectName(QStringLiteral("noiseSeed"));
    m_seed->setToolTip(tr("Seed of the noise: the same seed gives the same numbers"));
    m_seed->setAccessibleName(tr("Seed of the noise on input %1").arg(inputName));
    m_slider->setMinimumWidth(kSliderWidth);
    row->addWidget(labelled(tr("Noise ±"), m_amplitude));
    row->addWidget(m_slider);
    row->addWidget(labelled(tr("Seed"), m_seed));
    connect(m_slider, &QSlider::valueChanged, this,
            [this](int place) { giveSlider(place, !m_slider->isSliderDown()); });
    connect(m_slider, &QSlider::sliderReleased, this, [this] { giveSlider(m_slider->value(), true); });
    for (widgets::NumberField* field : {m_amplitude, m_seed}) {
        connect(field, &widgets::NumberField::stepped, this, &NoisePart::giveTyped);
        connect(field, &widgets::NumberField::editingFinished, this, [this, field] {
            if (field->isModified()) giveTyped();
        });
    }
}

void NoisePart::refresh(const context::ModelInput& input) {
    m_source = input.spec.source;
    const auto noise = io::noiseOf(m_source.toStdString());
    setVisible(!m_source.isEmpty() && io::takesNoise(input.type) && noise);
    if (!noise) return;
    const io::Noise shown = noise->value_or(io::Noise());
    m_most = std::max(m_most, shown.amplitude);
    if (!m_slider->isSliderDown()) {
        const QSignalBlocker quiet(m_slider);
        m_slider->setValue(placeOf(shown.amplitude, m_most));
    }
    const auto show = [](widgets::NumberField* field, const QString& number) {
        if (!(field->hasFocus() && field->isModified())) field->setNumber(number);
    };
    show(m_amplitude, QString::number(shown.amplitude));
    // Without noise the seed is only that of what comes.
    if (*noise || !m_seed->isModified()) show(m_seed, QString::number(shown.seed));
}

void NoisePart::giveSlider(int place, bool isDone) {
    give(amplitudeAt(place, m_most), m_seed->number().toULongLong(), isDone);
}

void NoisePart::giveTyped() {
    give(std::max(m_amplitude->number().toDouble(), 0.0), m_seed->number().toULongLong(), true);
}

void NoisePart::give(double amplitude, quint64 seed, bool isDone) {
    if (!std::isfinite(amplitude)) return;
    Q_EMIT given(context::text(io::withNoise(m_source.toStdString(), {amplitude, seed})), isDone);
}

}  // namespace sonde::panels
