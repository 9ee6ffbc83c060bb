#pragma once

#include <QBrush>
#include <QFont>
#include <QImage>
#include <QPainter>
#include <QPainterPath>
#include <QPen>
#include <QRectF>
#include <QString>
#include <QTransform>

#include <optional>
#include <vector>

namespace sonde::report {

/// A picture that canvas::SvgDevice wrote, for painting on something else: text stays text (QSvgRenderer makes paths of
/// it, which are 20 times as large), and what is outside of a part is left out.
class SvgPicture {
  public:
    /// Nothing if it is no XML, or has an element that the device does not write.
    static std::optional<SvgPicture> read(const std::string& svg);

    const QRectF& viewBox() const { return m_viewBox; }
    /// In the picture's own units; what reaches into `part`.
    void paint(QPainter& painter, const QRectF& part) const;
    /// Where a cut across the picture, between `from` and `to` (y for Qt::Vertical, x for Qt::Horizontal), goes through
    /// the fewest texts and boxes; of equal ones the last. Boxes that are longer than the range are cut anyway, and
    /// lines may be.
    double quietCut(Qt::Orientation along, double from, double to) const;

  private:
    struct Item {
        enum class Kind { Path, Text, Image } kind = Kind::Path;
        QRectF bounds;  ///< in the picture's units
        QTransform transform;
        double opacity = 1;
        QPainterPath path;
        QPen pen = Qt::NoPen;
        QBrush brush;
        QPointF at;
        QString text;
        QFont font;
        QImage image;
        QRectF area;
    };
    friend class SvgReader;

    QRectF m_viewBox;
    std::vector<Item> m_items;
};

}  // namespace sonde::report
