#pragma once

#include <QAbstractListModel>

#include <vector>

#include "core/analysis/query/query.h"
#include "ui/context/navigation.h"
#include "ui/context/open_model.h"
#include "ui/context/points.h"
#include "ui/context/runs.h"
#include "ui/models/roles.h"

namespace sonde::models {

/// What a search gave: the nodes in the order of the program, or why the text is no query.
struct SearchResult {
    std::vector<graph::NodeId> nodes;
    std::optional<analysis::QueryProblem> problem;
};

/// Nodes that fit a query (see analysis::Query), with what is known of values, times and watches.
SearchResult searchNodes(const context::OpenModel& opened, const context::Runs& runs, const context::Points& points,
                         const QString& text);

/// The hits of the last search as a list: node and, second, where it is from.
class SearchResultModel : public QAbstractListModel {
    Q_OBJECT
  public:
    SearchResultModel(context::OpenModel& opened, context::Navigation& navigation, context::Runs& runs,
                      QObject* parent = nullptr);

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;

  private:
    context::OpenModel& m_opened;
    context::Navigation& m_navigation;
    context::Runs& m_runs;
    std::vector<graph::NodeId> m_hits;
};

}  // namespace sonde::models
