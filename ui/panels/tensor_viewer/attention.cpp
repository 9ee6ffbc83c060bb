#include <QHBoxLayout>
#include <QStackedWidget>
#include <QToolButton>
#include <QVBoxLayout>

#include <cmath>

#include "core/analysis/tensor_views/attention_heads.h"
#include "ui/context/count_text.h"
#include "ui/panels/tensor_viewer/plane_picture.h"
#include "ui/panels/tensor_viewer/tensor_view.h"
#include "ui/theme/theme.h"
#include "ui/widgets/color_bar.h"
#include "ui/widgets/image_grid_view.h"
#include "ui/widgets/labelled_map.h"
#include "ui/widgets/labels.h"
#include "ui/widgets/number_text.h"

namespace sonde::panels {
namespace {

constexpr std::size_t kToldKeys = 4;
constexpr int kMinHeight = 220;  ///< pixels

std::vector<int> attentionAxes(const tensor::Tensor& tensor, ChannelLayout) {
    const int rank = static_cast<int>(tensor.rank());
    return {rank - 2, rank - 1};
}

/// One head with tokens on both axes, or a small picture of each.
class Attention : public TensorView {
  public:
    Attention()
        : m_all(new QToolButton(this)), m_facts(new widgets::ElidedLabel({}, this)), m_stack(new QStackedWidget(this)),
          m_map(new widgets::LabelledMap(m_stack)), m_grid(new widgets::ImageGridView(m_stack)),
          m_bar(new widgets::ColorBar(this)) {
        m_all->setText(tr("All heads"));
        m_all->setToolTip(tr("A small picture of each head; select one to show it alone"));
        m_all->setObjectName(QStringLiteral("allHeads"));
        m_all->setCheckable(true);
        m_all->setAutoRaise(true);
        m_facts->setElideMode(Qt::ElideRight);
        m_map->setAccessibleName(tr("Attention of one head"));
        m_grid->setAccessibleName(tr("Attention of all heads"));
        m_grid->setThumbnailSize(96);
        m_stack->setMinimumHeight(kMinHeight);  // names of tokens take a part of it
        m_stack->addWidget(m_map);
        m_stack->addWidget(m_grid);
        auto* head = new QHBoxLayout;
        head->addWidget(m_all);
        head->addWidget(m_facts, 1);
        auto* row = new QHBoxLayout;
        row->setSpacing(theme::kSmall);
        row->addWidget(m_stack, 1);
        row->addWidget(m_bar);
        auto* column = new QVBoxLayout(this);
        column->setContentsMargins(0, 0, 0, 0);
        column->setSpacing(theme::kTight);
        column->addLayout(head);
        column->addLayout(row, 1);
        setFocusProxy(m_stack);
        m_stack->setFocusProxy(m_map);
        connectParts();
    }

    QVariantMap state() const override { return {{QStringLiteral("all"), m_all->isChecked()}}; }
    void setState(const QVariantMap& state) override {
        const QSignalBlocker quiet(m_all);
        m_all->setChecked(state.value(QStringLiteral("all")).toBool());
    }

    widgets::HeatMapView::Place place() const override { return m_map->place(); }
    void setPlace(const widgets::HeatMapView::Place& place) override { m_map->setPlace(place); }

    widgets::Slice drawnSlice(const ViewedTensor& shown) const override {
        const int rank = static_cast<int>(shown.tensor.rank());
        return {rank - 2, rank - 1, shown.slice.index};
    }

    void show(const ViewedTensor& shown) override {
        m_shown = shown;
        m_head = headOf(headIndex());
        const theme::ColorMap& map = theme::colorMap(shown.colorMap);
        m_map->setColorMap(map);
        m_map->setScale(shown.scale());
        m_map->setField(m_head.dim(0), m_head.dim(1), tensor::planeReader(m_head));
        m_map->setMarkedCells(badCells(ownShown()));
        const widgets::Slice slice = drawnSlice(shown);
        m_map->setOverlay(overlayOf(shown, slice.rowAxis, slice.columnAxis));
        m_map->setLabels(
            tr("queries"), [this](qint64 i) { return tokenAt(i, m_head.dim(0)); }, tr("keys"),
            [this](qint64 i) { return tokenAt(i, m_head.dim(1)); });
        m_grid->setPictures(
            static_cast<int>(std::min<std::int64_t>(headCount(), 1'000'000)),
            [this](int head) { return planePicture(headOf(head), m_shown.scale(), theme::colorMap(m_shown.colorMap)); },
            [this](int head) { return tr("head %1").arg(head); });
        m_bar->setColorMap(map);
        m_bar->setScale(shown.scale());
        m_bar->setHidden(shown.hidesScale);
        m_bar->setBadShown(shown.stats && shown.stats->nanCount > 0, shown.stats && shown.stats->infCount > 0);
        arrange();
    }

    QString copyText() const override {
        const auto [row, column] = m_map->cross();
        return row < 0 ? QString() : readOut(row, column);
    }

    void pointAt(qint64 row, qint64 column) override {
        m_map->setCursorCell(row, column);
        Q_EMIT cursorMoved(row, column);
    }

