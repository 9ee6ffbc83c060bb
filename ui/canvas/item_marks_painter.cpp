#include <QPainterPath>

#include <algorithm>
#include <initializer_list>

#include "ui/canvas/item_painter.h"

namespace sonde::canvas {

using theme::ColorRole;

namespace {

void drawEye(QPainter& painter, QPointF centre, double radius, const QColor& background, const QColor& ink) {
    painter.setPen(Qt::NoPen);
    painter.setBrush(background);
    painter.drawEllipse(centre, radius, radius);
    QPainterPath eye;
    const double half = radius * 0.7;
    eye.moveTo(centre - QPointF(half, 0));
    eye.quadTo(centre - QPointF(0, half * 1.25), centre + QPointF(half, 0));
    eye.quadTo(centre + QPointF(0, half * 1.25), centre - QPointF(half, 0));
    painter.setPen(QPen(ink, radius * 0.16));
    painter.setBrush(Qt::NoBrush);
    painter.drawPath(eye);
    painter.setPen(Qt::NoPen);
    painter.setBrush(ink);
    painter.drawEllipse(centre, radius * 0.24, radius * 0.24);
}

void drawFlag(QPainter& painter, QPointF centre, double radius, const QColor& background, const QColor& ink) {
    painter.setPen(Qt::NoPen);
    painter.setBrush(background);
    painter.drawRoundedRect(QRectF(centre - QPointF(radius, radius), QSizeF(2 * radius, 2 * radius)), radius * 0.35,
                            radius * 0.35);
    painter.setPen(QPen(ink, radius * 0.2, Qt::SolidLine, Qt::RoundCap));
    painter.drawLine(centre + QPointF(-0.4, -0.6) * radius, centre + QPointF(-0.4, 0.65) * radius);
    painter.setPen(Qt::NoPen);
    painter.setBrush(ink);
    painter.drawPolygon(QPolygonF{centre + QPointF(-0.4, -0.6) * radius, centre + QPointF(0.55, -0.25) * radius,
                                  centre + QPointF(-0.4, 0.1) * radius});
}

/// A disc with a minus, a plus, an arrow or a wave: what a pass did, or what is other in the model beside this one. The
/// sign tells it without the colour.
void drawChange(QPainter& painter, QPointF centre, double radius, const QColor& background, const QColor& ink,
                ItemFlags flags) {
    painter.setPen(Qt::NoPen);
    painter.setBrush(background);
    painter.drawEllipse(centre, radius, radius);
    painter.setPen(QPen(ink, radius * 0.26, Qt::SolidLine, Qt::RoundCap));
    painter.setBrush(Qt::NoBrush);
    const double half = radius * 0.5;
    if (flags & (kRemoved | kAdded)) {
        painter.drawLine(centre - QPointF(half, 0), centre + QPointF(half, 0));
        if (flags & kAdded) painter.drawLine(centre - QPointF(0, half), centre + QPointF(0, half));
        return;
    }
    if (flags & kMoved && !(flags & kChanged)) {
        painter.drawLine(centre - QPointF(half, 0), centre + QPointF(half, 0));
        painter.drawLine(centre + QPointF(half, 0), centre + QPointF(half * 0.2, -half * 0.7));
        painter.drawLine(centre + QPointF(half, 0), centre + QPointF(half * 0.2, half * 0.7));
        return;
    }
    QPainterPath wave(centre - QPointF(half, 0));
    wave.cubicTo(centre + QPointF(-half * 0.3, -half * 1.2), centre + QPointF(half * 0.3, half * 1.2),
                 centre + QPointF(half, 0));
    painter.drawPath(wave);
}

/// A disc with the sign for unequal.
void drawUnequal(QPainter& painter, QPointF centre, double radius, const QColor& background, const QColor& ink) {
    painter.setPen(Qt::NoPen);
    painter.setBrush(background);
    painter.drawEllipse(centre, radius, radius);
    painter.setPen(QPen(ink, radius * 0.2, Qt::SolidLine, Qt::RoundCap));
    for (const double y : {-0.22, 0.22})
        painter.drawLine(centre + QPointF(-0.5, y) * radius, centre + QPointF(0.5, y) * radius);
    painter.drawLine(centre + QPointF(0.3, -0.6) * radius, centre + QPointF(-0.3, 0.6) * radius);
}

/// Two bars that something is enclosed by.
void drawBisected(QPainter& painter, QPointF centre, double radius, const QColor& background, const QColor& ink) {
    painter.setPen(Qt::NoPen);
    painter.setBrush(background);
    painter.drawEllipse(centre, radius, radius);
    painter.setPen(QPen(ink, radius * 0.24, Qt::SolidLine, Qt::RoundCap));
    for (const double x : {-0.35, 0.35})
        painter.drawLine(centre + QPointF(x, -0.5) * radius, centre + QPointF(x, 0.5) * radius);
}

/// An arrow at the left, no wider than marks may be: what is selected has an outline too, but none.
void drawCurrent(QPainter& painter, const QRectF& box, const QColor& color, const QColor& rim) {
    constexpr double kHalf = 7, kLength = 13;
    const QPointF tip(box.left(), box.center().y());
    const double neck = kLength * 0.55;
    painter.setPen(QPen(rim, 1));
    painter.setBrush(color);
    painter.drawPolygon(QPolygonF{tip, tip + QPointF(-neck, -kHalf), tip + QPointF(-neck, -kHalf * 0.4),
                                  tip + QPointF(-kLength, -kHalf * 0.4), tip + QPointF(-kLength, kHalf * 0.4),
                                  tip + QPointF(-neck, kHalf * 0.4), tip + QPointF(-neck, kHalf)});
}

/// As debuggers have it: a disc, with "=" if it has a condition, a diamond for a log point; hollow if it is off. Where
/// the run has stopped an arrow is in it.
void drawBreak(QPainter& painter, QPointF centre, double radius, const QColor& background, const QColor& ink,
               ItemFlags flags) {
    const bool isOff = (flags & kBreakOff) != 0;
    const double half = radius * 0.85;
    painter.setPen(QPen(isOff ? background : ink, radius * 0.3));
    painter.setBrush(isOff ? ink : background);
    if (flags & kBreakLog)
        painter.drawPolygon(QPolygonF{centre - QPointF(0, half * 1.15), centre + QPointF(half * 1.15, 0),
                                      centre + QPointF(0, half * 1.15), centre - QPointF(half * 1.15, 0)});
    else painter.drawEllipse(centre, half, half);
    const QColor sign = isOff ? background : ink;
    if (flags & kBreakHit) {
        painter.setPen(Qt::NoPen);
        painter.setBrush(sign);
        painter.drawPolygon(QPolygonF{centre + QPointF(-0.35, -0.5) * radius, centre + QPointF(0.55, 0) * radius,
                                      centre + QPointF(-0.35, 0.5) * radius});
    } else if (flags & kBreakIf) {
        painter.setPen(QPen(sign, radius * 0.24));
        for (const double y : {-0.2, 0.2})
            painter.drawLine(centre + QPointF(-0.42, y) * radius, centre + QPointF(0.42, y) * radius);
    }
}

/// A sheet with two lines of writing.
void drawNote(QPainter& painter, QPointF centre, double radius, const QColor& background, const QColor& ink) {
    painter.setPen(QPen(background, radius * 0.22, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    painter.setBrush(ink);
    painter.drawRect(QRectF(centre - QPointF(0.75, 0.9) * radius, centre + QPointF(0.75, 0.9) * radius));
    for (const double y : {-0.35, 0.2})
        painter.drawLine(centre + QPointF(-0.35, y) * radius, centre + QPointF(0.35, y) * radius);
}

/// A question mark in a ring.
void drawWhy(QPainter& painter, QPointF centre, double radius, const QColor& color, const QColor& background) {
    painter.setPen(QPen(color, radius * 0.24));
    painter.setBrush(background);
    painter.drawEllipse(centre, radius * 0.9, radius * 0.9);
    QPainterPath hook(centre + QPointF(-0.3, -0.25) * radius);
    hook.cubicTo(centre + QPointF(-0.3, -0.75) * radius, centre + QPointF(0.42, -0.7) * radius,
                 centre + QPointF(0.3, -0.2) * radius);
    hook.cubicTo(centre + QPointF(0.25, 0.02) * radius, centre + QPointF(0, 0.0) * radius,
                 centre + QPointF(0, 0.25) * radius);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(color, radius * 0.24, Qt::SolidLine, Qt::RoundCap));
    painter.drawPath(hook);
    painter.drawPoint(centre + QPointF(0, 0.52) * radius);
}

/// A tick in a square, as on a check list.
void drawFinding(QPainter& painter, QPointF centre, double radius, const QColor& color, const QColor& background) {
    painter.setPen(QPen(color, radius * 0.24));
    painter.setBrush(background);
    painter.drawRoundedRect(QRectF(centre - QPointF(0.8, 0.8) * radius, QSizeF(1.6, 1.6) * radius), 0.25 * radius,
                            0.25 * radius);
    QPainterPath tick(centre + QPointF(-0.42, 0.02) * radius);
    tick.lineTo(centre + QPointF(-0.1, 0.38) * radius);
    tick.lineTo(centre + QPointF(0.46, -0.38) * radius);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(color, radius * 0.28, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    painter.drawPath(tick);
}

/// A pencil.
void drawEdited(QPainter& painter, QPointF centre, double radius, const QColor& background, const QColor& ink) {
    painter.setPen(Qt::NoPen);
    painter.setBrush(background);
    painter.drawRoundedRect(QRectF(centre - QPointF(radius, radius), QSizeF(2 * radius, 2 * radius)), radius * 0.35,
                            radius * 0.35);
    painter.setPen(QPen(ink, radius * 0.3, Qt::SolidLine, Qt::FlatCap));
    painter.drawLine(centre + QPointF(0.6, -0.6) * radius, centre + QPointF(-0.25, 0.25) * radius);
    painter.setPen(Qt::NoPen);
    painter.setBrush(ink);
    painter.drawPolygon(QPolygonF{centre + QPointF(-0.65, 0.65) * radius, centre + QPointF(-0.48, 0.12) * radius,
                                  centre + QPointF(-0.12, 0.48) * radius});
}

/// A hollow triangle, the sign for a difference: what other values reach.
void drawWhatIf(QPainter& painter, QPointF centre, double radius, const QColor& background, const QColor& ink) {
    painter.setPen(Qt::NoPen);
    painter.setBrush(background);
    painter.drawEllipse(centre, radius, radius);
    painter.setPen(QPen(ink, radius * 0.22, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    painter.setBrush(Qt::NoBrush);
    painter.drawPolygon(QPolygonF{centre + QPointF(0, -0.6) * radius, centre + QPointF(0.55, 0.4) * radius,
                                  centre + QPointF(-0.55, 0.4) * radius});
}

/// A ribbon with a notch.
void drawBookmark(QPainter& painter, QPointF centre, double radius, const QColor& background) {
    painter.setPen(Qt::NoPen);
    painter.setBrush(background);
    const double half = radius * 0.6;
    painter.drawPolygon(QPolygonF{centre + QPointF(-half, -radius), centre + QPointF(half, -radius),
                                  centre + QPointF(half, radius), centre + QPointF(0, radius * 0.45),
                                  centre + QPointF(-half, radius)});
}

void drawWarning(QPainter& painter, QPointF centre, double radius, const QColor& background, const QColor& ink) {
    painter.setPen(QPen(background, radius * 0.35, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    painter.setBrush(background);
    painter.drawPolygon(QPolygonF{centre + QPointF(0, -0.85) * radius, centre + QPointF(0.9, 0.75) * radius,
                                  centre + QPointF(-0.9, 0.75) * radius});
    painter.setPen(QPen(ink, radius * 0.24, Qt::SolidLine, Qt::RoundCap));
    painter.drawLine(centre + QPointF(0, -0.3) * radius, centre + QPointF(0, 0.2) * radius);
    painter.drawPoint(centre + QPointF(0, 0.58) * radius);
}

}  // namespace

void ItemPainter::paintMarks(QPainter& painter, const layout::SceneItem& item, ItemFlags flags,
                             const BlockCounts* blocks, Detail detail) const {
    const QRectF box = toQt(item.rect);
    const auto outline = [&](ColorRole role, double width, double gap) {
        painter.setPen(QPen(m_style.color(role), detail == Detail::Block ? width * 3 : width));
        painter.setBrush(Qt::NoBrush);
        painter.drawRoundedRect(box.adjusted(-gap, -gap, gap, gap), Card::kRadius + gap, Card::kRadius + gap);
    };
    if (flags & (kMatch | kCurrentHit)) outline(ColorRole::SearchHit, flags & kCurrentHit ? 5 : 3, 3);
    if (flags & kCurrent) {
        outline(ColorRole::CurrentMark, 2.5, 5.5);  // around that of a selection
        drawCurrent(painter, box, m_style.color(ColorRole::CurrentMark), m_style.color(ColorRole::Canvas));
    }
    if (flags & kWhy) {
        QPen dashes(m_style.color(ColorRole::WhyMark), detail == Detail::Block ? 5 : 1.8, Qt::DashLine);
        painter.setPen(dashes);
        painter.setBrush(Qt::NoBrush);
        painter.drawRoundedRect(box.adjusted(-2, -2, 2, 2), Card::kRadius + 2, Card::kRadius + 2);
    }
    // An open box says of the blocks that it stands for how many are marked, and is no value itself.
    const ItemFlags outlined = blocks && item.what.open ? ItemFlags{0} : flags;
    if (outlined & kBisected) {
        painter.setPen(QPen(m_style.color(ColorRole::ErrorMark), detail == Detail::Block ? 5 : 1.8, Qt::DotLine));
        painter.setBrush(Qt::NoBrush);
        painter.drawRoundedRect(box.adjusted(-3, -3, 3, 3), Card::kRadius + 3, Card::kRadius + 3);
    }
    // Dashed: a value that the model itself does not give.
    if (outlined & (kEdited | kWhatIf)) {
        painter.setPen(QPen(m_style.color(ColorRole::DiffChanged), detail == Detail::Block ? 4 : 1.6, Qt::DashLine));
        painter.setBrush(Qt::NoBrush);
        painter.drawRoundedRect(box.adjusted(-1.5, -1.5, 1.5, 1.5), Card::kRadius + 1.5, Card::kRadius + 1.5);
    }
    if (outlined & kFailed) outline(ColorRole::ErrorMark, 2.5, 1);
    else if (outlined & kRemoved) outline(ColorRole::DiffRemoved, 2, 1);
    else if (outlined & kAdded) outline(ColorRole::DiffAdded, 2, 1);
    else if (outlined & kChanged) outline(ColorRole::DiffChanged, 2, 1);
    else if (outlined & kMoved) outline(ColorRole::DiffMoved, 2, 1);
    paintSigns(painter, item, flags, blocks, detail);
}

void ItemPainter::paintSigns(QPainter& painter, const layout::SceneItem& item, ItemFlags flags,
                             const BlockCounts* blocks, Detail detail) const {
    // In the upper right corner, a little outside where the item has no room of its own. Far out they grow, so that
    // they are still found.
    const QRectF box = toQt(item.rect);
    const double radius = (detail <= Detail::Heading ? 1.5 : 1.0) * Card::kMark / 2;
    const QColor ink = m_style.color(ColorRole::Canvas);
    QPointF at(box.right() - 4, box.top() + 2);
    const auto goOn = [&] { at.rx() -= 2 * radius + 3; };
    // Of one of the flags: the first that is there.
    const auto sign = [&](std::initializer_list<ItemFlag> of, ColorRole role, const auto& draw) {
        const auto* const found = std::ranges::find_if(of, [&](ItemFlag flag) { return (flags & flag) != 0; });
        if (found == of.end()) return;
        const std::uint32_t part = blocks && detail >= Detail::Full ? blocks->part(*found) : 0;
        if (part > 0) at.rx() -= paintPart(painter, at + QPointF(radius, 0), part, blocks->all, m_style.color(role));
        draw(painter, at, radius, m_style.color(role), ink);
        goOn();
    };
    const auto withFlags = [&](const auto& draw) {
        return [&, draw](QPainter& on, QPointF centre, double size, const QColor& background, const QColor& line) {
            draw(on, centre, size, background, line, flags);
        };
    };
    if (flags & kWatched) {
        drawEye(painter, at, radius, m_style.color(ColorRole::WatchMark), m_style.color(ColorRole::WatchMarkText));
        goOn();
    }
    sign({kBreak}, ColorRole::ErrorMark, withFlags(drawBreak));
    // Of one value the edit says more; of blocks each has its count.
    sign({kEdited}, ColorRole::DiffChanged, drawEdited);
    if (blocks || !(flags & kEdited)) sign({kWhatIf}, ColorRole::DiffChanged, drawWhatIf);
    if (flags & kEnd) {
        drawFlag(painter, at, radius, m_style.color(ColorRole::EndMark), m_style.color(ColorRole::EndMarkText));
        goOn();
    }
    sign({kNote}, ColorRole::Accent, drawNote);
    if (flags & kBookmarked) {
        drawBookmark(painter, at, radius, m_style.color(ColorRole::Accent));
        goOn();
    }
    sign({kWhy}, ColorRole::WhyMark, drawWhy);
    sign({kFinding}, ColorRole::Warning, drawFinding);
    const ColorRole change = flags & kRemoved   ? ColorRole::DiffRemoved
                             : flags & kAdded   ? ColorRole::DiffAdded
                             : flags & kChanged ? ColorRole::DiffChanged
                                                : ColorRole::DiffMoved;
    sign({kRemoved, kAdded, kChanged, kMoved}, change, withFlags(drawChange));
    sign({kBisected}, ColorRole::ErrorMark, drawBisected);
    sign({kDiffers}, ColorRole::ErrorMark, drawUnequal);
    sign({kFailed, kBadValue, kUntraced}, flags & kFailed ? ColorRole::ErrorMark : ColorRole::WarningMark, drawWarning);
}

/// "3/12" on a plate that ends at `right`: in how many of the blocks it is so. Gives the width of the plate.
double ItemPainter::paintPart(QPainter& painter, QPointF right, std::uint32_t part, std::uint32_t all,
                              const QColor& background) const {
    constexpr double kSide = 4;
    const QString text = QStringLiteral("%1/%2").arg(part).arg(all);
    const double height = m_measure->height(TextRole::Small), width = m_measure->width(TextRole::Small, text);
    const QRectF plate(right.x() - width - 2 * kSide, right.y() - height / 2, width + 2 * kSide, height);
    painter.setPen(Qt::NoPen);
    painter.setBrush(background);
    painter.drawRoundedRect(plate, 3, 3);
    line(painter, TextRole::Small, plate.topLeft() + QPointF(kSide, 0), width + kSide, text,
         m_style.color(ColorRole::Canvas));
    return plate.width() + 2;
}

/// A label on the lower edge.
void ItemPainter::paintPinned(QPainter& painter, const layout::SceneItem& item, const PinnedText& pinned) const {
    const QRectF box = toQt(item.rect);
    const double height = m_measure->height(TextRole::Small) + 3;
    const QString text = m_measure->elided(TextRole::Small, pinned.text, box.width() - 12);
    const double width = m_measure->width(TextRole::Small, text) + 10;
    const QRectF label(box.center().x() - width / 2, box.bottom() - height / 2 + 2, width, height);
    painter.setPen(QPen(m_style.color(pinned.isError ? ColorRole::ErrorMark : ColorRole::WatchMark), 1.2));
    painter.setBrush(m_style.color(ColorRole::Canvas));
    painter.drawRoundedRect(label, 3, 3);
    line(painter, TextRole::Small, {label.left() + 5, label.top() + 1.5}, width, text,
         m_style.color(pinned.isError ? ColorRole::ErrorMark : ColorRole::Text));
}

void ItemPainter::paintPreview(QPainter& painter, const layout::SceneItem& item, const Preview* preview,
                               const QColor& ink) const {
    const QRectF frame = Card::thumbnailRect(item.rect);
    painter.setPen(QPen(m_style.color(ColorRole::Border), 1));
    painter.setBrush(m_style.color(ColorRole::PlotBackground));
    painter.drawRoundedRect(frame, 2, 2);
    const auto centred = [&](TextRole role, const QRectF& area, const QString& text, const QColor& color) {
        const QString shown = m_measure->elided(role, text, area.width());
        line(painter, role,
             {area.center().x() - m_measure->width(role, shown) / 2, area.center().y() - m_measure->height(role) / 2},
             area.width() + 1, shown, color);
    };
    if (!preview) {
        centred(TextRole::Small, frame, QStringLiteral("no value"), m_style.color(ColorRole::MutedText));
        return;
    }
    if (!preview->image.isNull()) {
        // Whole pictures are fitted; their cells are kept sharp.
        const QSizeF size = QSizeF(preview->image.size()).scaled(frame.size() - QSizeF(4, 4), Qt::KeepAspectRatio);
        painter.drawImage(QRectF(frame.center() - QPointF(size.width(), size.height()) / 2, size), preview->image);
    } else {
        const auto fits = [&](TextRole role, const QString& text) {
            return m_measure->width(role, text) <= frame.width();
        };
        const TextRole role = fits(TextRole::Body, preview->big) ? TextRole::Body : TextRole::Small;
        // A number that has no room is rounded rather than cut.
        bool isNumber = false;
        const double number = preview->big.toDouble(&isNumber);
        const bool isRounded = isNumber && !fits(role, preview->big);
        centred(role, frame, isRounded ? QString::number(number, 'g', 4) : preview->big,
                m_style.color(ColorRole::Text));
    }
    const QRectF below(item.rect.x + Card::kPadX, frame.bottom() + 2, item.rect.width - 2 * Card::kPadX,
                       12 * m_style.textScale);
    const QString range = m_measure->elided(TextRole::Small, preview->range, below.width());
    line(painter, TextRole::Small, {below.right() - m_measure->width(TextRole::Small, range), below.top()},
         below.width() + 1, range, ink);
}

}  // namespace sonde::canvas
