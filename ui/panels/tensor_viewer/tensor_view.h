#pragma once

#include <QRect>
#include <QString>
#include <QVariantMap>
#include <QWidget>

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/analysis/tensor_stats.h"
#include "core/session/tokens/token_names.h"
#include "core/tensor/plane.h"
#include "ui/widgets/heat_map_view.h"
#include "ui/widgets/range_control.h"
#include "ui/widgets/slice_bar.h"

namespace sonde::panels {

/// Which axis of a picture holds the channels.
enum class ChannelLayout { First, Last };

/// Which elements of the tensor reach another element, and how large a part each has in it.
struct ElementOverlay {
    tensor::Shape shape;                   ///< of the tensor that it is of: over others nothing is drawn
    std::vector<std::int64_t> begin, end;  ///< by axis: begin <= index < end
    tensor::Tensor shares;                 ///< float32 with the shape of the tensor, or undefined
    QString text;                          ///< what a legend says of it
};

/// Everything that a view draws from. `plane` is the slice's two-dimensional view of `tensor`.
struct ViewedTensor {
    tensor::Tensor tensor;
    tensor::Tensor plane;
    widgets::Slice slice;
    widgets::RangeState range;
    QString colorMap;
    ChannelLayout channels = ChannelLayout::First;
    std::optional<analysis::TensorStats> stats;  ///< once they are computed
    bool isEditable = false;                     ///< elements may be typed anew
    std::vector<std::int64_t> bad;  ///< row-major places of the first NaN and infinite elements of `tensor`
    std::shared_ptr<const ElementOverlay> overlay;      ///< null: none
    std::shared_ptr<const session::TokenNames> tokens;  ///< of the run that it is of; null: none are known
    bool hidesScale = false;                            ///< there is no room for a colour bar
    std::string recording;  ///< the item (io::recordingRate()) that the elements were read from; empty: of none

    widgets::ValueScale scale() const { return {range.low, range.high, range.logarithmic}; }
    /// The overlay, if it is of a tensor of this shape; else null.
    const ElementOverlay* fittingOverlay() const {
        return overlay && tensor.defined() && overlay->shape == tensor.shape() ? overlay.get() : nullptr;
    }
    bool hasBad() const { return stats && stats->nanCount + stats->infCount > 0; }
};

/// Of what a view draws: two of them have room beside each other in a panel.
inline constexpr int kMinDrawnWidth = 64;  // pixels

/// Whether both are the same part of the same memory, so that what was computed of one holds of the other.
bool areSameElements(const tensor::Tensor& a, const tensor::Tensor& b);

/// One way to look at a tensor. Views are made once and shown many tensors.
class TensorView : public QWidget {
    Q_OBJECT
  public:
    using QWidget::QWidget;

    virtual void show(const ViewedTensor& shown) = 0;
    /// What Ctrl+C takes: the selection if there is one, else what is seen. Empty: nothing to copy.
    virtual QString copyText() const { return {}; }
    /// Puts the cursor on an element of the plane: it is told as pointed().
    virtual void pointAt(qint64 row, qint64 column) {
        Q_UNUSED(row)
        Q_UNUSED(column)
    }

    /// The cells of the plane that are selected: x is the column. Empty: none, or they cannot be selected.
    virtual QRect selectedCells() const { return {}; }

    /// The slice whose elements are the cells that the view tells of.
    virtual widgets::Slice drawnSlice(const ViewedTensor& shown) const { return shown.slice; }

    /// What was chosen in the view itself, kept for each tensor: set before the tensor is shown, empty for one that was
    /// never seen in it.
    virtual QVariantMap state() const { return {}; }
    virtual void setState(const QVariantMap& state) { Q_UNUSED(state) }

    /// Which part of it is seen, for another view of the same kind.
    virtual widgets::HeatMapView::Place place() const { return {}; }
    virtual void setPlace(const widgets::HeatMapView::Place& place) { Q_UNUSED(place) }

