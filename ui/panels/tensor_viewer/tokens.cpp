#include <QHBoxLayout>
#include <QHeaderView>
#include <QSpinBox>
#include <QTreeWidget>
#include <QVBoxLayout>

#include "core/analysis/tensor_views/top_tokens.h"
#include "core/tensor/plane.h"
#include "ui/context/count_text.h"
#include "ui/context/job.h"
#include "ui/panels/tensor_viewer/share_delegate.h"
#include "ui/panels/tensor_viewer/tensor_view.h"
#include "ui/theme/theme.h"
#include "ui/widgets/labels.h"
#include "ui/widgets/number_text.h"

namespace sonde::panels {
namespace {

using analysis::TopTokens;

constexpr int kIdRole = Qt::UserRole;
constexpr int kUsualTop = 5, kMaxTopTokens = 50;

QString probabilityText(double share) {
    return share >= 0.0005 || share == 0 ? QObject::tr("%1 %").arg(share * 100, 0, 'f', 1) : QObject::tr("< 0.1 %");
}

std::vector<int> tokenAxes(const tensor::Tensor& tensor, ChannelLayout) {
    const int rank = static_cast<int>(tensor.rank());
    return rank > 1 ? std::vector{rank - 2, rank - 1} : std::vector{0};
}

/// The most likely tokens: a row for each position, or of a single one a row for each token.
class Tokens : public TensorView {
  public:
    Tokens() : m_facts(new widgets::ElidedLabel({}, this)), m_top(new QSpinBox(this)), m_table(new QTreeWidget(this)) {
        m_top->setRange(1, kMaxTopTokens);
        m_top->setValue(kUsualTop);
        m_top->setPrefix(tr("top "));
        m_top->setAccessibleName(tr("Tokens at each position"));
        m_table->setAccessibleName(tr("Most likely tokens"));
        m_table->setRootIsDecorated(false);
        m_table->setUniformRowHeights(true);
        m_table->setSelectionBehavior(QAbstractItemView::SelectItems);
        m_table->setItemDelegate(new ShareDelegate(m_table));
        auto* head = new QHBoxLayout;
        head->addWidget(m_facts, 1);
        head->addWidget(m_top);
        auto* column = new QVBoxLayout(this);
        column->setContentsMargins(0, 0, 0, 0);
        column->setSpacing(theme::kTight);
        column->addLayout(head);
        column->addWidget(m_table, 1);
        setFocusProxy(m_table);
        setTabOrder(m_table, m_top);
        m_facts->setElideMode(Qt::ElideRight);
        connect(m_top, &QSpinBox::valueChanged, this, [this] {
            Q_EMIT stateChanged();
            compute();
        });
        connect(m_table, &QTreeWidget::currentItemChanged, this, &Tokens::tell);
        connect(m_table->selectionModel(), &QItemSelectionModel::currentColumnChanged, this, &Tokens::tell);
    }

    QVariantMap state() const override { return {{QStringLiteral("top"), m_top->value()}}; }
    void setState(const QVariantMap& state) override {
        const QSignalBlocker quiet(m_top);
        m_top->setValue(state.value(QStringLiteral("top"), kUsualTop).toInt());
    }

    widgets::Slice drawnSlice(const ViewedTensor& shown) const override {
        const int rank = static_cast<int>(shown.tensor.rank());
        return {rank - 2, rank - 1, shown.slice.index};  // of rank 1: -1, no rows
    }

    void show(const ViewedTensor& shown) override {
        const tensor::Tensor& tensor = shown.tensor;
        const widgets::Slice slice = drawnSlice(shown);
        tensor::Tensor plane = tensor::plane(tensor, slice.rowAxis, slice.columnAxis,
                                             std::vector<std::int64_t>(slice.index.begin(), slice.index.end()));
        const bool isSame =
            areSameElements(m_plane, plane) && m_shown.tokens == shown.tokens && m_counted == m_top->value();
        m_shown = shown;
        m_plane = std::move(plane);
        if (!isSame) compute();
    }

    QString copyText() const override {
        QStringList lines;
        for (int i = 0; i < m_table->topLevelItemCount(); ++i) {
            QStringList cells;
            for (int c = 0; c < m_table->columnCount(); ++c) cells << m_table->topLevelItem(i)->text(c);
            lines << cells.join(QLatin1Char('\t'));
        }
        return lines.join(QLatin1Char('\n'));
    }

  private:
    void compute() {
        if (!m_plane.defined()) return;
        m_counted = m_top->value();
        m_table->clear();
        m_facts->setText(tr("looking for the most likely tokens\u2026"));
        m_job.start([plane = m_plane, top = static_cast<std::size_t>(m_counted)](
                        const base::WorkContext& work) { return analysis::topTokens(plane, top, work.stop); },
                    [this](base::Result<TopTokens> found) {
                        if (found) fill(*found);
                        else m_facts->setText(QString::fromStdString(found.error().what));
                    });
    }

    QString nameOf(std::int64_t id) const {
        const std::string text = m_shown.tokens ? m_shown.tokens->of(id) : std::string();
        return text.empty() ? QString::number(id) : QStringLiteral("\u201c%1\u201d").arg(QString::fromStdString(text));
    }

