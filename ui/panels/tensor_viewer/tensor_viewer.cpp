#include "ui/panels/tensor_viewer/tensor_viewer.h"

#include <QAction>
#include <QButtonGroup>
#include <QClipboard>
#include <QComboBox>
#include <QFileDialog>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLabel>
#include <QScrollBar>
#include <QSignalBlocker>
#include <QSplitter>
#include <QStackedWidget>
#include <QToolButton>
#include <QTreeWidget>
#include <QVBoxLayout>

#include <algorithm>

#include "core/analysis/bad_values.h"
#include "core/io/npz/npy.h"
#include "core/tensor/mapped_source.h"
#include "ui/context/window_hint.h"
#include "ui/panels/tensor_viewer/value_tree.h"
#include "ui/theme/icon.h"
#include "ui/theme/theme.h"
#include "ui/widgets/empty_state.h"
#include "ui/widgets/flow_layout.h"
#include "ui/widgets/labels.h"
#include "ui/widgets/number_text.h"
#include "ui/widgets/page_stack.h"
#include "ui/widgets/tall_area.h"
#include "ui/widgets/tool_button.h"

namespace sonde::panels {
namespace {

/// Up to this many elements statistics take less time than a worker needs to start, and the picture does not jump.
constexpr std::int64_t kCountedAtOnce = 32768;
/// Places of NaN and infinite elements that are looked up.
constexpr std::size_t kMaxBad = 10'000;

}  // namespace

/// What is found out about a tensor in the background.
struct TensorViewer::Counted {
    analysis::TensorStats stats;
    std::vector<std::int64_t> bad;
};

TensorViewer::Counted TensorViewer::count(const tensor::Tensor& tensor, const std::stop_token& stop) {
    Counted counted{analysis::tensorStats(tensor, stop), {}};
    if (counted.stats.nanCount + counted.stats.infCount > 0) counted.bad = analysis::badElements(tensor, kMaxBad, stop);
    return counted;
}

TensorViewer::TensorViewer(QWidget* parent)
    : QWidget(parent), m_splitter(new QSplitter(Qt::Vertical, this)), m_tree(new QTreeWidget(m_splitter)),
      m_tensorPart(new QWidget), m_switchBar(new QWidget(m_tensorPart)),
      m_switches(new widgets::FlowLayout(m_switchBar, 2, theme::kTight)), m_buttons(new QButtonGroup(this)),
      m_stack(new widgets::PageStack(m_tensorPart)), m_slice(new widgets::SliceBar(m_tensorPart)),
      m_channels(new QComboBox(m_tensorPart)), m_range(new widgets::RangeControl(m_tensorPart)),
      m_statistics(new QLabel(m_tensorPart)), m_pointed(new widgets::ElidedLabel({}, m_tensorPart)),
      m_overlayBar(new QWidget(m_tensorPart)), m_overlayLegend(new QLabel(m_overlayBar)),
      m_overlaySwitch(
          widgets::makeToolButton(QStringLiteral("why"), tr("Tint elements by the part that they have"), m_overlayBar)),
      m_nothing(new widgets::EmptyState(QStringLiteral("tensor"), tr("No numbers"), {}, {}, m_stack)) {
    m_tree->setHeaderLabels({tr("Part"), tr("Type"), tr("Value")});
    m_tree->setAccessibleName(tr("Parts of the value"));
    m_stack->addWidget(m_nothing);
    reserveRows(true);
    buildBars();
    m_place = new widgets::TallArea(m_tensorPart, m_splitter);
    auto* outer = new QVBoxLayout(this);
    outer->setContentsMargins(0, 0, 0, 0);
    outer->addWidget(m_splitter);
    m_splitter->setChildrenCollapsible(false);
    m_splitter->setStretchFactor(1, 1);
    connect(&theme::Theme::instance(), &theme::Theme::changed, this, &TensorViewer::refreshStatistics);
    connect(m_tree, &QTreeWidget::currentItemChanged, this, [this](QTreeWidgetItem* row) {
        if (row) showTensor(m_valueKey + pathOfRow(*row), tensorOfRow(*row));
    });
    connect(m_slice, &widgets::SliceBar::sliceChanged, this, [this] {
        m_shown.slice = m_slice->slice();
        remember();
        refresh();
    });
    connect(m_range, &widgets::RangeControl::changed, this, [this] {
        m_shown.range = m_range->state();
        m_shown.colorMap = m_range->mapId();
        remember();
        refresh();
    });
    connect(m_channels, &QComboBox::activated, this, [this](int index) {
        m_shown.channels = static_cast<ChannelLayout>(index);
        remember();
        refresh();
    });
    clear();
}

TensorViewer::~TensorViewer() = default;

void TensorViewer::buildBars() {
    for (const TensorViewInfo& view : tensorViews()) {
        QToolButton* button = widgets::makeToolButton(view.icon, view.title, m_tensorPart);
        button->setToolTip(view.title + QLatin1Char('\n') + view.description);
        button->setCheckable(true);
        button->setObjectName(view.id);
        m_buttons->addButton(button);
        m_switches->addWidget(button);
        connect(button, &QToolButton::clicked, this, [this, id = view.id] {
            m_favourite = id;
            setCurrentView(id);
        });
    }
    m_channels->addItems({tr("channels first"), tr("channels last")});
    m_channels->setAccessibleName(tr("Channel axis"));
    m_switches->addWidget(m_channels);
    m_readingBox = new QComboBox(m_tensorPart);
    m_readingBox->setObjectName(QStringLiteral("reading"));
    m_readingBox->setAccessibleName(tr("How elements are read"));
    m_readingBox->setToolTip(tr("How elements are read"));
    m_readingBox->hide();
    m_switches->addWidget(m_readingBox);
    connect(m_readingBox, &QComboBox::activated, this,
            [this](int index) { setReading(m_readingBox->itemData(index).toString()); });
    QToolButton* copyButton =
        widgets::makeToolButton(QStringLiteral("copy"), tr("Copy as text (Ctrl+C)"), m_tensorPart);
    QToolButton* saveButton = widgets::makeToolButton(QStringLiteral("save"), tr("Save as .npy"), m_tensorPart);
    connect(copyButton, &QToolButton::clicked, this, &TensorViewer::copy);
    connect(saveButton, &QToolButton::clicked, this, &TensorViewer::save);
    m_edit = widgets::makeToolButton(QStringLiteral("edit"), tr("Edit value (Ctrl+Shift+I)"), m_tensorPart);
    m_edit->setObjectName(QStringLiteral("editValue"));
    connect(m_edit, &QToolButton::clicked, this, &TensorViewer::editRequested);
    m_switches->addWidget(m_edit);
    m_switches->addWidget(copyButton);
    m_switches->addWidget(saveButton);
    m_statistics->setObjectName(QStringLiteral("statistics"));
    m_statistics->setWordWrap(true);
    m_statistics->setTextFormat(Qt::RichText);
    m_statistics->setTextInteractionFlags(Qt::TextBrowserInteraction);
    connect(m_statistics, &QLabel::linkActivated, this, &TensorViewer::goToNextBad);
    m_statistics->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Minimum);
    m_pointed->setColorRole(theme::ColorRole::MutedText);
    m_overlaySwitch->setObjectName(QStringLiteral("overlaySwitch"));
    m_overlaySwitch->setCheckable(true);
    m_overlaySwitch->setChecked(true);
    connect(m_overlaySwitch, &QToolButton::toggled, this, &TensorViewer::refreshOverlay);
    m_overlayLegend->setObjectName(QStringLiteral("overlayLegend"));
    m_overlayLegend->setWordWrap(true);
    m_overlayLegend->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Minimum);
    auto* legend = new QHBoxLayout(m_overlayBar);
    legend->setContentsMargins(0, 0, 0, 0);
    legend->addWidget(m_overlayLegend, 1);
    legend->addWidget(m_overlaySwitch, 0, Qt::AlignTop);
    m_overlayBar->hide();
    m_switches->setContentsMargins(0, 0, 0, 0);
    m_column = new QVBoxLayout(m_tensorPart);
    m_column->setContentsMargins(theme::kSmall, theme::kTight, theme::kSmall, theme::kTight);
    m_column->setSpacing(theme::kTight);
    m_column->addWidget(m_switchBar);
    m_column->addWidget(m_statistics);
    m_column->addWidget(m_slice);
    m_column->addWidget(m_stack, 1);
    m_column->addWidget(m_range);
    m_column->addWidget(m_overlayBar);
    m_column->addWidget(m_pointed);
}

