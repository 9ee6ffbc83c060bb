#include "ui/canvas/far_titles.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "ui/canvas/free_places.h"
#include "ui/canvas/item_text.h"
#include "ui/canvas/run_title.h"

namespace sonde::canvas {

using layout::ItemId;
using layout::ItemKind;

namespace {

/// Letters get no smaller than this within a box, and have this size beside one.
constexpr double kMinInside = 0.65, kBeside = 0.8;
/// A few letters of a name are no use.
constexpr qsizetype kMinLength = 6;
constexpr double kMaxBeside = 190;        ///< pixels
constexpr double kMinBoxBeside = 5;       ///< pixels: a box that is hardly seen has no name beside it
constexpr std::size_t kMaxPlaced = 3000;  ///< boxes of a scene whose names are placed all at once
/// Around a place that has more items than this there is nothing free.
constexpr std::size_t kMaxNear = 400;

}  // namespace

FarTitles::FarTitles(const SceneIndex& index, const ItemPainter& items, JumpNames jumpNames)
    : m_index(index), m_items(items), m_jumpNames(std::move(jumpNames)) {
    const std::vector<layout::SceneItem>& all = index.scene().items;
    for (std::size_t i = 0; i < all.size(); ++i)
        if (all[i].what.open || all[i].what.kind == ItemKind::Module) m_boxes.push_back(ItemId(i));
}

const FarTitles::Text& FarTitles::textOf(ItemId id) {
    const auto [found, isNew] = m_texts.try_emplace(id.value);
    if (!isNew) return found->second;
    const layout::ItemDescription& what = m_index.scene().item(id).what;
    const ItemText text = itemText(m_items.graph(), what);
    found->second.title = text.title;
    found->second.isRepeated = what.repeat > 0;
    found->second.last = what.kind == ItemKind::Module && what.repeat == 0
                             ? text.title.mid(text.title.lastIndexOf(u'.') + 1)
                             : text.title;
    if (what.kind == ItemKind::Module && what.repeat == 0 && !text.facts.isEmpty())
        found->second.facts = QStringLiteral(" \u00b7 ") + text.facts;
    return found->second;
}

double FarTitles::widthOf(const QString& text) const { return m_items.measure().width(TextRole::Title, text); }

/// A qualname's last part says more than both ends of the whole, and of repeated blocks their number must not be lost.
QString FarTitles::shortened(const Text& text, double width) const {
    if (widthOf(text.title) <= width) return text.title;
    if (text.isRepeated)
        return shortRunTitle(text.title, [&](const QString& shown) { return widthOf(shown) <= width; });
    const QString shown = m_items.measure().elided(TextRole::Title, text.last, width);
    return shown.size() < kMinLength && shown != text.last ? QString() : shown;
}

QString FarTitles::withFacts(const Text& text, double width) const {
    const QString shown = shortened(text, width);
    if (shown.isEmpty() || text.facts.isEmpty()) return shown;
    for (const QString& name : {shown, text.last})
        if (widthOf(name + text.facts) <= width) return name + text.facts;
    return shown;
}

double FarTitles::roomAbove(ItemId id) {
    const auto [found, isNew] = m_rooms.try_emplace(id.value, 0);
    if (!isNew) return found->second;
    const layout::SceneItem& box = m_index.scene().item(id);
    double room = box.rect.height;
    for (const ItemId child : box.children) room = std::min(room, m_index.scene().item(child).rect.y - box.rect.y);
    return found->second = room;
}

bool FarTitles::isTitled(ItemId id) const {
    return m_index.scene().item(id).what.open || detailAt(m_scale) == Detail::Block;
}

FarTitle FarTitles::placedInside(ItemId id, const std::vector<QRectF>& taken) {
    const QRectF box = toQt(m_index.scene().item(id).rect);
    const bool isOpen = m_index.scene().item(id).what.open;
    const double scale = m_scale, width = box.width() * scale - 8,
                 whole = m_items.measure().height(TextRole::Title) + 2;
    // Smaller rather than over the first nodes, as long as it can be read.
    const double room = isOpen && detailAt(scale) != Detail::Block ? roomAbove(id) : box.height();
    FarTitle title;
    title.factor = std::clamp((room * scale - 2) / whole, kMinInside, 1.0);
    if (width < 24 || box.height() * scale < whole * title.factor + 2) return {};
    const double height = whole * title.factor / scale, margin = 3 / scale;
    FarTitle covering;
    std::size_t mostCovered = std::numeric_limits<std::size_t>::max();
    // What it says is worth less than the names of nodes.
    for (const QString& text :
         {withFacts(textOf(id), (width - 8) / title.factor), shortened(textOf(id), (width - 8) / title.factor)}) {
        if (text.isEmpty() || text == title.text) continue;
        title.text = text;
        const QSizeF size((widthOf(text) * title.factor + 8) / scale, height);
        const double left = box.left() + margin, right = box.right() - margin - size.width();
        // Where it stands close up as well, else on the right, else a line further down.
        const std::array places{QPointF(left, box.top() + 2 / scale), QPointF(right, box.top() + 2 / scale),
                                QPointF(left, box.top() + height), QPointF(left, box.top() + 2 * height)};
        for (const QPointF at : places) {
            title.rect = QRectF(at, size);
            const bool isInside = title.rect.bottom() <= box.bottom() && title.rect.left() >= box.left();
            const auto covers = [&](const QRectF& other) { return other.intersects(title.rect); };
            if (!isInside || std::any_of(taken.begin(), taken.end(), covers) || !isOffNames(title.rect)) continue;
            const std::size_t covered = m_boxes.size() > kMaxPlaced ? 0 : nodesUnder(title.rect, id);
            if (covered == 0) return title;
            if (covered >= mostCovered) continue;
            mostCovered = covered;
            covering = title;
        }
    }
    if (isOpen && m_boxes.size() <= kMaxPlaced) return placedAnywhere(id, taken, title.factor);
    covering.coversNodes = true;
    return covering;
}

/// Wherever there is room between what is in the box, in smaller letters if need be; else where it covers least.
FarTitle FarTitles::placedAnywhere(ItemId id, const std::vector<QRectF>& taken, double largest) {
    constexpr double kCell = 2, kMargin = 3;  // pixels
    const double margin = kMargin / m_scale;
    const QRectF room = toQt(m_index.scene().item(id).rect).adjusted(margin, margin, -margin, -margin);
    FreePlaces places(room, kCell / m_scale);
    for (const std::uint32_t other : m_index.itemsWithin(room))
        if (!m_index.scene().items[other].what.open) places.take(toQt(m_index.scene().items[other].rect));
    for (const std::vector<QRectF>& kept : {taken, m_names})
        for (const QRectF& rect : kept) places.take(rect, true);
    FarTitle least;
    double leastCovered = 2;
    const double height = m_items.measure().height(TextRole::Title) + 2, width = room.width() * m_scale - 8;
    for (const double factor : {largest, (largest + kMinInside) / 2, kMinInside})
        for (const QString& text :
             {withFacts(textOf(id), width / factor), shortened(textOf(id), width / factor), textOf(id).last}) {
            const QSizeF size(QSizeF(widthOf(text) * factor + 8, height * factor) / m_scale);
            const auto place = text.isEmpty() ? std::nullopt : places.find(size);
            if (!place || place->covered >= leastCovered) continue;
            leastCovered = place->covered;
            least = {QRectF(place->at, size), text, factor, place->covered > 0};
            if (!least.coversNodes) return least;
        }
    return least;
}

std::size_t FarTitles::nodesUnder(const QRectF& rect, ItemId id) const {
    const std::vector<std::uint32_t> near = m_index.itemsWithin(rect);
    return static_cast<std::size_t>(std::count_if(near.begin(), near.end(), [&](std::uint32_t other) {
        const layout::SceneItem& item = m_index.scene().items[other];
        return !item.what.open && other != id.value && toQt(item.rect).intersects(rect);
    }));
}

bool FarTitles::isOffNames(const QRectF& rect) const {
    if (m_names.empty()) return true;
    const double first = rect.top() - m_names.front().height();
    auto name = std::ranges::lower_bound(m_names, first, {}, &QRectF::top);
    for (; name != m_names.end() && name->top() < rect.bottom(); ++name)
        if (name->intersects(rect)) return false;
    return true;
}

/// Plates lie within their boxes, so only those of boxes around one can be in its way; these are placed first.
const FarTitle& FarTitles::inside(ItemId id) {
    std::vector<ItemId> around;
    for (ItemId box = id; box.valid(); box = m_index.scene().item(box).parent) around.push_back(box);
    std::vector<QRectF> taken;
    for (auto it = around.rbegin(); it != around.rend(); ++it) {
        const auto [found, isNew] = m_insides.try_emplace(it->value);
        if (isNew && isTitled(*it)) found->second = placedInside(*it, taken);
        if (!found->second.rect.isEmpty()) taken.push_back(found->second.rect);
    }
    return m_insides[id.value];
}

bool FarTitles::isOffItems(const QRectF& rect, ItemId id) const {
    const layout::SceneLayout& scene = m_index.scene();
    const std::vector<std::uint32_t> near = m_index.itemsWithin(rect);
    if (near.size() > kMaxNear) return false;
    return std::none_of(near.begin(), near.end(), [&](std::uint32_t other) {
        const layout::SceneItem& item = scene.items[other];
        if (!toQt(item.rect).intersects(rect)) return false;
        return !item.what.open || !item.rect.contains(scene.item(id).rect);
    });
}

void FarTitles::setWholeView(const QRectF& area, double scale) {
    m_wholeView = area;
    m_wholeScale = scale;
    m_scale = 0;
}

/// What is seen where all of the scene is. Closer than that, one can go on to what is beside it.
QRectF FarTitles::room() const {
    const QRectF bounds = toQt(m_index.scene().bounds);
    const double beside = (kMaxBeside + 8) / m_scale, margin = 2 / m_scale;
    if (m_wholeView.isEmpty() || m_scale > m_wholeScale * 1.001)
        return bounds.adjusted(-beside, -beside, beside, beside);
    return m_wholeView.adjusted(margin, margin, -margin, -margin);
}

FarTitle FarTitles::placedBeside(ItemId id) {
    const QRectF box = toQt(m_index.scene().item(id).rect), room = this->room();
    if (box.height() * m_scale < kMinBoxBeside || box.width() * m_scale < kMinBoxBeside) return {};
    const double gap = 3 / m_scale, height = (m_items.measure().height(TextRole::Title) + 2) * kBeside / m_scale;
    const double y = box.top() + std::min(gap, (box.height() - height) / 2);
    enum class Side { Right, Left, Below, Above };
    // Beside the flow, not in it; above what is open there is the line that leads into it, and no node.
    std::vector<Side> sides{Side::Right, Side::Left};
    if (m_index.scene().direction != layout::Direction::TopDown) sides = {Side::Below, Side::Above};
    else if (m_index.scene().item(id).what.open) sides.push_back(Side::Above);
    FarTitle title;
    title.factor = kBeside;
    for (const Side side : sides) {
        const double free = side == Side::Right  ? room.right() - box.right() - gap
                            : side == Side::Left ? box.left() - gap - room.left()
                                                 : room.width();
        title.text = withFacts(textOf(id), (std::min(kMaxBeside, free * m_scale) - 8) / title.factor);
        if (title.text.isEmpty()) continue;
        const QSizeF size((widthOf(title.text) * title.factor + 8) / m_scale, height);
        const double x = std::clamp(box.center().x() - size.width() / 2, room.left(),
                                    std::max(room.left(), room.right() - size.width()));
        const QPointF at = side == Side::Right   ? QPointF(box.right() + gap, y)
                           : side == Side::Left  ? QPointF(box.left() - gap - size.width(), y)
                           : side == Side::Below ? QPointF(x, box.bottom() + gap)
                                                 : QPointF(x, box.top() - gap - size.height());
        title.rect = QRectF(at, size);
        if (room.contains(title.rect) && isOffNames(title.rect) && isOffItems(title.rect, id)) return title;
    }
    return {};
}

void FarTitles::placeAll() {
    std::vector<ItemId> others;
    for (const ItemId id : m_boxes) {
        if (!isTitled(id)) continue;
        if (const FarTitle& title = inside(id); !title.rect.isEmpty() && !title.coversNodes) m_all.push_back(title);
        else others.push_back(id);
    }
    for (const ItemId id : others)
        for (const FarTitle& title : {placedBeside(id), inside(id)}) {
            const auto covers = [&](const FarTitle& other) { return other.rect.intersects(title.rect); };
            if (title.rect.isEmpty() || std::ranges::any_of(m_all, covers)) continue;
            m_all.push_back(title);
            break;
        }
}

void FarTitles::useScale(double scale) {
    if (scale == m_scale) return;
    m_scale = scale;
    m_names.clear();
    if (m_jumpNames)
        for (const JumpName& name : m_jumpNames(scale)) m_names.push_back(name.rect);
    std::ranges::sort(m_names, {}, &QRectF::top);
    m_insides.clear();
    m_all.clear();
    if (m_boxes.size() <= kMaxPlaced) placeAll();
}

std::vector<FarTitle> FarTitles::within(const QRectF& area, double scale) {
    useScale(scale);
    std::vector<FarTitle> found;
    if (m_boxes.size() <= kMaxPlaced) {
        for (const FarTitle& title : m_all)
            if (area.intersects(title.rect)) found.push_back(title);
        return found;
    }
    for (const std::uint32_t item : m_index.itemsWithin(area)) {
        const ItemId id(std::size_t{item});
        const layout::ItemDescription& what = m_index.scene().item(id).what;
        if ((!what.open && what.kind != ItemKind::Module) || !isTitled(id)) continue;
        if (const FarTitle& title = inside(id); !title.rect.isEmpty()) found.push_back(title);
    }
    return found;
}

}  // namespace sonde::canvas
