// Of window scripts: two models side by side.

#include <QAction>
#include <QRegularExpression>

#include "ui/context/second_model.h"
#include "ui/window/main_window.h"
#include "ui/window/script_verbs.h"

namespace sonde::window {

using base::Result;
using base::usageError;

namespace {

/// A node of each model: "conv1 conv_1".
Result<std::pair<graph::NodeId, graph::NodeId>> nodesOf(const context::InspectorContext& first,
                                                        const context::InspectorContext& second, const QString& names) {
    const QStringList both = names.split(QRegularExpression(QStringLiteral("\\s+")), Qt::SkipEmptyParts);
    if (both.size() != 2) return usageError("not two nodes", names.toStdString(), "a node of each model: conv1 conv_1");
    SONDE_ASSIGN(const graph::NodeId a, first.model().document()->findNode(both[0].toStdString()));
    SONDE_ASSIGN(const graph::NodeId b, second.model().document()->findNode(both[1].toStdString()));
    return std::pair{a, b};
}

}  // namespace

Result<void> ScriptVerbs::diffModels(const QString& how) {
    context::InspectorContext& first = m_window.context();
    context::SecondModel& second = first.second();
    const QString word = how.section(u' ', 0, 0), rest = how.mid(word.size()).trimmed();
    const bool isPair = word == u"pair", isUnpair = word == u"unpair";
    if (how == u"next" || how == u"previous" || how == u"run" || how == u"off" || isPair || isUnpair) {
        if (!second.isOpen()) return usageError("no model is compared", how.toStdString(), "diff MODEL opens one");
        if (how == u"off") second.close();
        else if (how == u"run") second.runBoth();
        else if (how == u"next" || how == u"previous") trigger(QStringLiteral("compare.%1_model").arg(how));
        if (!isPair && !isUnpair) return {};
        const context::InspectorContext& other = *second.context();
        SONDE_ASSIGN(const auto nodes, nodesOf(first, other, rest));
        SONDE_TRY(second.setPaired(nodes.first, nodes.second, isPair));
        return {};
    }
    m_loadError.reset();
    second.open(how.startsWith(QLatin1String("zoo:")) ? how : toRead(how));
    return {};
}

}  // namespace sonde::window