void TensorViewer::addTool(QAction* action) {
    auto* button = new QToolButton(m_tensorPart);
    button->setAutoRaise(true);
    button->setIconSize({theme::kIconSize, theme::kIconSize});
    button->setFocusPolicy(Qt::TabFocus);
    button->setDefaultAction(action);
    button->setObjectName(QStringLiteral("tool"));
    m_switches->addWidget(button);
}

void TensorViewer::clear() {
    m_hasValue = false;
    m_statsJob.abandon();
    m_readingJob.abandon();
    m_stored = {};
    auto tokens = std::move(m_shown.tokens);
    auto recording = std::move(m_shown.recording);
    const bool hidesScale = m_shown.hidesScale;
    m_shown = ViewedTensor{};
    m_shown.hidesScale = hidesScale;
    m_shown.overlay = m_overlay;
    m_shown.tokens = std::move(tokens);
    m_shown.recording = std::move(recording);
    m_key.clear();
    m_tree->clear();
    m_tree->hide();
    m_place->hide();
    m_overlayBar->hide();  // it may be lent
}

void TensorViewer::setValue(const QString& key, const tensor::Value& value, bool isEditable, const QString& like) {
    m_isStoredEditable = isEditable && value.isTensor() && isNumeric(value.tensor());
    m_like = like;
    const QString part = m_tree->currentItem() && key == m_valueKey ? pathOfRow(*m_tree->currentItem()) : QString();
    m_valueKey = key;
    m_hasValue = true;
    if (value.isTensor()) {
        m_tree->hide();
        m_tree->clear();
        return showTensor(key, value.tensor());
    }
    const QSignalBlocker blocker(m_tree);
    fillValueTree(*m_tree, value);
    // A few parts leave the elements the room that they do not need.
    constexpr int kMinParts = 3, kMaxParts = 64;
    int parts = 0;
    for (QTreeWidgetItemIterator it(m_tree); *it && parts < kMaxParts; ++it) ++parts;
    m_tree->setMaximumHeight(m_tree->header()->sizeHint().height() +
                             m_tree->horizontalScrollBar()->sizeHint().height() + 2 * m_tree->frameWidth() +
                             std::max(parts, kMinParts) * m_tree->sizeHintForRow(0));
    m_tree->show();
    // The same value of the next run keeps the part that was looked at.
    QTreeWidgetItem* chosen = nullptr;
    for (QTreeWidgetItemIterator it(m_tree); !part.isEmpty() && *it && !chosen; ++it)
        if (pathOfRow(**it) == part) chosen = *it;
    if (!chosen) chosen = firstTensorRow(m_tree->topLevelItem(0));
    if (!chosen) chosen = m_tree->topLevelItem(0);
    m_tree->setCurrentItem(chosen);
    showTensor(key + pathOfRow(*chosen), tensorOfRow(*chosen));
}

