#include "ui/widgets/image_grid_view.h"

#include <QAbstractListModel>
#include <QCache>
#include <QPainter>
#include <QScrollBar>
#include <QStyledItemDelegate>
#include <QWheelEvent>

#include "ui/theme/theme.h"

namespace sonde::widgets {
namespace {

constexpr int kMinFitted = 72, kMaxFitted = 224;  // edges of fitSize()

class PictureModel : public QAbstractListModel {
  public:
    using QAbstractListModel::QAbstractListModel;

    void set(int count, ImageGridView::Picture picture, ImageGridView::Caption caption) {
        beginResetModel();
        m_count = std::max(count, 0);
        m_picture = std::move(picture);
        m_caption = std::move(caption);
        m_cache.clear();
        endResetModel();
    }
    void refresh() {
        m_cache.clear();
        if (m_count > 0) Q_EMIT dataChanged(index(0), index(m_count - 1));
    }
    int rowCount(const QModelIndex& parent = {}) const override { return parent.isValid() ? 0 : m_count; }
    QVariant data(const QModelIndex& index, int role) const override {
        if (!index.isValid()) return {};
        switch (role) {
            case Qt::DisplayRole:
            case Qt::ToolTipRole:
            case Qt::AccessibleTextRole: return m_caption ? m_caption(index.row()) : QString::number(index.row());
            case Qt::DecorationRole: return picture(index.row());
            default: return {};
        }
    }

  private:
    QImage picture(int row) const {
        if (QImage* known = m_cache.object(row)) return *known;
        QImage fresh = m_picture ? m_picture(row) : QImage();
        m_cache.insert(row, new QImage(fresh), static_cast<int>(std::max<qsizetype>(1, fresh.sizeInBytes() / 1024)));
        return fresh;
    }

    int m_count = 0;
    ImageGridView::Picture m_picture;
    ImageGridView::Caption m_caption;
    mutable QCache<int, QImage> m_cache{64 * 1024};  // KiB
};

class PictureDelegate : public QStyledItemDelegate {
  public:
    explicit PictureDelegate(ImageGridView* view) : QStyledItemDelegate(view), m_view(view) {}

    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex&) const override {
        return ImageGridView::itemSize(m_view->thumbnailSize(), option.fontMetrics);
    }

    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
        using theme::ColorRole;
        const bool selected = option.state & QStyle::State_Selected;
        painter->save();
        if (selected || (option.state & QStyle::State_MouseOver))
            painter->fillRect(option.rect, theme::color(selected ? ColorRole::AccentSoft : ColorRole::Hover));
        const int size = m_view->thumbnailSize();
        const QRect frame(option.rect.x() + (option.rect.width() - size) / 2, option.rect.y() + theme::kTight, size,
                          size);
        const QImage image = index.data(Qt::DecorationRole).value<QImage>();
        if (!image.isNull()) {
            QRectF target(QPointF(), QSizeF(image.size()).scaled(frame.size(), Qt::KeepAspectRatio));
            target.moveCenter(QRectF(frame).center());
            // Enlarged cells stay cells; a picture larger than its square is averaged, or single pixels would flicker.
            painter->setRenderHint(QPainter::SmoothPixmapTransform, target.width() < image.width());
            painter->drawImage(target, image);
        }
        painter->setPen(theme::color(selected ? ColorRole::AccentSoftText : ColorRole::MutedText));
        const QRect caption(option.rect.x(), frame.bottom() + 2, option.rect.width(), option.fontMetrics.height() + 2);
        painter->drawText(caption, Qt::AlignCenter,
                          option.fontMetrics.elidedText(index.data().toString(), Qt::ElideMiddle, caption.width() - 4));
        if (option.state & QStyle::State_HasFocus) {
            painter->setPen(theme::color(ColorRole::FocusRing));
            painter->drawRect(option.rect.adjusted(0, 0, -1, -1));
        }
        painter->restore();
    }

  private:
    ImageGridView* m_view;
};

}  // namespace

ImageGridView::ImageGridView(QWidget* parent) : QListView(parent), m_size(kMinFitted) {
    setViewMode(QListView::IconMode);
    setResizeMode(QListView::Adjust);
    setMovement(QListView::Static);
    setUniformItemSizes(true);
    setSelectionMode(QAbstractItemView::SingleSelection);
    setLayoutMode(QListView::Batched);
    setBatchSize(256);
    setMouseTracking(true);
    setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    setAccessibleName(tr("Channels"));
    setModel(new PictureModel(this));
    setItemDelegate(new PictureDelegate(this));
    connect(this, &QListView::activated, this, [this](const QModelIndex& at) { Q_EMIT pictureActivated(at.row()); });
    connect(&theme::Theme::instance(), &theme::Theme::changed, this, [this] { viewport()->update(); });
}

void ImageGridView::setPictures(int count, Picture picture, Caption caption) {
    const int current = currentIndex().row();
    const bool sameCount = count == pictureCount();
    static_cast<PictureModel*>(model())->set(count, std::move(picture), std::move(caption));
    fitSize();
    // The next run's maps of the same layer keep the place.
    if (sameCount && current >= 0) setCurrentIndex(model()->index(current, 0));
}

int ImageGridView::pictureCount() const { return model()->rowCount(); }
void ImageGridView::refresh() { static_cast<PictureModel*>(model())->refresh(); }

QSize ImageGridView::itemSize(int edge, const QFontMetrics& font) {
    return {edge + theme::kSmall, edge + font.height() + theme::kSmall + 2};
}

void ImageGridView::setThumbnailSize(int pixels) {
    m_isFitted = false;
    useSize(pixels);
}

void ImageGridView::fitSize() {
    if (!m_isFitted || pictureCount() == 0) return;
    // QListView leaves the room of a scroll bar free that may come, and a pixel.
    const int bar = style()->pixelMetric(QStyle::PM_ScrollBarExtent, nullptr, verticalScrollBar());
    const QSize room = maximumViewportSize() - QSize(bar + 1, 0);
    const auto isSeen = [&](int edge) {
        const QSize item = itemSize(edge, fontMetrics());
        return (room.width() / item.width()) * (room.height() / item.height()) >= pictureCount();
    };
    int edge = kMaxFitted;
    while (edge > kMinFitted && !isSeen(edge)) edge -= 4;
    useSize(edge);
}

void ImageGridView::resizeEvent(QResizeEvent* event) {
    fitSize();
    QListView::resizeEvent(event);
}

void ImageGridView::useSize(int pixels) {
    pixels = std::clamp(pixels, 24, 512);
    if (pixels == m_size) return;
    m_size = pixels;
    scheduleDelayedItemsLayout();
}

void ImageGridView::wheelEvent(QWheelEvent* event) {
    if (event->modifiers() & Qt::ControlModifier) {
        setThumbnailSize(qRound(m_size * std::pow(1.2, event->angleDelta().y() / 120.0)));
        event->accept();
        return;
    }
    QListView::wheelEvent(event);
}

void ImageGridView::currentChanged(const QModelIndex& current, const QModelIndex& previous) {
    QListView::currentChanged(current, previous);
    Q_EMIT currentPictureChanged(current.row());
}

}  // namespace sonde::widgets
