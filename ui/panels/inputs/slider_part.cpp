#include "ui/panels/inputs/slider_part.h"

#include <QGridLayout>
#include <QLabel>
#include <QRegularExpression>
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

constexpr int kSliderPlaces = 1000;

struct NumberAt {
    qsizetype begin, length;
};

/// Where the numbers of a text such as "[[1,2.5]]" are; none of a text with anything else in it.
std::vector<NumberAt> numbersIn(const QString& text) {
    static const QRegularExpression number(QStringLiteral(R"([-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?)"));
    static const QRegularExpression between(QStringLiteral(R"(^[\[\],\s]*$)"));
    std::vector<NumberAt> found;
    QString rest;
    qsizetype done = 0;
    for (const QRegularExpressionMatch& match : number.globalMatch(text)) {
        rest += text.mid(done, match.capturedStart() - done);
        done = match.capturedEnd();
        found.push_back({match.capturedStart(), match.capturedLength()});
        if (found.size() > SliderPart::kMaxNumbers) return {};
    }
    rest += text.mid(done);
    return between.match(rest).hasMatch() ? found : std::vector<NumberAt>();
}

/// The next power of ten from which a number is not far.
double roundedUp(double number) {
    const double power = std::pow(10, std::ceil(std::log10(std::max(std::abs(number), 1e-12))));
    for (const double part : {0.2, 0.5, 1.0})
        if (std::abs(number) <= part * power) return part * power;
    return power;
}

}  // namespace

SliderPart::SliderPart(const QString& inputName, QWidget* parent)
    : InputPart(parent), m_name(inputName), m_grid(new QGridLayout(this)), m_range(new QWidget(this)),
      m_lowField(new widgets::NumberField), m_highField(new widgets::NumberField) {
    setObjectName(QStringLiteral("sliders"));
    m_grid->setContentsMargins(0, 0, 0, 0);
    m_grid->setHorizontalSpacing(theme::kTight);
    m_grid->setVerticalSpacing(0);
    m_grid->setColumnStretch(1, 1);
    auto* row = new widgets::FlowLayout(m_range, theme::kSmall, theme::kTight);
    row->setContentsMargins(0, 0, 0, 0);
    row->addWidget(labelled(tr("Slider from"), m_lowField));
    row->addWidget(labelled(tr("to"), m_highField));
    m_lowField->setAccessibleName(tr("Lowest number of the sliders of input %1").arg(m_name));
    m_highField->setAccessibleName(tr("Highest number of the sliders of input %1").arg(m_name));
    for (widgets::NumberField* field : {m_lowField, m_highField}) {
        field->setToolTip(tr("The range of the sliders; it has no effect on the value"));
        connect(field, &widgets::NumberField::stepped, this, &SliderPart::takeRange);
        connect(field, &widgets::NumberField::editingFinished, this, &SliderPart::takeRange);
    }
}

void SliderPart::make(int count) {
    if (static_cast<int>(m_sliders.size()) == count) return;
    for (QSlider* slider : m_sliders) delete slider;
    for (QLabel* label : m_labels) delete label;
    m_sliders.clear();
    m_labels.clear();
    m_grid->removeWidget(m_range);
    for (int i = 0; i < count; ++i) {
        auto* label = new QLabel;
        auto* slider = new QSlider(Qt::Horizontal);
        slider->setObjectName(QStringLiteral("slider%1").arg(i));
        slider->setRange(0, kSliderPlaces);
        slider->setPageStep(kSliderPlaces / 10);
        slider->setSingleStep(kSliderPlaces / 100);
        slider->setAccessibleName(count == 1 ? tr("Value of input %1").arg(m_name)
                                             : tr("Element %1 of input %2").arg(i).arg(m_name));
        slider->setToolTip(tr("Drag to change the number; arrows and Page Up and Down change it too"));
        connect(slider, &QSlider::valueChanged, this, [this, i, slider] { giveAt(i, !slider->isSliderDown()); });
        connect(slider, &QSlider::sliderReleased, this, [this, i] { giveAt(i, true); });
        m_grid->addWidget(label, i, 0);
        m_grid->addWidget(slider, i, 1);
        m_sliders.push_back(slider);
        m_labels.push_back(label);
    }
    m_grid->addWidget(m_range, count, 0, 1, 2);
}