void TensorViewer::showElements(const QString& key, const tensor::Tensor& tensor) {
    m_statsJob.abandon();
    m_place->setVisible(tensor.defined());
    m_key = key;
    m_shown.tensor = tensor;
    m_shown.stats.reset();
    m_shown.bad.clear();
    m_nextBad = 0;
    if (!tensor.defined()) return Q_EMIT shownChanged();
    recall();
    offerViews();
    if (tensor.numel() <= kCountedAtOnce) return takeStats(count(tensor, {}));
    refreshStatistics();
    refresh();
    m_statsJob.start([tensor](const base::WorkContext& work) { return count(tensor, work.stop); },
                     [this](Counted counted) { takeStats(std::move(counted)); });
}

void TensorViewer::takeStats(Counted counted) {
    const analysis::TensorStats& stats = counted.stats;
    m_shown.stats = stats;
    m_shown.bad = std::move(counted.bad);
    {
        const QSignalBlocker blocker(m_range);
        if (stats.finiteCount() > 0) m_range->setData(stats.minimum, stats.maximum);
    }
    m_shown.range = m_range->state();
    m_shown.colorMap = m_range->mapId();
    refreshStatistics();
    refresh();
}

void TensorViewer::setSlice(const widgets::Slice& slice) { m_slice->setSlice(slice); }

