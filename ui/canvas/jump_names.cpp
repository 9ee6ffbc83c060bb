#include "ui/canvas/jump_names.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "ui/canvas/item_painter.h"
#include "ui/canvas/item_text.h"
#include "ui/canvas/run_title.h"

namespace sonde::canvas {

namespace {

/// The widths that a name may have, the first that finds room, and where its middle may lie on its line, in widths.
constexpr double kNameWidths[] = {170, 110, 70};
constexpr double kMaxNameWidth = kNameWidths[0];
constexpr double kNameShifts[] = {0, 0.25, -0.25, 0.45, -0.45};
/// Of letters where cards have headings only, and the height of names on the screen farther out.
constexpr double kFarName = 1.7, kMinPixels = 9, kStep = 1.25;
/// Lines that leave together may lead to many places.
constexpr std::size_t kMaxNamed = 2;

/// What the ends of lines are called: the qualname where there is one, which tells a layer from the others. Operations
/// that stand in one module by themselves have the same: these are called by their values.
class EndNames {
  public:
    EndNames(const graph::InternalGraph& graph, const layout::SceneLayout& scene) : m_graph(graph), m_scene(scene) {
        for (const layout::SceneJump& jump : scene.jumps)
            for (const layout::ItemId id : {jump.from, jump.to}) m_owners[usual(scene.item(id).what)].insert(id);
    }

    QString of(layout::ItemId id) const {
        const layout::ItemDescription& what = m_scene.item(id).what;
        QString name = usual(what);
        if (what.kind != layout::ItemKind::Expr || m_owners.at(name).size() < 2) return name;
        const graph::NodeId value = nodeOf(m_graph, what);
        return value.valid() ? cardText(m_graph.node(value).name) : name;
    }

  private:
    QString usual(const layout::ItemDescription& what) const {
        const ItemText text = itemText(m_graph, what);
        if (what.kind != layout::ItemKind::Expr) return text.title;
        return !text.qualname.isEmpty() ? text.qualname : !text.name.isEmpty() ? text.name : text.title;
    }

    const graph::InternalGraph& m_graph;
    const layout::SceneLayout& m_scene;
    std::map<QString, std::set<layout::ItemId>> m_owners;
};

QString elidedFront(const TextMeasure& measure, const QString& text, double available) {
    if (measure.width(TextRole::Title, text) <= available) return text;
    if (isRunTitle(text)) {
        const auto fits = [&](const QString& shown) { return measure.width(TextRole::Title, shown) <= available; };
        if (const QString shown = shortRunTitle(text, fits); !shown.isEmpty()) return shown;
    }
    qsizetype dropped = 1;
    const auto rest = [&] { return QChar(0x2026) + text.mid(dropped); };
    while (dropped < text.size() && measure.width(TextRole::Title, rest()) > available) ++dropped;
    return rest();
}

/// "conv1" of "layer1.0.conv1". A number alone says nothing: "layer1.0".
QString shortName(const QString& name) {
    qsizetype dot = name.lastIndexOf(u'.');
    const QStringView last = QStringView(name).mid(dot + 1);
    if (dot > 0 && std::all_of(last.begin(), last.end(), [](QChar c) { return c.isDigit(); }))
        dot = name.lastIndexOf(u'.', dot - 1);
    return name.mid(dot + 1);
}

/// Which names are near one: a grid of cells as wide as the widest name.
class NameGrid {
  public:
    explicit NameGrid(double cell) : m_cell(cell) {}
    bool isFree(const QRectF& rect) const {
        for (int dx = -1; dx <= 1; ++dx)
            for (int dy = -1; dy <= 1; ++dy)
                if (const auto found = m_cells.find(cellOf(rect, dx, dy)); found != m_cells.end())
                    for (const QRectF& other : found->second)
                        if (other.intersects(rect)) return false;
        return true;
    }
    void take(const QRectF& rect) { m_cells[cellOf(rect, 0, 0)].push_back(rect); }

  private:
    std::pair<std::int64_t, std::int64_t> cellOf(const QRectF& rect, int dx, int dy) const {
        return {static_cast<std::int64_t>(std::floor(rect.center().x() / m_cell)) + dx,
                static_cast<std::int64_t>(std::floor(rect.center().y() / m_cell)) + dy};
    }
    double m_cell;
    std::map<std::pair<std::int64_t, std::int64_t>, std::vector<QRectF>> m_cells;
};

bool isOverCard(const SceneIndex& index, const QRectF& rect) {
    const std::vector<std::uint32_t> near = index.itemsWithin(rect);
    return std::any_of(near.begin(), near.end(), [&](std::uint32_t id) {
        const layout::SceneItem& item = index.scene().items[id];
        return !item.what.open && toQt(item.rect).intersects(rect);
    });
}

/// A name before it is written: what stands around it, and the middle of its line's end.
struct Unplaced {
    QPointF at;
    QString before, text, after;
};

/// Gives names the room that there is.
class NamePlaces {
  public:
    NamePlaces(const SceneIndex& index, const TextMeasure& measure, double factor)
        : m_index(index), m_measure(measure), m_factor(factor), m_bounds(toQt(index.scene().bounds)),
          m_taken((kMaxNameWidth + 4 * kNameSide + 40) * factor) {}

