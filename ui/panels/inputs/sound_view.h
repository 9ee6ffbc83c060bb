#pragma once

#include <QImage>
#include <QWidget>

#include "core/session/sound/sound_picture.h"

namespace sonde::panels {

/// Waveform above, spectrogram below, over the same time.
class SoundView : public QWidget {
    Q_OBJECT
  public:
    explicit SoundView(QWidget* parent = nullptr);

    void setPicture(session::SoundPicture picture);
    const session::SoundPicture& picture() const { return m_picture; }

    QSize sizeHint() const override { return {240, 132}; }
    QSize minimumSizeHint() const override { return {120, 132}; }

  protected:
    void paintEvent(QPaintEvent* event) override;
    bool event(QEvent* event) override;

  private:
    QRectF waveRect() const;
    QRectF spectrogramRect() const;
    QString textAt(QPointF place) const;
    void paintWave(QPainter& painter, const QRectF& area) const;

    session::SoundPicture m_picture;
    QImage m_image;  ///< the spectrogram, a pixel for each window and frequency
};

}  // namespace sonde::panels
