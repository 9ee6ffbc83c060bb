#pragma once

#include <QProxyStyle>

namespace sonde::theme {

/// Fusion with the outlines of this theme: Fusion derives them from the window's colour, where they vanish in the dark.
/// Draws boxes, spin boxes, combo boxes and sliders; everything else stays with Fusion and the style sheet.
class CalmStyle : public QProxyStyle {
    Q_OBJECT
  public:
    CalmStyle();

    void drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                       const QWidget* widget) const override;
    void drawControl(ControlElement element, const QStyleOption* option, QPainter* painter,
                     const QWidget* widget = nullptr) const override;
    void drawComplexControl(ComplexControl control, const QStyleOptionComplex* option, QPainter* painter,
                            const QWidget* widget) const override;
    QRect subElementRect(SubElement element, const QStyleOption* option, const QWidget* widget) const override;
    int pixelMetric(PixelMetric metric, const QStyleOption* option, const QWidget* widget) const override;
    QIcon standardIcon(StandardPixmap which, const QStyleOption* option, const QWidget* widget) const override;
    int styleHint(StyleHint hint, const QStyleOption* option, const QWidget* widget,
                  QStyleHintReturn* returnData) const override;

  private:
    void drawBranch(const QStyleOption* option, QPainter* painter, const QWidget* widget) const;
};

}  // namespace sonde::theme
