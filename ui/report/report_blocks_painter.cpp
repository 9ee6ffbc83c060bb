#include "ui/report/report_blocks_painter.h"

#include <QFontMetricsF>

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <utility>

#include "core/base/visible_text.h"
#include "ui/canvas/canvas_style.h"
#include "ui/report/svg_picture.h"
#include "ui/theme/color_role.h"

namespace sonde::report {

using theme::ColorRole;

namespace {

/// Points per unit of a picture that is not shrunk.
constexpr double kPictureScale = 0.62 * kPoint;
/// A picture that is taller than a page goes on over so many; one that is taller still is shrunk.
constexpr int kMaxPicturePages = 10;
/// Units of the smallest text of a picture.
constexpr double kSmallText = 9;
/// No picture is shrunk more while it needs no more pages: its smallest text has 5 points.
constexpr double kMinPictureScale = 5.0 / kSmallText * kPoint;
/// Of a picture that is wider than a page: what either of two parts shows, in points.
constexpr double kPictureOverlap = 12;
/// A part of a picture takes at least so much of the page, so that it ends where little is cut.
constexpr double kMinPart = 0.7;
/// Equal findings of which each is listed.
constexpr std::size_t kMaxEach = 12;

ColorRole severityRole(const session::ReportFinding& finding) {
    if (!finding.accepted.empty()) return ColorRole::MutedText;
    return finding.severity == "error"     ? ColorRole::Error
           : finding.severity == "warning" ? ColorRole::Warning
                                           : ColorRole::Info;
}

/// The end of a part of a picture that begins at `begin` and may be `most` long, and `least` of that at least: its end,
/// or between two boxes.
double partEnd(const SvgPicture& picture, Qt::Orientation along, double begin, double most, double end,
               double least = kMinPart) {
    if (end - begin <= most + 0.5) return end;
    return picture.quietCut(along, begin + least * most, begin + most);
}

/// The parts of a piece of a picture that pages show, one below the other.
void addStrips(PageFlow& flow, const std::shared_ptr<const SvgPicture>& picture, const QRectF& box, double scale,
               const QString& title) {
    const double x = flow.left() + (flow.width() - scale * box.width()) / 2;
    for (double done = 0; done < box.height() - 0.5;) {
        if (done > 0)
            flow.addLines(
                brokenLines(QStringLiteral("%1, continued").arg(title), pageFont(PageFont::Small), flow.width()),
                pageInk(ColorRole::MutedText));
        const double top = box.top() + done;
        const double tall = partEnd(*picture, Qt::Vertical, top, flow.room() / scale, box.bottom()) - top;
        const QRectF part(box.left(), box.top() + done, box.width(), tall);
        flow.add([picture, part, scale, at = QPointF(x, flow.y())](QPainter& painter) {
            painter.save();
            painter.translate(at);
            painter.scale(scale, scale);
            painter.translate(-part.topLeft());
            painter.setClipRect(part);
            picture->paint(painter, part);
            painter.restore();
        });
        flow.skip(scale * tall);
        done += tall;
        if (done < box.height() - 0.5) flow.newPage();
    }
}

/// One of few rows stays on one page, of others their first rows.
double heightOf(const session::ReportTable& table) {
    constexpr std::size_t kFewRows = 12;
    if (table.rows.empty()) return 0;
    return (table.rows.size() <= kFewRows ? 45 + 12.5 * static_cast<double>(table.rows.size()) : 60) * kPoint;
}

}  // namespace

QFont pageFont(PageFont font) {
    static constexpr double kSizes[] = {20, 14, 10.5, 9, 9, 7.5, 6.2};
    QFont result = canvas::canvasFont(canvas::TextRole::Body, 1);
    result.setPixelSize(qRound(kSizes[static_cast<int>(font)] * kPoint));
    const bool isPlain = font == PageFont::Body || font == PageFont::Small || font == PageFont::Fine;
    result.setWeight(isPlain ? QFont::Normal : QFont::Bold);
    // Without ligatures: who searches for "confidence" finds it. (Qt joins no letters that are spaced.)
    result.setLetterSpacing(QFont::AbsoluteSpacing, 0.1);
    return result;
}

QColor pageInk(ColorRole role) { return theme::color(role, theme::Scheme::Light); }

QString pageText(const std::string& text) { return QString::fromStdString(base::visibleText(text)); }

void BlocksPainter::beginSection(const QString& title, std::function<void()> placed) {
    endSection();
    m_title = title;
    m_placed = std::move(placed);
}

void BlocksPainter::endSection() {
    if (m_placed) begin(0);
}

double BlocksPainter::roomFor(const session::ReportBlock& block) const {
    const auto* const table = std::get_if<session::ReportTable>(&block);
    return table ? heightOf(*table) : 0;
}

void BlocksPainter::begin(double height) {
    const double expected = std::exchange(m_expected, 0);
    if (!m_placed) return m_flow.ensure(height);
    // Not its title and one line alone at the end of a page.
    m_flow.ensure(height + 90 * kPoint + expected);
    const auto placed = std::exchange(m_placed, nullptr);
    heading(m_title, PageFont::Heading);
    placed();
}

void BlocksPainter::heading(const QString& text, PageFont font) const {
    const Lines lines = brokenLines(text, pageFont(font), m_flow.width());
    m_flow.ensure(lines.height() + 40 * kPoint);
    if (!m_flow.isAtTop()) m_flow.skip((font == PageFont::Heading ? 14 : 8) * kPoint);
    m_flow.addLines(lines, pageInk(ColorRole::Text));
    m_flow.skip(3 * kPoint);
}

void BlocksPainter::note(const std::string& text) const {
    if (text.empty()) return;
    m_flow.addLines(brokenLines(pageText(text), pageFont(PageFont::Small), m_flow.width()),
                    pageInk(ColorRole::MutedText));
}

void BlocksPainter::operator()(const session::ReportText& block) {
    begin(14 * kPoint);
    m_flow.addLines(brokenLines(pageText(block.text), pageFont(PageFont::Body), m_flow.width()),
                    pageInk(ColorRole::Text));
    m_flow.skip(4 * kPoint);
}

void BlocksPainter::operator()(const session::ReportTable& block) {
    if (block.rows.empty()) return;
    begin(heightOf(block));
    if (!block.title.empty()) heading(pageText(block.title), PageFont::Subheading);
    addTable(m_flow, block);
    note(block.note);
    m_flow.skip(6 * kPoint);
}

void BlocksPainter::operator()(const session::ReportChart& block) {
    if (block.bars.empty()) return;
    const double row = 13 * kPoint, label = 0.3 * m_flow.width(), most = 0.52 * m_flow.width();
    begin(30 * kPoint + std::min(row * static_cast<double>(block.bars.size()), 0.8 * m_flow.area().height()));
    heading(pageText(block.title), PageFont::Subheading);
    double longest = 0;
    for (const auto& bar : block.bars) longest = std::max(longest, bar.value);
    const QFont font = pageFont(PageFont::Small);
    const QFontMetricsF metrics(font);
    for (const auto& bar : block.bars) {
        m_flow.ensure(row);
        const double width = longest > 0 ? std::max(0.5 * kPoint, most * bar.value / longest) : 0;
        const QRectF line(m_flow.left(), m_flow.y(), m_flow.width(), row);
        const QString name = metrics.elidedText(pageText(bar.label), Qt::ElideLeft, label - 6 * kPoint);
        m_flow.add([=, value = pageText(bar.text)](QPainter& painter) {
            painter.setFont(font);
            painter.setPen(pageInk(ColorRole::Text));
            painter.drawText(QRectF(line.left(), line.top(), label - 5 * kPoint, row),
                             Qt::AlignRight | Qt::AlignVCenter | Qt::TextSingleLine, name);
            painter.fillRect(QRectF(line.left() + label, line.top() + 2 * kPoint, width, row - 4 * kPoint),
                             pageInk(ColorRole::PlotBar));
            painter.drawText(QRectF(line.left() + label + width + 4 * kPoint, line.top(), line.width(), row),
                             Qt::AlignLeft | Qt::AlignVCenter | Qt::TextSingleLine, value);
        });
        m_flow.skip(row);
    }
    note(block.note);
    m_flow.skip(6 * kPoint);
}

void BlocksPainter::operator()(const session::ReportPicture& block) {
    auto read = SvgPicture::read(block.svg);
    if (!read) return note(block.title + ": the picture cannot be drawn.");
    const auto picture = std::make_shared<const SvgPicture>(std::move(*read));
    const QSizeF natural = picture->viewBox().size();
    const double heading = 50 * kPoint, tallest = m_flow.area().height() - heading;
    double scale = std::min(kPictureScale, std::max(kMinPictureScale, m_flow.width() / natural.width()));
    // A little too tall is shrunk onto one page, much too tall goes on over several, as does what is too wide.
    if (const double onOne = tallest / natural.height(); onOne < scale && onOne > kMinPictureScale) scale = onOne;
    const auto pages = [&] {
        return std::ceil(scale * natural.width() / m_flow.width()) * std::ceil(scale * natural.height() / tallest);
    };
    while (pages() > kMaxPicturePages) scale *= 0.9;
    const double height = scale * natural.height();
    begin(height <= tallest ? height + heading : 0.5 * tallest);
    const QString title = pageText(block.title);
    this->heading(title, PageFont::Subheading);
    if (scale < 0.99 * kMinPictureScale)
        note(fmt::format(
            "Reduced to {} pages: its smallest text has {:.1f} points. The HTML report shows it in full size.",
            kMaxPicturePages, kSmallText * scale / kPoint));
    const QRectF box = picture->viewBox();
    const double most = m_flow.width() / scale, overlap = kPictureOverlap * kPoint / scale;
    std::vector<QRectF> parts;
    for (double left = box.left(); parts.empty() || parts.back().right() < box.right() - 0.5;) {
        // Not so early that one part more is needed.
        const double later = std::ceil(std::max(0.0, box.right() - left - most) / (most - overlap));
        const double least = std::clamp((box.right() - later * (most - overlap) - left) / most, kMinPart, 1.0);
        const double right = partEnd(*picture, Qt::Horizontal, left, most, box.right(), least);
        parts.emplace_back(left, box.top(), right - left, box.height());
        left = std::max(right - overlap, left + 0.1 * most);
    }
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (i > 0) begin(height + 2 * heading);
        if (parts.size() > 1) note(fmt::format("Part {} of {}, from left to right.", i + 1, parts.size()));
        addStrips(m_flow, picture, parts[i], scale, title);
    }
    m_flow.skip(8 * kPoint);
}