  private:
    void connectParts() {
        connect(m_all, &QToolButton::toggled, this, [this] {
            arrange();
            Q_EMIT stateChanged();
        });
        connect(m_map, &widgets::HeatMapView::moved, this, &TensorView::moved);
        connect(m_map, &widgets::LabelledMap::crossChanged, this, [this] {
            const auto [row, column] = m_map->cross();
            m_bar->setMark(row >= 0 ? std::optional(m_map->valueAt(row, column)) : std::nullopt);
            Q_EMIT pointed(row < 0 ? QString() : readOut(row, column), m_map->valueAt(row, column));
        });
        connect(m_map, &widgets::HeatMapView::cellPicked, this, [this](qint64 row, qint64 column, double) {
            Q_EMIT cursorMoved(row, column);
            Q_EMIT picked(row, column);
        });
        connect(m_grid, &widgets::ImageGridView::currentPictureChanged, this, [this](int head) {
            Q_EMIT pointed(head < 0 ? QString() : factsOf(head), std::numeric_limits<double>::quiet_NaN());
        });
        connect(m_grid, &widgets::ImageGridView::pictureActivated, this, [this](int head) {
            widgets::Slice slice = m_shown.slice;
            slice.index[headAxis()] = head;
            m_all->setChecked(false);
            Q_EMIT sliceChosen(slice);
        });
    }

    void arrange() {
        const bool isGrid = m_all->isChecked();
        m_stack->setCurrentIndex(isGrid ? 1 : 0);
        m_stack->setFocusProxy(isGrid ? static_cast<QWidget*>(m_grid) : m_map);
        m_facts->setText(isGrid ? tr("%1 heads, queries down, keys across").arg(context::countText(headCount()))
                                : factsOf(headIndex()));
    }

    std::size_t headAxis() const { return m_shown.tensor.rank() - 3; }
    std::int64_t headCount() const { return m_shown.tensor.dim(headAxis()); }
    std::int64_t headIndex() const { return m_shown.slice.index[headAxis()]; }
    tensor::Tensor headOf(std::int64_t head) const {
        std::vector<std::int64_t> index(m_shown.slice.index.begin(), m_shown.slice.index.end());
        index[headAxis()] = head;
        return analysis::attentionHead(m_shown.tensor, index);
    }
    ViewedTensor ownShown() const {
        ViewedTensor own = m_shown;
        own.slice = drawnSlice(m_shown);
        own.plane = m_head;
        return own;
    }

    /// The token of a position where the axis is as long as the input's text, else the position.
    QString tokenAt(qint64 position, qint64 count) const {
        const session::TokenNames* const tokens = m_shown.tokens.get();
        if (tokens && static_cast<qint64>(tokens->ids.size()) == count)
            if (const std::string text = tokens->at(position); !text.empty()) return QString::fromStdString(text);
        return QString::number(position);
    }
    QString namedAt(qint64 position, qint64 count) const {
        const QString token = tokenAt(position, count), number = QString::number(position);
        return token == number ? number : QStringLiteral("%1 \u201c%2\u201d").arg(number, token);
    }

    /// "head 3 of 12 · entropy 1.2 of 3.0 bits"
    QString factsOf(std::int64_t head) const {
        const tensor::Tensor plane = headOf(head);
        const double entropy = analysis::meanEntropy(plane);
        const QString text = tr("head %1 of %2").arg(head).arg(context::countText(headCount()));
        if (!std::isfinite(entropy)) return text;
        return text + tr("  \u00b7  entropy %1 of %2 bits")
                          .arg(entropy, 0, 'f', 2)
                          .arg(std::log2(static_cast<double>(plane.dim(1))), 0, 'f', 2);
    }

    /// "query 3 “cat” → key 5 “sat”: 0.61; most: 5 “sat” 0.61, …"
    QString readOut(qint64 row, qint64 column) const {
        const qint64 keys = m_head.dim(1);
        QStringList most;
        for (const analysis::KeyShare& key : analysis::topKeys(m_head, row, kToldKeys))
            most << namedAt(key.key, keys) + QLatin1Char(' ') + widgets::numberText(key.share, 3);
        return tr("query %1 \u2192 key %2: %3; most: %4")
            .arg(namedAt(row, m_head.dim(0)), namedAt(column, keys), widgets::numberText(m_map->valueAt(row, column)),
                 most.join(QStringLiteral(", ")));
    }

    QToolButton* m_all;
    widgets::ElidedLabel* m_facts;
    QStackedWidget* m_stack;
    widgets::LabelledMap* m_map;
    widgets::ImageGridView* m_grid;
    widgets::ColorBar* m_bar;
    ViewedTensor m_shown;
    tensor::Tensor m_head;
};

}  // namespace

TensorViewInfo attentionView() {
    TensorViewInfo info;
    info.id = QStringLiteral("attention");
    info.title = QStringLiteral("Attention");
    info.icon = QStringLiteral("attention");
    info.description = QStringLiteral("Heads of attention, with tokens on both axes");
    info.accepts = analysis::isAttention;
    info.usesRange = true;
    info.usesSlice = true;
    info.ownAxes = attentionAxes;
    info.isSpecial = true;
    info.factory = [] { return new Attention; };
    return info;
}

}  // namespace sonde::panels