    /// The input's token at a position, if the text is as long as the value.
    QString positionText(std::int64_t position, std::int64_t count) const {
        const session::TokenNames* const tokens = m_shown.tokens.get();
        const std::string text =
            tokens && static_cast<std::int64_t>(tokens->ids.size()) == count ? tokens->at(position) : std::string();
        return text.empty() ? QString::number(position)
                            : QStringLiteral("%1 \u201c%2\u201d").arg(position).arg(QString::fromStdString(text));
    }

    void setCell(QTreeWidgetItem* row, int column, std::int64_t position, const TopTokens::Entry& entry,
                 const QString& text) const {
        row->setText(column, text);
        row->setData(column, ShareDelegate::kShareRole, entry.share);
        row->setData(column, kIdRole, QVariant::fromValue(qint64(entry.id)));
        row->setToolTip(column, tr("position %1: id %2, %3, value %4")
                                    .arg(positionText(position, m_plane.dim(0)))
                                    .arg(nameOf(entry.id) == QString::number(entry.id)
                                             ? QString::number(entry.id)
                                             : QStringLiteral("%1 %2").arg(entry.id).arg(nameOf(entry.id)))
                                    .arg(probabilityText(entry.share), widgets::numberText(entry.value)));
    }

    void fillOnePosition(const TopTokens& found) {
        m_table->setColumnCount(3);
        m_table->setHeaderLabels({tr("Token"), tr("Probability"), tr("Value")});
        for (const TopTokens::Entry& entry : found.positions.front().top) {
            auto* row = new QTreeWidgetItem(m_table);
            setCell(row, 0, 0, entry, nameOf(entry.id));
            setCell(row, 1, 0, entry, probabilityText(entry.share));
            setCell(row, 2, 0, entry, widgets::numberText(entry.value));
            for (int column : {0, 2}) row->setData(column, ShareDelegate::kShareRole, {});
        }
    }

    void fillPositions(const TopTokens& found) {
        QStringList titles{tr("Position")};
        for (int i = 1; i <= m_counted; ++i) titles << QString::number(i);
        m_table->setColumnCount(static_cast<int>(titles.size()));
        m_table->setHeaderLabels(titles);
        for (std::size_t position = 0; position < found.positions.size(); ++position) {
            const auto at = static_cast<std::int64_t>(position);
            auto* row = new QTreeWidgetItem(m_table, {positionText(at, found.positionCount)});
            int column = 1;
            for (const TopTokens::Entry& entry : found.positions[position].top)
                setCell(row, column++, at, entry, nameOf(entry.id) + QLatin1Char(' ') + probabilityText(entry.share));
            if (column == 1) row->setText(1, tr("nothing but NaN"));
        }
    }

    void fill(const TopTokens& found) {
        m_table->clear();
        if (found.positionCount == 1 && !found.positions.empty()) fillOnePosition(found);
        else fillPositions(found);
        constexpr int kMaxColumn = 160;  // pixels
        for (int column = 0; column < m_table->columnCount(); ++column) {
            m_table->resizeColumnToContents(column);
            if (m_table->columnWidth(column) > kMaxColumn) m_table->setColumnWidth(column, kMaxColumn);
        }
        std::int64_t bad = 0;
        for (const TopTokens::Position& position : found.positions) bad += position.bad;
        QString text = found.areProbabilities ? tr("probabilities") : tr("softmax of the values");
        text += tr(" of %1 tokens").arg(context::countText(found.vocabulary));
        if (found.positionCount > TopTokens::kMaxPositions)
            text += tr("; the first %1 of %2 positions")
                        .arg(context::countText(TopTokens::kMaxPositions), context::countText(found.positionCount));
        if (bad > 0) text += tr("; without %1 NaN or Inf").arg(context::countText(bad));
        m_facts->setText(text);
    }

    void tell() {
        QTreeWidgetItem* const row = m_table->currentItem();
        if (!row) return;
        const int column = m_table->currentColumn();
        const QVariant id = row->data(column, kIdRole);
        Q_EMIT pointed(row->toolTip(column), std::numeric_limits<double>::quiet_NaN());
        if (!id.isValid()) return;
        const bool isOne = m_plane.dim(0) == 1;
        Q_EMIT cursorMoved(isOne ? 0 : m_table->indexOfTopLevelItem(row), id.toLongLong());
    }

    widgets::ElidedLabel* m_facts;
    QSpinBox* m_top;
    QTreeWidget* m_table;
    ViewedTensor m_shown;
    tensor::Tensor m_plane;
    int m_counted = 0;
    context::Job m_job;
};

}  // namespace

TensorViewInfo tokensView() {
    TensorViewInfo info;
    info.id = QStringLiteral("tokens");
    info.title = QStringLiteral("Tokens");
    info.icon = QStringLiteral("tokens");
    info.description = QStringLiteral("The most likely tokens at each position, of logits or probabilities");
    info.accepts = analysis::mayScoreTokens;
    info.usesSlice = true;
    info.ownAxes = tokenAxes;
    info.isSpecial = true;
    info.factory = [] { return new Tokens; };
    return info;
}

}  // namespace sonde::panels
