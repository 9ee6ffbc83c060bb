// How many nodes a second the real window steps through while a key is held down, with its panels open:
//   bench_ui_steps [MODEL]     a file or zoo:NAME (zoo:resnet18)
// F11 is held until the run is at its end, then Ctrl+F11 until it is back at its start, then Ctrl+Right again, when
// everything is known. The key repeats as soon as the window has answered the last one. A window's longest time without
// an answer is printed beside it. At least 100 nodes a second are asked for.

#include <QApplication>
#include <QElapsedTimer>
#include <QKeyEvent>
#include <QSettings>
#include <QTemporaryDir>
#include <QTimer>

#include <algorithm>
#include <cstdio>

#include "ui/canvas/graph_canvas.h"
#include "ui/theme/theme.h"
#include "ui/window/main_window.h"
#include "ui/window/window_canvases.h"

namespace {

using namespace sonde;

constexpr double kNodesPerSecond = 100;

/// Takes the longest time that one event needed.
class Application : public QApplication {
  public:
    using QApplication::QApplication;

    bool notify(QObject* receiver, QEvent* event) override {
        if (m_depth > 0) return QApplication::notify(receiver, event);
        QElapsedTimer timer;
        timer.start();
        ++m_depth;
        const bool result = QApplication::notify(receiver, event);
        --m_depth;
        longest = std::max(longest, static_cast<double>(timer.nsecsElapsed()) / 1e6);
        return result;
    }
    double longest = 0;

  private:
    int m_depth = 0;
};

void waitFor(const std::function<bool()>& isThere) {
    QElapsedTimer timer;
    timer.start();
    while (!isThere()) {
        QApplication::processEvents(QEventLoop::AllEvents | QEventLoop::WaitForMoreEvents);
        if (timer.elapsed() > 120'000) std::exit(3);
    }
}

bool hold(Application& application, window::MainWindow& window, const char* what, Qt::Key key,
          Qt::KeyboardModifiers modifiers, const std::function<bool()>& isDone) {
    context::Debugger& debugger = window.context().debugger();
    QWidget* canvas = window.canvases().active();
    const std::size_t from = debugger.position();
    int keys = 0;
    application.longest = 0;
    QElapsedTimer timer;
    timer.start();
    while (!isDone() && timer.elapsed() < 120'000) {
        QKeyEvent shortcut(QEvent::ShortcutOverride, key, modifiers, {}, true),
            press(QEvent::KeyPress, key, modifiers, {}, true);
        QApplication::sendEvent(canvas, &shortcut);
        if (!qApp->notify(canvas, &press)) break;
        ++keys;
        waitFor([&] { return !debugger.isRunning(); });
    }
    waitFor([&] { return window.isIdle(); });
    const double seconds = static_cast<double>(timer.nsecsElapsed()) / 1e9;
    const std::size_t to = debugger.position();
    const double nodes = static_cast<double>(std::max(from, to) - std::min(from, to));
    std::printf("%-24s %5d keys %6.0f nodes %8.1f nodes/s   longest answer %6.1f ms\n", what, keys, nodes,
                nodes / seconds, application.longest);
    return nodes / seconds >= kNodesPerSecond;
}

}  // namespace

int main(int argc, char** argv) {
    if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
    Application application(argc, argv);
    const QTemporaryDir settings;
    QSettings::setDefaultFormat(QSettings::IniFormat);
    QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, settings.path());
    theme::Theme::instance().install(application);
    theme::Theme::instance().setReducedMotion(true);
    QTimer tick;  // so that waiting looks
    tick.setInterval(1);
    tick.start();
    window::MainWindow window;
    window.resize(1600, 1000);
    window.show();
    window.activateWindow();
    window.open(QString::fromLocal8Bit(argc > 1 ? argv[1] : "zoo:resnet18"));
    waitFor([&] { return window.context().model().isOpen() && window.isIdle(); });
    window.canvases().active()->setFocus();
    context::Debugger& debugger = window.context().debugger();
    const auto isAtEnd = [&] { return debugger.isShown() && debugger.place().isEnd; };
    const auto isAtStart = [&] { return !debugger.place().isEnd && debugger.place().item == 0; };
    bool isFast = hold(application, window, "F11, first time", Qt::Key_F11, Qt::NoModifier, isAtEnd);
    isFast &= hold(application, window, "Ctrl+F11", Qt::Key_F11, Qt::ControlModifier, isAtStart);
    isFast &= hold(application, window, "Ctrl+Right", Qt::Key_Right, Qt::ControlModifier, isAtEnd);
    window.close();
    return isFast ? 0 : 1;
}