  Q_SIGNALS:
    /// place() is another one.
    void moved();
    /// state() is another one: something was chosen.
    void stateChanged();
    /// An element was typed anew: where ("0, 3, 1"), and a number or an expression. Perhaps of what was shown just now,
    /// when its editor is left for something else.
    void edited(const QString& slice, const QString& text);
    /// What lies under the pointer or cursor: "[0, 3, 12, 40] = 1.25"; empty for nothing. `value` NaN if there is none.
    void pointed(const QString& text, double value);
    /// The cursor is on this element of the plane.
    void cursorMoved(qint64 row, qint64 column);
    /// An element of the plane was clicked, or Return was pressed on it.
    void picked(qint64 row, qint64 column);
    /// A channel was opened: show this slice as a heat map.
    void sliceOpened(const sonde::widgets::Slice& slice);
    /// Another slice was chosen in the view.
    void sliceChosen(const sonde::widgets::Slice& slice);
};

/// One entry of the table of views.
struct TensorViewInfo {
    QString id;           ///< "heat_map"; the choice is kept by it
    QString title;        ///< "Heat map"
    QString icon;         ///< name for theme::icon
    QString description;  ///< tool tip
    bool (*accepts)(const tensor::Tensor& tensor);
    bool usesRange = false;
    bool usesSlice = false;
    /// Axes that the view uses up itself and that need no slider; only asked if usesSlice.
    std::vector<int> (*ownAxes)(const tensor::Tensor& tensor, ChannelLayout layout) = nullptr;
    bool usesChannels = false;  ///< has a choice between channels first and last
    bool isSpecial = false;     ///< of few tensors: offered for those alone
    bool isPicture = false;     ///< each element is a pixel: one row of them would be a stripe
    std::function<TensorView*()> factory;
};

/// All views in the order in which they are offered. Adding one: its file, and one line in tensor_views.cpp.
const std::vector<TensorViewInfo>& tensorViews();

TensorViewInfo tableView();
TensorViewInfo heatMapView();
TensorViewInfo imageView();
TensorViewInfo channelsView();
TensorViewInfo lineView();
TensorViewInfo histogramView();
TensorViewInfo attentionView();
TensorViewInfo tokensView();
TensorViewInfo filtersView();
TensorViewInfo sparsityView();
TensorViewInfo pcaView();
TensorViewInfo soundView();
TensorViewInfo bitsView();

/// The word of a view in scripts: "heatmap" for "heat_map".
QString viewWord(const TensorViewInfo& view);
/// Null: there is no such view.
const TensorViewInfo* viewOfWord(const QString& word);

/// Whether elements are numbers (everything but strings).
bool isNumeric(const tensor::Tensor& tensor);

/// "[0, 3, 12, 40] = 1.25": element (row, column) of the plane that the slice shows.
QString elementReadOut(const ViewedTensor& shown, qint64 row, qint64 column);

/// The element (row, column) of the plane as a slice: "0, 3, 12, 40".
QString sliceOfCell(const ViewedTensor& shown, qint64 row, qint64 column);
/// Those cells as a slice, "0, 3, 2:5, :"; without cells all that the plane shows. Empty: the whole tensor.
QString sliceOfCells(const ViewedTensor& shown, const QRect& cells);

/// The place on each axis of a row-major index.
std::vector<qint64> placeOf(const tensor::Tensor& tensor, std::int64_t index);

/// Those of `shown.bad` that are in the plane, as (row, column).
std::vector<std::pair<qint64, qint64>> badCells(const ViewedTensor& shown);

/// What of the overlay is in the plane; nothing without one. Of axes in `merged` all is seen at once: shares of the
/// same row and column are added.
std::optional<widgets::FieldOverlay> overlayOf(const ViewedTensor& shown, int rowAxis, int columnAxis,
                                               const std::vector<int>& merged = {});

/// The axes of a picture in a tensor of rank 2 to 5; -1 for none. With channels last: [.., H, W, C], first: [.., C, H,
/// W].
struct PictureAxes {
    int channel = -1, row = -1, column = -1;
};
PictureAxes pictureAxes(const tensor::Tensor& tensor, ChannelLayout layout);

/// The layout that the shape speaks for: last if the last axis has 1, 3 or 4 elements, the third last has not, and the
/// two before the last are height and width of an image: at most 4 times as high as wide, and the last two axes are no
/// square.
ChannelLayout likelyLayout(const tensor::Tensor& tensor);

}  // namespace sonde::panels
