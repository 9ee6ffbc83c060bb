#include "ui/report/svg_picture.h"

#include <QFontMetricsF>
#include <QRegularExpression>
#include <QXmlStreamReader>

#include <algorithm>
#include <functional>

#include "ui/canvas/canvas_style.h"

namespace sonde::report {

namespace {

QList<double> numbersOf(QStringView text) {
    QList<double> numbers;
    for (qsizetype at = 0; at < text.size();) {
        while (at < text.size() && (text[at] == u' ' || text[at] == u',')) ++at;
        qsizetype end = at;
        while (end < text.size() && text[end] != u' ' && text[end] != u',') ++end;
        if (end > at) numbers << text.mid(at, end - at).toDouble();
        at = end;
    }
    return numbers;
}

/// "M0 0L1 1C1 2 3 4 5 6": commands with absolute places.
QPainterPath pathOf(QStringView data) {
    QPainterPath path;
    for (qsizetype at = 0; at < data.size();) {
        const QChar command = data[at++];
        qsizetype end = at;
        while (end < data.size() && !data[end].isLetter()) ++end;
        // "1e-05" has a letter, but the device writes hundredths.
        const QList<double> n = numbersOf(data.mid(at, end - at));
        if (command == u'M' && n.size() == 2) path.moveTo(n[0], n[1]);
        else if (command == u'L' && n.size() == 2) path.lineTo(n[0], n[1]);
        else if (command == u'C' && n.size() == 6) path.cubicTo(n[0], n[1], n[2], n[3], n[4], n[5]);
        else if (command == u'Z') path.closeSubpath();
        at = end;
    }
    return path;
}

double numberOf(const QXmlStreamAttributes& attributes, const char* name, double otherwise = 0) {
    const QStringView text = attributes.value(QLatin1String(name));
    return text.isEmpty() ? otherwise : text.toDouble();
}

QRectF areaOf(const QXmlStreamAttributes& attributes) {
    return {numberOf(attributes, "x"), numberOf(attributes, "y"), numberOf(attributes, "width"),
            numberOf(attributes, "height")};
}

/// Invalid: "none", or not given.
QColor colorOf(const QXmlStreamAttributes& attributes, const QString& name) {
    QColor color(attributes.value(name).toString());
    if (color.isValid()) color.setAlphaF(static_cast<float>(numberOf(attributes, qPrintable(name + "-opacity"), 1)));
    return color;
}

QTransform transformOf(const QXmlStreamAttributes& attributes) {
    const QString text = attributes.value(QLatin1String("transform")).toString();
    if (!text.startsWith(QLatin1String("matrix("))) return {};
    const QList<double> n = numbersOf(QStringView(text).mid(7, text.size() - 8));
    return n.size() == 6 ? QTransform(n[0], n[1], n[2], n[3], n[4], n[5]) : QTransform();
}

}  // namespace

class SvgReader {
  public:
    explicit SvgReader(const std::string& svg) : m_xml(QByteArray::fromStdString(svg)) {}

    std::optional<SvgPicture> read() {
        while (!m_xml.atEnd()) {
            if (m_xml.readNext() != QXmlStreamReader::StartElement) continue;
            if (!readElement()) return std::nullopt;
        }
        if (m_xml.hasError() || m_picture.m_viewBox.isEmpty()) return std::nullopt;
        return std::move(m_picture);
    }

  private:
    using Item = SvgPicture::Item;

    bool readElement() {
        const QString name = m_xml.name().toString();
        const QXmlStreamAttributes attributes = m_xml.attributes();
        if (name == QLatin1String("svg")) {
            const QList<double> box = numbersOf(attributes.value(QLatin1String("viewBox")));
            if (box.size() == 4) m_picture.m_viewBox = {box[0], box[1], box[2], box[3]};
            return box.size() == 4;
        }
        if (name == QLatin1String("g")) return true;
        if (name == QLatin1String("title")) {
            m_xml.skipCurrentElement();
            return true;
        }
        Item item;
        item.transform = transformOf(attributes);
        item.opacity = numberOf(attributes, "opacity", 1);
        if (name == QLatin1String("text")) readText(item, attributes);
        else if (name == QLatin1String("image")) readImage(item, attributes);
        else if (name == QLatin1String("path") || name == QLatin1String("rect")) readShape(item, attributes, name);
        else return false;
        item.bounds = item.transform.mapRect(item.bounds);
        m_picture.m_items.push_back(std::move(item));
        return true;
    }

