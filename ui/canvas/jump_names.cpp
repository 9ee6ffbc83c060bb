#include "ui/canvas/jump_names.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "ui/canvas/item_painter.h"
#include "ui/canvas/item_text.h"
#include "ui/canvas/run_title.h"

namespace sonde::canvas {

namespace {

constexpr double kMaxNameWidth = 170;
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
    const QRectF bounds = toQt(scene.bounds);
    const bool isShort = factor > kFarName;
    std::vector<JumpName> names;
    NameGrid taken((kMaxNameWidth + 4 * kNameSide + 40) * factor);
    const auto add = [&](QPointF at, const QString& before, const QString& text, const QString& after,
                         const JumpName& name) {
        const double height = measure.height(TextRole::Title) * factor;
        const QString whole = before + elidedFront(measure, text, kMaxNameWidth / std::min(factor, kFarName)) + after;
        const double width = (measure.width(TextRole::Title, whole) + 2 * kNameSide) * factor;
        QRectF rect(at.x() - width / 2, at.y() - height / 2, width, height);
        // Lines at the head of rows run along the edge of the picture.
        if (rect.width() > bounds.width()) return;
        rect.moveLeft(std::clamp(rect.left(), bounds.left(), bounds.right() - rect.width()));
        if (!taken.isFree(rect) || isOverCard(index, rect)) return;
        taken.take(rect);
        names.push_back(name);
        names.back().rect = rect;
        names.back().text = whole;
    };
    const EndNames ends(graph, scene);
    const auto nameOf = [&](layout::ItemId id) {
        const QString name = ends.of(id);
        return isShort && scene.item(id).what.repeat == 0 ? name.mid(name.lastIndexOf(u'.') + 1) : name;
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
            add(toQt(jump.leaves), QStringLiteral("\u2192 "), text, {}, {{}, {}, jump.to, toQt(jump.arrives), value});
        }
        if (std::exchange(arrived[{jump.arrives.x, jump.arrives.y}], true)) continue;
        add(toQt(jump.arrives), {}, nameOf(jump.from), QStringLiteral(" \u2192"),
            {{}, {}, jump.from, toQt(jump.leaves), value});
    }
    return names;
}

}  // namespace sonde::canvas
