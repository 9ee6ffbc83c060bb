// Of the viewer: what its views are told and tell, and looking at two values in one way.

#include <QComboBox>
#include <QLabel>
#include <QSignalBlocker>
#include <QToolButton>
#include <QVBoxLayout>

#include <initializer_list>
#include <utility>

#include "ui/panels/tensor_viewer/tensor_viewer.h"
#include "ui/widgets/flow_layout.h"
#include "ui/widgets/labels.h"
#include "ui/widgets/page_stack.h"
#include "ui/widgets/tall_area.h"

namespace sonde::panels {

void TensorViewer::offerButtons() {
    for (const TensorViewInfo& view : tensorViews()) {
        auto* const button = m_switchBar->findChild<QToolButton*>(view.id);
        if (!button) continue;
        const bool accepted = m_shown.tensor.defined() && view.accepts(m_shown.tensor);
        button->setEnabled(accepted);
        button->setVisible(m_hasControls && (accepted || !view.isSpecial));
    }
}

void TensorViewer::connectView(TensorView* view) {
    connect(view, &TensorView::pointed, this, [this](const QString& text) { m_pointed->setText(text); });
    connect(view, &TensorView::cursorMoved, this,
            [this](qint64 row, qint64 column) { Q_EMIT elementPointed(indexOf(row, column)); });
    connect(view, &TensorView::picked, this,
            [this](qint64 row, qint64 column) { Q_EMIT elementPicked(indexOf(row, column)); });
    connect(view, &TensorView::sliceOpened, this, [this](const widgets::Slice& slice) {
        setSlice(slice);
        setCurrentView(heatMapView().id);
    });
    connect(view, &TensorView::sliceChosen, this, &TensorViewer::setSlice);
    connect(view, &TensorView::moved, this, [this, view] {
        if (m_isShowing || m_views.value(m_view) != view) return;
        m_memory[m_key].places[m_view] = view->place();
        remember();
        Q_EMIT viewMoved();
    });
    connect(view, &TensorView::stateChanged, this, [this, view] {
        if (m_isShowing || m_views.value(m_view) != view) return;
        m_memory[m_key].states[m_view] = view->state();
        remember();
        Q_EMIT shownChanged();
    });
}

void TensorViewer::showIn(TensorView* view) {
    const auto known = m_memory.constFind(m_key);
    const bool isKnown = known != m_memory.constEnd();
    const QVariantMap state = isKnown ? known->states.value(m_view) : QVariantMap();
    const bool hasPlace = isKnown && known->places.contains(m_view);
    const widgets::HeatMapView::Place place = hasPlace ? known->places[m_view] : widgets::HeatMapView::Place();
    m_isShowing = true;
    view->setState(state);
    view->show(m_shown);
    if (hasPlace) view->setPlace(place);
    m_isShowing = false;
    if (hasPlace) Q_EMIT viewMoved();
}

std::vector<std::int64_t> TensorViewer::indexOf(qint64 row, qint64 column) const {
    const TensorView* const view = m_views.value(m_view);
    const widgets::Slice slice = view ? view->drawnSlice(m_shown) : m_shown.slice;
    std::vector<std::int64_t> index(slice.index.begin(), slice.index.end());
    if (slice.rowAxis >= 0) index[static_cast<std::size_t>(slice.rowAxis)] = row;
    if (slice.columnAxis >= 0) index[static_cast<std::size_t>(slice.columnAxis)] = column;
    return index;
}

void TensorViewer::setTokens(std::shared_ptr<const session::TokenNames> tokens) {
    if (tokens == m_shown.tokens || (tokens && m_shown.tokens && *tokens == *m_shown.tokens)) return;
    m_shown.tokens = std::move(tokens);
    refresh();
}

/// Controls scroll away rather than leave the view less than some lines of text, or than what it needs. One of two
/// values has its half.
void TensorViewer::reserveRows(bool isAlone) {
    constexpr int kMinRows = 11;
    m_stack->setLeastHeight(isAlone ? kMinRows * fontMetrics().lineSpacing() : 0);
}

void TensorViewer::lendControls(QVBoxLayout* above, QVBoxLayout* below) {
    if (m_areLent == (above != nullptr)) return;
    m_areLent = above != nullptr;
    if (above) {
        for (QWidget* widget : std::initializer_list<QWidget*>{m_switchBar, m_slice, m_range}) above->addWidget(widget);
        below->addWidget(m_overlayBar);
    } else {
        m_column->insertWidget(0, m_switchBar);
        m_column->insertWidget(2, m_slice);
        m_column->insertWidget(4, m_range);
        m_column->insertWidget(5, m_overlayBar);
    }
    m_statistics->setVisible(!m_areLent);
    reserveRows(!m_areLent);
    // What is done with one value has no place above two.
    bool isTool = false;
    for (int i = 0; i < m_switches->count(); ++i) {
        QWidget* const widget = m_switches->itemAt(i)->widget();
        isTool = isTool || widget == m_edit;
        if (widget && isTool) widget->setVisible(!m_areLent);
    }
}

void TensorViewer::setStatisticsVisible(bool visible) { m_statistics->setVisible(visible); }

void TensorViewer::setScaleHidden(bool hidden) {
    if (std::exchange(m_shown.hidesScale, hidden) != hidden) refresh();
}

void TensorViewer::setWhole(bool isWhole) { m_place->setWhole(isWhole); }

void TensorViewer::setCompact(bool compact) {
    m_slice->setCompact(compact);
    m_range->setCompact(compact);
}

void TensorViewer::removeEdit() { m_edit->hide(); }

void TensorViewer::takeLook(const TensorViewer& other, bool withRange) {
    if (!other.m_shown.tensor.defined()) return;
    if (other.reading() != reading()) setReading(other.reading());
    if (!m_shown.tensor.defined()) return;
    if (const TensorViewInfo* view = info(other.m_view); view && view->accepts(m_shown.tensor)) m_view = other.m_view;
    m_shown.channels = other.m_shown.channels;
    if (const auto seen = other.m_memory.constFind(other.m_key); seen != other.m_memory.constEnd())
        m_memory[m_key].states = seen->states;
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
    reserveRows(visible);
    m_switchBar->setVisible(visible);
    for (int i = 0; i < m_switches->count(); ++i)
        if (QWidget* const widget = m_switches->itemAt(i)->widget()) widget->setVisible(visible);
    offerButtons();
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