    static void readShape(Item& item, const QXmlStreamAttributes& attributes, const QString& name) {
        if (name == QLatin1String("rect")) item.path.addRect(areaOf(attributes));
        else item.path = pathOf(attributes.value(QLatin1String("d")));
        if (const QColor fill = colorOf(attributes, QStringLiteral("fill")); fill.isValid()) item.brush = fill;
        if (const QColor stroke = colorOf(attributes, QStringLiteral("stroke")); stroke.isValid()) {
            item.pen = QPen(stroke, numberOf(attributes, "stroke-width", 1));
            item.pen.setCapStyle(attributes.hasAttribute(QLatin1String("stroke-linecap")) ? Qt::RoundCap : Qt::FlatCap);
            item.pen.setJoinStyle(attributes.hasAttribute(QLatin1String("stroke-linejoin")) ? Qt::RoundJoin
                                                                                            : Qt::MiterJoin);
            if (attributes.hasAttribute(QLatin1String("stroke-dasharray"))) item.pen.setDashPattern({4, 2});
        }
        const double around = item.pen.widthF();
        item.bounds = item.path.boundingRect().adjusted(-around, -around, around, around);
    }

    void readText(Item& item, const QXmlStreamAttributes& attributes) {
        item.kind = Item::Kind::Text;
        item.at = {numberOf(attributes, "x"), numberOf(attributes, "y")};
        item.pen = QPen(colorOf(attributes, QStringLiteral("fill")));
        item.font = canvas::canvasFont(canvas::TextRole::Body, 1);
        item.font.setPixelSize(std::max(1, qRound(numberOf(attributes, "font-size", 11))));
        if (attributes.hasAttribute(QLatin1String("font-weight"))) item.font.setBold(true);
        item.font.setLetterSpacing(QFont::AbsoluteSpacing, 0.02);  // no ligatures, as on the pages
        item.text = m_xml.readElementText(QXmlStreamReader::SkipChildElements);
        const double size = item.font.pixelSize();
        item.bounds = {item.at.x(), item.at.y() - size, size * static_cast<double>(item.text.size()), 1.5 * size};
    }

    static void readImage(Item& item, const QXmlStreamAttributes& attributes) {
        item.kind = Item::Kind::Image;
        item.area = areaOf(attributes);
        const QString data = attributes.value(QLatin1String("href")).toString();
        item.image = QImage::fromData(QByteArray::fromBase64(data.section(u',', 1).toLatin1()), "PNG");
        item.bounds = item.area;
    }

    QXmlStreamReader m_xml;
    SvgPicture m_picture;
};

std::optional<SvgPicture> SvgPicture::read(const std::string& svg) { return SvgReader(svg).read(); }

double SvgPicture::quietCut(Qt::Orientation along, double from, double to) const {
    struct Span {
        double begin, end;
    };
    constexpr double kAround = 2;
    std::vector<Span> spans;
    std::vector<double> places{to};
    for (const Item& item : m_items) {
        if (item.kind == Item::Kind::Path && item.brush.style() == Qt::NoBrush) continue;
        const Span span = along == Qt::Vertical ? Span{item.bounds.top(), item.bounds.bottom()}
                                                : Span{item.bounds.left(), item.bounds.right()};
        if (span.end < from || span.begin > to || span.end - span.begin > to - from) continue;
        spans.push_back(span);
        for (const double place : {span.begin - kAround, span.end + kAround})
            if (place > from && place < to) places.push_back(place);
    }
    std::ranges::sort(places, std::greater());
    double best = to;
    std::size_t fewest = spans.size() + 1;
    for (const double place : places) {
        const auto cut = static_cast<std::size_t>(
            std::ranges::count_if(spans, [place](const Span& span) { return span.begin < place && place < span.end; }));
        if (cut >= fewest) continue;
        fewest = cut;
        best = place;
    }
    return best;
}

void SvgPicture::paint(QPainter& painter, const QRectF& part) const {
    const QTransform whole = painter.transform();
    for (const Item& item : m_items) {
        // A line has no area, and intersects nothing for QRectF.
        if (!item.bounds.adjusted(-0.5, -0.5, 0.5, 0.5).intersects(part)) continue;
        painter.setTransform(item.transform * whole);
        painter.setOpacity(item.opacity);
        painter.setPen(item.pen);
        painter.setBrush(item.brush);
        if (item.kind == Item::Kind::Path) {
            painter.drawPath(item.path);
        } else if (item.kind == Item::Kind::Text) {
            painter.setFont(item.font);
            painter.drawText(item.at, item.text);
        } else {
            painter.drawImage(item.area, item.image);
        }
    }
    painter.setTransform(whole);
    painter.setOpacity(1);
}

}  // namespace sonde::report
