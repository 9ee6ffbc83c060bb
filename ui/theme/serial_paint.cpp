#include "ui/theme/serial_paint.h"

#include <QPainter>

namespace sonde::theme {

void paintOnOneThread() {
    if (qEnvironmentVariableIsEmpty("QT_NO_GUI_THREADPOOL")) qputenv("QT_NO_GUI_THREADPOOL", "1");
}

void fillVeil(QPainter& painter, const QRect& rect, const QColor& color) {
    constexpr int kSpans = 90;  // the engine shares 96 and more
    const int rows = std::max(1, static_cast<int>(kSpans / painter.device()->devicePixelRatioF()));
    for (int top = rect.top(); top <= rect.bottom(); top += rows)
        painter.fillRect(rect.left(), top, rect.width(), std::min(rows, rect.bottom() - top + 1), color);
}

}  // namespace sonde::theme
