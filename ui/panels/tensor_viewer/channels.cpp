#include <QHBoxLayout>

#include "ui/context/count_text.h"
#include "ui/panels/tensor_viewer/plane_picture.h"
#include "ui/panels/tensor_viewer/tensor_view.h"
#include "ui/theme/theme.h"
#include "ui/widgets/color_bar.h"
#include "ui/widgets/image_grid_view.h"
#include "ui/widgets/number_text.h"

namespace sonde::panels {
namespace {

bool hasChannels(const tensor::Tensor& tensor) { return isNumeric(tensor) && tensor.rank() >= 3 && tensor.numel() > 0; }

std::vector<int> channelAxes(const tensor::Tensor& tensor, ChannelLayout layout) {
    const PictureAxes axes = pictureAxes(tensor, layout);
    return {axes.channel, axes.row, axes.column};
}

class Channels : public TensorView {
  public:
    Channels() : m_grid(new widgets::ImageGridView(this)), m_bar(new widgets::ColorBar(this)) {
        auto* row = new QHBoxLayout(this);
        row->setContentsMargins(0, 0, 0, 0);
        row->setSpacing(theme::kSmall);
        row->addWidget(m_grid, 1);
        m_grid->setMinimumWidth(kMinDrawnWidth);
        row->addWidget(m_bar);
        setFocusProxy(m_grid);
        connect(m_grid, &widgets::ImageGridView::currentPictureChanged, this, [this](int index) {
            Q_EMIT pointed(index < 0
                               ? QString()
                               : tr("channel %1 of %2").arg(index).arg(context::countText(m_grid->pictureCount())),
                           std::numeric_limits<double>::quiet_NaN());
        });
        connect(m_grid, &widgets::ImageGridView::pictureActivated, this,
                [this](int index) { Q_EMIT sliceOpened(sliceOf(index)); });
    }

    void show(const ViewedTensor& shown) override {
        m_shown = shown;
        const PictureAxes axes = pictureAxes(shown.tensor, shown.channels);
        const std::int64_t count = axes.channel < 0 ? 0 : shown.tensor.dim(static_cast<std::size_t>(axes.channel));
        m_grid->setPictures(
            static_cast<int>(std::min<std::int64_t>(count, 1'000'000)), [this](int index) { return picture(index); },
            [](int index) { return QString::number(index); });
        m_bar->setColorMap(theme::colorMap(shown.colorMap));
        m_bar->setScale(shown.scale());
        m_bar->setHidden(shown.hidesScale);
        m_bar->setBadShown(shown.stats && shown.stats->nanCount > 0, shown.stats && shown.stats->infCount > 0);
    }

  private:
    widgets::Slice sliceOf(int channel) const {
        const PictureAxes axes = pictureAxes(m_shown.tensor, m_shown.channels);
        widgets::Slice slice{axes.row, axes.column, m_shown.slice.index};
        if (axes.channel >= 0) slice.index[static_cast<std::size_t>(axes.channel)] = channel;
        return slice;
    }

    QImage picture(int channel) const {
        const widgets::Slice slice = sliceOf(channel);
        const tensor::Tensor plane = tensor::plane(m_shown.tensor, slice.rowAxis, slice.columnAxis,
                                                   std::vector<std::int64_t>(slice.index.begin(), slice.index.end()));
        return planePicture(plane, m_shown.scale(), theme::colorMap(m_shown.colorMap));
    }

    widgets::ImageGridView* m_grid;
    widgets::ColorBar* m_bar;
    ViewedTensor m_shown;
};

}  // namespace

TensorViewInfo channelsView() {
    TensorViewInfo info;
    info.id = QStringLiteral("channels");
    info.title = QStringLiteral("Channels");
    info.icon = QStringLiteral("grid");
    info.description = QStringLiteral("Every channel as a small feature map; select one to show it alone");
    info.accepts = hasChannels;
    info.usesRange = true;
    info.usesSlice = true;
    info.isPicture = true;
    info.ownAxes = channelAxes;
    info.usesChannels = true;
    info.factory = [] { return new Channels; };
    return info;
}

}  // namespace sonde::panels