/// It grows with what is given, and never shrinks by itself: a slider under the mouse stays where it is.
void SliderPart::fitRange() {
    const auto [low, high] = std::ranges::minmax(m_numbers);
    if (m_low == m_high) {
        m_low = 0;
        m_high = m_isIntegral ? 10 : 1;
    }
    if (low < m_low) m_low = -roundedUp(low);
    if (high > m_high) m_high = roundedUp(high);
    for (auto [field, number] : {std::pair{m_lowField, m_low}, std::pair{m_highField, m_high}}) {
        field->setIntegral(m_isIntegral);
        if (!(field->hasFocus() && field->isModified())) field->setNumber(QString::number(number, 'g', 12));
    }
}

void SliderPart::refresh(const context::ModelInput& input) {
    m_source = input.spec.source;
    m_isIntegral = input.type.kind == tensor::ValueKind::Int || tensor::isInteger(input.type.dtype);
    const std::string plain(io::withoutNoise(m_source.toStdString()));
    const bool isReal = context::numberFieldOf(input.type) != context::NumberField::Flag &&
                        input.type.dtype != tensor::DType::Bool && input.spec.isNumbers();
    const QString text = context::text(plain);
    const std::vector<NumberAt> found = isReal ? numbersIn(text) : std::vector<NumberAt>();
    setVisible(!found.empty());
    if (found.empty()) return;
    m_numbers.clear();
    for (const NumberAt& at : found) m_numbers.push_back(text.mid(at.begin, at.length).toDouble());
    make(static_cast<int>(found.size()));
    fitRange();
    placeSliders();
    for (std::size_t i = 0; i < found.size(); ++i)
        m_labels[i]->setText(found.size() == 1 ? QString()
                                               : tr("[%1]  %2").arg(i).arg(text.mid(found[i].begin, found[i].length)));
}

void SliderPart::placeSliders() {
    for (std::size_t i = 0; i < m_sliders.size() && i < m_numbers.size(); ++i) {
        const QSignalBlocker quiet(m_sliders[i]);
        if (!m_sliders[i]->isSliderDown()) m_sliders[i]->setValue(placeOf(m_numbers[i]));
    }
}

int SliderPart::placeOf(double number) const {
    return static_cast<int>(std::lround(std::clamp((number - m_low) / (m_high - m_low), 0.0, 1.0) * kSliderPlaces));
}

QString SliderPart::textAt(int place) const {
    const double number = m_low + (m_high - m_low) * place / kSliderPlaces;
    if (m_isIntegral) return QString::number(std::llround(number));
    return QString::number(number, 'g', 6);
}

void SliderPart::giveAt(int index, bool isDone) {
    const std::string whole = m_source.toStdString();
    QString text = context::text(std::string(io::withoutNoise(whole)));
    const std::vector<NumberAt> found = numbersIn(text);
    if (index >= static_cast<int>(found.size())) return;
    const NumberAt at = found[static_cast<std::size_t>(index)];
    text.replace(at.begin, at.length, textAt(m_sliders[static_cast<std::size_t>(index)]->value()));
    const auto noise = io::noiseOf(whole);
    if (noise && *noise) text = context::text(io::withNoise(text.toStdString(), **noise));
    if (text != m_source || isDone) Q_EMIT given(text, isDone);
}

void SliderPart::takeRange() {
    const double low = m_lowField->number().toDouble(), high = m_highField->number().toDouble();
    if (!(low < high) || !std::isfinite(high - low)) return;
    m_low = low;
    m_high = high;
    m_lowField->setNumber(m_lowField->number());  // it is taken: no longer being typed
    m_highField->setNumber(m_highField->number());
    placeSliders();
}

}  // namespace sonde::panels
