#include "ui/models/node_search.h"

#include <algorithm>

#include "ui/models/node_text.h"

namespace sonde::models {

using graph::ExprId;
using graph::InternalGraph;
using graph::NodeId;

namespace {

enum class Field { Any, Name, Module, Operator, Class, Number };

struct Term {
    Field field = Field::Any;
    QString word;
};

std::vector<Term> parseTerms(const QString& text) {
    static const std::pair<const char*, Field> prefixes[] = {
        {"name:", Field::Name}, {"module:", Field::Module}, {"qualname:", Field::Module}, {"op:", Field::Operator}, {"class:", Field::Class}};
    std::vector<Term> terms;
    for (const QString& word : text.split(QLatin1Char(' '), Qt::SkipEmptyParts)) {
        Term term{Field::Any, word};
        for (const auto& [prefix, field] : prefixes)
            if (word.startsWith(QLatin1String(prefix), Qt::CaseInsensitive)) term = {field, word.mid(static_cast<qsizetype>(qstrlen(prefix)))};
        if (word.startsWith(QLatin1Char('#')) && word.size() > 1) term = {Field::Number, word.mid(1)};
        terms.push_back(term);
    }
    return terms;
}

bool holds(const std::string& text, const QString& word) { return QString::fromStdString(text).contains(word, Qt::CaseInsensitive); }

bool matches(const InternalGraph& graph, NodeId id, const Term& term) {
    const graph::Node& node = graph.node(id);
    const graph::Expr& expr = graph.expr(node.producer);
    const auto inModule = [&] { return expr.qualname && holds(*expr.qualname, term.word); };
    switch (term.field) {
        case Field::Number: return QString::number(id.value) == term.word;
        case Field::Name: return holds(node.name, term.word);
        case Field::Module: return inModule();
        case Field::Operator: return operatorText(expr).contains(term.word, Qt::CaseInsensitive) || holds(expr.op.name, term.word);
        case Field::Class: return holds(expr.moduleClass, term.word);
        case Field::Any: break;
    }
    return holds(node.name, term.word) || inModule() || operatorText(expr).contains(term.word, Qt::CaseInsensitive) ||
           holds(expr.name, term.word) || holds(expr.op.name, term.word) || holds(expr.moduleClass, term.word);
}

}  // namespace

std::vector<NodeId> searchNodes(const InternalGraph& graph, const QString& text) {
    const std::vector<Term> terms = parseTerms(text);
    std::vector<NodeId> hits, weights;
    if (terms.empty()) return hits;
    const bool byName = std::any_of(terms.begin(), terms.end(), [](const Term& term) { return term.field == Field::Name; });
    for (const ExprId expr : graph.recursiveOrder(graph.mainId())) {
        for (const NodeId node : graph.expr(expr).outputs) {
            if (!std::all_of(terms.begin(), terms.end(), [&](const Term& term) { return matches(graph, node, term); })) continue;
            (layout::Outline::isConstant(graph.expr(expr)) && !byName ? weights : hits).push_back(node);
        }
    }
    return hits.empty() ? weights : hits;
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

int SearchResultModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : static_cast<int>(m_hits.size()); }

QVariant SearchResultModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || !m_context.hasModel()) return {};
    const NodeId id = m_hits[static_cast<std::size_t>(index.row())];
    const graph::Node& node = m_context.graph().node(id);
    const graph::Expr& expr = m_context.graph().expr(node.producer);
    if (role == NodeRole) return id.value;
    if (role == Qt::DisplayRole)
        return QStringLiteral("%1   %2   %3").arg(shown(node.name), operatorText(expr), moduleText(expr));
    return {};
}

}  // namespace sonde::models
