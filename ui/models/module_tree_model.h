#pragma once

#include <QAbstractItemModel>
#include <QHash>
#include <QSortFilterProxyModel>

#include <vector>

#include "ui/context/model_counts.h"
#include "ui/context/open_model.h"
#include "ui/models/roles.h"

namespace sonde::models {

/// The open model's own hierarchy. One row for each module; columns: name, class, parameters of it and all below.
class ModuleTreeModel : public QAbstractItemModel {
    Q_OBJECT
  public:
    enum Column { NameColumn, ClassColumn, ParametersColumn, ColumnCount };

    explicit ModuleTreeModel(context::OpenModel& opened, QObject* parent = nullptr);

    QModelIndex indexOf(const QString& qualname) const;
    QString qualname(const QModelIndex& index) const;
    /// The module that a debugged run is in; null: it is in none. See CurrentRole.
    void setCurrent(const QString& qualname);
    /// Breakpoints at a module, or at an operation of it.
    struct Points {
        QString icon;  ///< of the first that is on, see Breakpoints::iconOf()
        QStringList texts;
        bool operator==(const Points&) const = default;
    };
    /// By qualname. See PointRole.
    void setPoints(QHash<QString, Points> points);

    QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
    QModelIndex parent(const QModelIndex& index) const override;
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  private:
    void reset();
    const analysis::ModuleSums& sums(std::size_t module) const;

    context::OpenModel& m_opened;
    std::shared_ptr<const graph::ModuleTree> m_tree;
    std::vector<int> m_rows;  ///< of each module among its siblings
    std::shared_ptr<const analysis::ModelCounts> m_counts;
    QString m_rootName;
    QModelIndexList pathOf(const QString& qualname) const;
    QString m_current;  ///< a qualname
    QHash<QString, Points> m_points;
    QHash<QString, QString> m_pointsBelow;  ///< the icon, of modules with such modules in them
};

/// Rows whose qualname or class holds every word of the filter, with all rows above them.
class ModuleFilter : public QSortFilterProxyModel {
    Q_OBJECT
  public:
    explicit ModuleFilter(QObject* parent = nullptr);
    void setFilter(const QString& text);

  protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

  private:
    QStringList m_words;
};

}  // namespace sonde::models
