#pragma once

#include <QAbstractTableModel>

#include <memory>
#include <vector>

#include "core/analysis/profile/stored_profile.h"

namespace sonde::panels {

/// What a profile tells of nodes, or of modules with all below them: a row for each. Times in milliseconds.
class ProfileTableModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    enum class Rows { Nodes, Modules };
    enum Column { Name, Kind, Self, Share, Total, Count, Flops, Bytes, Intensity, Threads, Values, Other, ColumnCount };

    explicit ProfileTableModel(Rows rows, QObject* parent = nullptr) : QAbstractTableModel(parent), m_kind(rows) {}

    /// Null: no rows. `compared`: with another profile, of nodes only.
    void setProfile(std::shared_ptr<const analysis::RunProfile> profile,
                    std::shared_ptr<const analysis::ProfileComparison> compared = nullptr);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

    graph::ExprId exprOf(int row) const;  ///< none: a module
    QString moduleOf(int row) const;      ///< its qualname
    int rowOf(graph::ExprId expr) const;  ///< -1: none

  private:
    struct Row {
        graph::ExprId expr;
        std::size_t module = 0;
        std::optional<double> otherNs;
    };
    /// The number in a cell; empty: it is not known.
    std::optional<double> number(const Row& row, int column) const;
    QString name(const Row& row) const;
    QString kind(const Row& row) const;
    QString toolTip(const Row& row, int column) const;

    Rows m_kind;
    std::shared_ptr<const analysis::RunProfile> m_profile;
    std::vector<Row> m_rows;
};

/// "12.3 GFLOP/s", "1.20 ms", "4.0 MiB", as the panel writes them everywhere.
QString profileTimeText(double ns);
QString profileBytesText(double bytes);
QString profileRateText(double perSecond, const QString& unit);

}  // namespace sonde::panels
