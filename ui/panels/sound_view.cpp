#include "ui/panels/sound_view.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <QToolTip>

#include <algorithm>
#include <utility>

#include "ui/theme/color_map.h"
#include "ui/theme/theme.h"

namespace sonde::panels {

using session::SoundPicture;

namespace {

QImage spectrogramOf(const SoundPicture& picture) {
    QImage image(static_cast<int>(picture.columns), static_cast<int>(picture.bins), QImage::Format_RGB32);
    const theme::ColorMap& colours = theme::colorMap(u"viridis");
    for (std::int64_t bin = 0; bin < picture.bins; ++bin) {
        // The lowest frequency is at the bottom.
        auto* const line = reinterpret_cast<QRgb*>(image.scanLine(static_cast<int>(picture.bins - 1 - bin)));
        for (std::int64_t column = 0; column < picture.columns; ++column)
            line[column] = colours.at(1 - picture.at(bin, column) / SoundPicture::kFloor);
    }
    return image;
}

QString hertz(double frequency) {
    return frequency >= 1000 ? QObject::tr("%1 kHz").arg(frequency / 1000, 0, 'g', 3)
                             : QObject::tr("%1 Hz").arg(frequency, 0, 'f', 0);
}

}  // namespace

SoundView::SoundView(QWidget* parent) : QWidget(parent) {
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setAccessibleName(tr("Waveform and spectrogram"));
    setMouseTracking(true);
}

void SoundView::setPicture(SoundPicture picture) {
    m_picture = std::move(picture);
    m_image = m_picture.decibels.empty() ? QImage() : spectrogramOf(m_picture);
    update();
}

QRectF SoundView::waveRect() const { return {0, 0, double(width()), height() * 0.4}; }

QRectF SoundView::spectrogramRect() const {
    const double top = height() * 0.4 + 2;
    return {0, top, double(width()), height() - top};
}

void SoundView::paintWave(QPainter& painter, const QRectF& area) const {
    float most = 0;
    for (const auto& [low, high] : m_picture.wave) most = std::max({most, std::abs(low), std::abs(high)});
    if (!(most > 0)) most = 1;
    const auto count = static_cast<double>(m_picture.wave.size());
    const double middle = area.center().y(), half = area.height() / 2 - 1;
    painter.setPen(theme::color(theme::ColorRole::Border));
    painter.drawLine(QPointF(area.left(), middle), QPointF(area.right(), middle));
    QPolygonF outline;
    for (std::size_t i = 0; i < m_picture.wave.size(); ++i)
        outline << QPointF(area.left() + (static_cast<double>(i) + 0.5) / count * area.width(),
                           middle - m_picture.wave[i].second / most * half);
    for (std::size_t i = m_picture.wave.size(); i-- > 0;)
        outline << QPointF(area.left() + (static_cast<double>(i) + 0.5) / count * area.width(),
                           middle - m_picture.wave[i].first / most * half);
    painter.setPen(QPen(theme::color(theme::ColorRole::Accent), 1));
    painter.setBrush(theme::color(theme::ColorRole::Accent));
    painter.drawPolygon(outline);
}

void SoundView::paintEvent(QPaintEvent*) {
    if (m_picture.wave.empty()) return;
    QPainter painter(this);
    painter.fillRect(waveRect(), theme::color(theme::ColorRole::Base));
    paintWave(painter, waveRect());
    painter.setRenderHint(QPainter::SmoothPixmapTransform);
    painter.drawImage(spectrogramRect(), m_image);
}

QString SoundView::textAt(QPointF place) const {
    if (m_picture.wave.empty() || width() < 1) return {};
    const double part = std::clamp(place.x() / width(), 0.0, 0.9999);
    QString text = m_picture.rate > 0
                       ? tr("%1 s").arg(part * m_picture.seconds(), 0, 'f', m_picture.seconds() < 1 ? 4 : 2)
                       : tr("sample %1").arg(static_cast<qint64>(part * double(m_picture.samples)));
    const QRectF below = spectrogramRect();
    if (!below.contains(place)) {
        const auto& [low, high] = m_picture.wave[static_cast<std::size_t>(part * double(m_picture.wave.size()))];
        return text + tr(": %1 to %2").arg(low, 0, 'g', 3).arg(high, 0, 'g', 3);
    }
    const double height = std::clamp((below.bottom() - place.y()) / below.height(), 0.0, 0.9999);
    const auto bin = static_cast<std::int64_t>(height * double(m_picture.bins));
    const auto column = static_cast<std::int64_t>(part * double(m_picture.columns));
    if (m_picture.rate > 0 && m_picture.bins > 1)
        text += QStringLiteral(", ") +
                hertz(static_cast<double>(bin) * m_picture.rate / (2.0 * static_cast<double>(m_picture.bins - 1)));
    return text + tr(": %1 dB").arg(m_picture.at(bin, column), 0, 'f', 0);
}

bool SoundView::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* const help = static_cast<QHelpEvent*>(event);
        QToolTip::showText(help->globalPos(), textAt(help->pos()), this);
        return true;
    }
    if (event->type() == QEvent::MouseMove) Q_EMIT pointed(textAt(static_cast<QMouseEvent*>(event)->position()));
    if (event->type() == QEvent::Leave) Q_EMIT pointed({});
    return QWidget::event(event);
}

}  // namespace sonde::panels
