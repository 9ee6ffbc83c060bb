#include "ui/window/orderly_end.h"

#include <QApplication>
#include <QSocketNotifier>

#include <csignal>
#include <fcntl.h>
#include <unistd.h>

#include "ui/context/stored.h"

namespace sonde::window {
namespace {

int g_pipe[2] = {-1, -1};

/// A handler may do nothing but this: the rest is done where the pipe is read.
void onSignal(int) {
    const char byte = 0;
    [[maybe_unused]] const auto written = ::write(g_pipe[1], &byte, 1);
}

void closeAll() {
    char byte = 0;
    [[maybe_unused]] const auto taken = ::read(g_pipe[0], &byte, 1);
    QApplication::closeAllWindows();
    context::waitUntilStored();
    QCoreApplication::quit();
}

}  // namespace

void endOrderlyOnSignals() {
    if (::pipe2(g_pipe, O_CLOEXEC | O_NONBLOCK) != 0) return;
    auto* reader = new QSocketNotifier(g_pipe[0], QSocketNotifier::Read, QCoreApplication::instance());
    QObject::connect(reader, &QSocketNotifier::activated, reader, closeAll);
    struct sigaction action {};
    action.sa_handler = onSignal;
    action.sa_flags = SA_RESTART | SA_RESETHAND;  // who asks twice does not want to wait
    for (const int signal : {SIGTERM, SIGHUP, SIGINT}) ::sigaction(signal, &action, nullptr);
}

}  // namespace sonde::window
