#include <QHBoxLayout>

#include "ui/panels/tensor_viewer/tensor_view.h"
#include "ui/theme/theme.h"
#include "ui/widgets/color_bar.h"
#include "ui/widgets/heat_map_view.h"

namespace sonde::panels {
namespace {

class HeatMap : public TensorView {
  public:
    HeatMap() : m_map(new widgets::HeatMapView(this)), m_bar(new widgets::ColorBar(this)) {
        auto* row = new QHBoxLayout(this);
        row->setContentsMargins(0, 0, 0, 0);
        row->setSpacing(theme::kSmall);
        m_map->setMinimumWidth(kMinDrawnWidth);
        row->addWidget(m_map, 1);
        row->addWidget(m_bar);
        setFocusProxy(m_map);
        connect(m_map, &widgets::HeatMapView::moved, this, &TensorView::moved);
        connect(m_map, &widgets::HeatMapView::cellHovered, this, [this](qint64 row, qint64 column, double value) {
            m_bar->setMark(row >= 0 ? std::optional(value) : std::nullopt);
            Q_EMIT pointed(elementReadOut(m_shown, row, column), value);
            if (row >= 0 && m_map->cursor() == std::pair(row, column)) Q_EMIT cursorMoved(row, column);
        });
        connect(m_map, &widgets::HeatMapView::cellPicked, this, [this](qint64 row, qint64 column, double) {
            Q_EMIT cursorMoved(row, column);
            Q_EMIT picked(row, column);
        });
    }

    widgets::HeatMapView::Place place() const override { return m_map->place(); }
    void setPlace(const widgets::HeatMapView::Place& place) override { m_map->setPlace(place); }

    void show(const ViewedTensor& shown) override {
        m_shown = shown;
        const theme::ColorMap& map = theme::colorMap(shown.colorMap);
        m_map->setColorMap(map);
        m_map->setScale(shown.scale());
        m_map->setField(shown.plane.dim(0), shown.plane.dim(1), tensor::planeReader(shown.plane));
        m_map->setMarkedCells(badCells(shown));
        m_map->setOverlay(overlayOf(shown, shown.slice.rowAxis, shown.slice.columnAxis));
        m_bar->setColorMap(map);
        m_bar->setScale(shown.scale());
        m_bar->setHidden(shown.hidesScale);
        m_bar->setBadShown(shown.stats && shown.stats->nanCount > 0, shown.stats && shown.stats->infCount > 0);
    }

    QString copyText() const override {
        const auto [row, column] = m_map->cursor();
        return elementReadOut(m_shown, row, column);
    }

    void pointAt(qint64 row, qint64 column) override {
        m_map->setCursorCell(row, column);
        Q_EMIT cursorMoved(row, column);
    }

  private:
    widgets::HeatMapView* m_map;
    widgets::ColorBar* m_bar;
    ViewedTensor m_shown;
};

}  // namespace

TensorViewInfo heatMapView() {
    TensorViewInfo info;
    info.id = QStringLiteral("heat_map");
    info.title = QStringLiteral("Heat map");
    info.icon = QStringLiteral("heat-map");
    info.description = QStringLiteral("Values of a slice as colours");
    info.accepts = isNumeric;
    info.usesRange = true;
    info.usesSlice = true;
    info.isPicture = true;
    info.factory = [] { return new HeatMap; };
    return info;
}

}  // namespace sonde::panels
