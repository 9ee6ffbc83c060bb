#pragma once

#include <QAbstractTableModel>

#include "ui/context/findings.h"
#include "ui/context/open_model.h"
#include "ui/models/roles.h"

namespace sonde::models {

/// What an audit found: a row for each group of equal findings, errors first, accepted ones among them.
class FindingTableModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    enum Column { Severity, Confidence, Finding, Count, Nodes, Message, ColumnCount };

    FindingTableModel(context::OpenModel& opened, context::Findings& findings, QObject* parent = nullptr);

    /// Null if there is no such row.
    const session::FindingGroup* group(int row) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  private:
    void reset();
    QString text(const session::FindingGroup& group, int column) const;
    QString toolTip(const session::FindingGroup& group, int column) const;

    context::OpenModel& m_opened;
    context::Findings& m_findings;
    int m_count = 0;
};

}  // namespace sonde::models
