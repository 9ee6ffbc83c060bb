#include "ui/canvas/coloring.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "ui/context/count_text.h"
#include "ui/theme/scales.h"

namespace sonde::canvas {

namespace {

constexpr int kSteps = 32;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

Tint tintOf(const theme::CategoryColors& colors, double fraction = -1) {
    return {colors.fill, colors.stroke, colors.text, fraction};
}

/// Why an item has nothing to be coloured by.
QString whyUnknown(const models::NodeMeasures& measures, int column) {
    using Source = models::NodeColumn::Source;
    const models::NodeColumn& info = models::nodeColumns()[static_cast<std::size_t>(column)];
    if (info.source == Source::Comparison) return QStringLiteral("not compared");
    if (info.source == Source::Weights) return QStringLiteral("no parameters");
    if (info.source == Source::Precision || info.source == Source::Profile) return QStringLiteral("not measured");
    if (column == models::BadColumn || column == models::ZerosColumn) return QStringLiteral("no statistics");
    if (info.source == Source::Values) return QStringLiteral("no statistics, or no finite element");
    if (column == models::TimeColumn) return QStringLiteral("not run");
    if (measures.isOfOpenSizes(column)) return QStringLiteral("sizes are open: run once");
    return info.numeric ? QStringLiteral("unknown") : QStringLiteral("none");
}

}  // namespace

Coloring::Coloring(const models::NodeMeasures& measures, const QString& id, theme::Scheme scheme) {
    const int column = models::nodeColumnIndex(id);
    if (column < 0) return;
    const models::NodeColumn& info = models::nodeColumns()[static_cast<std::size_t>(column)];
    m_title = info.title;
    if (const QString basis = measures.basisOf(column); !basis.isEmpty()) m_title += QStringLiteral(", ") + basis;
    m_numeric = info.numeric;
    m_ofExpr.assign(measures.graph().exprCount(), -1);
    m_ofScope.assign(measures.graph().scopeCount(), -1);
    m_nothing = {theme::color(theme::ColorRole::Canvas, scheme),
                 theme::color(theme::ColorRole::StrongBorder, scheme),
                 theme::color(theme::ColorRole::Text, scheme),
                 -1,
                 false,
                 true};
    m_unknown = whyUnknown(measures, column);
    info.numeric ? byNumber(measures, column, scheme) : byText(measures, column, scheme);
    m_stale = m_known ? measures.staleReason(column) : QString();
    if (!m_stale.isEmpty()) fade(scheme);
}

/// As previews of stale values are.
void Coloring::fade(theme::Scheme scheme) {
    constexpr double kOpacity = 0.35;
    const QColor paper = theme::color(theme::ColorRole::Canvas, scheme);
    const auto pale = [&paper](const QColor& color) {
        const auto mixed = [](double own, double other) { return kOpacity * own + (1 - kOpacity) * other; };
        return QColor::fromRgbF(static_cast<float>(mixed(color.redF(), paper.redF())),
                                static_cast<float>(mixed(color.greenF(), paper.greenF())),
                                static_cast<float>(mixed(color.blueF(), paper.blueF())));
    };
    const auto fadeTint = [&](Tint& tint) {
        tint.fill = pale(tint.fill);
        tint.text = theme::color(theme::ColorRole::Text, scheme);
    };
    for (Tint& tint : m_tints) fadeTint(tint);
    for (auto& [text, tint] : m_rows) fadeTint(tint);
}

/// The number of every operation and module. Operations stand for what is inside of them; a module's is the sum of its
/// operations' if such numbers add up, else the one that is farthest from 0.
void Coloring::gatherNumbers(const models::NodeMeasures& measures, int column) {
    const graph::InternalGraph& graph = measures.graph();
    const models::NodeColumn& info = models::nodeColumns()[static_cast<std::size_t>(column)];
    m_numberOfExpr.assign(graph.exprCount(), kNone);
    m_numberOfScope.assign(graph.scopeCount(), kNone);
    const auto gather = [&info](double& total, double number) {
        if (std::isnan(total)) total = number;
        else if (info.adds) total += number;
        else if (std::abs(number) > std::abs(total)) total = number;
    };
    for (const graph::ExprId id : graph.recursiveOrder(graph.mainId())) {
        const graph::Expr& expr = graph.expr(id);
        if (layout::Outline::isConstant(expr)) continue;
        double& own = m_numberOfExpr[id.index()];
        for (const graph::NodeId node : expr.outputs)
            if (const auto number = measures.number(column, node); number && !std::isnan(*number)) gather(own, *number);
        if (std::isnan(own)) continue;
        for (graph::BodyId body = expr.body; body != graph.mainId(); body = graph.expr(graph.body(body).owner).body)
            gather(m_numberOfExpr[graph.body(body).owner.index()], own);
        if (expr.scope.valid()) gather(m_numberOfScope[expr.scope.index()], own);
    }
    // Scopes come after those around them.
    for (std::size_t i = graph.scopeCount(); i-- > 1;)
        if (const graph::ScopeId parent = graph.scope(graph::ScopeId(i)).parent;
            parent.valid() && !std::isnan(m_numberOfScope[i]))
            gather(m_numberOfScope[parent.index()], m_numberOfScope[i]);
}

void Coloring::byNumber(const models::NodeMeasures& measures, int column, theme::Scheme scheme) {
    const models::NodeColumn& info = models::nodeColumns()[static_cast<std::size_t>(column)];
    gatherNumbers(measures, column);
    m_signed = info.isSigned &&
               std::any_of(m_numberOfExpr.begin(), m_numberOfExpr.end(), [](double number) { return number < 0; });
    // Where sizes are open, what needs none is no scale: of FLOPs, zeros of views.
    const bool isOpen = measures.isOfOpenSizes(column);
    m_known = std::any_of(m_numberOfExpr.begin(), m_numberOfExpr.end(),
                          [isOpen](double number) { return isOpen ? number > 0 : !std::isnan(number); });
    double most = 0, least = INFINITY;
    bool anyInfinite = false;
    for (const double number : m_numberOfExpr) {
        anyInfinite = anyInfinite || std::isinf(number);
        if (!std::isfinite(number) || number == 0) continue;
        most = std::max(most, std::abs(number));
        least = std::min(least, std::abs(number));
    }
    // Modules have a scale of their own only if they add up: one slow layer must not pale beside the model.
    double mostOfScopes = most;
    for (std::size_t i = 1; i < m_numberOfScope.size(); ++i)
        if (std::isfinite(m_numberOfScope[i])) mostOfScopes = std::max(mostOfScopes, std::abs(m_numberOfScope[i]));
    // Steps 0 … kSteps-1 above 0, as many below, then 0 itself: known, and not what nothing is known of.
    for (const double sign : {1.0, -1.0})
        for (int i = 0; i < kSteps; ++i) {
            const double t = (i + 0.5) / kSteps;
            Tint tint = tintOf(theme::divergingColors(sign * t, scheme), t);
            tint.below = sign < 0;
            m_tints.push_back(std::move(tint));
        }
    constexpr int kZero = 2 * kSteps;
    m_tints.push_back(tintOf(theme::divergingColors(0, scheme), 0));
    // Differences are apart by orders of magnitude; what is more than eight below the largest is as good as equal.
    const double floor = std::max(least, most * 1e-8);
    const auto step = [&](double number, double top) {
        if (std::isnan(number)) return -1;
        if (std::isinf(number)) return kSteps - 1;
        if (number == 0 || top <= 0) return kZero;
        double t = std::abs(number) / top;
        if (info.logarithmic) t = floor < top ? std::log(std::abs(number) / floor) / std::log(top / floor) : 1;
        const int at = std::clamp(static_cast<int>(t * kSteps), 0, kSteps - 1);
        return number < 0 ? at + kSteps : at;
    };
    m_ofExpr.clear(), m_ofScope.clear();
    for (const double number : m_numberOfExpr) m_ofExpr.push_back(step(number, most));
    for (const double number : m_numberOfScope) m_ofScope.push_back(step(number, mostOfScopes));
    m_low = models::nodeColumnText(column, m_signed ? -most : info.logarithmic && most > 0 ? floor : 0);
    // What has no finite number, NaN against a number or another shape, is painted like the top, and is named there.
    m_high = most > 0 || !anyInfinite ? models::nodeColumnText(column, most) : QString();
    if (mostOfScopes > most) m_highModule = models::nodeColumnText(column, mostOfScopes);
    m_logarithmic = info.logarithmic && floor < most;
    if (anyInfinite) m_high += (m_high.isEmpty() ? QString() : QStringLiteral(", ")) + QChar(0x221e);
    if (!m_known) {
        using Source = models::NodeColumn::Source;
        m_note = info.source == Source::Values       ? QStringLiteral("available after a run")
                 : info.source == Source::Comparison ? measures.comparisonNote()
                 : info.source == Source::Weights    ? QStringLiteral("no weights were read")
                 : info.source == Source::Precision  ? QStringLiteral("use Run \u203a Precision by Node first")
                 : info.source == Source::Profile    ? QStringLiteral("use Run \u203a Profile This Run first")
                                                     : measures.graphNote(column);
    }
    constexpr int kRamp = 16;
    for (int i = 0; i < kRamp; ++i) {
        const double t = (i + 0.5) / kRamp;
        m_rows.emplace_back(QString(), tintOf(theme::divergingColors(m_signed ? 2 * t - 1 : t, scheme), t));
    }
    m_numberOfExpr = {};
    m_numberOfScope = {};
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
        if (i < own)
            m_rows.emplace_back(order[static_cast<std::size_t>(i)].second, m_tints[static_cast<std::size_t>(i)]);
        if (i == own)
            m_rows.emplace_back(
                QStringLiteral("%1 others").arg(context::countText(order.size() - static_cast<std::size_t>(own))),
                m_tints[static_cast<std::size_t>(own)]);
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
        if (const graph::ScopeId parent = graph.scope(graph::ScopeId(i)).parent; parent.valid())
            scope[parent.index()] = meet(scope[parent.index()], scope[i]);
    for (std::size_t i = 0; i < scope.size(); ++i) m_ofScope[i] = std::max(scope[i], -1);
}

const Tint* Coloring::of(const layout::ItemDescription& what) const {
    int index = -1;
    if (what.kind == layout::ItemKind::Expr && what.expr.index() < m_ofExpr.size()) index = m_ofExpr[what.expr.index()];
    if (what.kind == layout::ItemKind::Module && what.scope.index() < m_ofScope.size())
        index = m_ofScope[what.scope.index()];
    if (what.kind != layout::ItemKind::Expr && what.kind != layout::ItemKind::Module) return nullptr;
    return index < 0 ? &m_nothing : &m_tints[static_cast<std::size_t>(index)];
}

}  // namespace sonde::canvas
