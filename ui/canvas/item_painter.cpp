#include "ui/canvas/item_painter.h"

#include <algorithm>

namespace sonde::canvas {

using layout::ItemKind;
using theme::CategoryColors;
using theme::ColorRole;

namespace {

constexpr double kMinBoth = 1.2;  ///< of the heading of a module with what is in it
// In the head of an open box.
constexpr double kAfterToggle = 6, kBeforeSubtitle = 10;

QString subtitleOf(const ItemText& text, const layout::SceneItem& item) {
    return item.what.kind == ItemKind::Module ? text.classAndFacts() : text.qualname;
}

/// The outline of an item: dashed if nothing is known of what it is coloured by.
QPen outline(const Tint* tint, const QColor& stroke) {
    return QPen(tint ? tint->stroke : stroke, 1, tint && tint->unknown ? Qt::DashLine : Qt::SolidLine);
}

}  // namespace

Detail detailAt(double scale) {
    if (scale < 0.2) return Detail::Block;
    if (scale < 0.5) return Detail::Heading;
    return scale < 1.4 ? Detail::Full : Detail::Close;
}

ItemPainter::ItemPainter(std::shared_ptr<const graph::InternalGraph> graph, std::shared_ptr<const TextMeasure> measure,
                         const CanvasStyle& style)
    : m_graph(std::move(graph)), m_measure(std::move(measure)),
      m_style(style), m_fonts{canvasFont(TextRole::Title, style.textScale), canvasFont(TextRole::Body, style.textScale),
                              canvasFont(TextRole::Small, style.textScale)} {}

void ItemPainter::line(QPainter& painter, TextRole role, QPointF topLeft, double width, const QString& text,
                       const QColor& ink) const {
    if (text.isEmpty() || width < 4) return;
    painter.setFont(m_fonts[static_cast<int>(role)]);
    drawText(painter, topLeft + QPointF(0, m_measure->ascent(role)), m_measure->elided(role, text, width), ink);
}

void ItemPainter::drawText(QPainter& painter, QPointF baseline, const QString& text, const QColor& ink) const {
    const double opacity = painter.opacity();
    if (m_faint) painter.setOpacity(m_faint->opacity);
    painter.setPen(m_faint ? m_faint->ink : ink);
    painter.drawText(baseline, text);
    if (m_faint) painter.setOpacity(opacity);
}

void ItemPainter::paintHeading(QPainter& painter, const QRectF& area, const QString& text, const QColor& ink) const {
    const double width = m_measure->width(TextRole::Title, text);
    const double height = m_measure->height(TextRole::Title);
    if (width <= 0) return;
    // As large as it fits, so that it is read from afar; long names are cut rather than shrunk to nothing.
    const double factor = std::clamp(std::min(area.width() / width, area.height() / height), 1.0, 2.2);
    painter.save();
    painter.translate(area.center());
    painter.scale(factor, factor);
    const QString shown = m_measure->elided(TextRole::Title, text, area.width() / factor + 0.01);  // it may just fit
    const double shownWidth = m_measure->width(TextRole::Title, shown);
    painter.setFont(m_fonts[0]);
    drawText(painter, QPointF(-shownWidth / 2, m_measure->ascent(TextRole::Title) - height / 2), shown, ink);
    painter.restore();
}

void ItemPainter::paint(QPainter& painter, const SceneIndex& index, layout::ItemId id, const SceneMarks& marks,
                        double scale) const {
    paint(painter, index.scene().item(id), index.depth(id), id, marks, scale);
}

void ItemPainter::paint(QPainter& painter, const layout::SceneItem& item, int depth, layout::ItemId id,
                        const SceneMarks& marks, double scale) const {
    const ItemFlags flags = marks.of(id);
    const double opacity = painter.opacity();
    const Detail detail = detailAt(scale);
    if ((flags & kDimmed) && !item.what.open) {
        ItemPainter faint(*this);
        // On a colour of a scale, which may be the farthest from the canvas that there is, only full ink is read.
        faint.m_faint = Faint{opacity, m_style.color(marks.tint(item.what) ? ColorRole::Text : ColorRole::DimmedText)};
        painter.setOpacity(kDimmedOpacity * opacity);
        faint.paintItem(painter, item, depth, flags, marks, detail);
        painter.setOpacity(opacity);
    } else {
        paintItem(painter, item, depth, flags, marks, detail);
    }
    if (flags) paintMarks(painter, item, flags, marks.blocksOf(id), detail);
    if (const PinnedText* const pinned = marks.pinned(item.what); pinned && detail != Detail::Block)
        paintPinned(painter, item, *pinned);
}

void ItemPainter::paintItem(QPainter& painter, const layout::SceneItem& item, int depth, ItemFlags flags,
                            const SceneMarks& marks, Detail detail) const {
    switch (item.what.kind) {
        case ItemKind::Stub: paintStub(painter, item, detail); break;
        case ItemKind::Input:
        case ItemKind::Output: paintPort(painter, item, detail); break;
        case ItemKind::Module:
            item.what.open ? paintOpenBox(painter, item, depth, flags, detail)
                           : paintClosedModule(painter, item, depth, marks, detail);
            break;
        case ItemKind::Body: paintOpenBox(painter, item, depth, flags, detail); break;
        case ItemKind::Expr:
            item.what.open ? paintOpenBox(painter, item, depth, flags, detail)
                           : paintNode(painter, item, marks, flags, detail);
            break;
    }
}

void ItemPainter::paintOpenBox(QPainter& painter, const layout::SceneItem& item, int depth, ItemFlags flags,
                               Detail detail) const {
    const QRectF box = toQt(item.rect);
    const bool taken = flags & kTaken;
    painter.setPen(QPen(m_style.color(taken ? ColorRole::Success : ColorRole::ModuleStroke), taken ? 2 : 1));
    painter.setBrush(theme::moduleFill(depth, m_style.scheme));
    if (detail == Detail::Block) {
        painter.drawRect(box);
        return;
    }
    painter.drawRoundedRect(box, Card::kRadius + 2, Card::kRadius + 2);
    if (detail >= Detail::Full) openTitle(painter, item, taken, nullptr);
}

void ItemPainter::paintOpenTitle(QPainter& painter, const layout::SceneItem& item, int depth, ItemFlags flags) const {
    const QColor background = theme::moduleFill(depth, m_style.scheme);
    openTitle(painter, item, flags & kTaken, &background);
}

void ItemPainter::openTitle(QPainter& painter, const layout::SceneItem& item, bool taken,
                            const QColor* background) const {
    const QRectF box = toQt(item.rect);
    ItemText text = itemText(*m_graph, item.what);
    if (taken) text.title += QStringLiteral("  \u2713 taken");
    double x = box.left() + Card::kPadX;
    const double right = box.right() - Card::kPadX, y = box.top() + Card::kPadY;
    if (Card::hasToggle(item.what)) {
        paintToggle(painter, item);
        x += Card::kToggle + kAfterToggle;
    }
    const auto part = [&](TextRole role, double drop, const QString& row, ColorRole ink) {
        if (row.isEmpty() || right - x < 4) return;
        const double width = std::min(m_measure->width(role, row), right - x);
        if (background) painter.fillRect(QRectF(x - 2, y + drop, width + 4, m_measure->height(role)), *background);
        line(painter, role, {x, y + drop}, right - x, row, m_style.color(ink));
        x += width + kBeforeSubtitle;
    };
    part(TextRole::Title, 0, text.title, ColorRole::ModuleTitle);
    part(TextRole::Body, m_measure->ascent(TextRole::Title) - m_measure->ascent(TextRole::Body), subtitleOf(text, item),
         ColorRole::ModuleSubtitle);
}

QRectF ItemPainter::openTitleRect(const layout::SceneItem& item) const {
    const QRectF box = toQt(item.rect);
    const ItemText text = itemText(*m_graph, item.what);
    const double x = box.left() + Card::kPadX + (Card::hasToggle(item.what) ? Card::kToggle + kAfterToggle : 0);
    const double width = m_measure->width(TextRole::Title, text.title) + kBeforeSubtitle +
                         m_measure->width(TextRole::Body, subtitleOf(text, item));
    return {x, box.top() + Card::kPadY, std::min(width, box.right() - Card::kPadX - x),
            m_measure->height(TextRole::Title)};
}

void ItemPainter::paintClosedModule(QPainter& painter, const layout::SceneItem& item, int depth,
                                    const SceneMarks& marks, Detail detail) const {
    const QRectF box = toQt(item.rect);
    const Tint* tint = marks.tint(item.what);
    const QColor fill = tint ? tint->fill : theme::moduleFill(depth + 1, m_style.scheme);
    const QPen stroke = outline(tint, m_style.color(ColorRole::ModuleStroke));
    if (detail == Detail::Block) {
        painter.setPen(stroke);
        painter.setBrush(tint ? tint->fill : m_style.color(ColorRole::ModuleStroke));
        painter.drawRect(box);
        return;
    }
    // A second sheet behind says that there is more inside.
    painter.setPen(stroke);
    painter.setBrush(fill);
    painter.drawRoundedRect(box.adjusted(4, 4, 0, 0), Card::kRadius, Card::kRadius);
    if (item.what.repeat > 0) painter.drawRoundedRect(box.adjusted(2, 2, -2, -2), Card::kRadius, Card::kRadius);
    const QRectF front = box.adjusted(0, 0, -4, -4);
    painter.drawRoundedRect(front, Card::kRadius, Card::kRadius);
    paintBar(painter, front, tint);

    const ItemText text = itemText(*m_graph, item.what);
    const QColor title = tint ? tint->text : m_style.color(ColorRole::ModuleTitle);
    const QColor subtitle = tint ? tint->text : m_style.color(ColorRole::ModuleSubtitle);
    QRectF area = front;
    if (const graph::NodeId value = marks.moduleValue(item.what.scope); value.valid()) {
        paintPreview(painter, item, marks.preview(value), subtitle);
        area.setRight(Card::thumbnailRect(item.rect).left());
    }
    if (detail == Detail::Heading) {
        const QRectF room = area.adjusted(6, 4, -6, -4);
        const QString whole = text.title + QStringLiteral(" \u00b7 ") + text.facts;
        const bool fits = !text.facts.isEmpty() && kMinBoth * m_measure->width(TextRole::Title, whole) <= room.width();
        paintHeading(painter, room, fits ? whole : text.title, title);
        return;
    }
    const double toggle = Card::hasToggle(item.what) ? Card::kToggle + 6 : 0;
    if (toggle > 0) paintToggle(painter, item);
    const Card card(*m_measure, m_style);
    const double x = area.left() + Card::kPadX, width = area.width() - 2 * Card::kPadX;
    double y = front.top() + Card::kPadY;
    line(painter, TextRole::Title, {x + toggle, y}, width - toggle, text.title, title);
    y += card.titleLine();
    for (const QString& row : {text.classAndFacts(), text.name}) {
        line(painter, TextRole::Body, {x, y}, width, row, subtitle);
        if (!row.isEmpty()) y += card.bodyLine();
    }
}

void ItemPainter::paintNode(QPainter& painter, const layout::SceneItem& item, const SceneMarks& marks, ItemFlags flags,
                            Detail detail) const {
    const QRectF box = toQt(item.rect);
    CategoryColors colors = theme::categoryColors(categoryOf(*m_graph, item.what), m_style.scheme);
    const Tint* tint = marks.tint(item.what);
    if (tint) colors = {tint->fill, tint->stroke, tint->text};
    if (detail == Detail::Block) {
        // A scale is told by its fills, kinds by what stands out most; what nothing is known of stays hollow.
        if (tint && tint->unknown) {
            painter.setPen(QPen(colors.stroke, 0));
            painter.setBrush(tint->fill);
            painter.drawRect(box);
        } else {
            painter.fillRect(box, tint && tint->fraction >= 0 ? tint->fill : colors.stroke);
        }
        return;
    }
    painter.setPen(outline(tint, colors.stroke));
    painter.setBrush(colors.fill);
    painter.drawRoundedRect(box, Card::kRadius, Card::kRadius);
    paintBar(painter, box, tint);
    painter.setPen(Qt::NoPen);
    painter.setBrush(tint && tint->unknown ? Qt::NoBrush : QBrush(colors.stroke));
    painter.drawRoundedRect(QRectF(box.left() + 3, box.top() + 6, Card::kAccent - 1, box.height() - 12), 1.5, 1.5);

    const ItemText text = itemText(*m_graph, item.what, m_style);
    QRectF area = box.adjusted(Card::kAccent, 0, 0, 0);
    const graph::NodeId node = nodeOf(*m_graph, item.what);
    if (flags & kWatched && !(flags & kInside)) {
        if (detail > Detail::Block)
            paintPreview(painter, item, marks.preview(node), tint ? tint->text : m_style.color(ColorRole::NodeSubtext));
        area.setRight(area.right() - Card::kThumbnail - Card::kPadX);
    }
    if (detail == Detail::Heading) {
        paintHeading(painter, area.adjusted(6, 4, -6, -4), text.title, colors.text);
        return;
    }
    const Card card(*m_measure, m_style);
    const QColor sub = tint ? tint->text : m_style.color(ColorRole::NodeSubtext);
    const double x = area.left() + Card::kPadX, width = area.width() - 2 * Card::kPadX;
    double y = area.top() + Card::kPadY;
    const double toggle = Card::hasToggle(item.what) ? Card::kToggle + 6 : 0;
    if (toggle > 0) paintToggle(painter, item);
    line(painter, TextRole::Title, {x + toggle, y}, width - toggle, text.title, colors.text);
    // Marks in the corner have precedence.
    const double before = toggle + m_measure->width(TextRole::Title, text.title) + Card::kFactsGap;
    line(painter, TextRole::Body,
         {x + before, y + m_measure->ascent(TextRole::Title) - m_measure->ascent(TextRole::Body)},
         width - before - (flags ? 2 * Card::kMark : 0), text.facts, sub);
    y += card.titleLine();
    for (const QString& row : {text.qualname, text.name}) {
        line(painter, TextRole::Body, {x, y}, width, row, sub);
        if (!row.isEmpty()) y += card.bodyLine();
    }
    for (const QString& row : text.small) {
        line(painter, TextRole::Small, {x, y}, width, row, sub);
        y += card.smallLine();
    }
    // Close up, a line of half size fits into the lower margin; not for those who need larger letters.
    const bool readsHalfSize = detail == Detail::Close && m_style.textScale < 1.2;
    if (item.what.expr && !m_style.showAttributes && readsHalfSize && box.bottom() - y >= 6) {
        const QString row = attributeLines(m_graph->expr(item.what.expr), 4).join(QStringLiteral(" · "));
        painter.save();
        painter.translate(x, y);
        painter.scale(0.55, 0.55);
        line(painter, TextRole::Small, {0, 0}, width / 0.55, row, sub);
        painter.restore();
    }
}

void ItemPainter::paintPort(QPainter& painter, const layout::SceneItem& item, Detail detail) const {
    const QRectF box = toQt(item.rect);
    const CategoryColors colors = theme::categoryColors(categoryOf(*m_graph, item.what), m_style.scheme);
    if (detail == Detail::Block) {
        painter.fillRect(box, colors.stroke);
        return;
    }
    painter.setPen(QPen(colors.stroke, 1.4));
    painter.setBrush(colors.fill);
    const double radius = std::min(box.height() / 2, 18.0);
    painter.drawRoundedRect(box, radius, radius);
    const ItemText text = itemText(*m_graph, item.what, m_style);
    if (detail == Detail::Heading) {
        paintHeading(painter, box.adjusted(10, 3, -10, -3), text.title, colors.text);
        return;
    }
    const Card card(*m_measure, m_style);
    double y = box.top() + (text.qualname.isEmpty() ? (box.height() - card.titleLine()) / 2 : Card::kPadY);
    const auto centred = [&](TextRole role, const QString& row, const QColor& ink, double height) {
        const double width = std::min(m_measure->width(role, row), box.width() - 2 * Card::kPadX);
        line(painter, role, {box.center().x() - width / 2, y}, width + 1, row, ink);
        y += height;
    };
    centred(TextRole::Title, text.title, colors.text, card.titleLine());
    centred(TextRole::Body, text.qualname, m_style.color(ColorRole::NodeSubtext), card.bodyLine());
}

void ItemPainter::paintStub(QPainter& painter, const layout::SceneItem& item, Detail detail) const {
    const QRectF box = toQt(item.rect);
    const QColor stroke = m_style.color(ColorRole::StubStroke);
    if (detail == Detail::Block) {
        painter.fillRect(box, stroke);
        return;
    }
    painter.setPen(QPen(stroke, 1, Qt::DashLine));
    painter.setBrush(m_style.color(ColorRole::StubFill));
    painter.drawRoundedRect(box, box.height() / 2, box.height() / 2);
    if (detail < Detail::Full) return;
    const QColor ink = m_style.color(ColorRole::StubText);
    const QString text = itemText(*m_graph, item.what).title;
    line(painter, TextRole::Small, {box.left() + 17, box.center().y() - m_measure->height(TextRole::Small) / 2},
         box.width() - 24, text, ink);
    // An arrow that comes from elsewhere.
    const QPointF tip(box.left() + 13, box.center().y() + 2.5);
    painter.setPen(QPen(ink, 1.1, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    painter.drawPolyline(QPolygonF{tip + QPointF(-5, -5), tip});
    painter.drawPolyline(QPolygonF{tip + QPointF(-3.5, 0), tip, tip + QPointF(0, -3.5)});
}

/// How far a number goes along its scale, as a length: seen without the colour.
void ItemPainter::paintBar(QPainter& painter, const QRectF& box, const Tint* tint) const {
    if (!tint || tint->fraction < 0) return;
    const QRectF whole(box.left() + Card::kAccent + 4, box.bottom() - 5, box.width() - Card::kAccent - 8, 2.5);
    painter.setPen(Qt::NoPen);
    painter.setBrush(tint->text);
    const double length = whole.width() * tint->fraction;
    painter.drawRect(QRectF(tint->below ? whole.right() - length : whole.left(), whole.top(), length, whole.height()));
}

void ItemPainter::paintToggle(QPainter& painter, const layout::SceneItem& item) const {
    const QRectF button = Card::toggleRect(item.rect);
    painter.setPen(QPen(m_style.color(ColorRole::ModuleStroke), 1));
    painter.setBrush(m_style.color(ColorRole::Base));
    painter.drawRoundedRect(button, 3, 3);
    painter.setPen(QPen(m_style.color(ColorRole::ModuleTitle), 1.4));
    const QPointF c = button.center();
    painter.drawLine(c - QPointF(3.5, 0), c + QPointF(3.5, 0));
    if (!item.what.open) painter.drawLine(c - QPointF(0, 3.5), c + QPointF(0, 3.5));
}

}  // namespace sonde::canvas
