#pragma once

// Who includes whom, as a graph of units or of folders, and its cycles.

#include <QMap>
#include <QSet>
#include <QStringList>

#include <algorithm>
#include <functional>

namespace sonde::test {

/// From → to → where: "core/exec/plan.cpp:7".
using IncludeGraph = QMap<QString, QMap<QString, QString>>;

/// A header and the source of its name are one unit: core/exec/plan.h and plan.cpp are core/exec/plan. A source without
/// a header is a unit that nobody can include.
inline QString unitOf(QString file) {
    for (const char* ending : {".in", ".h", ".cpp"})
        if (file.endsWith(QLatin1String(ending))) file.chop(static_cast<qsizetype>(qstrlen(ending)));
    return file;
}

/// Adds that `file` includes `target`. Within a unit nothing is added.
inline void addInclude(IncludeGraph& graph, const QString& file, int line, const QString& target) {
    const QString from = unitOf(file), to = unitOf(target);
    if (from != to) graph[from].insert(to, QStringLiteral("%1:%2").arg(file).arg(line));
}

/// The same between folders. What is called like a folder beside it is the front of that folder and belongs to it:
/// core/trace/traced_module.h to core/trace/traced_module.
inline IncludeGraph folderGraph(const IncludeGraph& units) {
    QSet<QString> folders;
    const auto folderOf = [&folders](const QString& unit) {
        return folders.contains(unit) ? unit : unit.section(u'/', 0, -2);
    };
    for (auto from = units.cbegin(); from != units.cend(); ++from) {
        folders << from.key().section(u'/', 0, -2);
        for (const QString& to : from->keys()) folders << to.section(u'/', 0, -2);
    }
    IncludeGraph graph;
    for (auto from = units.cbegin(); from != units.cend(); ++from) {
        for (auto to = from->cbegin(); to != from->cend(); ++to) {
            const QString a = folderOf(from.key()), b = folderOf(to.key());
            if (a != b) graph[a].insert(b, to.value() + QStringLiteral(" includes ") + to.key());
        }
    }
    return graph;
}

/// The strongly connected components of more than one member, each sorted (Tarjan, SIAM Journal on Computing 1, 1972).
inline QList<QStringList> cyclesOf(const IncludeGraph& graph) {
    QMap<QString, int> index, low;
    QStringList stack;
    QList<QStringList> cycles;
    const std::function<void(const QString&)> visit = [&](const QString& at) {
        index[at] = low[at] = static_cast<int>(index.size());
        stack << at;
        for (const QString& next : graph.value(at).keys()) {
            if (!index.contains(next)) visit(next);
            if (stack.contains(next)) low[at] = std::min(low[at], low[next]);
        }
        if (low[at] != index[at]) return;
        QStringList component;
        do component << stack.takeLast();
        while (component.last() != at);
        component.sort();
        if (component.size() > 1) cycles << component;
    };
    for (const QString& at : graph.keys())
        if (!index.contains(at)) visit(at);
    return cycles;
}

/// One line for each cycle, and below it who includes whom in it.
inline QString cyclesText(const IncludeGraph& graph) {
    QString text;
    for (const QStringList& cycle : cyclesOf(graph)) {
        text += QStringLiteral("a cycle of %1: %2\n").arg(cycle.size()).arg(cycle.join(QStringLiteral(", ")));
        for (const QString& from : cycle) {
            const QMap<QString, QString> targets = graph.value(from);
            for (auto to = targets.cbegin(); to != targets.cend(); ++to)
                if (cycle.contains(to.key())) text += QStringLiteral("    %1 -> %2 (%3)\n").arg(from, to.key(), *to);
        }
    }
    return text;
}

}  // namespace sonde::test
