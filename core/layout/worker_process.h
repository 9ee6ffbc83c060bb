#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <span>
#include <stop_token>
#include <string>
#include <sys/types.h>
#include <vector>

namespace sonde::layout {

/// One layout helper process and the socket to it. Not thread-safe. Nothing is left behind when it ends: the process is
/// killed and waited for.
class WorkerProcess {
  public:
    using Clock = std::chrono::steady_clock;

    enum class Outcome {
        Reply,      ///< a layout: its encoded bytes
        Refused,    ///< the helper says why in words
        TooLate,    ///< the budget is over; the helper was ended
        Broken,     ///< it crashed, or answered nonsense; ended
        Stopped,    ///< a stop was requested; ended
        NoProgram,  ///< it cannot be started
    };
    struct Answer {
        Outcome outcome = Outcome::Broken;
        std::vector<std::byte> bytes;
    };

    WorkerProcess() = default;
    ~WorkerProcess() { end(); }
    WorkerProcess(const WorkerProcess&) = delete;
    WorkerProcess& operator=(const WorkerProcess&) = delete;

    /// Sends a request and waits for its answer; starts `program` first if no process is alive.
    Answer ask(const std::filesystem::path& program, std::span<const std::byte> request,
               std::chrono::milliseconds budget, std::stop_token stop);

    /// Starts the process if it is not alive; false if it cannot be.
    bool start(const std::filesystem::path& program);
    bool alive() const { return m_pid > 0; }
    pid_t pid() const { return m_pid; }
    /// Kills the process and waits for its end.
    void end();

  private:
    Outcome waitFor(short events, Clock::time_point deadline, const std::stop_token& stop) const;
    Outcome send(std::span<const std::byte> bytes, Clock::time_point deadline, const std::stop_token& stop);
    Outcome receive(std::span<std::byte> bytes, Clock::time_point deadline, const std::stop_token& stop);
    Answer exchange(std::span<const std::byte> request, std::chrono::milliseconds budget, const std::stop_token& stop);

    std::atomic<pid_t> m_pid = -1;  // read by other threads
    int m_socket = -1;
    std::uint64_t m_number = 0;
};

}  // namespace sonde::layout
