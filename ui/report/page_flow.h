#pragma once

#include <QFont>
#include <QPainter>
#include <QRectF>
#include <QString>
#include <QTextLayout>

#include <functional>
#include <memory>
#include <vector>

namespace sonde::report {

/// A text that is broken into lines of a width. All lengths here are units of the device, from the top left.
struct Lines {
    std::shared_ptr<QTextLayout> layout;
    double lineHeight = 0;

    int count() const { return layout->lineCount(); }
    double height() const { return lineHeight * count(); }
    void draw(QPainter& painter, QPointF at, int first, int end, const QColor& color) const;
};

/// Broken between words, and inside of one that is wider than the column. Longer than some pages it is cut off.
Lines brokenLines(const QString& text, const QFont& font, double width, Qt::Alignment alignment = Qt::AlignLeft);

/// Pages that are filled from top to bottom. What is on a page is painted later, when it is known how many there are.
class PageFlow {
  public:
    using Paint = std::function<void(QPainter&)>;

    /// `area`: of each page, what blocks may take.
    explicit PageFlow(const QRectF& area) : m_area(area), m_pages(1), m_y(area.top()) {}

    const QRectF& area() const { return m_area; }
    double y() const { return m_y; }
    double left() const { return m_area.left(); }
    double width() const { return m_area.width(); }
    double room() const { return m_area.bottom() - m_y; }
    int page() const { return static_cast<int>(m_pages.size()); }  ///< counted from 1
    bool isAtTop() const { return m_y <= m_area.top(); }

    /// Begins a new page if there is less room than that, unless the page is empty.
    void ensure(double height);
    void newPage();
    void skip(double height) { m_y += height; }
    void add(Paint paint) { m_pages.back().push_back(std::move(paint)); }
    /// Below what is there; over several pages if it must be.
    void addLines(const Lines& lines, const QColor& color, double indent = 0);

    const std::vector<std::vector<Paint>>& pages() const { return m_pages; }

  private:
    QRectF m_area;
    std::vector<std::vector<Paint>> m_pages;
    double m_y;
};

}  // namespace sonde::report
