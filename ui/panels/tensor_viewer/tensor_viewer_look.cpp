// Of the viewer: looking at two values in one way.

#include <QComboBox>
#include <QLabel>
#include <QSignalBlocker>
#include <QToolButton>
#include <QVBoxLayout>

#include <initializer_list>

#include "ui/panels/tensor_viewer/tensor_viewer.h"
#include "ui/widgets/flow_layout.h"

namespace sonde::panels {

void TensorViewer::lendControls(QVBoxLayout* to) {
    if (m_areLent == (to != nullptr)) return;
    m_areLent = to != nullptr;
    if (to) {
        for (QWidget* widget : std::initializer_list<QWidget*>{m_switchBar, m_slice, m_range}) to->addWidget(widget);
    } else {
        m_column->insertWidget(0, m_switchBar);
        m_column->insertWidget(2, m_slice);
        m_column->insertWidget(4, m_range);
    }
    m_statistics->setVisible(!m_areLent);
    // What is done with one value has no place above two.
    bool isTool = false;
    for (int i = 0; i < m_switches->count(); ++i) {
        QWidget* const widget = m_switches->itemAt(i)->widget();
        isTool = isTool || widget == m_edit;
        if (widget && isTool) widget->setVisible(!m_areLent);
    }
}

void TensorViewer::setStatisticsVisible(bool visible) { m_statistics->setVisible(visible); }

void TensorViewer::takeLook(const TensorViewer& other, bool withRange) {
    if (!m_shown.tensor.defined() || !other.m_shown.tensor.defined()) return;
    if (const TensorViewInfo* view = info(other.m_view); view && view->accepts(m_shown.tensor)) m_view = other.m_view;
    m_shown.channels = other.m_shown.channels;
    {
        const QSignalBlocker slice(m_slice), range(m_range);
        std::vector<qint64> sizes;
        for (std::size_t axis = 0; axis < m_shown.tensor.rank(); ++axis) sizes.push_back(m_shown.tensor.dim(axis));
        if (widgets::SliceBar::fits(other.m_shown.slice, sizes)) m_slice->setSlice(other.m_shown.slice);
        if (withRange) m_range->setState(other.m_range->state());
    }
    m_shown.slice = m_slice->slice();
    m_shown.range = m_range->state();
    m_shown.colorMap = m_range->mapId();
    remember();
    refresh();
}

void TensorViewer::setControlsVisible(bool visible) {
    m_hasControls = visible;
    for (int i = 0; i < m_switches->count(); ++i)
        if (QWidget* const widget = m_switches->itemAt(i)->widget()) widget->setVisible(visible);
    refresh();
}

void TensorViewer::fitTo(double low, double high) {
    const widgets::RangeState before = m_range->state();
    {
        const QSignalBlocker range(m_range);
        m_range->setData(low, high);
    }
    if (m_range->state() == before) return;
    m_shown.range = m_range->state();
    refresh();
}

widgets::HeatMapView::Place TensorViewer::viewPlace() const {
    const TensorView* const widget = m_views.value(m_view);
    return widget ? widget->place() : widgets::HeatMapView::Place();
}

void TensorViewer::setViewPlace(const widgets::HeatMapView::Place& place) {
    if (TensorView* const widget = m_views.value(m_view)) widget->setPlace(place);
}

}  // namespace sonde::panels
