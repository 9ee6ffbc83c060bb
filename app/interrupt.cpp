#include "app/interrupt.h"

#include <atomic>
#include <csignal>
#include <cstdio>
#include <thread>
#include <unistd.h>

namespace sonde::app {

namespace {

volatile std::sig_atomic_t interrupts = 0;

void onInterrupt(int) {
    interrupts = interrupts + 1;
    if (interrupts > 1) _exit(5);
}

/// A stop source that follows the signal: request_stop may not be called from a handler.
class SignalWatch {
  public:
    SignalWatch()
        : m_thread([this](const std::stop_token& token) {
              while (!token.stop_requested() && interrupts == 0)
                  std::this_thread::sleep_for(std::chrono::milliseconds(20));
              if (interrupts != 0) m_source.request_stop();
          }) {}
    std::stop_token token() const { return m_source.get_token(); }

  private:
    std::stop_source m_source;
    std::jthread m_thread;
};

}  // namespace

void installInterruptHandler() {
    std::signal(SIGINT, onInterrupt);
    std::signal(SIGPIPE, SIG_DFL);
}

base::WorkContext commandLineWork() {
    static SignalWatch watch;
    base::WorkContext work;
    work.stop = watch.token();
    if (isatty(STDERR_FILENO)) {
        work.progress = [](const base::Progress& progress) {
            if (progress.total == 0 || progress.done % 16 != 0) return;
            std::fprintf(stderr, "\r%5zu / %zu\033[K", progress.done, progress.total);
            if (progress.done + 16 >= progress.total) std::fprintf(stderr, "\r\033[K");
        };
    }
    return work;
}

}  // namespace sonde::app
