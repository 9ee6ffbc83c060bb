#pragma once

#include <QAbstractTableModel>

#include <optional>

#include "ui/context/why.h"
#include "ui/models/roles.h"

namespace sonde::models {

/// What the element that is asked about is made of: its terms, the largest first, then the others as one sum; of an
/// operator without a rule its inputs.
class WhyTermModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    enum Column { Element, Part, Weight, Value, Product, ColumnCount };
    /// double: weight times value over the largest one that is listed, -1 to 1; invalid without a number.
    static constexpr int kBarRole = Qt::UserRole + 100;

    explicit WhyTermModel(context::Why& why, QObject* parent = nullptr);

    /// Where a row leads: an element, or an input as a whole; null if nowhere.
    std::optional<context::Why::Place> placeOf(int row) const;
    /// Where the weight of a row is an element itself.
    std::optional<context::Why::Place> weightPlaceOf(int row) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  private:
    /// What the rows are of.
    struct Seen {
        int position = 0;
        std::size_t hops = 0;
        bool isKnown = false;
        bool operator==(const Seen&) const = default;
    };
    void follow();
    const session::why::Explanation* explanation() const;
    /// Inputs are listed in place of terms.
    bool listsInputs() const;
    QString text(int row, int column) const;
    QVariant number(int row, int column) const;

    context::Why& m_why;
    Seen m_seen;
};

}  // namespace sonde::models
