#include "ui/canvas/svg_device.h"

#include <QBuffer>
#include <QFont>
#include <QImage>
#include <QPaintEngine>
#include <QPainterPath>
#include <QPen>

#include <cmath>

namespace sonde::canvas {
namespace {

QByteArray number(double value) {
    // Hundredths of a unit are finer than any screen; fewer digits make smaller files.
    QByteArray text = QByteArray::number(std::round(value * 100) / 100, 'f', 2);
    while (text.endsWith('0')) text.chop(1);
    if (text.endsWith('.')) text.chop(1);
    return text == "-0" ? QByteArray("0") : text;
}

QByteArray escaped(const QString& text) {
    QString clean;
    for (const QChar c : text) {
        // Characters that XML does not allow at all.
        if (c.unicode() < 0x20 && c != u'\t' && c != u'\n') continue;
        if (c.unicode() == 0xfffe || c.unicode() == 0xffff) continue;
        clean += c;
    }
    return clean.toHtmlEscaped().toUtf8();
}

QByteArray pathData(const QPainterPath& path) {
    QByteArray out;
    for (int i = 0; i < path.elementCount(); ++i) {
        const QPainterPath::Element e = path.elementAt(i);
        switch (e.type) {
            case QPainterPath::MoveToElement: out += 'M' + number(e.x) + ' ' + number(e.y); break;
            case QPainterPath::LineToElement: out += 'L' + number(e.x) + ' ' + number(e.y); break;
            case QPainterPath::CurveToElement: out += 'C' + number(e.x) + ' ' + number(e.y); break;
            case QPainterPath::CurveToDataElement: out += ' ' + number(e.x) + ' ' + number(e.y); break;
        }
    }
    return out;
}

QByteArray paint(const char* attribute, const QColor& color) {
    QByteArray out = QByteArray(" ") + attribute + "=\"" + color.name().toLatin1() + '"';
    if (color.alpha() < 255) out += QByteArray(" ") + attribute + "-opacity=\"" + number(color.alphaF()) + '"';
    return out;
}

}  // namespace

class SvgDevice::Engine : public QPaintEngine {
  public:
    Engine() : QPaintEngine(AllFeatures & ~(PatternTransform | PerspectiveTransform)) {}

    bool begin(QPaintDevice*) override { return true; }
    bool end() override { return true; }
    Type type() const override { return User; }
    void updateState(const QPaintEngineState& state) override {
        if (state.state() & DirtyPen) m_pen = state.pen();
        if (state.state() & DirtyBrush) m_brush = state.brush();
        if (state.state() & DirtyFont) m_font = state.font();
        if (state.state() & DirtyTransform) m_transform = state.transform();
        if (state.state() & DirtyOpacity) m_opacity = state.opacity();
    }

    void drawPath(const QPainterPath& path) override { element(path, true); }
    void drawPolygon(const QPointF* points, int count, PolygonDrawMode mode) override {
        QPainterPath path;
        path.addPolygon(QPolygonF(QList<QPointF>(points, points + count)));
        if (mode != PolylineMode) path.closeSubpath();
        element(path, mode != PolylineMode);
    }
    void drawLines(const QLineF* lines, int count) override {
        QPainterPath path;
        for (int i = 0; i < count; ++i) {
            path.moveTo(lines[i].p1());
            path.lineTo(lines[i].p2());
        }
        element(path, false);
    }
    void drawRects(const QRectF* rects, int count) override {
        QPainterPath path;
        for (int i = 0; i < count; ++i) path.addRect(rects[i]);
        element(path, true);
    }
    void drawEllipse(const QRectF& area) override {
        QPainterPath path;
        path.addEllipse(area);
        element(path, true);
    }
    void drawPoints(const QPointF* points, int count) override {
        QPainterPath path;
        for (int i = 0; i < count; ++i) {
            path.moveTo(points[i]);
            path.lineTo(points[i] + QPointF(0.01, 0));
        }
        element(path, false);
    }
    void drawTextItem(const QPointF& place, const QTextItem& item) override {
        const QFont font = item.font();
        m_out += "<text x=\"" + number(place.x()) + "\" y=\"" + number(place.y()) + "\" font-size=\"" +
                 QByteArray::number(font.pixelSize()) + '"';
        if (font.bold()) m_out += " font-weight=\"bold\"";
        m_out += paint("fill", m_pen.color()) + opacity() + transform() + '>' + escaped(item.text()) + "</text>\n";
    }
    void drawImage(const QRectF& target, const QImage& image, const QRectF&, Qt::ImageConversionFlags) override {
        QByteArray png;
        QBuffer buffer(&png);
        buffer.open(QIODevice::WriteOnly);
        image.save(&buffer, "PNG");
        m_out += "<image x=\"" + number(target.x()) + "\" y=\"" + number(target.y()) + "\" width=\"" +
                 number(target.width()) + "\" height=\"" + number(target.height()) +
                 "\" image-rendering=\"pixelated\" preserveAspectRatio=\"none\"" + transform() +
                 " href=\"data:image/png;base64," + png.toBase64() + "\"/>\n";
    }
    void drawPixmap(const QRectF& target, const QPixmap& pixmap, const QRectF& source) override {
        drawImage(target, pixmap.toImage(), source, Qt::AutoColor);
    }

