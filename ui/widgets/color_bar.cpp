#include "ui/widgets/color_bar.h"

#include <QPainter>
#include <QStringList>

#include <algorithm>
#include <cmath>

#include "ui/theme/theme.h"
#include "ui/widgets/bad_value.h"
#include "ui/widgets/number_text.h"

namespace sonde::widgets {
namespace {

constexpr int kRampWidth = 14;
constexpr int kTickLength = 4;
constexpr int kDigits = 4;  ///< of its numbers
constexpr QStringView kNan = u"NaN", kInf = u"±Inf";

}  // namespace

ColorBar::ColorBar(QWidget* parent) : QWidget(parent), m_map(&theme::colorMaps().front()) {
    setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Expanding);
    setAccessibleName(tr("Colour scale"));
    connect(&theme::Theme::instance(), &theme::Theme::changed, this, [this] { update(); });
}

void ColorBar::setScale(const ValueScale& scale) {
    m_scale = scale;
    setAccessibleDescription(tr("from %1 to %2").arg(numberText(scale.low), numberText(scale.high)));
    updateGeometry();
    update();
}

void ColorBar::setColorMap(const theme::ColorMap& map) {
    m_map = &map;
    update();
}

void ColorBar::setBadShown(bool nan, bool inf) {
    m_nan = nan;
    m_inf = inf;
    updateGeometry();
    update();
}

void ColorBar::setMark(std::optional<double> value) {
    m_mark = value;
    update();
}

QSize ColorBar::sizeHint() const {
    return {kRampWidth + kTickLength + fontMetrics().horizontalAdvance(QStringLiteral("-0.00000e-00")) + 8, 200};
}

QSize ColorBar::minimumSizeHint() const {
    constexpr int kHeight = 80;
    QStringList texts;
    for (const double value : ticks(m_scale, sizeHint().height(), fontMetrics().height()))
        texts << numberText(value, kDigits);
    if (m_nan) texts << kNan.toString();
    if (m_inf) texts << kInf.toString();
    int widest = 0;
    for (const QString& text : texts) widest = std::max(widest, fontMetrics().horizontalAdvance(text));
    return {std::min(rampRect().right() + kTickLength + 5 + widest + 1, sizeHint().width()), kHeight};
}

QList<double> ColorBar::ticks(const ValueScale& scale, int height, int lineHeight) {
    QList<double> found{scale.low, scale.high};
    if (!(scale.high > scale.low)) return {scale.low};
    const int room = std::max(1, height / std::max(1, lineHeight * 2));
    const auto farFromAll = [&](double value) {
        const double at = scale.toUnit(value) * height;
        for (double other : found)
            if (std::abs(scale.toUnit(other) * height - at) < lineHeight * 1.25) return false;
        return true;
    };
    if (scale.logarithmic) {
        for (int exponent = 12; exponent >= -12; --exponent)
            for (double value : {std::pow(10.0, exponent), -std::pow(10.0, exponent)})
                if (value > scale.low && value < scale.high && farFromAll(value)) found << value;
        if (scale.low < 0 && scale.high > 0 && farFromAll(0.0)) found << 0.0;
        return found;
    }
    // Steps of 1, 2 or 5 times a power of ten.
    const double rough = (scale.high - scale.low) / room;
    const double power = std::pow(10.0, std::floor(std::log10(rough)));
    double step = power * 10;
    for (double factor : {1.0, 2.0, 5.0})
        if (power * factor >= rough) {
            step = power * factor;
            break;
        }
    const double first = std::ceil(scale.low / step);
    for (int i = 0; i < 100; ++i) {
        const double value = (first + i) * step;
        if (!(value < scale.high)) break;
        if (farFromAll(value)) found << (std::abs(value) < step * 1e-9 ? 0.0 : value);
    }
    return found;
}

QRect ColorBar::rampRect() const {
    const int half = fontMetrics().height() / 2;
    const int below = (m_nan + m_inf) * (fontMetrics().height() + theme::kTight);
    return {2, half + 1, kRampWidth, std::max(10, height() - 2 * half - 2 - below)};
}

void ColorBar::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const QRect ramp = rampRect();
    QImage strip(1, ramp.height(), QImage::Format_RGB32);
    for (int y = 0; y < ramp.height(); ++y) strip.setPixel(0, y, m_map->at(1.0 - (y + 0.5) / ramp.height()));
    painter.drawImage(ramp, strip);
    painter.setPen(theme::color(theme::ColorRole::PlotAxis));
    painter.drawRect(ramp.adjusted(-1, -1, 0, 0));

    const QColor labels = theme::color(theme::ColorRole::PlotLabel);
    const int line = fontMetrics().height();
    for (double value : ticks(m_scale, ramp.height(), line)) {
        const int y = ramp.bottom() - qRound(std::clamp(m_scale.toUnit(value), 0.0, 1.0) * (ramp.height() - 1));
        painter.setPen(theme::color(theme::ColorRole::PlotAxis));
        painter.drawLine(ramp.right() + 2, y, ramp.right() + 1 + kTickLength, y);
        painter.setPen(labels);
        painter.drawText(QRect(ramp.right() + kTickLength + 5, y - line / 2, width(), line),
                         Qt::AlignLeft | Qt::AlignVCenter, numberText(value, kDigits));
    }
    if (m_mark && std::isfinite(*m_mark)) {
        const int y = ramp.bottom() - qRound(std::clamp(m_scale.toUnit(*m_mark), 0.0, 1.0) * (ramp.height() - 1));
        painter.setPen(QPen(theme::color(theme::ColorRole::Text), 1));
        painter.setBrush(theme::color(theme::ColorRole::Panel));
        painter.drawRect(ramp.left() - 2, y - 2, ramp.width() + 2, 4);
    }
    int y = ramp.bottom() + line / 2 + theme::kTight;
    const auto swatch = [&](bool shown, BadValue bad, const QString& text) {
        if (!shown) return;
        fillBad(painter, QRect(ramp.left(), y, ramp.width(), line - 2), bad);
        painter.setPen(labels);
        painter.drawText(QRect(ramp.right() + kTickLength + 5, y - 1, width(), line), Qt::AlignLeft | Qt::AlignVCenter,
                         text);
        y += line + theme::kTight;
    };
    swatch(m_nan, BadValue::NaN, kNan.toString());
    swatch(m_inf, BadValue::PlusInf, kInf.toString());
}

}  // namespace sonde::widgets
