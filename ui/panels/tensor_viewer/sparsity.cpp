#include <QAbstractTableModel>
#include <QHeaderView>
#include <QLabel>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>
#include <numeric>

#include "core/analysis/tensor_views/channel_sparsity.h"
#include "ui/context/count_text.h"
#include "ui/context/job.h"
#include "ui/panels/tensor_viewer/share_delegate.h"
#include "ui/panels/tensor_viewer/tensor_view.h"
#include "ui/theme/theme.h"
#include "ui/widgets/number_text.h"

namespace sonde::panels {
namespace {

using analysis::ChannelSparsity;

enum SparsityColumn { ChannelColumn, ZerosColumn, LargestColumn, SparsityColumns };

bool hasChannelAxis(const tensor::Tensor& tensor) {
    return isNumeric(tensor) && tensor.rank() >= 2 && tensor.numel() > 0;
}

/// Channels first: the second axis, behind that of samples.
int sparsityAxis(const tensor::Tensor& tensor, ChannelLayout layout) {
    return layout == ChannelLayout::Last ? static_cast<int>(tensor.rank()) - 1 : 1;
}

class SparsityModel : public QAbstractTableModel {
  public:
    using QAbstractTableModel::QAbstractTableModel;

    void set(ChannelSparsity found) {
        beginResetModel();
        m_found = std::move(found);
        m_order.resize(m_found.channels.size());
        std::iota(m_order.begin(), m_order.end(), std::size_t{0});
        arrange();
        endResetModel();
    }
    const ChannelSparsity& found() const { return m_found; }
    std::size_t channelOf(int row) const { return m_order[static_cast<std::size_t>(row)]; }
    int rowOf(std::size_t channel) const {
        return static_cast<int>(std::find(m_order.begin(), m_order.end(), channel) - m_order.begin());
    }

    int rowCount(const QModelIndex& parent = {}) const override {
        return parent.isValid() ? 0 : static_cast<int>(m_order.size());
    }
    int columnCount(const QModelIndex& = {}) const override { return SparsityColumns; }
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override {
        static const char* const titles[] = {"Channel", "Zeros", "Largest |x|"};
        if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
        return QObject::tr(titles[section]);
    }
    QVariant data(const QModelIndex& index, int role) const override {
        const std::size_t channel = channelOf(index.row());
        const ChannelSparsity::Channel& row = m_found.channels[channel];
        const bool isDead = m_found.isDead(channel);
        if (role == ShareDelegate::kShareRole && index.column() == ZerosColumn) return m_found.zeroShare(channel);
        if (role == Qt::ForegroundRole && isDead) return theme::color(theme::ColorRole::Warning);
        if (role == Qt::TextAlignmentRole && index.column() != ZerosColumn)
            return int(Qt::AlignRight | Qt::AlignVCenter);
        if (role != Qt::DisplayRole) return {};
        switch (index.column()) {
            case ChannelColumn: return QVariant::fromValue(qint64(channel));
            case ZerosColumn:
                return isDead ? QObject::tr("dead, all zero")
                              : QObject::tr("%1 %").arg(m_found.zeroShare(channel) * 100, 0, 'f', 1);
            default:
                return row.bad > 0 ? QObject::tr("%1, %2 NaN or Inf")
                                         .arg(widgets::numberText(row.largest, 4), context::countText(row.bad))
                                   : widgets::numberText(row.largest, 4);
        }
    }
    void sort(int column, Qt::SortOrder order) override {
        Q_EMIT layoutAboutToBeChanged();
        m_column = column;
        m_sortOrder = order;
        arrange();
        Q_EMIT layoutChanged();
    }

  private:
    void arrange() {
        const auto key = [this](std::size_t channel) {
            switch (m_column) {
                case ZerosColumn: return static_cast<double>(m_found.channels[channel].zeros);
                case LargestColumn: return m_found.channels[channel].largest;
                default: return static_cast<double>(channel);
            }
        };
        std::ranges::sort(m_order, [&](std::size_t a, std::size_t b) {
            if (key(a) == key(b)) return a < b;
            return m_sortOrder == Qt::AscendingOrder ? key(a) < key(b) : key(a) > key(b);
        });
    }

    ChannelSparsity m_found;
    std::vector<std::size_t> m_order;
    int m_column = ChannelColumn;
    Qt::SortOrder m_sortOrder = Qt::AscendingOrder;
};

/// How much of each channel is zero.
class Sparsity : public TensorView {
  public:
    Sparsity() : m_facts(new QLabel(this)), m_model(new SparsityModel(this)), m_table(new QTableView(this)) {
        m_table->setModel(m_model);
        m_table->setAccessibleName(tr("Zeros by channel"));
        m_table->setItemDelegate(new ShareDelegate(m_table));
        m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
        m_table->setSelectionMode(QAbstractItemView::SingleSelection);
        m_table->setShowGrid(false);
        m_table->verticalHeader()->hide();
        m_table->verticalHeader()->setDefaultSectionSize(m_table->fontMetrics().height() + 6);
        m_facts->setWordWrap(true);
        m_facts->setTextFormat(Qt::PlainText);
        m_table->horizontalHeader()->setSectionResizeMode(ZerosColumn, QHeaderView::Stretch);
        // Stretched into a narrow panel it would lose its numbers.
        m_table->horizontalHeader()->setMinimumSectionSize(
            m_table->fontMetrics().horizontalAdvance(QStringLiteral("100.0 %")) + 2 * theme::kSmall);
        m_table->setSortingEnabled(true);
        m_table->sortByColumn(ChannelColumn, Qt::AscendingOrder);
        auto* column = new QVBoxLayout(this);
        column->setContentsMargins(0, 0, 0, 0);
        column->setSpacing(theme::kTight);
        column->addWidget(m_facts);
        column->addWidget(m_table, 1);
        setFocusProxy(m_table);
        connect(m_table->horizontalHeader(), &QHeaderView::sortIndicatorChanged, this, &TensorView::stateChanged);
        connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
                [this](const QModelIndex& at) { tell(at); });
        connect(m_table, &QTableView::activated, this, [this](const QModelIndex& at) { open(at); });
        connect(m_table, &QTableView::doubleClicked, this, [this](const QModelIndex& at) { open(at); });
        connect(&theme::Theme::instance(), &theme::Theme::changed, m_table, [this] { m_table->viewport()->update(); });
    }