    void write(const QByteArray& text) { m_out += text; }
    const QByteArray& written() const { return m_out; }

  private:
    QByteArray opacity() const { return m_opacity < 1 ? " opacity=\"" + number(m_opacity) + '"' : QByteArray(); }
    QByteArray transform() const {
        if (m_transform.isIdentity()) return {};
        return " transform=\"matrix(" + QByteArray::number(m_transform.m11(), 'g', 6) + ' ' +
               QByteArray::number(m_transform.m12(), 'g', 6) + ' ' + QByteArray::number(m_transform.m21(), 'g', 6) +
               ' ' + QByteArray::number(m_transform.m22(), 'g', 6) + ' ' + number(m_transform.dx()) + ' ' +
               number(m_transform.dy()) + ")\"";
    }
    void element(const QPainterPath& path, bool filled) {
        if (path.isEmpty()) return;
        m_out += "<path d=\"" + pathData(path) + '"';
        m_out +=
            filled && m_brush.style() != Qt::NoBrush ? paint("fill", m_brush.color()) : QByteArray(" fill=\"none\"");
        if (m_pen.style() != Qt::NoPen) {
            m_out += paint("stroke", m_pen.color()) + " stroke-width=\"" +
                     number(m_pen.widthF() > 0 ? m_pen.widthF() : 1) + '"';
            if (m_pen.style() == Qt::DashLine) m_out += " stroke-dasharray=\"4 2\"";
            if (m_pen.capStyle() == Qt::RoundCap) m_out += " stroke-linecap=\"round\"";
            if (m_pen.joinStyle() == Qt::RoundJoin) m_out += " stroke-linejoin=\"round\"";
        }
        m_out += opacity() + transform() + "/>\n";
    }

    QByteArray m_out;
    QPen m_pen;
    QBrush m_brush;
    QFont m_font;
    QTransform m_transform;
    double m_opacity = 1;
};

SvgDevice::SvgDevice(const QRectF& area, const QColor& background, const QString& title)
    : m_area(area), m_engine(std::make_unique<Engine>()) {
    const QByteArray box =
        number(area.x()) + ' ' + number(area.y()) + ' ' + number(area.width()) + ' ' + number(area.height());
    m_engine->write("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" +
                    number(area.width()) + "\" height=\"" + number(area.height()) + "\" viewBox=\"" + box +
                    "\" font-family=\"'DejaVu Sans', 'Noto Sans', sans-serif\">\n<title>" + escaped(title) +
                    "</title>\n<rect x=\"" + number(area.x()) + "\" y=\"" + number(area.y()) + "\" width=\"" +
                    number(area.width()) + "\" height=\"" + number(area.height()) + '"' + paint("fill", background) +
                    "/>\n");
}

SvgDevice::~SvgDevice() = default;

void SvgDevice::beginGroup(const QString& title) { m_engine->write("<g><title>" + escaped(title) + "</title>\n"); }
void SvgDevice::endGroup() { m_engine->write("</g>\n"); }
QByteArray SvgDevice::data() const { return m_engine->written() + "</svg>\n"; }
QPaintEngine* SvgDevice::paintEngine() const { return m_engine.get(); }

int SvgDevice::metric(PaintDeviceMetric metric) const {
    switch (metric) {
        case PdmWidth: return static_cast<int>(std::ceil(m_area.width()));
        case PdmHeight: return static_cast<int>(std::ceil(m_area.height()));
        case PdmWidthMM: return static_cast<int>(std::ceil(m_area.width() * 25.4 / 96));
        case PdmHeightMM: return static_cast<int>(std::ceil(m_area.height() * 25.4 / 96));
        case PdmDpiX:
        case PdmDpiY:
        case PdmPhysicalDpiX:
        case PdmPhysicalDpiY: return 96;
        case PdmNumColors: return 0xffffff;
        case PdmDepth: return 32;
        case PdmDevicePixelRatio: return 1;
        case PdmDevicePixelRatioScaled: return static_cast<int>(QPaintDevice::devicePixelRatioFScale());
    }
    return 0;
}

}  // namespace sonde::canvas
