#include <QCheckBox>
#include <QHBoxLayout>
#include <QVBoxLayout>

#include "core/analysis/tensor_views/filter_pictures.h"
#include "ui/context/count_text.h"
#include "ui/panels/tensor_viewer/tensor_view.h"
#include "ui/theme/theme.h"
#include "ui/widgets/bad_value.h"
#include "ui/widgets/color_bar.h"
#include "ui/widgets/flow_layout.h"
#include "ui/widgets/image_grid_view.h"
#include "ui/widgets/number_text.h"

namespace sonde::panels {
namespace {

/// Of colours the view itself uses all inputs.
std::vector<int> filterAxes(const tensor::Tensor& tensor, ChannelLayout) {
    return analysis::readsColours(tensor) ? std::vector{0, 1, 2, 3} : std::vector{0, 2, 3};
}

/// Each filter of a convolution as a small picture: what it reads of one input, or of red, green and blue in colour.
class Filters : public TensorView {
  public:
    Filters()
        : m_perFilter(new QCheckBox(tr("Range per filter"), this)), m_grid(new widgets::ImageGridView(this)),
          m_bar(new widgets::ColorBar(this)) {
        m_perFilter->setObjectName(QStringLiteral("rangePerFilter"));
        m_perFilter->setToolTip(tr("From each filter's own minimum to its maximum, in place of one range for all"));
        m_grid->setAccessibleName(tr("Filters"));
        m_grid->setThumbnailSize(56);
        m_grid->setMinimumHeight(180);
        auto* head = new widgets::FlowLayout(nullptr, theme::kSmall, theme::kTight);
        head->addWidget(m_perFilter);
        auto* row = new QHBoxLayout;
        row->setSpacing(theme::kSmall);
        row->addWidget(m_grid, 1);
        row->addWidget(m_bar);
        auto* column = new QVBoxLayout(this);
        column->setContentsMargins(0, 0, 0, 0);
        column->setSpacing(theme::kTight);
        column->addLayout(head);
        column->addLayout(row, 1);
        setFocusProxy(m_grid);
        connect(m_perFilter, &QCheckBox::toggled, this, [this] {
            Q_EMIT stateChanged();
            arrange();
        });
        connect(m_grid, &widgets::ImageGridView::currentPictureChanged, this, [this](int filter) {
            Q_EMIT pointed(filter < 0 ? QString() : factsOf(filter), std::numeric_limits<double>::quiet_NaN());
        });
        connect(m_grid, &widgets::ImageGridView::pictureActivated, this, [this](int filter) {
            Q_EMIT sliceOpened({2, 3, {filter, input().value_or(0), 0, 0}});
        });
    }

    QVariantMap state() const override { return {{QStringLiteral("perFilter"), m_perFilter->isChecked()}}; }
    void setState(const QVariantMap& state) override {
        const QSignalBlocker quiet(m_perFilter);
        m_perFilter->setChecked(state.value(QStringLiteral("perFilter")).toBool());
    }

    void show(const ViewedTensor& shown) override {
        m_shown = shown;
        m_grid->setPictures(
            static_cast<int>(std::min<std::int64_t>(shown.tensor.dim(0), 1'000'000)),
            [this](int filter) { return picture(filter); }, [](int filter) { return QString::number(filter); });
        m_bar->setColorMap(map());
        m_bar->setScale(shown.scale());
        m_bar->setBadShown(shown.stats && shown.stats->nanCount > 0, shown.stats && shown.stats->infCount > 0);
        arrange();
    }

  private:
    bool isColour() const { return analysis::readsColours(m_shown.tensor); }
    std::optional<std::int64_t> input() const {
        return isColour() ? std::nullopt : std::optional<std::int64_t>(m_shown.slice.index[1]);
    }
    /// Of colours the bar tells how bright a channel is.
    const theme::ColorMap& map() const { return theme::colorMap(isColour() ? u"grey" : QStringView(m_shown.colorMap)); }

    void arrange() {
        m_bar->setVisible(!m_perFilter->isChecked());
        m_grid->refresh();
    }

    QImage picture(int filter) const {
        const analysis::FilterPicture filters = analysis::filterPicture(m_shown.tensor, filter, input());
        widgets::ValueScale scale = m_shown.scale();
        if (m_perFilter->isChecked()) scale.low = filters.low, scale.high = filters.high;
        const theme::ColorMap& colours = map();
        QImage image(static_cast<int>(filters.columns), static_cast<int>(filters.rows), QImage::Format_RGB32);
        for (int y = 0; y < image.height(); ++y)
            for (int x = 0; x < image.width(); ++x) {
                QRgb levels[3] = {};
                std::optional<QRgb> bad;
                for (std::int64_t channel = 0; channel < filters.channels; ++channel) {
                    const double value = filters.at(channel, y, x);
                    if (const auto kind = widgets::badValueOf(value); kind != widgets::BadValue::None)
                        bad = widgets::badInk(kind).background;
                    else levels[channel] = colours.at(scale.toUnit(value));
                }
                image.setPixel(x, y,
                               bad                     ? *bad
                               : filters.channels == 3 ? qRgb(qRed(levels[0]), qRed(levels[1]), qRed(levels[2]))
                                                       : levels[0]);
            }
        return image;
    }

    /// "filter 12 of 64: -0.21 to 0.34"
    QString factsOf(int filter) const {
        const analysis::FilterPicture found = analysis::filterPicture(m_shown.tensor, filter, input());
        return tr("filter %1 of %2: %3 to %4")
            .arg(filter)
            .arg(context::countText(m_shown.tensor.dim(0)))
            .arg(widgets::numberText(found.low, 4), widgets::numberText(found.high, 4));
    }

    QCheckBox* m_perFilter;
    widgets::ImageGridView* m_grid;
    widgets::ColorBar* m_bar;
    ViewedTensor m_shown;
};

}  // namespace

TensorViewInfo filtersView() {
    TensorViewInfo info;
    info.id = QStringLiteral("filters");
    info.title = QStringLiteral("Filters");
    info.icon = QStringLiteral("filters");
    info.description = QStringLiteral("Each filter of a convolution as a small picture");
    info.accepts = analysis::isFilterBank;
    info.usesRange = true;
    info.usesSlice = true;
    info.ownAxes = filterAxes;
    info.isSpecial = true;
    info.factory = [] { return new Filters; };
    return info;
}

}  // namespace sonde::panels
