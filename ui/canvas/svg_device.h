#pragma once

#include <QPaintDevice>
#include <QRectF>

#include <memory>

namespace sonde::canvas {

/// A paint device that writes SVG: text as text, shapes as paths, groups with titles, and the same bytes for the same
/// picture (no dates, no version). Knows what scenes are painted with: paths, lines, polygons, text, images, opacity.
class SvgDevice : public QPaintDevice {
  public:
    /// `area` is the view box, in the painter's coordinates; `background` fills it.
    SvgDevice(const QRectF& area, const QColor& background, const QString& title);
    ~SvgDevice() override;

    /// Groups nest; a viewer shows the title as a tool tip, an editor in its list of objects.
    void beginGroup(const QString& title);
    void endGroup();

    /// The whole file; after painting.
    QByteArray data() const;

    QPaintEngine* paintEngine() const override;

  protected:
    int metric(PaintDeviceMetric metric) const override;

  private:
    class Engine;
    QRectF m_area;
    std::unique_ptr<Engine> m_engine;
};

}  // namespace sonde::canvas
