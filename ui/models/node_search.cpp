#include "ui/models/node_search.h"

#include "ui/context/navigation.h"
#include "ui/context/open_model.h"
#include "ui/context/points.h"
#include "ui/context/runs.h"
#include "ui/models/node_text.h"

namespace sonde::models {

using graph::NodeId;

SearchResult searchNodes(const context::OpenModel& opened, const context::Runs& runs, const context::Points& points,
                         const QString& text) {
    SearchResult result;
    if (!opened.isOpen()) return result;
    analysis::QueryProblem problem;
    const std::optional<analysis::Query> query = analysis::Query::parse(text.toStdString(), &problem);
    if (!query) {
        result.problem = problem;
        return result;
    }
    analysis::QueryFacts facts;
    facts.recording = runs.recording().get();
    facts.value = [&runs](NodeId node) { return runs.value(node); };
    facts.watched = [&points](NodeId node) { return points.isWatched(node); };
    facts.modules = opened.document()->modules.get();
    result.nodes = query->run(opened.graph(), facts);
    return result;
}

SearchResultModel::SearchResultModel(context::OpenModel& opened, context::Navigation& navigation, context::Runs& runs,
                                     QObject* parent)
    : QAbstractListModel(parent), m_opened(opened), m_navigation(navigation), m_runs(runs) {
    const auto take = [this] {
        beginResetModel();
        m_hits = m_navigation.searchHits();
        endResetModel();
    };
    connect(&navigation, &context::Navigation::searchHitsChanged, this, [this, take] {
        if (m_hits != m_navigation.searchHits()) take();
    });
    connect(&opened, &context::OpenModel::documentOpened, this, take);
    connect(&opened, &context::OpenModel::documentClosed, this, take);
    take();
}

int SearchResultModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_hits.size());
}

QVariant SearchResultModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || !m_opened.isOpen()) return {};
    const NodeId id = m_hits[static_cast<std::size_t>(index.row())];
    const graph::Node& node = m_opened.graph().node(id);
    const graph::Expr& expr = m_opened.graph().expr(node.producer);
    if (role == NodeRole) return id.value;
    if (role == Qt::EditRole) return shown(node.name);
    if (role == QualnameRole) return moduleText(expr);
    if (role == OperatorRole) return operatorText(expr);
    if (role == Qt::DisplayRole || role == Qt::AccessibleTextRole)
        return QStringLiteral("%1   %2   %3").arg(shown(node.name), operatorText(expr), moduleText(expr));
    if (role == Qt::ToolTipRole) {
        // Whole names: what a narrow row cuts stands here.
        const QString type = typeText(node, m_runs.value(id));
        const QString text = QStringLiteral("%1\n%2\n%3").arg(shown(node.name), operatorText(expr), moduleText(expr));
        return type.isEmpty() ? text : text + QLatin1Char('\n') + type;
    }
    return {};
}

}  // namespace sonde::models
