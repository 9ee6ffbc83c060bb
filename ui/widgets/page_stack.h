#pragma once

#include <QStackedWidget>

#include <algorithm>

namespace sonde::widgets {

/// Pages of which one is seen. It needs the room of that one: QStackedWidget needs that of the largest, seen or not. A
/// minimum height that is set would be one for all pages, those that need more included: setLeastHeight() is beside it.
class PageStack : public QStackedWidget {
  public:
    explicit PageStack(QWidget* parent = nullptr) : QStackedWidget(parent) {
        connect(this, &QStackedWidget::currentChanged, this, [this] { updateGeometry(); });
    }

    /// In pixels: what a page that needs less has as well.
    void setLeastHeight(int height) {
        m_leastHeight = height;
        updateGeometry();
    }

    QSize sizeHint() const override { return currentWidget() ? currentWidget()->sizeHint() : QSize(); }
    QSize minimumSizeHint() const override {
        const QSize least(0, m_leastHeight);
        if (!currentWidget()) return least;
        return currentWidget()->minimumSizeHint().expandedTo(currentWidget()->minimumSize()).expandedTo(least);
    }
    bool hasHeightForWidth() const override { return currentWidget() && currentWidget()->hasHeightForWidth(); }
    int heightForWidth(int width) const override {
        return currentWidget() ? std::max(currentWidget()->heightForWidth(width), m_leastHeight) : -1;
    }

  private:
    int m_leastHeight = 0;
};

}  // namespace sonde::widgets
