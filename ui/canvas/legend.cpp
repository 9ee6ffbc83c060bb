#include "ui/canvas/legend.h"

#include <QPainter>

#include <algorithm>
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
    ItemFlags flag;    ///< 0: always there, drawn as a line
    const char* sign;  ///< is in the dot, so that marks are not told apart by colour alone
};
constexpr MarkRow kMarks[] = {
    {QT_TRANSLATE_NOOP("Legend", "Current node of the run"), ColorRole::CurrentMark, kCurrent, "\u279c"},
    {QT_TRANSLATE_NOOP("Legend", "Watch point"), ColorRole::WatchMark, kWatched, ""},
    {QT_TRANSLATE_NOOP("Legend", "Breakpoint; \u25c7 log point; hollow: disabled"), ColorRole::ErrorMark, kBreak, ""},
    {QT_TRANSLATE_NOOP("Legend", "Breakpoint with a condition"), ColorRole::ErrorMark, kBreakIf, "="},
    {QT_TRANSLATE_NOOP("Legend", "Note"), ColorRole::Accent, kNote, "\u2261"},
    {QT_TRANSLATE_NOOP("Legend", "Hop of \"why this value\""), ColorRole::WhyMark, kWhy, "?"},
    {QT_TRANSLATE_NOOP("Legend", "Edited value"), ColorRole::DiffChanged, kEdited, "\u270e"},
    {QT_TRANSLATE_NOOP("Legend", "Counterfactual: other values by the edits"), ColorRole::DiffChanged, kWhatIf,
     "\u0394"},
    {QT_TRANSLATE_NOOP("Legend", "Removed: only in the first model, or before a pass"), ColorRole::DiffRemoved,
     kRemoved, "\u2212"},
    {QT_TRANSLATE_NOOP("Legend", "Added: only in the second model, or by a pass"), ColorRole::DiffAdded, kAdded, "+"},
    {QT_TRANSLATE_NOOP("Legend", "Changed: other attributes, inputs or weights"), ColorRole::DiffChanged, kChanged,
     "~"},
    {QT_TRANSLATE_NOOP("Legend", "Moved to another place"), ColorRole::DiffMoved, kMoved, "\u2192"},
    {QT_TRANSLATE_NOOP("Legend", "End point"), ColorRole::EndMark, kEnd, ""},
    {QT_TRANSLATE_NOOP("Legend", "NaN or infinite"), ColorRole::WarningMark, kBadValue, "!"},
    {QT_TRANSLATE_NOOP("Legend", "Finding of an audit"), ColorRole::Warning, kFinding, "\u2713"},
    {QT_TRANSLATE_NOOP("Legend", "Differs, above the tolerance"), ColorRole::ErrorMark, kDiffers, "\u2260"},
    {QT_TRANSLATE_NOOP("Legend", "Part found by a bisection"), ColorRole::ErrorMark, kBisected, "\u2016"},
    {QT_TRANSLATE_NOOP("Legend", "Failed"), ColorRole::ErrorMark, kFailed, "!"},
    {QT_TRANSLATE_NOOP("Legend", "Not traced"), ColorRole::WarningMark, kUntraced, "!"},
    {QT_TRANSLATE_NOOP("Legend", "Search match"), ColorRole::SearchHit, kMatch, ""},
    {QT_TRANSLATE_NOOP("Legend", "Inputs of the selection"), ColorRole::EdgeOfInput, 0, ""},
    {QT_TRANSLATE_NOOP("Legend", "Outputs of the selection"), ColorRole::EdgeOfOutput, 0, ""},
};

}  // namespace

Legend::Legend(QWidget* parent) : QWidget(parent) {
    setAttribute(Qt::WA_TransparentForMouseEvents);
    setAccessibleName(tr("Legend"));
}

