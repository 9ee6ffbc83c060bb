#include "ui/canvas/coloring.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "ui/theme/scales.h"

namespace sonde::canvas {

namespace {

constexpr int kSteps = 32;

Tint tintOf(const theme::CategoryColors& colors, double fraction = -1) { return {colors.fill, colors.stroke, colors.text, fraction}; }

}  // namespace

Coloring::Coloring(const models::NodeMeasures& measures, const QString& id, theme::Scheme scheme) {
    const int column = models::nodeColumnIndex(id);
    if (column < 0) return;
    const models::NodeColumn& info = models::nodeColumns()[static_cast<std::size_t>(column)];
    m_title = info.title;
    m_numeric = info.numeric;
    m_ofExpr.assign(measures.graph().exprCount(), -1);
    m_ofScope.assign(measures.graph().scopeCount(), -1);
    m_nothing = {theme::color(theme::ColorRole::Base, scheme), theme::color(theme::ColorRole::StrongBorder, scheme),
                 theme::color(theme::ColorRole::Text, scheme), -1};
    info.numeric ? byNumber(measures, column, scheme) : byText(measures, column, scheme);
}

void Coloring::byNumber(const models::NodeMeasures& measures, int column, theme::Scheme scheme) {
    const graph::InternalGraph& graph = measures.graph();
    const bool adds = models::nodeColumns()[static_cast<std::size_t>(column)].adds;
    std::vector<double> ofExpr(graph.exprCount(), -1), ofScope(graph.scopeCount(), -1);
    const auto gather = [adds](double& total, double number) { total = total < 0 ? number : adds ? total + number : std::max(total, number); };
    double highest = 0;
    for (const graph::ExprId id : graph.recursiveOrder(graph.mainId())) {
        const graph::Expr& expr = graph.expr(id);
        if (layout::Outline::isConstant(expr)) continue;
        for (const graph::NodeId node : expr.outputs)
            if (const auto number = measures.number(column, node); number && std::isfinite(*number)) gather(ofExpr[id.index()], *number);
        if (ofExpr[id.index()] < 0) continue;
        // Operations stand for what is inside of them.
        for (graph::BodyId body = expr.body; body != graph.mainId(); body = graph.expr(graph.body(body).owner).body)
            gather(ofExpr[graph.body(body).owner.index()], ofExpr[id.index()]);
        if (expr.scope.valid()) gather(ofScope[expr.scope.index()], ofExpr[id.index()]);
    }
    for (const double number : ofExpr) highest = std::max(highest, number);
    // Scopes come after those around them.
    for (std::size_t i = graph.scopeCount(); i-- > 1;)
        if (const graph::ScopeId parent = graph.scope(graph::ScopeId(i)).parent; parent.valid() && ofScope[i] >= 0) gather(ofScope[parent.index()], ofScope[i]);
    // Modules have a scale of their own only if they add up: one slow layer must not pale beside the model.
    double highestScope = highest;
    for (std::size_t i = 1; i < ofScope.size(); ++i) highestScope = std::max(highestScope, ofScope[i]);
    for (int i = 0; i < kSteps; ++i) m_tints.push_back(tintOf(theme::scaleColors((i + 0.5) / kSteps, scheme), (i + 0.5) / kSteps));
    const auto step = [](double number, double most) {
        return number <= 0 || most <= 0 ? -1 : std::clamp(static_cast<int>(number / most * kSteps), 0, kSteps - 1);
    };
    for (std::size_t i = 0; i < ofExpr.size(); ++i) m_ofExpr[i] = step(ofExpr[i], highest);
    for (std::size_t i = 0; i < ofScope.size(); ++i) m_ofScope[i] = step(ofScope[i], highestScope);
    m_low = models::nodeColumnText(column, 0);
    m_high = highest > 0 ? models::nodeColumnText(column, highest) : QStringLiteral("nothing is known");
    for (const double t : {0.05, 0.35, 0.65, 0.95}) m_rows.emplace_back(QString(), tintOf(theme::scaleColors(t, scheme), t));
}

void Coloring::byText(const models::NodeMeasures& measures, int column, theme::Scheme scheme) {
    const graph::InternalGraph& graph = measures.graph();
    std::map<QString, std::vector<std::size_t>> exprsOf;
    for (const graph::ExprId id : graph.recursiveOrder(graph.mainId())) {
        const graph::Expr& expr = graph.expr(id);
        if (layout::Outline::isConstant(expr) || expr.outputs.empty()) continue;
        const QString text = measures.group(column, expr.outputs.front());
        if (!text.isEmpty()) exprsOf[text].push_back(id.index());
    }
    // The most frequent have colours of their own, the rest share one.
    std::vector<std::pair<std::size_t, QString>> order;
    for (const auto& [text, exprs] : exprsOf) order.emplace_back(exprs.size(), text);
    std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    const int own = theme::kSetColors - 1;
    for (int i = 0; i <= own; ++i) m_tints.push_back(tintOf(theme::setColors(i, scheme)));
    for (int i = 0; i < static_cast<int>(order.size()); ++i) {
        const int tint = std::min(i, own);
        for (const std::size_t expr : exprsOf[order[static_cast<std::size_t>(i)].second]) m_ofExpr[expr] = tint;
        if (i < own) m_rows.emplace_back(order[static_cast<std::size_t>(i)].second, m_tints[static_cast<std::size_t>(i)]);
        if (i == own) m_rows.emplace_back(QStringLiteral("%1 others").arg(order.size() - static_cast<std::size_t>(own)), m_tints[static_cast<std::size_t>(own)]);
    }
    // A module has the colour of its operations if they agree.
    std::vector<int> scope(graph.scopeCount(), -2);
    const auto meet = [](int a, int b) { return a == -2 ? b : b == -2 || a == b ? a : -1; };
    for (std::size_t i = 0; i < graph.exprCount(); ++i) {
        if (graph.isErased(graph::ExprId(i)) || m_ofExpr[i] < 0) continue;
        int& at = scope[graph.expr(graph::ExprId(i)).scope.index()];
        at = meet(at, m_ofExpr[i]);
    }
    for (std::size_t i = graph.scopeCount(); i-- > 1;)
        if (const graph::ScopeId parent = graph.scope(graph::ScopeId(i)).parent; parent.valid()) scope[parent.index()] = meet(scope[parent.index()], scope[i]);
    for (std::size_t i = 0; i < scope.size(); ++i) m_ofScope[i] = std::max(scope[i], -1);
}

const Tint* Coloring::of(const layout::ItemDescription& what) const {
    int index = -1;
    if (what.kind == layout::ItemKind::Expr && what.expr.index() < m_ofExpr.size()) index = m_ofExpr[what.expr.index()];
    if (what.kind == layout::ItemKind::Module && what.scope.index() < m_ofScope.size()) index = m_ofScope[what.scope.index()];
    if (what.kind != layout::ItemKind::Expr && what.kind != layout::ItemKind::Module) return nullptr;
    return index < 0 ? &m_nothing : &m_tints[static_cast<std::size_t>(index)];
}

}  // namespace sonde::canvas