    /// Writes `name` where it has room, shorter where it has not; false: it has none. A name that is shortened still
    /// tells its item from others in the same box.
    bool place(const Unplaced& unplaced, JumpName& name) {
        QString last;
        for (const double width : kNameWidths) {
            const QString shown = elidedFront(m_measure, unplaced.text, width / std::min(m_factor, kFarName));
            const bool isWhole = shown == unplaced.text;
            const QString text = unplaced.before + shown + unplaced.after;
            if (text == std::exchange(last, text)) continue;
            const std::pair key(m_index.scene().item(name.item).parent, text);
            const auto owner = m_owners.find(key);
            if (!isWhole && owner != m_owners.end() && owner->second != name.item) return false;
            const std::optional<QRectF> rect = roomFor(unplaced.at, text);
            if (!rect) continue;
            m_taken.take(*rect);
            m_owners.emplace(key, name.item);
            name.rect = *rect;
            name.text = text;
            return true;
        }
        return false;
    }

  private:
    std::optional<QRectF> roomFor(QPointF at, const QString& text) const {
        const double height = m_measure.height(TextRole::Title) * m_factor;
        const double width = (m_measure.width(TextRole::Title, text) + 2 * kNameSide) * m_factor;
        // Lines at the head of rows run along the edge of the picture.
        if (width > m_bounds.width()) return std::nullopt;
        for (const double shift : kNameShifts) {
            QRectF rect(at.x() + (shift - 0.5) * width, at.y() - height / 2, width, height);
            rect.moveLeft(std::clamp(rect.left(), m_bounds.left(), m_bounds.right() - rect.width()));
            if (m_taken.isFree(rect) && !isOverCard(m_index, rect)) return rect;
        }
        return std::nullopt;
    }

    const SceneIndex& m_index;
    const TextMeasure& m_measure;
    const double m_factor;
    const QRectF m_bounds;
    NameGrid m_taken;
    std::map<std::pair<layout::ItemId, QString>, layout::ItemId> m_owners;  ///< by the box around and the text
};

}  // namespace

double jumpNameFactor(double scale) {
    if (detailAt(scale) >= Detail::Full) return 1;
    constexpr double kTitleHeight = 17;  // scene units, about
    const double needed = kMinPixels / (kTitleHeight * std::max(scale, 1e-6));
    return needed <= kFarName ? kFarName
                              : kFarName * std::pow(kStep, std::ceil(std::log(needed / kFarName) / std::log(kStep)));
}

std::vector<JumpName> jumpNames(const SceneIndex& index, const graph::InternalGraph& graph, const TextMeasure& measure,
                                double factor) {
    const layout::SceneLayout& scene = index.scene();
    const bool isShort = factor > kFarName;
    std::vector<JumpName> names;
    NamePlaces places(index, measure, factor);
    const auto add = [&](const Unplaced& unplaced, JumpName name) {
        if (places.place(unplaced, name)) names.push_back(std::move(name));
    };
    const EndNames ends(graph, scene);
    const auto nameOf = [&](layout::ItemId id) {
        const QString name = ends.of(id);
        return isShort && scene.item(id).what.repeat == 0 ? shortName(name) : name;
    };
    // Lines of one value that leave together have one name where they leave.
    std::map<std::pair<double, double>, std::vector<std::size_t>> leaving;
    for (std::size_t i = 0; i < scene.jumps.size(); ++i)
        leaving[{scene.jumps[i].leaves.x, scene.jumps[i].leaves.y}].push_back(i);
    std::map<std::pair<double, double>, bool> arrived;
    for (std::size_t i = 0; i < scene.jumps.size(); ++i) {
        const layout::SceneJump& jump = scene.jumps[i];
        const graph::NodeId value = jump.values.empty() ? graph::NodeId() : jump.values.front();
        const std::vector<std::size_t>& together = leaving[{jump.leaves.x, jump.leaves.y}];
        if (together.front() == i) {
            QStringList targets;
            for (const std::size_t other : together)
                if (const QString name = nameOf(scene.jumps[other].to); !targets.contains(name)) targets << name;
            QString text = targets.mid(0, kMaxNamed).join(QStringLiteral(", "));
            if (targets.size() > static_cast<qsizetype>(kMaxNamed))
                text = targets.front() + QStringLiteral(" +%1").arg(targets.size() - 1);
            add({toQt(jump.leaves), QStringLiteral("\u2192 "), text, {}}, {{}, {}, jump.to, toQt(jump.arrives), value});
        }
        if (std::exchange(arrived[{jump.arrives.x, jump.arrives.y}], true)) continue;
        add({toQt(jump.arrives), {}, nameOf(jump.from), QStringLiteral(" \u2192")},
            {{}, {}, jump.from, toQt(jump.leaves), value});
    }
    return names;
}

}  // namespace sonde::canvas
