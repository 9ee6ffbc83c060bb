#include "ui/models/node_search.h"

#include "ui/models/node_text.h"

namespace sonde::models {

using graph::NodeId;

SearchResult searchNodes(const context::InspectorContext& context, const QString& text) {
    SearchResult result;
    if (!context.hasModel()) return result;
    analysis::QueryProblem problem;
    const std::optional<analysis::Query> query = analysis::Query::parse(text.toStdString(), &problem);
    if (!query) {
        result.problem = problem;
        return result;
    }
    analysis::QueryFacts facts;
    facts.recording = context.recording().get();
    facts.value = [&context](NodeId node) { return context.value(node); };
    facts.watched = [&context](NodeId node) { return context.isWatched(node); };
    facts.modules = context.document()->modules.get();
    result.nodes = query->run(context.graph(), facts);
    return result;
}

SearchResultModel::SearchResultModel(context::InspectorContext& context, QObject* parent)
    : QAbstractListModel(parent), m_context(context) {
    const auto take = [this] {
        beginResetModel();
        m_hits = m_context.searchHits();
        endResetModel();
    };
    connect(&context, &context::InspectorContext::searchHitsChanged, this, [this, take] {
        if (m_hits != m_context.searchHits()) take();
    });
    connect(&context, &context::InspectorContext::documentOpened, this, take);
    connect(&context, &context::InspectorContext::documentClosed, this, take);
    take();
}

int SearchResultModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_hits.size());
}

QVariant SearchResultModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || !m_context.hasModel()) return {};
    const NodeId id = m_hits[static_cast<std::size_t>(index.row())];
    const graph::Node& node = m_context.graph().node(id);
    const graph::Expr& expr = m_context.graph().expr(node.producer);
    if (role == NodeRole) return id.value;
    if (role == Qt::EditRole) return shown(node.name);
    if (role == QualnameRole) return moduleText(expr);
    if (role == OperatorRole) return operatorText(expr);
    if (role == Qt::DisplayRole || role == Qt::AccessibleTextRole)
        return QStringLiteral("%1   %2   %3").arg(shown(node.name), operatorText(expr), moduleText(expr));
    if (role == Qt::ToolTipRole) {
        // Whole names: what a narrow row cuts stands here.
        const QString type = typeText(node, m_context.value(id));
        const QString text = QStringLiteral("%1\n%2\n%3").arg(shown(node.name), operatorText(expr), moduleText(expr));
        return type.isEmpty() ? text : text + QLatin1Char('\n') + type;
    }
    return {};
}

}  // namespace sonde::models
