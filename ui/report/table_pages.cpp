#include <QFontMetricsF>

#include <algorithm>
#include <numeric>

#include "ui/report/report_blocks_painter.h"
#include "ui/theme/color_role.h"

namespace sonde::report {

using session::ReportTable;
using theme::ColorRole;

namespace {

constexpr double kCellPad = 3 * kPoint;
/// Rows that widths are taken from.
constexpr std::size_t kMeasuredRows = 300;

PageFont fontOf(const ReportTable& table) { return table.isLong() ? PageFont::Fine : PageFont::Small; }

std::vector<double> naturalWidths(const ReportTable& table) {
    const QFontMetricsF body(pageFont(fontOf(table)));
    std::vector<double> widths;
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
        double width = body.horizontalAdvance(pageText(table.columns[c].title)) * 1.15;
        for (std::size_t r = 0; r < std::min(table.rows.size(), kMeasuredRows); ++r)
            if (c < table.rows[r].size())
                width = std::max(width, body.horizontalAdvance(pageText(table.rows[r][c]).left(400)));
        widths.push_back(width + 2 * kCellPad + kPoint);
    }
    return widths;
}

/// Narrow columns have what they need; the others share what is left.
std::vector<double> columnWidths(const ReportTable& table, double available) {
    std::vector<double> widths = naturalWidths(table);
    if (std::accumulate(widths.begin(), widths.end(), 0.0) <= available) return widths;
    std::vector<std::size_t> order(widths.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, {}, [&](std::size_t c) { return widths[c]; });
    double left = available;
    for (std::size_t i = 0; i < order.size(); ++i) {
        const double share = left / static_cast<double>(order.size() - i);
        widths[order[i]] = std::min(widths[order[i]], share);
        left -= widths[order[i]];
    }
    return widths;
}

struct TableRow {
    std::vector<Lines> cells;
    int lines = 1;
};

class TablePages {
  public:
    TablePages(PageFlow& flow, const ReportTable& table)
        : m_flow(flow), m_table(table), m_widths(columnWidths(table, flow.width())) {
        std::vector<std::string> titles;
        for (const ReportTable::Column& column : table.columns) titles.push_back(column.title);
        m_head = row(titles);
        m_hasHead = std::ranges::any_of(titles, [](const std::string& title) { return !title.empty(); });
    }

    void add() {
        if (m_hasHead) {
            m_flow.ensure(4 * height(m_head, m_head.lines));
            addHead();
        }
        for (const std::vector<std::string>& texts : m_table.rows) addRow(row(texts));
    }

  private:
    TableRow row(const std::vector<std::string>& texts) const {
        const QFont font = pageFont(fontOf(m_table));
        TableRow result;
        for (std::size_t c = 0; c < m_widths.size(); ++c) {
            const bool isNumber = m_table.columns[c].isNumber;
            result.cells.push_back(brokenLines(c < texts.size() ? pageText(texts[c]) : QString(), font,
                                               m_widths[c] - 2 * kCellPad, isNumber ? Qt::AlignRight : Qt::AlignLeft));
            result.lines = std::max(result.lines, result.cells.back().count());
        }
        return result;
    }

    static double height(const TableRow& row, int lines) { return row.cells.front().lineHeight * lines + 2 * kPoint; }

    void paint(const TableRow& row, int first, int end, ColorRole ink, ColorRole line) {
        const double tall = height(row, end - first);
        m_flow.add([row, first, end, tall, widths = m_widths, at = QPointF(m_flow.left(), m_flow.y()),
                    right = m_flow.area().right(), ink = pageInk(ink), rule = pageInk(line)](QPainter& painter) {
            double x = at.x();
            for (std::size_t c = 0; c < widths.size(); ++c) {
                row.cells[c].draw(painter, {x + kCellPad, at.y() + kPoint}, first, end, ink);
                x += widths[c];
            }
            painter.setPen(QPen(rule, 0.4 * kPoint));
            painter.drawLine(QPointF(at.x(), at.y() + tall), QPointF(right, at.y() + tall));
        });
        m_flow.skip(tall);
    }

    void addHead() { paint(m_head, 0, m_head.lines, ColorRole::MutedText, ColorRole::StrongBorder); }

    void nextPage() {
        m_flow.newPage();
        if (m_hasHead) addHead();
    }

    /// One that is taller than a page is broken between its lines.
    void addRow(const TableRow& row) {
        const double whole = m_flow.area().height() - height(m_head, m_head.lines);
        if (height(row, row.lines) > m_flow.room() && height(row, row.lines) <= whole) nextPage();
        for (int first = 0; first < row.lines;) {
            const double lineHeight = row.cells.front().lineHeight;
            int fits = static_cast<int>((m_flow.room() - 2 * kPoint) / lineHeight);
            if (fits < 1) {
                nextPage();
                fits = std::max(1, static_cast<int>((m_flow.room() - 2 * kPoint) / lineHeight));
            }
            const int end = std::min(row.lines, first + fits);
            paint(row, first, end, ColorRole::Text, ColorRole::Border);
            first = end;
        }
    }

    PageFlow& m_flow;
    const ReportTable& m_table;
    std::vector<double> m_widths;
    TableRow m_head;
    bool m_hasHead = false;
};

}  // namespace

void addTable(PageFlow& flow, const ReportTable& table) {
    if (table.columns.empty() || table.rows.empty()) return;
    TablePages(flow, table).add();
}

}  // namespace sonde::report
