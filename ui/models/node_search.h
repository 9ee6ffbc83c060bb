#pragma once

#include <QAbstractListModel>

#include <vector>

#include "ui/context/inspector_context.h"
#include "ui/models/roles.h"

namespace sonde::models {

/// Nodes that hold every word of `text` in name, qualname, class, operator or file name, in the order of the program,
/// upper and lower case alike. "name:", "module:", "op:" or "class:" before a word asks of that alone; "#12" is a number.
/// Weights are only found by a word with "name:" or if nothing else is.
std::vector<graph::NodeId> searchNodes(const graph::InternalGraph& graph, const QString& text);

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