void BlocksPainter::finding(const session::ReportFinding& finding) {
    const double indent = 8 * kPoint, width = m_flow.width() - indent;
    const QColor mark = pageInk(severityRole(finding));
    const std::string severity = finding.accepted.empty() ? finding.severity : "accepted (" + finding.severity + ")";
    const QString head = pageText(severity + "  " + finding.id + (finding.places.empty() ? "" : ": " + finding.places));
    struct Part {
        Lines lines;
        QColor color;
    };
    std::vector<Part> parts{
        {brokenLines(head, pageFont(PageFont::Bold), width), mark},
        {brokenLines(pageText(finding.message), pageFont(PageFont::Body), width), pageInk(ColorRole::Text)}};
    for (std::size_t i = 0; i < std::min(finding.each.size(), kMaxEach); ++i)
        parts.push_back({brokenLines(pageText("– " + finding.each[i].first +
                                              (finding.each[i].second.empty() ? "" : ": " + finding.each[i].second)),
                                     pageFont(PageFont::Small), width),
                         pageInk(ColorRole::Text)});
    if (finding.each.size() > kMaxEach)
        parts.push_back(
            {brokenLines(
                 QStringLiteral("– and %1 more, which the HTML report lists").arg(finding.each.size() - kMaxEach),
                 pageFont(PageFont::Small), width),
             pageInk(ColorRole::MutedText)});
    parts.push_back({brokenLines(pageText("What to do: " + finding.advice), pageFont(PageFont::Body), width),
                     pageInk(ColorRole::Text)});
    if (!finding.accepted.empty())
        parts.push_back({brokenLines(pageText("Accepted: " + finding.accepted), pageFont(PageFont::Bold), width),
                         pageInk(ColorRole::Text)});
    parts.push_back({brokenLines(pageText("confidence: " + finding.confidence), pageFont(PageFont::Small), width),
                     pageInk(ColorRole::MutedText)});
    double tall = 0;
    for (const Part& part : parts) tall += part.lines.height();
    begin(std::min(tall, 0.5 * m_flow.area().height()));
    for (const Part& part : parts) {
        const int page = m_flow.page();
        const double from = m_flow.y();
        m_flow.addLines(part.lines, part.color, indent);
        // Where it goes on over a page, the mark is beside what is on the last one.
        const double top = m_flow.page() == page ? from : m_flow.area().top();
        m_flow.add([mark, bar = QRectF(m_flow.left(), top, 2.5 * kPoint, m_flow.y() - top)](QPainter& painter) {
            painter.fillRect(bar, mark);
        });
    }
    m_flow.skip(7 * kPoint);
}

void BlocksPainter::operator()(const session::ReportFindings& block) {
    for (const session::ReportFinding& one : block.findings) finding(one);
    note(block.note);
}

}  // namespace sonde::report
