#pragma once

#include <QHash>

#include <filesystem>
#include <functional>
#include <optional>

#include "core/analysis/quantization.h"
#include "core/base/result.h"
#include "core/tensor/value.h"
#include "ui/context/job.h"
#include "ui/panels/tensor_viewer/tensor_view.h"

class QAction;
class QButtonGroup;
class QComboBox;
class QLabel;
class QSplitter;
class QToolButton;
class QTreeWidget;
class QVBoxLayout;

namespace sonde::widgets {
class ElidedLabel;
class EmptyState;
class FlowLayout;
class PageStack;
class SliceBar;
class TallArea;
}  // namespace sonde::widgets

namespace sonde::panels {

/// Shows one value: a tensor through the views of the table, with slice and range; anything else as a tree whose
/// tensors can be opened. How a value was looked at is remembered by its key. Knows nothing of models and runs.
class TensorViewer : public QWidget {
    Q_OBJECT
  public:
    explicit TensorViewer(QWidget* parent = nullptr);
    ~TensorViewer() override;

    /// `key` names the value across runs ("layer1_0_conv1"): the same key is looked at in the same way again.
    /// `isEditable`: elements of it may be typed anew. `like`: a key whose view, slice and layout are taken where this
    /// one was not looked at before, with a range even about zero.
    void setValue(const QString& key, const tensor::Value& value, bool isEditable = false, const QString& like = {});
    void clear();
    /// Values of another model, by whatever name, were not looked at before.
    void forgetLooks();

    bool hasValue() const { return m_hasValue; }
    /// The tensor that is shown: the value, or the part of it that is selected in the tree; undefined for none.
    const tensor::Tensor& tensor() const { return m_shown.tensor; }
    const ViewedTensor& shown() const { return m_shown; }
    /// The id of the view that is seen, and a change to another.
    QString currentView() const;
    void setCurrentView(const QString& id);
    /// The same, unless it would draw the value as a stripe of pixels: then as such a value is usually shown.
    void suggestView(const QString& id);
    void setSlice(const widgets::Slice& slice);
    /// View, slice and layout of another one, as far as they suit this value, and its range.
    void takeLook(const TensorViewer& other, bool withRange);
    /// Puts what chooses view, slice and range into another layout, and what is said of an overlay into a second one;
    /// null: back where they belong. What takes room beside the view goes meanwhile.
    void lendControls(QVBoxLayout* above, QVBoxLayout* below);
    /// Without them what is seen is chosen elsewhere: view, slice and range.
    void setControlsVisible(bool visible);
    void setStatisticsVisible(bool visible);
    /// Pictures without their colour bars, where there is little room.
    void setScaleHidden(bool hidden);
    /// As high as the view needs to be, in a place that scrolls; else the viewer scrolls by itself.
    void setWhole(bool isWhole);
    /// Slice and range in a row each, where there is little room.
    void setCompact(bool compact);
    /// What shows no value of the run has nothing to edit.
    void removeEdit();
    /// A range that fits the data is made to fit this.
    void fitTo(double low, double high);
    /// Which part of the view is seen: zoom and scrolling.
    widgets::HeatMapView::Place viewPlace() const;
    void setViewPlace(const widgets::HeatMapView::Place& place);
    /// "float32[1,64,56,56]   min -2.1   max 3.4 …"
    QString statisticsText() const { return statistics().join(QStringLiteral("   ")); }
    QString pointedText() const;
    /// The list item that is shown, of a value that is a list; none of another one.
    std::optional<std::size_t> member() const;
    /// A button for an action, beside those of the views.
    void addTool(QAction* action);
    /// Puts the cursor on an element, in a view that can: of a list in one of its items.
    void showElement(std::optional<std::size_t> member, const std::vector<std::int64_t>& index);
    /// What is drawn over the tensor, if it has that shape; null: nothing.
    void setOverlay(std::shared_ptr<const ElementOverlay> overlay);
    /// What is said of it below the view; empty without one, or if it is of a tensor of another shape.
    QString overlayText() const;
    /// What token ids are called in values of the present run; null: nobody knows.
    void setTokens(std::shared_ptr<const session::TokenNames> tokens);
    /// What is selected, or else shown, as a slice of the value; empty: all of it, or a part of a value that is no
    /// tensor.
    QString sliceText() const;
    bool isEditable() const { return m_shown.isEditable; }
    /// What the elements of the value that is set next stand for, if it is a quantised tensor.
    void setQuantization(std::optional<analysis::Quantization> quantization);
    /// The recording that the next value was read from, as an item of inputs; empty: it is of none.
    void setRecording(std::string item) { m_shown.recording = std::move(item); }
    /// How elements are read (analysis::ElementReading); empty: as they are stored. Kept for each tensor.
    QString reading() const;
    void setReading(const QString& id);
    widgets::RangeControl* rangeControl() const { return m_range; }
    /// Asked before a file is written; its error is told by saveFailed, and nothing is written.
    using OutputCheck = std::function<base::Result<void>(const std::filesystem::path&)>;
    void setOutputCheck(OutputCheck check) { m_outputCheck = std::move(check); }
    /// Statistics are still being computed.
    bool isBusy() const { return m_statsJob.isActive() || m_readingJob.isActive(); }

