#pragma once

#include <QImage>
#include <QWidget>

#include "core/session/sound/sound_picture.h"

namespace sonde::panels {

/// Waveform above, spectrogram below, over the same time. What is under the pointer is told by a tool tip.
class SoundView : public QWidget {
    Q_OBJECT
  public:
    explicit SoundView(QWidget* parent = nullptr);

    void setPicture(session::SoundPicture picture);
    const session::SoundPicture& picture() const { return m_picture; }

    /// "0.52 s, 1.2 kHz: -31 dB": of a place in the widget.
    QString textAt(QPointF place) const;

    QSize sizeHint() const override { return {240, 132}; }
    QSize minimumSizeHint() const override { return {120, 132}; }

  Q_SIGNALS:
    /// The pointer is there; empty: it has left.
    void pointed(const QString& text);

  protected:
    void paintEvent(QPaintEvent* event) override;
    bool event(QEvent* event) override;

  private:
    QRectF waveRect() const;
    QRectF spectrogramRect() const;
    void paintWave(QPainter& painter, const QRectF& area) const;

    session::SoundPicture m_picture;
    QImage m_image;  ///< the spectrogram, a pixel for each window and frequency
};

}  // namespace sonde::panels