void Legend::setScene(const graph::InternalGraph* graph, const layout::SceneLayout* scene,
                      std::shared_ptr<const Coloring> coloring) {
    m_coloring = std::move(coloring);
    m_showsUnknown = m_coloring && m_coloring->isKnown() && scene &&
                     std::any_of(scene->items.begin(), scene->items.end(), [this](const layout::SceneItem& item) {
                         const Tint* tint = item.what.open ? nullptr : m_coloring->of(item.what);
                         return tint && tint->unknown;
                     });
    m_showsModules =
        m_coloring && scene &&
        std::any_of(scene->items.begin(), scene->items.end(), [this](const layout::SceneItem& item) {
            return item.what.kind == layout::ItemKind::Module && !item.what.open && m_coloring->of(item.what);
        });
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

void Legend::setMarks(ItemFlags marks) {
    m_marks = marks;
    update();
}

/// The marks that the picture holds, and what the edges of the selection mean. None in a small canvas.
std::vector<int> Legend::markRows() const {
    std::vector<int> rows;
    for (int i = 0; i < static_cast<int>(std::size(kMarks)) && !m_compact; ++i)
        if (kMarks[i].flag == 0 || (m_marks & kMarks[i].flag)) rows.push_back(i);
    return rows;
}

int Legend::lineHeight() const { return QFontMetrics(theme::Theme::instance().smallFont()).height() + 4; }

/// The title, then a line for each kind; of a scale its two ends share the line under the ramp, then what
/// else there is to know of it. What nothing is known of comes last.
QStringList Legend::coloringLines() const {
    if (!m_coloring) return {};
    QStringList lines{m_coloring->title()};
    if (!m_coloring->isKnown()) return lines << m_coloring->noteText();
    // The ramp, then what its ends mean; the middle of a scale that goes both ways is 0.
    if (m_coloring->isNumeric()) {
        lines << QString()
              << m_coloring->lowText() +
                     (m_coloring->isSigned() ? QStringLiteral("  …  0  …  ") : QStringLiteral("  …  ")) +
                     m_coloring->highText();
        if (const QString& high = m_coloring->highModuleText(); m_showsModules && !high.isEmpty())
            lines << tr("of modules the sum, up to %1").arg(high);
        if (m_coloring->isLogarithmic()) lines << tr("logarithmic");
    } else {
        for (const auto& [text, tint] : m_coloring->rows())
            lines << (text.size() > 32 ? text.left(15) + QChar(0x2026) + text.right(15) : text);
    }
    if (const QString& stale = m_coloring->staleReason(); !stale.isEmpty()) lines << tr("stale: %1").arg(stale);
    if (m_showsUnknown) lines << m_coloring->unknownText();
    return lines;
}

QSize Legend::sizeHint() const {
    const QFontMetrics metrics(theme::Theme::instance().smallFont());
    int width = 0;
    for (const theme::OpCategory category : m_categories)
        width = std::max(width, metrics.horizontalAdvance(theme::categoryTitle(category)));
    const std::vector<int> marks = markRows();
    for (const int row : marks) width = std::max(width, metrics.horizontalAdvance(tr(kMarks[row].text)));
    const QStringList coloured = coloringLines();
    for (const QString& row : coloured) width = std::max(width, metrics.horizontalAdvance(row));
    const int lines =
        static_cast<int>(m_categories.size()) + static_cast<int>(marks.size()) + static_cast<int>(coloured.size());
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
    const auto swatch = [&](const Tint& tint) {
        painter.setPen(QPen(tint.stroke, 1.2, tint.unknown ? Qt::DashLine : Qt::SolidLine));
        painter.setBrush(tint.fill);
        painter.drawRect(QRectF(kPad, y + line / 2.0 - 5.5, kSwatch, 11));
    };
    const QStringList coloured = coloringLines();
    for (qsizetype i = 0; i < coloured.size(); ++i) {
        if (m_showsUnknown && i + 1 == coloured.size()) {
            swatch(m_coloring->unknownTint());
            text(coloured[i]);
            continue;
        }
        if (i == 0) {
            painter.setPen(theme::color(ColorRole::MutedText));
            painter.drawText(QRect(kPad, y, width(), line), Qt::AlignVCenter | Qt::AlignLeft, coloured[0]);
            y += line;
            continue;
        }
        const auto& rows = m_coloring->rows();
        if (m_coloring->isNumeric()) {
            if (i == 1 && m_coloring->isKnown()) {
                const double step = (width() - 2.0 * kPad) / static_cast<double>(rows.size());
                painter.setPen(Qt::NoPen);
                for (std::size_t k = 0; k < rows.size(); ++k) {
                    painter.setBrush(rows[k].second.fill);
                    painter.drawRect(
                        QRectF(kPad + step * static_cast<double>(k), y + line / 2.0 - 5.5, step + 0.5, 11));
                }
                painter.setPen(QPen(theme::color(ColorRole::StrongBorder), 1));
                painter.setBrush(Qt::NoBrush);
                painter.drawRect(QRectF(kPad, y + line / 2.0 - 5.5, width() - 2.0 * kPad, 11));
            } else {
                painter.setPen(theme::color(ColorRole::Text));
                painter.drawText(QRect(kPad, y, width() - 2 * kPad, line), Qt::AlignVCenter | Qt::AlignLeft,
                                 coloured[i]);
            }
            y += line;
            continue;
        }
        swatch(rows[static_cast<std::size_t>(i - 1)].second);
        text(coloured[i]);
    }
    for (const theme::OpCategory category : m_categories) {
        const theme::CategoryColors colors = theme::categoryColors(category);
        painter.setPen(QPen(colors.stroke, 1.2));
        painter.setBrush(colors.fill);
        painter.drawRoundedRect(QRectF(kPad, y + line / 2.0 - 5.5, kSwatch, 11), 2.5, 2.5);
        text(theme::categoryTitle(category));
    }
    for (const int index : markRows()) {
        const MarkRow& row = kMarks[index];
        const QColor color = theme::color(row.role);
        const QPointF centre(kPad + kSwatch / 2.0, y + line / 2.0);
        if (row.flag == 0 || row.flag == kMatch) {
            painter.setPen(QPen(color, row.flag ? 4 : 2.4));
            painter.drawLine(centre - QPointF(kSwatch / 2.0, 0), centre + QPointF(kSwatch / 2.0, 0));
        } else {
            painter.setPen(Qt::NoPen);
            painter.setBrush(color);
            painter.drawEllipse(centre, 6, 6);
            painter.setPen(theme::color(ColorRole::Canvas));
            painter.drawText(QRectF(centre - QPointF(8, 8), QSizeF(16, 16)), Qt::AlignCenter,
                             QString::fromUtf8(row.sign));
        }
        text(tr(row.text));
    }
}

}  // namespace sonde::canvas
