#include "core/layout/dot_export.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace sonde::layout {
namespace {

using nlohmann::ordered_json;

constexpr const char* kKinds[] = {"input", "output", "operation", "module", "body", "stub"};

/// What is on an item, as far as the graph knows it.
struct Names {
    std::string op, qualname, name;
};

Names namesOf(const InternalGraph& graph, const SceneItem& item) {
    Names names;
    const ItemDescription& what = item.what;
    if (what.kind == ItemKind::Module) {
        names.op = graph.scope(what.scope).moduleClass;
        names.qualname = graph.scope(what.scope).qualname;
    } else if (what.kind == ItemKind::Body) {
        names.name = graph.body(what.body).label;
    } else if (what.expr.valid() && what.kind != ItemKind::Stub) {
        const graph::Expr& expr = graph.expr(what.expr);
        names.op = expr.op.name.empty() ? expr.target : expr.op.name;
        if (expr.qualname) names.qualname = *expr.qualname;
        if (!expr.outputs.empty()) names.name = graph.node(expr.outputs.front()).name;
    } else if (!what.values.empty()) {
        names.name = graph.node(what.values.front()).name;
    }
    return names;
}

std::string quoted(const std::string& text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        if (static_cast<unsigned char>(c) >= 0x20) out += c;
    }
    return out + '"';
}

/// Lines of a label, joined by DOT's own escape for a new line.
std::string label(const Names& names) {
    std::string out = "\"";
    for (const std::string& line : {names.op, names.qualname, names.name}) {
        if (line.empty()) continue;
        const std::string text = quoted(line);
        if (out.size() > 1) out += "\\n";
        out.append(text, 1, text.size() - 2);
    }
    return out + '"';
}

std::string dotId(ItemId id) { return "n" + std::to_string(id.value); }

/// The node that stands for an item as the end of an edge: clusters cannot be, so their first child is.
ItemId endOf(const SceneLayout& scene, ItemId id) {
    while (id.valid() && scene.item(id).what.open && !scene.item(id).children.empty())
        id = scene.item(id).children.front();
    return id;
}

const char* shapeOf(const SceneItem& item) {
    switch (item.what.kind) {
        case ItemKind::Input:
        case ItemKind::Output: return "ellipse";
        case ItemKind::Module: return "box3d";
        case ItemKind::Stub: return "plaintext";
        case ItemKind::Expr:
        case ItemKind::Body: break;
    }
    return "box";
}

void writeItems(std::string& out, const InternalGraph& graph, const SceneLayout& scene) {
    struct Step {
        ItemId id;
        bool closing;
    };
    std::vector<Step> stack;
    for (auto it = scene.top.rbegin(); it != scene.top.rend(); ++it) stack.push_back({*it, false});
    while (!stack.empty()) {
        const Step step = stack.back();
        stack.pop_back();
        if (step.closing) {
            out += "}\n";
            continue;
        }
        const SceneItem& item = scene.item(step.id);
        const std::string text = label(namesOf(graph, item));
        if (!item.what.open || item.children.empty()) {
            out += dotId(step.id) + " [label=" + text + ", shape=" + shapeOf(item) + "];\n";
            continue;
        }
        out += "subgraph cluster_" + std::to_string(step.id.value) + " {\nlabel=" + text + ";\n";
        stack.push_back({step.id, true});
        for (auto it = item.children.rbegin(); it != item.children.rend(); ++it) stack.push_back({*it, false});
    }
}

ordered_json rectJson(const Rect& r) {
    const auto round = [](double v) { return std::round(v * 100) / 100; };
    return ordered_json::array({round(r.x), round(r.y), round(r.width), round(r.height)});
}

}  // namespace

std::string sceneDot(const InternalGraph& graph, const SceneLayout& scene) {
    std::string out = "digraph " + quoted(graph.name) + " {\nrankdir=";
    out += scene.direction == Direction::TopDown ? "TB" : "LR";
    out += ";\nnode [fontname=\"sans-serif\", fontsize=10];\nedge [fontname=\"sans-serif\", fontsize=8];\n";
    writeItems(out, graph, scene);
    for (const SceneEdge& edge : scene.edges) {
        const ItemId from = endOf(scene, edge.from), to = endOf(scene, edge.to);
        if (!from.valid() || !to.valid()) continue;
        out += dotId(from) + " -> " + dotId(to);
        if (!edge.values.empty()) {
            const std::string type = graph.node(edge.values.front()).type.text();
            if (type != "?") out += " [label=" + quoted(type) + "]";
        }
        out += ";\n";
    }
    return out + "}\n";
}

std::string sceneJson(const InternalGraph& graph, const SceneLayout& scene) {
    ordered_json out{
        {"format", "sonde-scene"}, {"version", 1}, {"name", graph.name}, {"bounds", rectJson(scene.bounds)}};
    ordered_json items = ordered_json::array(), edges = ordered_json::array();
    for (std::size_t i = 0; i < scene.items.size(); ++i) {
        const SceneItem& item = scene.items[i];
        const Names names = namesOf(graph, item);
        ordered_json entry{{"id", i}, {"kind", kKinds[static_cast<std::size_t>(item.what.kind)]}};
        entry["parent"] = item.parent.valid() ? ordered_json(item.parent.value) : ordered_json(nullptr);
        entry["open"] = item.what.open;
        entry["op"] = names.op;
        entry["qualname"] = names.qualname;
        entry["name"] = names.name;
        entry["rect"] = rectJson(item.rect);
        items.push_back(std::move(entry));
    }
    for (const SceneEdge& edge : scene.edges) {
        ordered_json values = ordered_json::array(), points = ordered_json::array();
        for (const NodeId node : edge.values) values.push_back(graph.node(node).name);
        for (const Point& p : edge.path.points)
            points.push_back(ordered_json::array({std::round(p.x * 100) / 100, std::round(p.y * 100) / 100}));
        edges.push_back({{"from", edge.from.value},
                         {"to", edge.to.value},
                         {"values", std::move(values)},
                         {"points", std::move(points)}});
    }
    out["items"] = std::move(items);
    out["edges"] = std::move(edges);
    out["hidden"] = {
        {"operations", scene.hiddenExprs}, {"constants", scene.hiddenConstants}, {"shapes", scene.shapeExprs}};
    // Names that are no UTF-8 are written with replacement characters instead of failing.
    return out.dump(1, ' ', false, ordered_json::error_handler_t::replace) + '\n';
}

}  // namespace sonde::layout
