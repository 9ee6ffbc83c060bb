#include "ui/report/report_pdf.h"

#include <QBuffer>
#include <QPdfWriter>

#include "ui/canvas/fixed_pdf.h"
#include "ui/report/report_blocks_painter.h"
#include "ui/theme/color_role.h"

namespace sonde::report {

using theme::ColorRole;

namespace {

/// Of A4, in points.
constexpr double kPageWidth = 595, kPageHeight = 842, kMargin = 42, kHead = 24;

/// The list of sections, with pages that are known when all are laid out.
void addContents(PageFlow& flow, const session::Report& report, const std::shared_ptr<std::vector<int>>& pages) {
    const double row = 15 * kPoint;
    flow.skip(6 * kPoint);
    for (std::size_t i = 0; i < report.sections.size(); ++i) {
        flow.ensure(row);
        const QRectF line(flow.left(), flow.y(), flow.width(), row);
        flow.add([line, i, pages, title = pageText(report.sections[i].title)](QPainter& painter) {
            painter.setFont(pageFont(PageFont::Body));
            painter.setPen(pageInk(ColorRole::Text));
            painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter, title);
            painter.drawText(line, Qt::AlignRight | Qt::AlignVCenter, QString::number(pages->at(i)));
            painter.setPen(QPen(pageInk(ColorRole::Border), 0.3 * kPoint));
            painter.drawLine(line.bottomLeft(), line.bottomRight());
        });
        flow.skip(row);
    }
}

base::Result<void> layOutReport(PageFlow& flow, const session::Report& report, const base::WorkContext& work) {
    BlocksPainter painter(flow);
    flow.addLines(brokenLines(pageText(report.title), pageFont(PageFont::Title), flow.width()),
                  pageInk(ColorRole::Text));
    flow.addLines(brokenLines(pageText(report.subtitle), pageFont(PageFont::Subheading), flow.width()),
                  pageInk(ColorRole::MutedText));
    const auto pages = std::make_shared<std::vector<int>>();
    addContents(flow, report, pages);
    for (std::size_t i = 0; i < report.sections.size(); ++i) {
        if (work.cancelled()) return base::cancelled("writing the report");
        work.report("laying out pages", i, report.sections.size());
        const session::ReportSection& section = report.sections[i];
        painter.beginSection(pageText(section.title), [&flow, pages] { pages->push_back(flow.page()); });
        for (std::size_t k = 0; k < section.blocks.size(); ++k) {
            painter.expect(k + 1 < section.blocks.size() ? painter.roomFor(section.blocks[k + 1]) : 0);
            std::visit([&painter](const auto& one) { painter(one); }, section.blocks[k]);
        }
        painter.endSection();
    }
    return {};
}

void paintFrame(QPainter& painter, const session::Report& report, int page, int count) {
    const QFont font = pageFont(PageFont::Small);
    const QFontMetricsF metrics(font);
    const QRectF head(kMargin * kPoint, (kMargin - kHead) * kPoint, (kPageWidth - 2 * kMargin) * kPoint, 12 * kPoint);
    const QRectF foot = head.translated(0, (kPageHeight - 2 * kMargin + kHead + 8) * kPoint);
    painter.setFont(font);
    painter.setPen(pageInk(ColorRole::MutedText));
    const QString source = pageText(report.source);
    painter.drawText(head, Qt::AlignRight | Qt::AlignVCenter, source);
    painter.drawText(head, Qt::AlignLeft | Qt::AlignVCenter,
                     metrics.elidedText(pageText(report.title), Qt::ElideMiddle,
                                        head.width() - metrics.horizontalAdvance(source) - 10 * kPoint));
    painter.drawText(foot, Qt::AlignLeft | Qt::AlignVCenter, pageText(report.subtitle + " \u00b7 " + report.maker));
    painter.drawText(foot, Qt::AlignRight | Qt::AlignVCenter, QStringLiteral("page %1 of %2").arg(page).arg(count));
    painter.setPen(QPen(pageInk(ColorRole::Border), 0.4 * kPoint));
    painter.drawLine(head.bottomLeft() + QPointF(0, 2 * kPoint), head.bottomRight() + QPointF(0, 2 * kPoint));
}

base::Result<void> paintPages(QPdfWriter& writer, const PageFlow& flow, const session::Report& report,
                              const base::WorkContext& work) {
    QPainter painter(&writer);
    const auto count = static_cast<int>(flow.pages().size());
    for (int i = 0; i < count; ++i) {
        if (work.cancelled()) return base::cancelled("writing the report");
        work.report("painting pages", static_cast<std::size_t>(i), static_cast<std::size_t>(count));
        if (i > 0) writer.newPage();
        paintFrame(painter, report, i + 1, count);
        for (const PageFlow::Paint& paint : flow.pages()[static_cast<std::size_t>(i)]) paint(painter);
    }
    return {};
}

}  // namespace

base::Result<QByteArray> reportPdf(const session::Report& report, const base::WorkContext& work) {
    PageFlow flow(QRectF(kMargin * kPoint, (kMargin + 4) * kPoint, (kPageWidth - 2 * kMargin) * kPoint,
                         (kPageHeight - 2 * kMargin - 8) * kPoint));
    SONDE_TRY(layOutReport(flow, report, work));
    const canvas::FixedHashOrder order;
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    {
        QPdfWriter writer(&buffer);
        writer.setTitle(pageText(report.subtitle + ": " + report.title));
        writer.setCreator(QStringLiteral("Sonde"));
        writer.setResolution(static_cast<int>(72 * kPoint));
        writer.setPageSize(QPageSize(QSizeF(kPageWidth, kPageHeight), QPageSize::Point, {}, QPageSize::ExactMatch));
        writer.setPageMargins(QMarginsF(0, 0, 0, 0));
        SONDE_TRY(paintPages(writer, flow, report, work));
    }
    canvas::fixVolatileParts(bytes);
    return bytes;
}

}  // namespace sonde::report
