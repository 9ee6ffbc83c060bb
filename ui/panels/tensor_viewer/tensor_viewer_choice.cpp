// Which view a tensor is shown in, and how it was looked at before.

#include <QSignalBlocker>

#include <algorithm>

#include "ui/panels/tensor_viewer/tensor_viewer.h"
#include "ui/widgets/labels.h"

namespace sonde::panels {

namespace {

std::vector<qint64> dimSizes(const tensor::Tensor& tensor) {
    return {tensor.shape().dims().begin(), tensor.shape().dims().end()};
}

/// Of none: one.
std::int64_t sizeAlong(const tensor::Tensor& tensor, int axis) {
    return axis < 0 ? 1 : tensor.dim(static_cast<std::size_t>(axis));
}

/// Many rows of a few columns, or the other way round: as a picture they would be a stripe.
bool isLong(std::int64_t rows, std::int64_t columns) {
    constexpr std::int64_t kFew = 8, kLong = 64;
    const auto [few, many] = std::minmax(rows, columns);
    return few <= kFew && many >= kLong * few;
}

}  // namespace

void TensorViewer::recall() {
    if (!m_like.isEmpty() && !m_memory.contains(m_key) && m_memory.contains(m_like)) {
        Memory memory = m_memory[m_like];
        memory.range = {};
        memory.range.diverging = true;
        m_memory[m_key] = memory;
    }
    const auto known = m_memory.constFind(m_key);
    const std::vector<qint64> shape = dimSizes(m_shown.tensor);
    {
        const QSignalBlocker slice(m_slice), range(m_range);
        m_slice->setShape(shape);
        // That of what was seen before, unless it would be one row or column of this.
        const auto hasOnePlace = [this](int axis) { return axis >= 0 && sizeAlong(m_shown.tensor, axis) == 1; };
        if (hasOnePlace(m_slice->slice().rowAxis) || hasOnePlace(m_slice->slice().columnAxis))
            m_slice->setSlice(widgets::SliceBar::usual(shape));
        if (known != m_memory.constEnd() && widgets::SliceBar::fits(known->slice, shape))
            m_slice->setSlice(known->slice);
        // A locked range stays, whatever is shown.
        if (!m_range->state().locked) {
            widgets::RangeState fresh;
            fresh.map = m_range->state().map;
            fresh.diverging = !m_like.isEmpty();
            // Bytes have a range of their own: a dark picture is to be seen dark.
            if (m_shown.tensor.dtype() == tensor::DType::UInt8) fresh.high = 255.0, fresh.autofit = false;
            m_range->setState(known != m_memory.constEnd() ? known->range : fresh);
        }
    }
    m_shown.slice = m_slice->slice();
    m_shown.range = m_range->state();
    m_shown.colorMap = m_range->mapId();
    m_shown.channels = known != m_memory.constEnd() ? known->channels : likelyLayout(m_shown.tensor);
    m_view = known != m_memory.constEnd() ? known->view : m_favourite;
}

void TensorViewer::forgetLooks() {
    m_memory.clear();
    m_readings.clear();
}

void TensorViewer::remember() {
    if (m_key.isEmpty()) return;
    Memory& memory = m_memory[m_key];
    memory.view = m_view;
    memory.shape = dimSizes(m_shown.tensor);
    memory.slice = m_shown.slice;
    memory.range = m_shown.range;
    memory.channels = m_shown.channels;
}

const TensorViewInfo* TensorViewer::info(const QString& id) const {
    for (const TensorViewInfo& view : tensorViews())
        if (view.id == id) return &view;
    return nullptr;
}

/// Whether a view would draw one row or one column of pixels, or a few high ones.
bool TensorViewer::isStripe(const TensorViewInfo& view) const {
    if (!view.isPicture) return false;
    const tensor::Tensor& tensor = m_shown.tensor;
    const PictureAxes axes = view.ownAxes ? pictureAxes(tensor, m_shown.channels)
                                          : PictureAxes{-1, m_shown.slice.rowAxis, m_shown.slice.columnAxis};
    const std::int64_t rows = sizeAlong(tensor, axes.row), columns = sizeAlong(tensor, axes.column);
    constexpr std::int64_t kFew = 16;  // so few pixels can be told apart
    return ((rows == 1 || columns == 1) && rows * columns > kFew) || isLong(rows, columns);
}

QString TensorViewer::usualView() const {
    const tensor::Tensor& tensor = m_shown.tensor;
    if (tensor.rank() >= 3 && (tensor.rank() > 3 || tensor.dim(1) == tensor.dim(2)) && attentionView().accepts(tensor))
        return attentionView().id;
    // A few numbers, or text, are read best one by one.
    if (tensor.numel() <= 16 || !isNumeric(tensor)) return tableView().id;
    const PictureAxes axes = pictureAxes(tensor, m_shown.channels);
    const std::int64_t channels = axes.channel < 0 ? 1 : sizeAlong(tensor, axes.channel);
    if (channels > 1 && sizeAlong(tensor, axes.row) >= 4 && sizeAlong(tensor, axes.column) >= 4)
        return channels == 3 ? imageView().id : channelsView().id;
    const std::int64_t rows = sizeAlong(tensor, m_shown.slice.rowAxis),
                       columns = sizeAlong(tensor, m_shown.slice.columnAxis);
    // Scores of classes, a bias, pooled features: one row, whatever the shape.
    if (rows == 1) return lineView().id;
    if (columns == 1 || isLong(rows, columns)) return tableView().id;
    return heatMapView().id;
}

void TensorViewer::offerViews() {
    const TensorViewInfo* wanted = info(m_view);
    const auto known = m_memory.constFind(m_key);  // a view that was chosen for it stays
    const bool isFirst = known == m_memory.constEnd() || known->shape != dimSizes(m_shown.tensor);
    if (!wanted || !wanted->accepts(m_shown.tensor) || (isFirst && isStripe(*wanted))) wanted = info(usualView());
    if (wanted && !wanted->accepts(m_shown.tensor)) wanted = nullptr;
    for (const TensorViewInfo& view : tensorViews())
        if (!wanted && view.accepts(m_shown.tensor)) wanted = &view;
    m_view = wanted ? wanted->id : QString();
    offerButtons();
}

QString TensorViewer::currentView() const { return m_view; }

void TensorViewer::setCurrentView(const QString& id) {
    const TensorViewInfo* wanted = info(id);
    if (!wanted || !m_shown.tensor.defined() || !wanted->accepts(m_shown.tensor)) return;
    if (id != m_view) m_pointed->setText({});
    m_view = id;
    remember();
    refresh();
}

void TensorViewer::suggestView(const QString& id) {
    const TensorViewInfo* wanted = info(id);
    if (wanted && m_shown.tensor.defined()) setCurrentView(isStripe(*wanted) ? usualView() : id);
}

}  // namespace sonde::panels