void TensorViewer::refresh() {
    m_overlayBar->setVisible(m_shown.fittingOverlay() != nullptr);
    const TensorViewInfo* view = info(m_view);
    if (!view || !m_shown.tensor.defined()) return;
    if (m_shown.tensor.numel() == 0) {
        m_nothing->setContent(
            QStringLiteral("tensor"), tr("No elements"),
            tr("Shape %1 has a dimension of size 0").arg(QString::fromStdString(m_shown.tensor.shape().text())));
        m_stack->setCurrentWidget(m_nothing);
    } else {
        TensorView*& widget = m_views[m_view];
        if (!widget) {
            widget = view->factory();
            m_stack->addWidget(widget);
            connectView(widget);
            connect(widget, &TensorView::edited, this, &TensorViewer::edited);
        }
        const tensor::Tensor before = m_shown.plane;
        m_shown.plane =
            tensor::plane(m_shown.tensor, m_shown.slice.rowAxis, m_shown.slice.columnAxis,
                          std::vector<std::int64_t>(m_shown.slice.index.begin(), m_shown.slice.index.end()));
        // What was read out is of other elements; the view tells it again if it has a cursor.
        if (!areSameElements(before, m_shown.plane)) m_pointed->setText({});
        showIn(widget);
        m_stack->setCurrentWidget(widget);
        setFocusProxy(widget);
    }
    // What was just read may be of another file than the rest.
    if (tensor::isSourceChanged(m_shown.tensor)) {
        m_nothing->setContent(QStringLiteral("tensor"), tr("The file changed"),
                              tr("The value is read from a file that changed on disk"));
        m_stack->setCurrentWidget(m_nothing);
        m_shown.stats.reset();
        refreshStatistics();
    }
    if (auto* button = m_switchBar->findChild<QToolButton*>(m_view)) button->setChecked(true);
    // Where there is little room the view is seen rather than the controls above it.
    if (const QString what = m_key + m_view; std::exchange(m_broughtIntoView, what) != what)
        m_place->keepInView(m_stack);
    {
        const QSignalBlocker blocker(m_slice);
        m_slice->setHiddenAxes(view->ownAxes ? view->ownAxes(m_shown.tensor, m_shown.channels) : std::vector<int>{});
        m_slice->setAxesPickable(!view->ownAxes);
    }
    m_slice->setVisible(m_hasControls && view->usesSlice && m_shown.tensor.rank() > 0);
    m_range->setVisible(m_hasControls && view->usesRange);
    m_channels->setVisible(m_hasControls && view->usesChannels && m_shown.tensor.rank() > 2);
    m_channels->setCurrentIndex(static_cast<int>(m_shown.channels));
    m_readingBox->setVisible(m_hasControls && m_readingBox->count() > 1);
    Q_EMIT shownChanged();
}

