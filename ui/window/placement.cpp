#include "ui/window/placement.h"

#include <QResizeEvent>
#include <QScreen>
#include <QTimer>
#include <QWidget>

#include <algorithm>

namespace sonde::window {
namespace {

/// Time for the desktop to decorate a window that has just been shown.
constexpr int kDecoratedMs = 200;

void place(QWidget& window, const QRect& frame, const QMargins& border) {
    const QRect room = window.screen() ? window.screen()->availableGeometry() : frame;
    window.resize(within(frame, room).size().shrunkBy(border));
    // What is in the window may need more than it was to have.
    window.move(within(frame, room, window.size().grownBy(border)).topLeft());
}

/// Layouts make a window larger by its minimum size.
class ScreenKeeper : public QObject {
  public:
    explicit ScreenKeeper(QWidget& window) : QObject(&window), m_window(window) { window.installEventFilter(this); }

    bool eventFilter(QObject* watched, QEvent* event) override {
        if (event->type() == QEvent::Resize && !m_window.isMaximized() && !m_window.isFullScreen())
            resized(static_cast<QResizeEvent*>(event)->oldSize());
        return QObject::eventFilter(watched, event);
    }

  private:
    void resized(QSize before) {
        const QSize now = m_window.size(), least = m_window.minimumSize();
        const bool isForced = (now.width() > before.width() && now.width() == least.width()) ||
                              (now.height() > before.height() && now.height() == least.height());
        if (!isForced || !before.isValid() || !m_window.screen()) return;
        const QRect room = m_window.screen()->availableGeometry(), frame = m_window.frameGeometry();
        const QMargins border = frameOf(m_window);
        if (room.contains(QRect(frame.topLeft(), before.grownBy(border))))
            m_window.move(within(frame, room, frame.size()).topLeft());
    }

    QWidget& m_window;
};

}  // namespace

QMargins frameOf(const QWidget& window) {
    const QRect frame = window.frameGeometry(), inside = window.geometry();
    return {inside.left() - frame.left(), inside.top() - frame.top(), frame.right() - inside.right(),
            frame.bottom() - inside.bottom()};
}

QRect within(QRect frame, const QRect& room, QSize least) {
    frame.setSize(frame.size().boundedTo(room.size()).expandedTo(least));
    // The left and upper edges count more: there the title is.
    frame.moveLeft(std::max(room.left(), std::min(frame.left(), room.right() + 1 - frame.width())));
    frame.moveTop(std::max(room.top(), std::min(frame.top(), room.bottom() + 1 - frame.height())));
    return frame;
}

void keepOnScreen(QWidget& window) { new ScreenKeeper(window); }

void placeFrame(QWidget& window, const QRect& frame, const QWidget& like) {
    const QMargins own = frameOf(window);
    place(window, frame, own.isNull() ? frameOf(like) : own);
    QTimer::singleShot(kDecoratedMs, &window, [&window, frame] { place(window, frame, frameOf(window)); });
}

}  // namespace sonde::window
