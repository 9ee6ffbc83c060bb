#include "ui/canvas/item_text.h"

#include "core/analysis/layer_facts.h"
#include "ui/canvas/card_labels.h"
#include "ui/canvas/port_text.h"
#include "ui/context/count_text.h"

namespace sonde::canvas {
namespace {

using graph::Expr;
using graph::ExprId;
using graph::ExprKind;
using graph::InternalGraph;
using layout::ItemDescription;
using layout::ItemKind;
using theme::OpCategory;

constexpr qsizetype kAttributeLines = 6;

QString ops(std::uint32_t count) {
    return count == 1 ? QStringLiteral("1 op") : QStringLiteral("%1 ops").arg(context::countText(count));
}

/// "layers.0 … 11" for a run from layers.0 to layers.11.
QString runText(const InternalGraph& graph, const ItemDescription& what) {
    const graph::Scope &first = graph.scope(what.firstBlock), &last = graph.scope(what.lastBlock);
    const QString from = cardText(first.qualname), to = cardText(last.qualname);
    if (from == to) return from;
    const qsizetype dot = from.lastIndexOf(u'.');
    const bool siblings = dot >= 0 && to.startsWith(from.left(dot + 1));
    return from + QStringLiteral(" \u2026 ") + (siblings ? to.mid(dot + 1) : to);
}

ItemText moduleText(const InternalGraph& graph, const ItemDescription& what) {
    ItemText out;
    const graph::Scope& scope = graph.scope(what.scope);
    out.title = scope.qualname.empty() ? cardText(graph.name) : cardText(scope.qualname);
    if (scope.call > 0) out.title += QStringLiteral("  (call %1)").arg(scope.call + 1);
    out.qualname = lastPart(cardText(scope.moduleClass));
    if (scope.inferred && out.qualname.isEmpty()) out.qualname = QStringLiteral("group");
    if (what.blocks > 0)
        out.facts = context::countedText(what.blocks, QStringLiteral("1 block"), QStringLiteral("%1 blocks"));
    else if (what.modules > 0)
        out.facts = context::countedText(what.modules, QStringLiteral("1 module"), QStringLiteral("%1 modules"));
    else if (what.layer) out.facts = cardText(analysis::moduleBrief(graph, graph.expr(what.layer), scope.moduleClass));
    if (what.repeat > 0) {
        const QString shown = out.title;
        out.title = runText(graph, what) + QStringLiteral("  \u00d7 %1").arg(context::countText(what.repeat));
        if (what.period > 1)
            out.title += QStringLiteral(", block %1 of %2 in the pattern").arg(what.turn + 1).arg(what.period);
        if (what.open)
            out.qualname +=
                (out.qualname.isEmpty() ? QString() : QStringLiteral("  \u00b7  ")) + QStringLiteral("shown: ") + shown;
    }
    if (!what.open) {
        out.name = ops(what.hiddenExprs);
        if (what.hiddenConstants > 0)
            out.name += what.hiddenConstants == 1
                            ? QStringLiteral(", 1 weight")
                            : QStringLiteral(", %1 weights").arg(context::countText(what.hiddenConstants));
    }
    return out;
}

ItemText stubText(const InternalGraph& graph, const ItemDescription& what) {
    ItemText out;
    if (what.values.empty()) return out;
    out.title = cardText(graph.node(what.values.front()).name);
    if (what.values.size() > 1) out.title += QStringLiteral(" +%1").arg(context::countText(what.values.size() - 1));
    return out;
}

ItemText exprText(const InternalGraph& graph, const ItemDescription& what) {
    ItemText out;
    const Expr& expr = graph.expr(what.expr);
    out.title = operatorName(expr);
    if (what.layer) out.facts = cardText(analysis::moduleBrief(graph, graph.expr(what.layer), expr.moduleClass));
    else if (!what.open) out.facts = cardText(analysis::layerBrief(graph, expr));
    out.qualname = expr.qualname ? cardText(*expr.qualname) : QString();
    if (!expr.outputs.empty()) out.name = cardText(graph.node(expr.outputs.front()).name);
    if (out.name == out.qualname) out.name.clear();
    if (expr.outputs.size() > 1) out.name += QStringLiteral(" +%1").arg(context::countText(expr.outputs.size() - 1));
    if (what.shapeExprs > 0)
        out.name += (out.name.isEmpty() ? QString() : QStringLiteral(" \u00b7 ")) +
                    QStringLiteral("%1 shape ops").arg(what.shapeExprs);
    return out;
}

ItemText portText(const InternalGraph& graph, const ItemDescription& what) {
    ItemText out;
    const graph::NodeId node = nodeOf(graph, what);
    if (node) out.qualname = typeText(graph.node(node));
    if (what.kind == ItemKind::Input) {
        if (node) out.title = cardText(graph.node(node).name);
    } else if (node && !what.values.empty()) {
        out.title = cardText(graph.node(node).name);
    } else {
        out.title = QStringLiteral("output");
        if (what.expr && !graph.expr(what.expr).inputs.empty() && out.qualname.isEmpty())
            out.qualname = typeText(graph.node(graph.expr(what.expr).inputs.front()));
    }
    return out;
}

}  // namespace

namespace {

/// The one operation that a called module consists of; none if there are several.
ExprId soleOperation(const InternalGraph& graph, const Expr& call) {
    if (call.kind != ExprKind::CallModule || call.bodies.size() != 1) return {};
    ExprId sole;
    for (const ExprId id : graph.body(call.bodies.front()).order) {
        const Expr& expr = graph.expr(id);
        if (expr.kind == ExprKind::Input || expr.kind == ExprKind::Output || layout::Outline::isConstant(expr))
            continue;
        if (sole.valid()) return {};
        sole = id;
    }
    return sole;
}

}  // namespace

OpCategory categoryOf(const InternalGraph& graph, const ItemDescription& what) {
    switch (what.kind) {
        case ItemKind::Input: return OpCategory::Input;
        case ItemKind::Output: return OpCategory::Output;
        case ItemKind::Module: return OpCategory::Data;
        case ItemKind::Body: return OpCategory::Control;
        case ItemKind::Stub: return OpCategory::Constant;
        case ItemKind::Expr: break;
    }
    const Expr& expr = graph.expr(what.expr);
    const ExprId sole = soleOperation(graph, expr);
    return categoryOf(sole.valid() ? graph.expr(sole) : expr);
}

QString typeText(const graph::Node& node) {
    const std::string type = node.type.text();
    return type == "?" ? QString() : cardText(type);
}

QString shortType(const QString& type) {
    constexpr qsizetype kLong = 34, kLongDimSize = 10;
    if (type.size() <= kLong) return type;
    QString out;
    qsizetype begin = 0;  // of the dim size that is being read
    int parentheses = 0;
    bool inside = false;
    for (qsizetype i = 0; i < type.size(); ++i) {
        const QChar c = type[i];
        if (!inside) {
            out += c;
            inside = c == u'[';
            begin = i + 1;
            parentheses = 0;
            continue;
        }
        parentheses += c == u'(' ? 1 : c == u')' ? -1 : 0;
        if (c != u']' && (c != u',' || parentheses > 0)) continue;
        out += i - begin > kLongDimSize ? QString(QChar(0x2026)) : type.mid(begin, i - begin);
        out += c;
        begin = i + 1;
        inside = c != u']';
    }
    return inside ? out + type.mid(begin) : out;
}

QString edgeText(const InternalGraph& graph, const layout::SceneEdge& edge) {
    if (edge.values.empty()) return {};
    QString type = shortType(typeText(graph.node(edge.values.front())));
    if (edge.values.size() > 1) type += QStringLiteral(" +%1").arg(context::countText(edge.values.size() - 1));
    return type;
}

graph::NodeId nodeOf(const InternalGraph& graph, const ItemDescription& what) {
    if (what.kind == ItemKind::Module || what.kind == ItemKind::Body) return {};
    if (what.kind == ItemKind::Stub || what.kind == ItemKind::Output)
        if (!what.values.empty()) return what.values.front();
    if (!what.expr.valid()) return {};
    const Expr& expr = graph.expr(what.expr);
    return expr.outputs.empty() ? graph::NodeId() : expr.outputs.front();
}

QString ItemText::classAndFacts() const {
    if (facts == qualname) return qualname;  // a group that was found is called by its blocks
    return qualname.isEmpty() || facts.isEmpty() ? qualname + facts : qualname + QStringLiteral(" \u00b7 ") + facts;
}

ItemText itemText(const InternalGraph& graph, const ItemDescription& what) {
    switch (what.kind) {
        case ItemKind::Module: return moduleText(graph, what);
        case ItemKind::Stub: return stubText(graph, what);
        case ItemKind::Expr: return exprText(graph, what);
        case ItemKind::Input:
        case ItemKind::Output: return portText(graph, what);
        case ItemKind::Body: break;
    }
    ItemText out;
    out.title = what.body ? cardText(graph.body(what.body).label) : QString();
    if (out.title.isEmpty()) out.title = QStringLiteral("body");
    return out;
}

ItemText itemText(const InternalGraph& graph, const ItemDescription& what, const CanvasStyle& style) {
    ItemText out = itemText(graph, what);
    if (what.kind == ItemKind::Input || what.kind == ItemKind::Output) out.qualname = shortType(out.qualname);
    if (what.kind != ItemKind::Expr) return out;
    if (!style.showNames) out.name.clear();
    if (style.showAttributes) out.small = attributeLines(graph.expr(what.expr), kAttributeLines);
    if (!style.labels || what.open) return out;
    QStringList lines = labelLines(*style.labels, graph, what.expr);
    if (lines.isEmpty()) return out;
    const auto take = [&lines] { return lines.isEmpty() ? QString() : lines.takeFirst(); };
    out.title = take();
    out.facts.clear();
    out.qualname = take();
    out.name = take();
    out.small = lines.mid(0, kAttributeLines) + out.small;
    return out;
}

QString itemFacts(const InternalGraph& graph, const layout::SceneItem& item) {
    const ItemText texts = itemText(graph, item.what);
    QStringList lines{texts.facts.isEmpty() ? texts.title : texts.title + QStringLiteral("  ") + texts.facts};
    if (!texts.qualname.isEmpty()) lines << texts.qualname;
    if (!texts.name.isEmpty() && texts.name != texts.title) lines << texts.name;
    if (item.what.kind == ItemKind::Expr) {
        const Expr& expr = graph.expr(item.what.expr);
        // A node may have 10,000 inputs; a tool tip shows the first few.
        constexpr std::size_t kShown = 6;
        const auto list = [&](const QString& label, const std::vector<graph::NodeId>& nodes) {
            for (std::size_t i = 0; i < std::min(nodes.size(), kShown); ++i) {
                QString port = &nodes == &expr.inputs ? argumentName(graph, item.what.expr, nodes[i])
                                                      : outputName(graph, nodes[i]);
                if (!port.isEmpty()) port += QStringLiteral(" = ");
                lines << label + port + cardText(graph.node(nodes[i]).name) + QStringLiteral("  ") +
                             typeText(graph.node(nodes[i]));
            }
            if (nodes.size() > kShown)
                lines << label + QStringLiteral("+%1 more").arg(context::countText(nodes.size() - kShown));
        };
        list(QStringLiteral("in   "), expr.inputs);
        list(QStringLiteral("out  "), expr.outputs);
        lines << attributeLines(expr, 8);
        if (!expr.source.empty()) lines << cardText(expr.source.text());
    } else if (item.what.kind == ItemKind::Stub && !item.what.values.empty()) {
        lines << typeText(graph.node(item.what.values.front()))
              << QStringLiteral("stub: double-click to go to the producer");
    }
    lines.removeAll(QString());
    return lines.join(u'\n');
}

QString spokenText(const InternalGraph& graph, const layout::SceneItem& item) {
    const ItemText texts = itemText(graph, item.what);
    QStringList parts;
    switch (item.what.kind) {
        case ItemKind::Module:
            parts << QStringLiteral("module ") + texts.title << texts.qualname << texts.facts
                  << (item.what.open ? QStringLiteral("expanded") : QStringLiteral("collapsed, ") + texts.name);
            break;
        case ItemKind::Input: parts << QStringLiteral("input ") + texts.title << texts.qualname; break;
        case ItemKind::Output: parts << QStringLiteral("output ") + texts.title << texts.qualname; break;
        case ItemKind::Stub: parts << QStringLiteral("stub of ") + texts.title; break;
        case ItemKind::Body: parts << QStringLiteral("body ") + texts.title; break;
        case ItemKind::Expr:
            parts << texts.title;
            if (!texts.qualname.isEmpty()) parts << QStringLiteral("module ") + texts.qualname;
            if (!texts.name.isEmpty()) parts << QStringLiteral("value ") + texts.name;
            if (const graph::NodeId node = nodeOf(graph, item.what)) parts << typeText(graph.node(node));
            parts << texts.facts;
            break;
    }
    parts.removeAll(QString());
    return parts.join(QStringLiteral(", "));
}

std::vector<std::pair<layout::ItemId, int>> itemsInOrder(const layout::SceneLayout& scene) {
    std::vector<std::pair<layout::ItemId, int>> out;
    // An explicit stack: boxes of a hostile file may be thousands deep.
    std::vector<std::pair<layout::ItemId, int>> stack;
    for (auto it = scene.top.rbegin(); it != scene.top.rend(); ++it) stack.emplace_back(*it, 0);
    while (!stack.empty()) {
        const auto [id, depth] = stack.back();
        stack.pop_back();
        const layout::SceneItem& item = scene.item(id);
        out.emplace_back(id, depth);
        for (auto it = item.children.rbegin(); it != item.children.rend(); ++it) stack.emplace_back(*it, depth + 1);
    }
    return out;
}

QString sceneAsText(const InternalGraph& graph, const layout::SceneLayout& scene) {
    QString out;
    for (const auto& [id, depth] : itemsInOrder(scene))
        out += QString(2 * depth, u' ') + spokenText(graph, scene.item(id)) + u'\n';
    return out;
}

}  // namespace sonde::canvas