std::optional<std::size_t> TensorViewer::member() const {
    if (m_tree->isHidden() || !m_tree->currentItem()) return std::nullopt;
    const QString path = pathOfRow(*m_tree->currentItem());
    bool isNumber = false;
    const auto number = path.mid(1, path.size() - 2).toULongLong(&isNumber);
    return isNumber ? std::optional<std::size_t>(number) : std::nullopt;
}

void TensorViewer::showElement(std::optional<std::size_t> member, const std::vector<std::int64_t>& index) {
    if (member)
        for (QTreeWidgetItemIterator it(m_tree); *it; ++it)
            if (pathOfRow(**it) == QStringLiteral("[%1]").arg(*member)) m_tree->setCurrentItem(*it);
    const tensor::Tensor& tensor = m_shown.tensor;
    if (!tensor.defined() || index.size() != tensor.rank()) return;
    for (std::size_t axis = 0; axis < index.size(); ++axis)
        if (index[axis] < 0 || index[axis] >= tensor.dim(axis)) return;
    const bool isImage = m_view == imageView().id;
    if (!isImage && m_view != tableView().id && m_view != lineView().id && m_view != heatMapView().id)
        setCurrentView(heatMapView().id);
    const auto along = [&](int axis) { return axis < 0 ? qint64{0} : qint64{index[static_cast<std::size_t>(axis)]}; };
    const PictureAxes axes = pictureAxes(tensor, m_shown.channels);
    widgets::Slice slice = m_shown.slice;
    slice.index.assign(index.begin(), index.end());
    setSlice(slice);
    TensorView* view = m_views.value(m_view);
    if (!view) return;
    if (isImage) view->pointAt(along(axes.row), along(axes.column));
    else view->pointAt(along(slice.rowAxis), along(slice.columnAxis));
    // The image stands for its first channel, but this is the element.
    Q_EMIT elementPointed(index);
}

// --- what reaches another element ------------------------------------------------------------------------------------

void TensorViewer::setOverlay(std::shared_ptr<const ElementOverlay> overlay) {
    if (!overlay && !m_overlay) return;
    m_overlay = std::move(overlay);
    refreshOverlay();
}

QString TensorViewer::overlayText() const { return m_shown.fittingOverlay() ? m_overlayLegend->text() : QString(); }

void TensorViewer::refreshOverlay() {
    m_overlayLegend->setText(m_overlay ? m_overlay->text : QString());
    m_overlaySwitch->setVisible(m_overlay && m_overlay->shares.defined());
    m_shown.overlay = m_overlay;
    if (m_overlay && !m_overlaySwitch->isChecked()) {
        auto plain = std::make_shared<ElementOverlay>(*m_overlay);
        plain->shares = {};
        m_shown.overlay = std::move(plain);
    }
    refresh();
}

QStringList TensorViewer::statistics() const {
    if (!m_shown.tensor.defined()) return {};
    QStringList parts{QString::fromStdString(m_stored.typeText())};
    parts << readingText();
    if (!m_shown.stats) return parts << tr("computing statistics…");
    const analysis::TensorStats& stats = *m_shown.stats;
    if (!isNumeric(m_shown.tensor)) return parts;
    if (stats.finiteCount() > 0)
        parts << tr("min %1").arg(widgets::numberText(stats.minimum))
              << tr("max %1").arg(widgets::numberText(stats.maximum))
              << tr("mean %1").arg(widgets::numberText(stats.mean))
              << tr("std %1").arg(widgets::numberText(stats.deviation));
    if (stats.nanCount > 0) parts << tr("NaN %1").arg(widgets::countText(stats.nanCount));
    if (stats.infCount > 0) parts << tr("Inf %1").arg(widgets::countText(stats.infCount));
    if (stats.count > 0) parts << tr("zeros %1").arg(widgets::countText(stats.zeroCount));
    return parts;
}

QString TensorViewer::pointedText() const { return m_pointed->text(); }

