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

void Legend::setScene(const graph::InternalGraph* graph, const layout::SceneLayout* scene) {
    std::set<theme::OpCategory> found;
    if (graph && scene)
        for (const layout::SceneItem& item : scene->items)
            if (item.what.kind == layout::ItemKind::Expr || item.what.kind == layout::ItemKind::Input ||
                item.what.kind == layout::ItemKind::Output)
                found.insert(categoryOf(*graph, item.what));
    m_categories.assign(found.begin(), found.end());
    updateGeometry();
    update();
}

int Legend::lineHeight() const { return QFontMetrics(theme::Theme::instance().smallFont()).height() + 4; }

QSize Legend::sizeHint() const {
    const QFontMetrics metrics(theme::Theme::instance().smallFont());
    int width = 0;
    for (const theme::OpCategory category : m_categories)
        width = std::max(width, metrics.horizontalAdvance(theme::categoryTitle(category)));
    for (const MarkRow& row : kMarks) width = std::max(width, metrics.horizontalAdvance(tr(row.text)));
    const int lines = static_cast<int>(m_categories.size()) + static_cast<int>(std::size(kMarks));
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
    for (const theme::OpCategory category : m_categories) {
        const theme::CategoryColors colors = theme::categoryColors(category);
        painter.setPen(QPen(colors.stroke, 1.2));
        painter.setBrush(colors.fill);
        painter.drawRoundedRect(QRectF(kPad, y + line / 2.0 - 5.5, kSwatch, 11), 2.5, 2.5);
        text(theme::categoryTitle(category));
    }
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
