#include <QCoreApplication>

#include <algorithm>
#include <array>

#include "core/analysis/node_measures.h"
#include "ui/context/count_text.h"
#include "ui/models/node_columns.h"
#include "ui/models/node_text.h"
#include "ui/panels/timeline/timeline_scene.h"

namespace sonde::panels {

using session::debug::Item;
using session::debug::Timeline;

namespace {

QString say(const char* text) { return QCoreApplication::translate("sonde::panels::TimelineView", text); }

QString timeText(double ns) { return models::nodeColumnText(models::TimeColumn, ns / 1e6); }

QString eventTitle(std::size_t bit) {
    constexpr std::array<const char*, Timeline::kEvents> kTitles{
        QT_TRANSLATE_NOOP("sonde::panels::TimelineView", "NaN comes up"),
        QT_TRANSLATE_NOOP("sonde::panels::TimelineView", "infinity comes up"),
        QT_TRANSLATE_NOOP("sonde::panels::TimelineView", "a type of 16 bits or less overflows"),
        QT_TRANSLATE_NOOP("sonde::panels::TimelineView", "all elements become 0")};
    return say(kTitles[bit]);
}

}  // namespace

QString positionText(double position, TimelineScale scale) {
    return scale == TimelineScale::Time ? timeText(position) : context::countText(static_cast<qint64>(position));
}

QString barText(const graph::InternalGraph& graph, const Item& item) {
    return models::brief(session::debug::nameOf(graph, item));
}

QString itemFacts(const TimelineScene& scene, ItemId id) {
    const Timeline& timeline = *scene.timeline;
    if (id >= timeline.size() || !scene.graph) return {};
    const Item& item = timeline[id];
    const graph::InternalGraph& graph = *scene.graph;
    QStringList lines{models::shown(session::debug::nameOf(graph, item))};
    if (item.kind == Item::Kind::Operation) {
        const graph::Expr& expr = graph.expr(item.expr);
        QString what = models::operatorText(expr);
        if (expr.qualname && !expr.qualname->empty()) what += QStringLiteral(" · ") + models::moduleText(expr);
        lines << what;
        if (!expr.outputs.empty()) {
            const graph::Node& node = graph.node(expr.outputs.front());
            QString type = models::typeText(node, nullptr);
            if (const auto bytes = analysis::byteCount(node))
                type +=
                    QStringLiteral(" · ") + models::nodeColumnText(models::BytesColumn, static_cast<double>(*bytes));
            if (!type.isEmpty()) lines << type;
        }
    } else if (item.kind == Item::Kind::Module) {
        lines << models::shortClass(graph.scope(item.scope).moduleClass);
    } else {
        lines << models::operatorText(graph.expr(item.expr));
    }
    QString where = say("step %1").arg(context::countText(static_cast<qint64>(id)));
    const double ns = timeline.end(id, TimelineScale::Time) - timeline.begin(id, TimelineScale::Time);
    if (item.end == kNoItem) where += QStringLiteral(" · ") + say("not done yet");
    else where += QStringLiteral(" · ") + timeText(ns);
    lines << where;
    for (std::size_t bit = 0; bit < Timeline::kEvents; ++bit)
        if ((item.events >> bit & 1) != 0) lines << eventTitle(bit);
    if (std::ranges::binary_search(scene.accesses.reads, id)) lines << say("reads the selected value");
    if (std::ranges::binary_search(scene.accesses.writes, id)) lines << say("writes the selected value");
    if (std::ranges::binary_search(scene.hits, id)) lines << say("a breakpoint has stopped here");
    lines.removeAll(QString());
    return lines.join(u'\n');
}

}  // namespace sonde::panels
