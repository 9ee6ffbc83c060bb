#include <QVBoxLayout>

#include "ui/panels/tensor_viewer/tensor_view.h"
#include "ui/theme/color_map.h"
#include "ui/widgets/bad_value.h"
#include "ui/widgets/heat_map_view.h"

namespace sonde::panels {
namespace {

/// 1 channel (or none) is grey, 3 are red, green and blue, of 4 the last is left out.
std::int64_t channelCount(const tensor::Tensor& tensor, ChannelLayout layout) {
    const PictureAxes axes = pictureAxes(tensor, layout);
    return axes.channel < 0 ? 1 : tensor.dim(static_cast<std::size_t>(axes.channel));
}

bool isPicture(const tensor::Tensor& tensor) {
    if (!isNumeric(tensor) || tensor.rank() < 2 || tensor.numel() == 0) return false;
    for (ChannelLayout layout : {ChannelLayout::First, ChannelLayout::Last}) {
        const std::int64_t channels = channelCount(tensor, layout);
        if (channels == 1 || channels == 3 || channels == 4) return true;
    }
    return false;
}

class Image : public TensorView {
  public:
    Image() : m_view(new widgets::HeatMapView(this)) {
        m_view->setAccessibleName(tr("Image"));
        m_view->setMinimumWidth(kMinDrawnWidth);
        auto* column = new QVBoxLayout(this);
        column->setContentsMargins(0, 0, 0, 0);
        column->addWidget(m_view);
        setFocusProxy(m_view);
        connect(m_view, &widgets::HeatMapView::moved, this, &TensorView::moved);
        connect(m_view, &widgets::HeatMapView::cellHovered, this, [this](qint64 row, qint64 column, double) {
            Q_EMIT pointed(readOut(row, column), std::numeric_limits<double>::quiet_NaN());
            if (row >= 0 && m_view->cursor() == std::pair(row, column)) Q_EMIT cursorMoved(row, column);
        });
        connect(m_view, &widgets::HeatMapView::cellPicked, this, [this](qint64 row, qint64 column, double) {
            Q_EMIT cursorMoved(row, column);
            Q_EMIT picked(row, column);
        });
    }

    /// An image has rows and columns of its own, and shows all channels: the first one stands for them.
    widgets::Slice drawnSlice(const ViewedTensor& shown) const override {
        const PictureAxes axes = pictureAxes(shown.tensor, shown.channels);
        widgets::Slice slice{axes.row, axes.column, shown.slice.index};
        if (axes.channel >= 0) slice.index[static_cast<std::size_t>(axes.channel)] = 0;
        return slice;
    }

    widgets::HeatMapView::Place place() const override { return m_view->place(); }
    void setPlace(const widgets::HeatMapView::Place& place) override { m_view->setPlace(place); }

    void show(const ViewedTensor& shown) override {
        m_shown = shown;
        m_planes.clear();
        const PictureAxes axes = pictureAxes(shown.tensor, shown.channels);
        const std::int64_t channels = channelCount(shown.tensor, shown.channels);
        if (channels < 1) return m_view->clear();
        std::vector<std::int64_t> at(shown.slice.index.begin(), shown.slice.index.end());
        const std::int64_t used = channels >= 3 ? 3 : 1;
        for (std::int64_t channel = 0; channel < used; ++channel) {
            if (axes.channel >= 0) at[static_cast<std::size_t>(axes.channel)] = channel;
            m_planes.push_back(tensor::plane(shown.tensor, axes.row, axes.column, at));
        }
        std::vector<widgets::HeatMapView::Field> readers;
        for (const tensor::Tensor& plane : m_planes) readers.push_back(tensor::planeReader(plane));
        const theme::ColorMap& grey = theme::colorMap(u"grey");
        const auto level = [scale = shown.scale(), &grey](double value) {
            // A picture of nothing is dark, though its range has no width.
            const bool isNothing = value == 0 && scale.low == 0 && scale.high == 0;
            return qRed(grey.at(isNothing ? 0 : scale.toUnit(value)));
        };
        const auto colors = [readers, level](qint64 row, qint64 column) -> QRgb {
            const double first = readers[0](row, column);
            if (const auto bad = widgets::badValueOf(first); bad != widgets::BadValue::None)
                return widgets::badInk(bad).background;
            if (readers.size() == 1) return qRgb(level(first), level(first), level(first));
            return qRgb(level(first), level(readers[1](row, column)), level(readers[2](row, column)));
        };
        m_view->setColors(m_planes.front().dim(0), m_planes.front().dim(1), colors);
        const std::vector<int> merged =
            axes.channel >= 0 && channels > 1 ? std::vector{axes.channel} : std::vector<int>{};
        m_view->setOverlay(overlayOf(shown, axes.row, axes.column, merged));
    }

    QString copyText() const override {
        const auto [row, column] = m_view->cursor();
        return readOut(row, column);
    }

    void pointAt(qint64 row, qint64 column) override {
        m_view->setCursorCell(row, column);
        Q_EMIT cursorMoved(row, column);
    }

  private:
    /// "row 12, column 40: 0.1, 0.5, 0.25"
    QString readOut(qint64 row, qint64 column) const {
        if (row < 0 || m_planes.empty()) return {};
        QStringList values;
        for (const tensor::Tensor& plane : m_planes)
            values << QString::fromStdString(plane.elementText(row * plane.dim(1) + column));
        return tr("row %1, column %2: %3").arg(row).arg(column).arg(values.join(QStringLiteral(", ")));
    }

    widgets::HeatMapView* m_view;
    ViewedTensor m_shown;
    std::vector<tensor::Tensor> m_planes;
};

std::vector<int> imageAxes(const tensor::Tensor& tensor, ChannelLayout layout) {
    const PictureAxes axes = pictureAxes(tensor, layout);
    return {axes.channel, axes.row, axes.column};
}

}  // namespace

TensorViewInfo imageView() {
    TensorViewInfo info;
    info.id = QStringLiteral("image");
    info.title = QStringLiteral("Image");
    info.icon = QStringLiteral("image");
    info.description = QStringLiteral("One channel as greyscale, three as RGB");
    info.accepts = isPicture;
    info.usesRange = true;
    info.usesSlice = true;
    info.isPicture = true;
    info.ownAxes = imageAxes;
    info.usesChannels = true;
    info.factory = [] { return new Image; };
    return info;
}

}  // namespace sonde::panels
