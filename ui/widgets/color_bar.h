#pragma once

#include <QWidget>

#include <optional>

#include "ui/theme/color_map.h"
#include "ui/widgets/value_scale.h"

namespace sonde::widgets {

/// The legend of a heat map: the ramp with ticks, its ends, and the patterns of NaN and Inf where they occur.
class ColorBar : public QWidget {
    Q_OBJECT
  public:
    explicit ColorBar(QWidget* parent = nullptr);

    void setScale(const ValueScale& scale);
    void setColorMap(const theme::ColorMap& map);
    /// Whether swatches for NaN and for ±Inf are under the ramp.
    void setBadShown(bool nan, bool inf);
    /// Marks one value on the ramp: that under the pointer. Nothing for none.
    void setMark(std::optional<double> value);

    /// Numbers at which ticks stand: round ones, the largest few that fit into `height` pixels.
    static QList<double> ticks(const ValueScale& scale, int height, int lineHeight);

    QSize sizeHint() const override;
    /// Room for the numbers that there are; sizeHint() has some for any.
    QSize minimumSizeHint() const override;

  protected:
    void paintEvent(QPaintEvent* event) override;

  private:
    QRect rampRect() const;

    ValueScale m_scale;
    const theme::ColorMap* m_map;
    bool m_nan = false, m_inf = false;
    std::optional<double> m_mark;
};

}  // namespace sonde::widgets
