#pragma once

#include <QStackedWidget>

namespace sonde::widgets {

/// Pages of which one is seen. It needs the room of that one: QStackedWidget needs that of the largest, seen or not.
class PageStack : public QStackedWidget {
  public:
    explicit PageStack(QWidget* parent = nullptr) : QStackedWidget(parent) {
        connect(this, &QStackedWidget::currentChanged, this, [this] { updateGeometry(); });
    }

    QSize sizeHint() const override { return currentWidget() ? currentWidget()->sizeHint() : QSize(); }
    QSize minimumSizeHint() const override {
        if (!currentWidget()) return {};
        return currentWidget()->minimumSizeHint().expandedTo(currentWidget()->minimumSize());
    }
    bool hasHeightForWidth() const override { return currentWidget() && currentWidget()->hasHeightForWidth(); }
    int heightForWidth(int width) const override {
        return currentWidget() ? currentWidget()->heightForWidth(width) : -1;
    }
};

}  // namespace sonde::widgets
