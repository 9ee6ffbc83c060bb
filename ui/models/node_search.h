#pragma once

#include <QAbstractListModel>

#include <vector>

#include "core/analysis/query/query.h"
#include "ui/context/inspector_context.h"
#include "ui/models/roles.h"

namespace sonde::models {

/// What a search gave: the nodes in the order of the program, or why the text is no query.
struct SearchResult {
    std::vector<graph::NodeId> nodes;
    std::optional<analysis::QueryProblem> problem;
};

/// Nodes that fit a query (see analysis::Query), with what the context knows of values, times and watches.
SearchResult searchNodes(const context::InspectorContext& context, const QString& text);

/// The hits of the last search as a list: node and, second, where it is from.
class SearchResultModel : public QAbstractListModel {
    Q_OBJECT
  public:
    explicit SearchResultModel(context::InspectorContext& context, QObject* parent = nullptr);

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;

  private:
    context::InspectorContext& m_context;
    std::vector<graph::NodeId> m_hits;
};

}  // namespace sonde::models
