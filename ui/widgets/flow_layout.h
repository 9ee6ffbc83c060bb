#pragma once

#include <QLayout>

#include <memory>
#include <vector>

namespace sonde::widgets {

/// Places items from left to right and goes on in a new line where the width ends: tool rows in narrow panels.
/// Items of a line are centred on it vertically.
class FlowLayout : public QLayout {
  public:
    explicit FlowLayout(QWidget* parent = nullptr, int horizontalGap = 6, int verticalGap = 4);
    ~FlowLayout() override;

    void addItem(QLayoutItem* item) override;
    int count() const override { return static_cast<int>(m_items.size()); }
    QLayoutItem* itemAt(int index) const override;
    QLayoutItem* takeAt(int index) override;
    Qt::Orientations expandingDirections() const override { return {}; }
    bool hasHeightForWidth() const override { return true; }
    int heightForWidth(int width) const override { return arrange(QRect(0, 0, width, 0), false); }
    QSize sizeHint() const override;
    QSize minimumSize() const override;
    void setGeometry(const QRect& rect) override;

  private:
    int arrange(const QRect& rect, bool apply) const;

    std::vector<QLayoutItem*> m_items;
    int m_horizontalGap, m_verticalGap;
};

}  // namespace sonde::widgets
