#pragma once

#include <QImage>
#include <QListView>

#include <functional>

namespace sonde::widgets {

/// Many small pictures of one size with a caption each: the feature maps of a layer. Pictures are asked for when they
/// come into view. Few pictures are enlarged as long as all of them are seen. Arrows move, Return or a double click
/// opens; Ctrl+wheel changes the size.
class ImageGridView : public QListView {
    Q_OBJECT
  public:
    using Picture = std::function<QImage(int index)>;
    using Caption = std::function<QString(int index)>;

    explicit ImageGridView(QWidget* parent = nullptr);

    void setPictures(int count, Picture picture, Caption caption);
    int pictureCount() const;
    /// Pictures look different now (range, colour map): ask for them again.
    void refresh();

    /// Edge of the square in which a picture stands, in device-independent pixels. From then on it stays that.
    void setThumbnailSize(int pixels);
    int thumbnailSize() const { return m_size; }
    /// Of a picture with that edge and its caption.
    static QSize itemSize(int edge, const QFontMetrics& font);

  Q_SIGNALS:
    void currentPictureChanged(int index);
    void pictureActivated(int index);

  protected:
    void wheelEvent(QWheelEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void currentChanged(const QModelIndex& current, const QModelIndex& previous) override;

  private:
    /// The largest edge with which no picture has to be scrolled to.
    void fitSize();
    void useSize(int pixels);

    bool m_isFitted = true;  ///< nobody has chosen another size
    int m_size;
};

}  // namespace sonde::widgets
