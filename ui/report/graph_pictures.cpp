#include "ui/report/graph_pictures.h"

#include <fmt/format.h>
#include <optional>

#include "ui/canvas/card_labels.h"
#include "ui/canvas/export.h"
#include "ui/canvas/layout_service.h"

namespace sonde::report {

namespace {

/// From this many equal blocks in a row on they are drawn as one, as in the window.
constexpr std::size_t kFoldPictureFrom = 3;
/// Bytes: a reader's browser takes long for more, and nobody sees anything in it.
constexpr qsizetype kMaxPicture = qsizetype{8} << 20;
/// Boxes that an open module may bring: layout of more takes longer than all the rest of a report.
constexpr std::size_t kMaxBoxes = 3000;

/// Units of a picture that a page is wide if the smallest text on it (9 units) is printed in 5 points, and that it is
/// long.
constexpr double kLegibleWidth = 900, kLegibleHeight = 1080;
/// Boxes of a picture that is laid out in several ways.
constexpr std::size_t kMaxTried = 400;

/// A picture that is longer than a page, in columns of one page, or of as few pages as needed for columns that are
/// together no wider than a page; as it is if none are.
base::Result<std::shared_ptr<const layout::SceneLayout>> forPages(const layout::Outline& outline,
                                                                  layout::ViewState view,
                                                                  const layout::SceneOptions& options,
                                                                  const base::WorkContext& work) {
    view.wrapping = layout::Wrapping::Off;
    SONDE_ASSIGN(layout::FirstView plain, canvas::layOutPicture(outline, view, options, work));
    const layout::Size size = plain.scene->bounds.size();
    if (size.height <= 1.2 * kLegibleHeight || size.width > 0.5 * kLegibleWidth ||
        plain.scene->items.size() > kMaxTried)
        return plain.scene;
    for (view.columnHeight = kLegibleHeight; view.columnHeight < size.height; view.columnHeight += kLegibleHeight) {
        SONDE_ASSIGN(layout::FirstView wrapped, canvas::layOutPicture(outline, view, options, work));
        const layout::Size found = wrapped.scene->bounds.size();
        if (found.width <= kLegibleWidth && found.height < size.height) return wrapped.scene;
    }
    return plain.scene;
}

/// Operations that are drawn one by one: those of open groups.
std::size_t boxCount(const layout::Outline& outline, const layout::ViewState& view) {
    std::size_t count = 0;
    const graph::InternalGraph& graph = outline.graph();
    for (const graph::ExprId id : graph.main().order) {
        const graph::ScopeId scope = graph.expr(id).scope;
        const bool isInside = scope.valid() && scope != graph.rootScope() && outline.groupOf(scope) &&
                              !layout::isOpen(outline, view, outline.groupOf(scope));
        count += isInside ? 0 : 1;
    }
    return count;
}

/// The module that is all there is in a group; none if there is more.
layout::GroupId onlyModuleIn(const layout::Outline& outline, layout::GroupId id) {
    layout::GroupId only;
    for (const layout::Outline::Member& member : outline.group(id).members) {
        if (member.expr.valid() && layout::Outline::isConstant(outline.graph().expr(member.expr))) continue;
        if (only.valid() || !member.group.valid()) return {};
        only = member.group;
    }
    const bool isModule = only.valid() && outline.group(only).kind == layout::Outline::Kind::Module;
    return isModule ? only : layout::GroupId();
}

/// The box of a module that is open, with a little around it; nothing if it is not drawn.
std::optional<layout::Rect> boxOf(const layout::SceneLayout& scene, const graph::InternalGraph& graph,
                                  const std::string& qualname) {
    constexpr double kAround = 24;
    for (const layout::SceneItem& item : scene.items) {
        if (item.what.kind != layout::ItemKind::Module || graph.scope(item.what.scope).qualname != qualname) continue;
        return layout::Rect{item.rect.x - kAround, item.rect.y - kAround, item.rect.width + 2 * kAround,
                            item.rect.height + 2 * kAround};
    }
    return std::nullopt;
}

/// The same picture with a smaller view box: it is the one <svg> element of the file that has these attributes.
void crop(std::string& svg, const layout::Rect& box) {
    const std::size_t begin = svg.find(" width=\"", svg.find("<svg")), end = svg.find(" font-family", begin);
    if (begin == std::string::npos || end == std::string::npos) return;
    svg.replace(begin, end - begin,
                fmt::format(" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"{2:.0f} {3:.0f} {0:.0f} {1:.0f}\"",
                            box.width, box.height, box.x, box.y));
}

}  // namespace

struct GraphPictures::Drawing {
    explicit Drawing(std::shared_ptr<const document::Document> of)
        : document(std::move(of)), outline(document->graph) {}

    std::shared_ptr<const document::Document> document;
    layout::Outline outline;
};

GraphPictures::GraphPictures(std::shared_ptr<const document::Document> document)
    : m_drawing(std::make_unique<Drawing>(std::move(document))) {}

GraphPictures::~GraphPictures() = default;

base::Result<std::string> GraphPictures::svg(const std::string& qualname, const base::WorkContext& work) {
    const layout::Outline& outline = m_drawing->outline;
    layout::ViewState view;
    view.foldFrom = kFoldPictureFrom;
    layout::openToDepth(outline, view, qualname.empty() ? 1 : 0);
    bool isFound = qualname.empty();
    for (const graph::Scope& scope : outline.graph().scopes()) {
        if (qualname.empty() || scope.qualname != qualname || !outline.groupOf(scope.id)) continue;
        layout::reveal(outline, view, scope.id);
        // A box that holds one box alone shows nothing: what is meant is inside of that.
        for (layout::GroupId id = outline.groupOf(scope.id); id.valid(); id = onlyModuleIn(outline, id))
            layout::setOpen(outline, view, id, true);
        isFound = true;
    }
    if (!isFound)
        return base::usageError("no module '" + qualname + "' was called in this model", "report",
                                "give a module that is called when the model runs");
    // At depth 0 modules alone are left where depth 1 would be too much.
    if (qualname.empty() && boxCount(outline, view) > kMaxBoxes) layout::openToDepth(outline, view, 0);
    if (const std::size_t boxes = boxCount(outline, view); boxes > kMaxBoxes)
        return base::usageError(fmt::format("the graph has {} operations outside of modules, too many to draw", boxes));
    canvas::CanvasStyle style;
    style.scheme = theme::Scheme::Light;
    style.labels = canvas::makeCardLabels({}, nullptr);
    const auto measure = std::make_shared<const canvas::TextMeasure>(style.textScale);
    layout::SceneOptions sceneOptions;
    sceneOptions.metrics = canvas::itemMetrics(m_drawing->document->graph, style, measure, {}, {});
    SONDE_ASSIGN(std::shared_ptr<const layout::SceneLayout> scene, forPages(outline, view, sceneOptions, work));
    const auto box = qualname.empty() ? std::nullopt : boxOf(*scene, outline.graph(), qualname);
    const canvas::ScenePainter painter(std::make_shared<const canvas::SceneIndex>(std::move(scene)),
                                       m_drawing->document->graph, measure, style);
    SONDE_ASSIGN(const QByteArray bytes, canvas::sceneBytes(painter, {}, QStringLiteral("svg"), 1, work));
    if (bytes.size() > kMaxPicture)
        return base::usageError(fmt::format("the picture has {} MiB, too many to read", bytes.size() >> 20));
    std::string svg = bytes.toStdString();
    if (box) crop(svg, *box);
    return svg;
}

}  // namespace sonde::report
