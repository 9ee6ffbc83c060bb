#include "ui/report/page_flow.h"

#include <QFontMetricsF>

#include <algorithm>
#include <cmath>

namespace sonde::report {

namespace {

/// Of one text: nobody reads more on paper, and a file may hold megabytes of it.
constexpr qsizetype kMaxPageText = 20'000;

}  // namespace

void Lines::draw(QPainter& painter, QPointF at, int first, int end, const QColor& color) const {
    if (first >= count()) return;
    painter.setPen(color);
    for (int i = first; i < std::min(end, count()); ++i) {
        const QTextLine line = layout->lineAt(i);
        line.draw(&painter, QPointF(at.x(), at.y() + lineHeight * (i - first) - line.y()));
    }
}

Lines brokenLines(const QString& text, const QFont& font, double width, Qt::Alignment alignment) {
    QString shown = text.left(kMaxPageText);
    if (shown.size() < text.size()) shown += u'…';
    shown.replace(u'\n', QChar::LineSeparator);
    Lines lines{std::make_shared<QTextLayout>(shown, font), std::ceil(QFontMetricsF(font).height() * 1.15)};
    QTextOption option(alignment);
    option.setWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);
    lines.layout->setTextOption(option);
    lines.layout->setCacheEnabled(true);
    lines.layout->beginLayout();
    for (double y = 0;; y += lines.lineHeight) {
        QTextLine line = lines.layout->createLine();
        if (!line.isValid()) break;
        line.setLineWidth(std::max(width, 1.0));
        line.setPosition({0, y});
    }
    lines.layout->endLayout();
    return lines;
}

void PageFlow::ensure(double height) {
    if (height > room() && !isAtTop()) newPage();
}

void PageFlow::newPage() {
    m_pages.emplace_back();
    m_y = m_area.top();
}

void PageFlow::addLines(const Lines& lines, const QColor& color, double indent) {
    for (int first = 0; first < lines.count();) {
        ensure(lines.lineHeight);
        const int end = std::min(lines.count(), first + std::max(1, static_cast<int>(room() / lines.lineHeight)));
        add([lines, first, end, color, at = QPointF(left() + indent, y())](QPainter& painter) {
            lines.draw(painter, at, first, end, color);
        });
        skip(lines.lineHeight * (end - first));
        first = end;
    }
}

}  // namespace sonde::report