  public Q_SLOTS:
    /// Shows the next NaN or infinite element after the one shown so, wherever in the tensor it lies; round the end.
    void goToNextBad();
    void copy();
    /// Asks for a file name and saves the tensor as .npy; failures are told by saveFailed.
    void save();
    /// The same without asking, on a worker: the end is told by saved() or saveFailed(). False if there is no tensor.
    bool saveTo(const QString& path);

  Q_SIGNALS:
    /// View, slice or range have been changed, or statistics have arrived.
    void shownChanged();
    /// The cursor is on this element of the tensor; and: it was clicked, or Return was pressed on it.
    void elementPointed(const std::vector<std::int64_t>& index);
    void elementPicked(const std::vector<std::int64_t>& index);
    /// viewPlace() is another one.
    void viewMoved();
    void saved(const QString& path);
    /// An element of the value was typed anew: "0, 3, 1", and what.
    void edited(const QString& slice, const QString& text);
    /// The value is to be edited in other ways.
    void editRequested();
    void saveFailed(const QString& what, const QString& hint);

  protected:
    void keyPressEvent(QKeyEvent* event) override;

  private:
    /// How a value was looked at.
    struct Memory {
        QString view;
        std::vector<qint64> shape = {};  ///< of the tensor
        widgets::Slice slice;
        widgets::RangeState range;
        ChannelLayout channels = ChannelLayout::First;
        QHash<QString, QVariantMap> states = {};                  ///< of views
        QHash<QString, widgets::HeatMapView::Place> places = {};  ///< where views were scrolled to
    };

    void buildBars();
    void showTensor(const QString& key, const tensor::Tensor& tensor);
    void showStored();
    void showElements(const QString& key, const tensor::Tensor& tensor);
    const analysis::Quantization* quantization() const;
    void offerReadings();
    void takeReading(base::Result<tensor::Tensor> made);
    void showNothing(const QString& what, const QString& hint);
    QStringList readingText() const;
    void fillTree(const tensor::Value& value);
    struct Counted;
    static Counted count(const tensor::Tensor& tensor, const std::stop_token& stop);
    void takeStats(Counted counted);
    void recall();
    void remember();
    void offerViews();
    bool isStripe(const TensorViewInfo& view) const;
    void offerButtons();
    void reserveRows(bool isAlone);
    void refresh();
    void showIn(TensorView* view);
    QStringList statistics() const;
    void refreshStatistics();
    void refreshOverlay();
    std::vector<std::int64_t> indexOf(qint64 row, qint64 column) const;
    void connectView(TensorView* view);
    QString usualView() const;
    const TensorViewInfo* info(const QString& id) const;

    ViewedTensor m_shown;
    std::size_t m_nextBad = 0;  ///< in m_shown.bad
    QString m_valueKey, m_key, m_like;
    bool m_hasValue = false;
    QString m_view;            ///< id of the view that is seen
    QString m_favourite;       ///< the view chosen last: taken for tensors never seen before
    bool m_isShowing = false;  ///< what a view tells now is not a choice of the user
    QHash<QString, Memory> m_memory;
    OutputCheck m_outputCheck;
    QHash<QString, TensorView*> m_views;  ///< made when first needed
    context::Job m_statsJob;

    QSplitter* m_splitter;
    QTreeWidget* m_tree;
    QWidget* m_tensorPart;
    QString m_broughtIntoView;             ///< the value and its view that were
    widgets::TallArea* m_place = nullptr;  ///< the part scrolls in it where it has not the height that it needs
    QWidget* m_switchBar;
    widgets::FlowLayout* m_switches;
    QVBoxLayout* m_column = nullptr;  ///< of the tensor part
    QButtonGroup* m_buttons;
    widgets::PageStack* m_stack;
    widgets::SliceBar* m_slice;
    bool m_hasControls = true, m_areLent = false;
    QToolButton* m_edit = nullptr;
    QComboBox* m_channels;
    widgets::RangeControl* m_range;
    QLabel* m_statistics;
    widgets::ElidedLabel* m_pointed;
    QWidget* m_overlayBar;
    QLabel* m_overlayLegend;
    QToolButton* m_overlaySwitch;  ///< whether parts are tinted
    std::shared_ptr<const ElementOverlay> m_overlay;
    widgets::EmptyState* m_nothing;

    tensor::Tensor m_stored;  ///< as it is in the value; m_shown has what is read of it
    QString m_storedKey;
    bool m_isStoredEditable = false;
    std::optional<analysis::Quantization> m_quantization;
    QHash<QString, QString> m_readings;  ///< chosen, by the key of what is stored
    QComboBox* m_readingBox = nullptr;
    context::Job m_readingJob;
};

}  // namespace sonde::panels