QString TensorViewer::sliceText() const {
    const TensorViewInfo* view = info(m_view);
    if (!view || !m_shown.isEditable || !view->usesSlice || view->ownAxes || m_shown.tensor.rank() == 0) return {};
    const TensorView* widget = m_views.value(m_view);
    return sliceOfCells(m_shown, widget ? widget->selectedCells() : QRect());
}

void TensorViewer::refreshStatistics() {
    // Each name stays with its number when the line is broken; counts of bad values stand out.
    QStringList parts;
    for (const QString& part : statistics()) {
        QString text = part.toHtmlEscaped().replace(QLatin1Char(' '), QStringLiteral("&nbsp;"));
        if (part.startsWith(QLatin1String("NaN ")) || part.startsWith(QLatin1String("Inf ")))
            text = QStringLiteral("<a href='bad' style='color:%1'><b>%2</b></a>")
                       .arg(theme::color(theme::ColorRole::Warning).name(), text);
        parts << text;
    }
    m_statistics->setText(parts.join(QStringLiteral(" &nbsp; ")));
    m_statistics->setAccessibleName(statisticsText());
}

void TensorViewer::goToNextBad() {
    if (m_shown.bad.empty()) return;
    const std::vector<qint64> place = placeOf(m_shown.tensor, m_shown.bad[m_nextBad++ % m_shown.bad.size()]);
    // Pictures, channels and the histogram cannot point at one element.
    if (m_view != tableView().id && m_view != lineView().id && m_view != heatMapView().id)
        setCurrentView(heatMapView().id);
    widgets::Slice slice = m_shown.slice;
    slice.index = place;
    setSlice(slice);
    const auto along = [&](int axis) { return axis < 0 ? qint64{0} : place[static_cast<std::size_t>(axis)]; };
    if (TensorView* view = m_views.value(m_view)) view->pointAt(along(slice.rowAxis), along(slice.columnAxis));
}

void TensorViewer::copy() {
    TensorView* view = m_views.value(m_view);
    QString text = view && m_shown.tensor.defined() ? view->copyText() : QString();
    if (text.isEmpty()) text = statisticsText();
    if (!text.isEmpty()) QGuiApplication::clipboard()->setText(text);
}

void TensorViewer::save() {
    if (!m_shown.tensor.defined()) return;
    // Asynchronous: the window goes on while the dialog is open, and the tensor meant is the one of now.
    auto* dialog = new QFileDialog(this, tr("Save as .npy"));
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(QStringLiteral("npy"));
    dialog->setNameFilter(tr("NumPy array (*.npy)"));
    QString name = m_key;
    for (QChar& c : name)
        if (!c.isLetterOrNumber() && c != QLatin1Char('_') && c != QLatin1Char('.')) c = QLatin1Char('_');
    dialog->selectFile(name + QStringLiteral(".npy"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &QFileDialog::fileSelected, this, &TensorViewer::saveTo);
    dialog->open();
}

bool TensorViewer::saveTo(const QString& path) {
    if (!m_shown.tensor.defined()) return false;
    const std::filesystem::path file(path.toStdU16String());
    const auto tell = [this, path](const base::Result<void>& written) {
        if (written) Q_EMIT saved(path);
        else Q_EMIT saveFailed(context::windowText(written.error()), context::windowHint(written.error().hint));
    };
    if (m_outputCheck) {
        if (const auto checked = m_outputCheck(file); !checked) {
            tell(checked);
            return true;
        }
    }
    auto* job = new context::Job(this);  // of its own: what is saved next does not stop it
    job->start([tensor = m_shown.tensor, file](const base::WorkContext&) { return io::writeNpyFile(file, tensor); },
               [tell, job](const base::Result<void>& written) {
                   tell(written);
                   job->deleteLater();
               });
    return true;
}

void TensorViewer::keyPressEvent(QKeyEvent* event) {
    if (event->matches(QKeySequence::Copy)) copy();
    else QWidget::keyPressEvent(event);
}

}  // namespace sonde::panels
