#include "ui/canvas/legend.h"

#include <QPainter>

#include <set>

#include "ui/canvas/item_text.h"
#include "ui/theme/theme.h"

namespace sonde::canvas {

using theme::ColorRole;

namespace {

constexpr int kPad = 10, kSwatch = 16;

struct MarkRow {
    const char* text;
    ColorRole role;
    bool line;  ///< drawn as a line, else as a dot
};
constexpr MarkRow kMarks[] = {
    {QT_TRANSLATE_NOOP("Legend", "Watch point"), ColorRole::WatchMark, false},
    {QT_TRANSLATE_NOOP("Legend", "End point"), ColorRole::EndMark, false},
    {QT_TRANSLATE_NOOP("Legend", "Not traced, or a bad value"), ColorRole::WarningMark, false},
    {QT_TRANSLATE_NOOP("Legend", "Into the selection"), ColorRole::EdgeOfInput, true},
    {QT_TRANSLATE_NOOP("Legend", "Out of the selection"), ColorRole::EdgeOfOutput, true},
};

}  // namespace

Legend::Legend(QWidget* parent) : QWidget(parent) {
    setAttribute(Qt::WA_TransparentForMouseEvents);
    setAccessibleName(tr("Legend"));
}

void Legend::setScene(const graph::InternalGraph* graph, const layout::SceneLayout* scene, std::shared_ptr<const Coloring> coloring) {
    m_coloring = std::move(coloring);
    std::set<theme::OpCategory> found;
    if (graph && scene && !m_coloring)
        for (const layout::SceneItem& item : scene->items)
            if (item.what.kind == layout::ItemKind::Expr || item.what.kind == layout::ItemKind::Input ||
                item.what.kind == layout::ItemKind::Output)
                found.insert(categoryOf(*graph, item.what));
    m_categories.assign(found.begin(), found.end());
    updateGeometry();
    update();
}

int Legend::lineHeight() const { return QFontMetrics(theme::Theme::instance().smallFont()).height() + 4; }

/// The title, then a line for each kind; of a scale its two ends share the line under the ramp.
QStringList Legend::coloringLines() const {
    if (!m_coloring) return {};
    QStringList lines{m_coloring->title()};
    if (m_coloring->isNumeric()) return lines << m_coloring->lowText() + QStringLiteral("  …  ") + m_coloring->highText();
    for (const auto& [text, tint] : m_coloring->rows()) lines << (text.size() > 32 ? text.left(15) + QChar(0x2026) + text.right(15) : text);
    return lines;
}

QSize Legend::sizeHint() const {
    const QFontMetrics metrics(theme::Theme::instance().smallFont());
    int width = 0;
    for (const theme::OpCategory category : m_categories)
        width = std::max(width, metrics.horizontalAdvance(theme::categoryTitle(category)));
    if (!m_compact)
        for (const MarkRow& row : kMarks) width = std::max(width, metrics.horizontalAdvance(tr(row.text)));
    const QStringList coloured = coloringLines();
    for (const QString& row : coloured) width = std::max(width, metrics.horizontalAdvance(row));
    const int lines = static_cast<int>(m_categories.size()) + (m_compact ? 0 : static_cast<int>(std::size(kMarks))) + static_cast<int>(coloured.size());
    return {width + kSwatch + 3 * kPad, lines * lineHeight() + 2 * kPad};
}

void Legend::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(theme::color(ColorRole::Border));
    painter.setBrush(theme::color(ColorRole::Panel));
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), theme::kCornerRadius, theme::kCornerRadius);
    painter.setFont(theme::Theme::instance().smallFont());
    const int line = lineHeight();
    int y = kPad;
    const auto text = [&](const QString& row) {
        painter.setPen(theme::color(ColorRole::Text));
        painter.drawText(QRect(2 * kPad + kSwatch, y, width(), line), Qt::AlignVCenter | Qt::AlignLeft, row);
        y += line;
    };
    const QStringList coloured = coloringLines();
    for (qsizetype i = 0; i < coloured.size(); ++i) {
        if (i == 0) {
            painter.setPen(theme::color(ColorRole::MutedText));
            painter.drawText(QRect(kPad, y, width(), line), Qt::AlignVCenter | Qt::AlignLeft, coloured[0]);
            y += line;
            continue;
        }
        const auto& rows = m_coloring->rows();
        const std::size_t first = m_coloring->isNumeric() ? 0 : static_cast<std::size_t>(i - 1);
        const std::size_t count = m_coloring->isNumeric() ? rows.size() : 1;
        const double step = static_cast<double>(kSwatch) / static_cast<double>(count);
        for (std::size_t k = 0; k < count && first + k < rows.size(); ++k) {
            painter.setPen(count == 1 ? QPen(rows[first].second.stroke, 1.2) : Qt::NoPen);
            painter.setBrush(rows[first + k].second.fill);
            painter.drawRect(QRectF(kPad + step * static_cast<double>(k), y + line / 2.0 - 5.5, step, 11));
        }
        text(coloured[i]);
    }
    for (const theme::OpCategory category : m_categories) {
        const theme::CategoryColors colors = theme::categoryColors(category);
        painter.setPen(QPen(colors.stroke, 1.2));
        painter.setBrush(colors.fill);
        painter.drawRoundedRect(QRectF(kPad, y + line / 2.0 - 5.5, kSwatch, 11), 2.5, 2.5);
        text(theme::categoryTitle(category));
    }
    if (m_compact) return;
    for (const MarkRow& row : kMarks) {
        const QColor color = theme::color(row.role);
        const QPointF centre(kPad + kSwatch / 2.0, y + line / 2.0);
        if (row.line) {
            painter.setPen(QPen(color, 2.4));
            painter.drawLine(centre - QPointF(kSwatch / 2.0, 0), centre + QPointF(kSwatch / 2.0, 0));
        } else {
            painter.setPen(Qt::NoPen);
            painter.setBrush(color);
            painter.drawEllipse(centre, 5, 5);
        }
        text(tr(row.text));
    }
}

}  // namespace sonde::canvas
