#include <algorithm>

#include "ui/panels/tensor_viewer/tensor_view.h"

namespace sonde::panels {

bool areSameElements(const tensor::Tensor& a, const tensor::Tensor& b) {
    return a.defined() && b.defined() && a.storage() == b.storage() && a.offsetElements() == b.offsetElements() &&
           a.shape() == b.shape() && a.strides() == b.strides();
}

const std::vector<TensorViewInfo>& tensorViews() {
    static const std::vector<TensorViewInfo> views{
        heatMapView(), imageView(),   channelsView(), lineView(), histogramView(), tableView(), attentionView(),
        tokensView(),  filtersView(), sparsityView(), pcaView(),  soundView(),     bitsView(),
    };
    return views;
}

QString viewWord(const TensorViewInfo& view) { return QString(view.id).remove(QLatin1Char('_')); }

const TensorViewInfo* viewOfWord(const QString& word) {
    const auto found =
        std::ranges::find_if(tensorViews(), [&](const TensorViewInfo& view) { return viewWord(view) == word; });
    return found == tensorViews().end() ? nullptr : &*found;
}

bool isNumeric(const tensor::Tensor& tensor) {
    return tensor.defined() && tensor.dtype() != tensor::DType::String && tensor.dtype() != tensor::DType::Undefined;
}

namespace {

/// "2:5", "3", or ":" of all.
QString rangeText(qint64 first, qint64 count, qint64 size) {
    if (count == size) return QStringLiteral(":");
    if (count == 1) return QString::number(first);
    return QStringLiteral("%1:%2").arg(first).arg(first + count);
}

}  // namespace

QString sliceOfCell(const ViewedTensor& shown, qint64 row, qint64 column) {
    QStringList places;
    for (std::size_t axis = 0; axis < shown.slice.index.size(); ++axis) {
        const int number = static_cast<int>(axis);
        const qint64 place = number == shown.slice.rowAxis      ? row
                             : number == shown.slice.columnAxis ? column
                                                                : shown.slice.index[axis];
        places << QString::number(place);
    }
    return places.join(QStringLiteral(", "));
}

QString sliceOfCells(const ViewedTensor& shown, const QRect& cells) {
    QStringList places;
    bool isWhole = true;
    for (std::size_t axis = 0; axis < shown.slice.index.size(); ++axis) {
        const int number = static_cast<int>(axis);
        const bool isRow = number == shown.slice.rowAxis, isColumn = number == shown.slice.columnAxis;
        const qint64 size = shown.tensor.dim(axis);
        QString place = QStringLiteral(":");
        if (!isRow && !isColumn) place = rangeText(shown.slice.index[axis], 1, size);
        else if (!cells.isEmpty())
            place = isRow ? rangeText(cells.top(), cells.height(), size) : rangeText(cells.left(), cells.width(), size);
        isWhole = isWhole && place == u":";
        places << place;
    }
    return isWhole ? QString() : places.join(QStringLiteral(", "));
}

QString elementReadOut(const ViewedTensor& shown, qint64 row, qint64 column) {
    if (row < 0 || column < 0 || row >= shown.plane.dim(0) || column >= shown.plane.dim(1)) return {};
    const std::string text = shown.plane.elementText(row * shown.plane.dim(1) + column, 9);
    return QStringLiteral("[%1] = %2").arg(sliceOfCell(shown, row, column), QString::fromStdString(text));
}

std::vector<qint64> placeOf(const tensor::Tensor& tensor, std::int64_t index) {
    std::vector<qint64> place(tensor.rank(), 0);
    for (std::size_t axis = tensor.rank(); axis-- > 0;) {
        place[axis] = index % tensor.dim(axis);
        index /= tensor.dim(axis);
    }
    return place;
}

std::vector<std::pair<qint64, qint64>> badCells(const ViewedTensor& shown) {
    std::vector<std::pair<qint64, qint64>> cells;
    const int rowAxis = shown.slice.rowAxis, columnAxis = shown.slice.columnAxis;
    for (const std::int64_t index : shown.bad) {
        const std::vector<qint64> place = placeOf(shown.tensor, index);
        bool inside = true;
        for (std::size_t axis = 0; axis < place.size() && inside; ++axis)
            inside = static_cast<int>(axis) == rowAxis || static_cast<int>(axis) == columnAxis ||
                     place[axis] == shown.slice.index[axis];
        if (inside)
            cells.emplace_back(rowAxis < 0 ? 0 : place[static_cast<std::size_t>(rowAxis)],
                               columnAxis < 0 ? 0 : place[static_cast<std::size_t>(columnAxis)]);
    }
    return cells;
}

std::optional<widgets::FieldOverlay> overlayOf(const ViewedTensor& shown, int rowAxis, int columnAxis,
                                               const std::vector<int>& merged) {
    if (!shown.fittingOverlay()) return std::nullopt;
    const ElementOverlay& overlay = *shown.fittingOverlay();
    const auto isMerged = [&](int axis) { return std::find(merged.begin(), merged.end(), axis) != merged.end(); };
    widgets::FieldOverlay field;
    for (int axis = 0; axis < static_cast<int>(overlay.begin.size()); ++axis) {
        if (axis == rowAxis || axis == columnAxis || isMerged(axis)) continue;
        const auto at = static_cast<std::size_t>(axis);
        const qint64 index = at < shown.slice.index.size() ? shown.slice.index[at] : 0;
        if (index < overlay.begin[at] || index >= overlay.end[at]) return field;
    }
    const auto range = [&](int axis, qint64& first, qint64& count) {
        const auto at = static_cast<std::size_t>(axis);
        first = axis < 0 ? 0 : overlay.begin[at];
        count = axis < 0 ? 1 : overlay.end[at] - overlay.begin[at];
    };
    range(rowAxis, field.row, field.rows);
    range(columnAxis, field.column, field.columns);
    // Tinted at once, on the UI thread.
    constexpr qint64 kMaxTinted = 1 << 22;
    if (field.rows * field.columns > kMaxTinted) return field;
    if (!overlay.shares.defined() || overlay.shares.shape() != shown.tensor.shape()) return field;
    // The planes of all indices along merged axes, one over the other.
    std::vector<std::int64_t> at(shown.slice.index.begin(), shown.slice.index.end());
    std::vector<tensor::Tensor> planes;
    const std::int64_t layers = merged.empty() ? 1 : shown.tensor.dim(static_cast<std::size_t>(merged.front()));
    for (std::int64_t layer = 0; layer < layers; ++layer) {
        if (!merged.empty()) at[static_cast<std::size_t>(merged.front())] = layer;
        planes.push_back(tensor::plane(overlay.shares, rowAxis, columnAxis, at));
    }
    auto parts = std::make_shared<std::vector<double>>(static_cast<std::size_t>(field.rows * field.columns), 0.0);
    double largest = 0;
    for (const tensor::Tensor& plane : planes) {
        const auto read = tensor::planeReader(plane);
        for (qint64 r = 0; r < field.rows; ++r)
            for (qint64 c = 0; c < field.columns; ++c) {
                double& part = (*parts)[static_cast<std::size_t>(r * field.columns + c)];
                part += read(field.row + r, field.column + c);
                largest = std::max(largest, part);
            }
    }
    if (largest <= 0) return field;
    field.part = [parts, largest, rows = field.rows, columns = field.columns, row = field.row, column = field.column](
                     qint64 r, qint64 c) {
        r -= row, c -= column;
        return r < 0 || c < 0 || r >= rows || c >= columns
                   ? 0
                   : (*parts)[static_cast<std::size_t>(r * columns + c)] / largest;
    };
    return field;
}

PictureAxes pictureAxes(const tensor::Tensor& tensor, ChannelLayout layout) {
    const int rank = static_cast<int>(tensor.rank());
    if (rank < 2) return {};
    if (rank == 2) return {-1, 0, 1};
    if (layout == ChannelLayout::Last) return {rank - 1, rank - 3, rank - 2};
    return {rank - 3, rank - 2, rank - 1};
}

ChannelLayout likelyLayout(const tensor::Tensor& tensor) {
    const std::size_t rank = tensor.rank();
    if (rank < 3) return ChannelLayout::First;
    constexpr std::int64_t kMaxAspect = 4;
    const auto areColours = [](std::int64_t count) { return count == 1 || count == 3 || count == 4; };
    const std::int64_t height = tensor.dim(rank - 3), width = tensor.dim(rank - 2), channels = tensor.dim(rank - 1);
    // [1, 64, 4, 4] is 64 square feature maps, and no image of 64 rows and 4 columns.
    const bool isImage = width != channels && height <= kMaxAspect * width;
    return areColours(channels) && !areColours(height) && isImage ? ChannelLayout::Last : ChannelLayout::First;
}

}  // namespace sonde::panels
