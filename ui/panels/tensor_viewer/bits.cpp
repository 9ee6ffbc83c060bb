#include <QAbstractTableModel>
#include <QFontDatabase>
#include <QHeaderView>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>
#include <limits>

#include "core/analysis/tensor_views/element_bits.h"
#include "ui/context/count_text.h"
#include "ui/panels/tensor_viewer/tensor_view.h"
#include "ui/theme/theme.h"
#include "ui/widgets/labels.h"

namespace sonde::panels {
namespace {

/// Qt counts pixels of a table in int.
constexpr std::int64_t kMaxBitRows = 1'000'000, kMaxBitColumns = 4'000;

bool canShowBits(const tensor::Tensor& tensor) { return analysis::hasBits(tensor) && tensor.numel() > 0; }

class BitsModel : public QAbstractTableModel {
  public:
    using QAbstractTableModel::QAbstractTableModel;

    void set(const tensor::Tensor& plane) {
        beginResetModel();
        m_plane = plane;
        endResetModel();
    }
    int rowCount(const QModelIndex& parent = {}) const override {
        return parent.isValid() || !m_plane.defined() ? 0 : static_cast<int>(std::min(m_plane.dim(0), kMaxBitRows));
    }
    int columnCount(const QModelIndex& parent = {}) const override {
        return parent.isValid() || !m_plane.defined() ? 0 : static_cast<int>(std::min(m_plane.dim(1), kMaxBitColumns));
    }
    QVariant headerData(int section, Qt::Orientation, int role) const override {
        return role == Qt::DisplayRole ? QVariant(QString::number(section)) : QVariant();
    }
    QVariant data(const QModelIndex& index, int role) const override {
        if (role == Qt::TextAlignmentRole) return int(Qt::AlignCenter);
        if (role != Qt::DisplayRole) return {};
        return QString::fromStdString(analysis::elementBits(m_plane, index.row() * m_plane.dim(1) + index.column()));
    }

  private:
    tensor::Tensor m_plane;
};

/// Integers of a slice as their bits.
class Bits : public TensorView {
  public:
    Bits() : m_facts(new widgets::ElidedLabel({}, this)), m_model(new BitsModel(this)), m_table(new QTableView(this)) {
        m_table->setModel(m_model);
        m_table->setAccessibleName(tr("Bits"));
        m_table->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
        m_table->setSelectionMode(QAbstractItemView::SingleSelection);
        m_table->setWordWrap(false);
        auto* column = new QVBoxLayout(this);
        column->setContentsMargins(0, 0, 0, 0);
        column->setSpacing(theme::kTight);
        column->addWidget(m_facts);
        column->addWidget(m_table, 1);
        setFocusProxy(m_table);
        connect(m_table->selectionModel(), &QItemSelectionModel::currentChanged, this, [this](const QModelIndex& at) {
            if (!at.isValid()) return;
            Q_EMIT pointed(elementReadOut(m_shown, at.row(), at.column()), std::numeric_limits<double>::quiet_NaN());
            Q_EMIT cursorMoved(at.row(), at.column());
        });
    }

    void show(const ViewedTensor& shown) override {
        m_shown = shown;
        m_model->set(shown.plane);
        const bool isCut = shown.plane.dim(0) > kMaxBitRows || shown.plane.dim(1) > kMaxBitColumns;
        m_facts->setVisible(isCut);
        m_facts->setText(tr("the first %1 rows and %2 columns")
                             .arg(context::countText(kMaxBitRows), context::countText(kMaxBitColumns)));
        // All elements have as many bits.
        const int width = m_table->fontMetrics().horizontalAdvance(m_model->index(0, 0).data().toString());
        m_table->horizontalHeader()->setDefaultSectionSize(std::max(width, 2 * int{theme::kLarge}) + 2 * theme::kSmall);
    }

    QString copyText() const override {
        const QModelIndex at = m_table->currentIndex();
        return at.isValid() ? at.data().toString() : QString();
    }
    void pointAt(qint64 row, qint64 column) override {
        m_table->setCurrentIndex(m_model->index(static_cast<int>(std::min(row, qint64{kMaxBitRows})),
                                                static_cast<int>(std::min(column, qint64{kMaxBitColumns}))));
    }

  private:
    widgets::ElidedLabel* m_facts;
    BitsModel* m_model;
    QTableView* m_table;
    ViewedTensor m_shown;
};

}  // namespace

TensorViewInfo bitsView() {
    TensorViewInfo info;
    info.id = QStringLiteral("bits");
    info.title = QStringLiteral("Bits");
    info.icon = QStringLiteral("bits");
    info.description = QStringLiteral("Integers of a slice as their bits");
    info.accepts = canShowBits;
    info.usesSlice = true;
    info.isSpecial = true;
    info.factory = [] { return new Bits; };
    return info;
}

}  // namespace sonde::panels
