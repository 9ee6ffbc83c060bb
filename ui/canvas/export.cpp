#include "ui/canvas/export.h"

#include <QBuffer>
#include <QFileInfo>
#include <QPdfWriter>
#include <QSaveFile>

#include <algorithm>
#include <cmath>

#include "core/base/replaced_file.h"
#include "core/layout/dot_export.h"
#include "ui/canvas/fixed_pdf.h"
#include "ui/canvas/svg_device.h"

namespace sonde::canvas {
namespace {

QRectF pageOf(const ScenePainter& painter) { return pictureOf(painter); }

QColor backgroundOf(const ScenePainter& painter) { return painter.items().style().color(theme::ColorRole::Canvas); }

QByteArray svg(const ScenePainter& painter, const SceneMarks& marks) {
    SvgDevice device(pageOf(painter), backgroundOf(painter), QString::fromStdString(painter.items().graph().name));
    QPainter p(&device);
    painter.paintNested(p, marks, 1.0,
                        {[&](const QString& title) { device.beginGroup(title); }, [&] { device.endGroup(); }});
    p.end();
    return device.data();
}

/// Takes no more when nobody wants it: a large picture is packed for many seconds.
class StoppableBuffer : public QBuffer {
  public:
    StoppableBuffer(QByteArray* bytes, const base::WorkContext& work) : QBuffer(bytes), m_work(work) {
        open(QIODevice::WriteOnly);
    }

  protected:
    qint64 writeData(const char* data, qint64 size) override {
        return m_work.cancelled() ? -1 : QBuffer::writeData(data, size);
    }

  private:
    const base::WorkContext& m_work;
};

QByteArray png(const ScenePainter& painter, const SceneMarks& marks, double scale, const base::WorkContext& work) {
    QByteArray bytes;
    StoppableBuffer buffer(&bytes, work);
    const QImage image = sceneImage(painter, marks, pageOf(painter), scale);
    work.report("Compressing the image");
    if (!work.cancelled()) image.save(&buffer, "PNG");
    return bytes;
}

/// Lets a painter tell how far it is for as long as this lives.
class WatchedPainting {
  public:
    WatchedPainting(const ScenePainter& painter, const base::WorkContext& work, std::size_t total)
        : m_steps(painter.steps()) {
        m_steps.begin(work, total);
    }
    ~WatchedPainting() { m_steps.end(); }
    WatchedPainting(const WatchedPainting&) = delete;
    WatchedPainting& operator=(const WatchedPainting&) = delete;

  private:
    PaintSteps& m_steps;
};

/// Ten units are a point.
void describe(QPdfWriter& writer, const ScenePainter& painter) {
    writer.setTitle(QString::fromStdString(painter.items().graph().name));
    writer.setCreator(QStringLiteral("Sonde"));
    writer.setResolution(720);
}

QByteArray pdf(const ScenePainter& painter, const SceneMarks& marks) {
    const FixedHashOrder order;
    const QRectF page = pageOf(painter);
    // Readers refuse pages of more than 14,400 points: a larger picture is drawn smaller.
    const double shrink = std::min(1.0, 14000.0 / std::max(page.width(), page.height()));
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    {
        QPdfWriter writer(&buffer);
        describe(writer, painter);
        writer.setPageSize(QPageSize(page.size() * shrink, QPageSize::Point, QString(), QPageSize::ExactMatch));
        writer.setPageMargins(QMarginsF(0, 0, 0, 0));
        QPainter p(&writer);
        p.scale(10 * shrink, 10 * shrink);
        p.translate(-page.topLeft());
        p.fillRect(page, backgroundOf(painter));
        painter.paintNested(p, marks, 1.0, {[](const QString&) {}, [] {}});
    }
    fixVolatileParts(bytes);
    return bytes;
}

}  // namespace

double largestScale(const QRectF& area) { return kMaxImageSide / std::max({area.width(), area.height(), 1.0}); }

QImage sceneImage(const ScenePainter& painter, const SceneMarks& marks, const QRectF& area, double scale) {
    scale = std::min(scale, largestScale(area));
    const QSize size(std::max(1, static_cast<int>(std::ceil(area.width() * scale))),
                     std::max(1, static_cast<int>(std::ceil(area.height() * scale))));
    QImage image(size, QImage::Format_RGB32);
    if (image.isNull()) return image;
    image.fill(backgroundOf(painter));
    QPainter p(&image);
    p.scale(scale, scale);
    p.translate(-area.topLeft());
    painter.paint(p, marks, area, scale);
    return image;
}

base::Result<QByteArray> sceneBytes(const ScenePainter& painter, const SceneMarks& marks, const QString& format,
                                    double scale, const base::WorkContext& work) {
    const graph::InternalGraph& graph = painter.items().graph();
    const layout::SceneLayout& scene = painter.index().scene();
    // Every item once, every line with its ports and its type.
    const WatchedPainting watched(painter, work, scene.items.size() + 3 * scene.edges.size());
    QByteArray bytes;
    if (format == QLatin1String("svg")) bytes = svg(painter, marks);
    else if (format == QLatin1String("pdf")) bytes = pdf(painter, marks);
    else if (format == QLatin1String("png")) bytes = png(painter, marks, scale, work);
    else if (format == QLatin1String("dot")) bytes = QByteArray::fromStdString(layout::sceneDot(graph, scene));
    else if (format == QLatin1String("json")) bytes = QByteArray::fromStdString(layout::sceneJson(graph, scene));
    else
        return base::usageError("unknown output format '" + format.toStdString() + "'", {},
                                "the file's name must end in .svg, .png, .pdf, .dot or .json");
    if (work.cancelled()) return base::cancelled();
    if (bytes.isEmpty())
        return base::usageError("there is not enough memory for an image of that size", {}, "choose a smaller scale");
    return bytes;
}

namespace {

QByteArray pagedPdf(const ScenePainter& painter, const SceneMarks& marks, const QRectF& area, const Paging& paging,
                    const base::WorkContext& work) {
    const FixedHashOrder order;
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    {
        QPdfWriter writer(&buffer);
        describe(writer, painter);
        writer.setPageSize(QPageSize(paging.size));
        writer.setPageOrientation(paging.landscape ? QPageLayout::Landscape : QPageLayout::Portrait);
        writer.setPageMargins(QMarginsF(10, 10, 10, 10), QPageLayout::Millimeter);
        paintPages(writer, painter, marks, area, paging, work);
    }
    fixVolatileParts(bytes);
    return bytes;
}

base::Result<void> write(const QByteArray& bytes, const QString& path) {
    SONDE_TRY(base::placeToReplace(path.toStdU16String()));
    QSaveFile file(path);
    if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size() || !file.commit())
        return base::runError("the image cannot be written: " + file.errorString().toStdString(), path.toStdString(),
                              "choose a folder that exists and may be written to");
    return {};
}

}  // namespace

base::Result<void> exportPages(const ScenePainter& painter, const SceneMarks& marks, const QRectF& area,
                               const QString& path, const Paging& paging, const base::WorkContext& work) {
    const QByteArray bytes = pagedPdf(painter, marks, area, paging, work);
    if (work.cancelled()) return base::cancelled();
    return write(bytes, path);
}

base::Result<void> exportScene(const ScenePainter& painter, const SceneMarks& marks, const QString& path, double scale,
                               const base::WorkContext& work) {
    SONDE_ASSIGN(const QByteArray bytes, sceneBytes(painter, marks, QFileInfo(path).suffix().toLower(), scale, work));
    return write(bytes, path);
}

}  // namespace sonde::canvas