    QVariantMap state() const override {
        const QHeaderView& header = *m_table->horizontalHeader();
        return {{QStringLiteral("column"), header.sortIndicatorSection()},
                {QStringLiteral("order"), int(header.sortIndicatorOrder())}};
    }
    void setState(const QVariantMap& state) override {
        m_table->sortByColumn(state.value(QStringLiteral("column"), int(ChannelColumn)).toInt(),
                              static_cast<Qt::SortOrder>(state.value(QStringLiteral("order")).toInt()));
    }

    void show(const ViewedTensor& shown) override {
        const int axis = sparsityAxis(shown.tensor, shown.channels);
        const bool isSame = areSameElements(m_shown.tensor, shown.tensor) && axis == m_axis;
        m_shown = shown;
        m_axis = axis;
        if (isSame) return;
        m_model->set({});
        m_facts->setText(tr("counting zeros\u2026"));
        m_job.start(
            [tensor = shown.tensor, axis](const base::WorkContext& work) {
                return analysis::channelSparsity(tensor, static_cast<std::size_t>(axis), work.stop);
            },
            [this](base::Result<ChannelSparsity> found) {
                if (!found) return m_facts->setText(QString::fromStdString(found.error().what));
                m_model->set(std::move(*found));
                for (int column : {int(ChannelColumn), int(LargestColumn)}) m_table->resizeColumnToContents(column);
                m_facts->setText(factsText());
            });
    }

    QString copyText() const override {
        constexpr int kMaxCopied = 100'000;
        QString text;
        for (int row = 0; row < std::min(m_model->rowCount(), kMaxCopied); ++row)
            for (int column = 0; column < SparsityColumns; ++column)
                text += m_model->index(row, column).data().toString() +
                        QLatin1Char(column + 1 < SparsityColumns ? '\t' : '\n');
        return text;
    }

  private:
    /// "64 channels of axis 1 · 12 dead · 43.1 % zeros"
    QString factsText() const {
        const ChannelSparsity& found = m_model->found();
        return tr("%1 (axis %2)  \u00b7  %3 dead  \u00b7  %4 % zeros in all")
            .arg(context::countedText(found.channels.size(), tr("1 channel"), tr("%1 channels")))
            .arg(m_axis)
            .arg(context::countText(found.deadCount()))
            .arg(found.zeroShare() * 100, 0, 'f', 1);
    }
    void tell(const QModelIndex& at) {
        if (!at.isValid()) return;
        const std::size_t channel = m_model->channelOf(at.row());
        Q_EMIT pointed(tr("channel %1: %2 of %3 are zero")
                           .arg(channel)
                           .arg(context::countText(m_model->found().channels[channel].zeros),
                                context::countText(m_model->found().perChannel)),
                       std::numeric_limits<double>::quiet_NaN());
    }
    /// The channel as a heat map; of [N,C] it is a column, and the map goes to it.
    void open(const QModelIndex& at) {
        if (!at.isValid()) return;
        widgets::Slice slice = m_shown.slice;
        const int rank = static_cast<int>(m_shown.tensor.rank());
        slice.index[static_cast<std::size_t>(m_axis)] = static_cast<qint64>(m_model->channelOf(at.row()));
        std::vector<int> others;
        for (int axis = 0; axis < rank; ++axis)
            if (axis != m_axis) others.push_back(axis);
        slice.columnAxis = others.back();
        slice.rowAxis = others.size() > 1 ? others[others.size() - 2] : m_axis;
        Q_EMIT sliceOpened(slice);
    }

    QLabel* m_facts;
    SparsityModel* m_model;
    QTableView* m_table;
    ViewedTensor m_shown;
    int m_axis = -1;
    context::Job m_job;
};

}  // namespace

TensorViewInfo sparsityView() {
    TensorViewInfo info;
    info.id = QStringLiteral("sparsity");
    info.title = QStringLiteral("Sparsity");
    info.icon = QStringLiteral("sparsity");
    info.description = QStringLiteral("The share of zeros in each channel, and channels that are dead");
    info.accepts = hasChannelAxis;
    info.usesChannels = true;
    info.isSpecial = true;
    info.factory = [] { return new Sparsity; };
    return info;
}

}  // namespace sonde::panels
