#include <QHeaderView>
#include <QSplitter>
#include <QTreeWidget>
#include <QVBoxLayout>

#include "core/analysis/largest.h"
#include "ui/context/job.h"
#include "ui/panels/tensor_viewer/tensor_view.h"
#include "ui/widgets/line_plot.h"

namespace sonde::panels {
namespace {

constexpr std::size_t kRanked = 20;

bool canBeLine(const tensor::Tensor& tensor) { return isNumeric(tensor) && tensor.numel() > 0; }

/// The plot, and beside it the largest numbers with their places: what a classifier thinks of a picture.
class Line : public TensorView {
  public:
    Line()
        : m_splitter(new QSplitter(Qt::Vertical, this)), m_plot(new widgets::LinePlot(m_splitter)),
          m_ranks(new QTreeWidget(m_splitter)) {
        m_plot->setMinimumWidth(kMinDrawnWidth);
        m_ranks->setHeaderLabels({tr("Rank"), tr("Index"), tr("Value")});
        m_ranks->setAccessibleName(tr("Top values of the slice"));
        m_ranks->setRootIsDecorated(false);
        m_ranks->setAlternatingRowColors(true);
        m_ranks->setUniformRowHeights(true);
        m_splitter->setStretchFactor(0, 3);
        m_splitter->setStretchFactor(1, 2);
        auto* column = new QVBoxLayout(this);
        column->setContentsMargins(0, 0, 0, 0);
        column->addWidget(m_splitter);
        setFocusProxy(m_plot);
        connect(m_plot, &widgets::LinePlot::cellHovered, this, [this](qint64 row, qint64 column, double value) {
            Q_EMIT pointed(elementReadOut(m_shown, row, column), value);
        });
        connect(m_ranks, &QTreeWidget::currentItemChanged, this, [this](QTreeWidgetItem* row) {
            if (!row) return;
            const qint64 index = row->data(0, Qt::UserRole).toLongLong();
            pointAt(index / m_shown.plane.dim(1), index % m_shown.plane.dim(1));
        });
        for (const auto signal : {&QTreeWidget::itemClicked, &QTreeWidget::itemActivated})
            connect(m_ranks, signal, this, [this](QTreeWidgetItem* row) {
                const qint64 index = row->data(0, Qt::UserRole).toLongLong();
                Q_EMIT picked(index / m_shown.plane.dim(1), index % m_shown.plane.dim(1));
            });
    }

    void show(const ViewedTensor& shown) override {
        const bool sameSlice = areSameElements(m_shown.plane, shown.plane);
        m_shown = shown;
        m_plot->setScale(shown.scale());
        m_plot->setField(shown.plane.dim(0), shown.plane.dim(1), tensor::planeReader(shown.plane));
        if (sameSlice) return;
        m_ranks->clear();
        m_job.start([plane = shown.plane](
                        const base::WorkContext& work) { return analysis::largestElements(plane, kRanked, work.stop); },
                    [this](const std::vector<std::int64_t>& indices) { fillRanks(indices); });
    }

    QString copyText() const override {
        QStringList lines;
        for (int i = 0; i < m_ranks->topLevelItemCount(); ++i)
            lines << m_ranks->topLevelItem(i)->text(1) + QLatin1Char('\t') + m_ranks->topLevelItem(i)->text(2);
        return lines.join(QLatin1Char('\n'));
    }

    void pointAt(qint64 row, qint64 column) override {
        m_plot->setCursorCell(row, column);
        Q_EMIT cursorMoved(row, column);
    }

  private:
    void fillRanks(const std::vector<std::int64_t>& indices) {
        m_ranks->clear();
        const std::int64_t columns = m_shown.plane.dim(1);
        for (std::size_t i = 0; i < indices.size(); ++i) {
            const std::int64_t index = indices[i];
            const QString place = m_shown.plane.dim(0) > 1
                                      ? QStringLiteral("%1, %2").arg(index / columns).arg(index % columns)
                                      : QString::number(index);
            auto* row = new QTreeWidgetItem(
                m_ranks, {QString::number(i + 1), place, QString::fromStdString(m_shown.plane.elementText(index))});
            row->setData(0, Qt::UserRole, QVariant::fromValue(qint64(index)));
        }
    }

    QSplitter* m_splitter;
    widgets::LinePlot* m_plot;
    QTreeWidget* m_ranks;
    ViewedTensor m_shown;
    context::Job m_job;
};

}  // namespace

TensorViewInfo lineView() {
    TensorViewInfo info;
    info.id = QStringLiteral("line");
    info.title = QStringLiteral("Line");
    info.icon = QStringLiteral("line");
    info.description = QStringLiteral("Rows of a slice as lines, and its top values");
    info.accepts = canBeLine;
    info.usesRange = true;
    info.usesSlice = true;
    info.factory = [] { return new Line; };
    return info;
}

}  // namespace sonde::panels
