#include "core/layout/worker_process.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/child_process.h"
#include "core/layout/engine/frames.h"

namespace sonde::layout {

using namespace std::chrono_literals;

namespace {

/// How long a stop request may go unseen.
constexpr auto kPollStep = 10ms;

}  // namespace

bool WorkerProcess::start(const std::filesystem::path& program) {
    if (alive()) return true;
    if (program.empty()) return false;
    int ends[2];  // a socket and not a pipe: writing to one whose reader died can be told not to raise SIGPIPE
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return false;
    // Its end of the socket is the helper's input and output; it has no messages.
    base::ChildSettings settings;
    ::posix_spawn_file_actions_adddup2(&settings.actions, ends[1], STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&settings.actions, ends[1], STDOUT_FILENO);
    ::posix_spawn_file_actions_addopen(&settings.actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    pid_t pid = -1;
    const int failed = settings.start({program.string()}, pid);
    ::close(ends[1]);
    if (failed != 0) {
        ::close(ends[0]);
        return false;
    }
    ::fcntl(ends[0], F_SETFL, ::fcntl(ends[0], F_GETFL) | O_NONBLOCK);
    m_pid = pid;
    m_socket = ends[0];
    return true;
}

void WorkerProcess::end() {
    if (m_socket >= 0) ::close(m_socket);
    m_socket = -1;
    if (m_pid <= 0) return;
    base::endChild(m_pid);
    m_pid = -1;
}

WorkerProcess::Outcome WorkerProcess::waitFor(short events, Clock::time_point deadline,
                                              const std::stop_token& stop) const {
    while (true) {
        if (stop.stop_requested()) return Outcome::Stopped;
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
        if (left <= 0ms) return Outcome::TooLate;
        const auto step = stop.stop_possible() ? std::min<std::chrono::milliseconds>(left, kPollStep) : left;
        pollfd poll{m_socket, events, 0};
        const int ready = ::poll(&poll, 1, static_cast<int>(std::min<long long>(step.count(), 60'000)));
        if (ready > 0) return Outcome::Reply;
        if (ready < 0 && errno != EINTR) return Outcome::Broken;
    }
}

WorkerProcess::Outcome WorkerProcess::send(std::span<const std::byte> bytes, Clock::time_point deadline,
                                           const std::stop_token& stop) {
    while (!bytes.empty()) {
        const ssize_t put = ::send(m_socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (put > 0) {
            bytes = bytes.subspan(static_cast<std::size_t>(put));
        } else if (put < 0 && errno == EAGAIN) {
            const Outcome outcome = waitFor(POLLOUT, deadline, stop);
            if (outcome != Outcome::Reply) return outcome;
        } else if (put == 0 || errno != EINTR) {
            return Outcome::Broken;
        }
    }
    return Outcome::Reply;
}

WorkerProcess::Outcome WorkerProcess::receive(std::span<std::byte> bytes, Clock::time_point deadline,
                                              const std::stop_token& stop) {
    while (!bytes.empty()) {
        const ssize_t got = ::recv(m_socket, bytes.data(), bytes.size(), 0);
        if (got > 0) {
            bytes = bytes.subspan(static_cast<std::size_t>(got));
        } else if (got < 0 && errno == EAGAIN) {
            const Outcome outcome = waitFor(POLLIN, deadline, stop);
            if (outcome != Outcome::Reply) return outcome;
        } else if (got == 0 || errno != EINTR) {
            return Outcome::Broken;
        }
    }
    return Outcome::Reply;
}

WorkerProcess::Answer WorkerProcess::exchange(std::span<const std::byte> request, std::chrono::milliseconds budget,
                                              const std::stop_token& stop) {
    const auto deadline = Clock::now() + budget;
    FrameHeader header;
    header.number = ++m_number;
    header.size = request.size();
    header.budgetMs = static_cast<std::uint64_t>(budget.count()) + 1000;  // for the case that this process dies
    Outcome outcome = send(toBytes(header), deadline, stop);
    if (outcome == Outcome::Reply) outcome = send(request, deadline, stop);
    FrameBytes bytes;
    if (outcome == Outcome::Reply) outcome = receive(bytes, deadline, stop);
    if (outcome != Outcome::Reply) return {outcome, {}};
    header = toHeader(bytes);
    if (!header.sane() || header.kind == FrameHeader::Request || header.number != m_number) {
        return {Outcome::Broken, {}};
    }
    Answer answer;
    answer.bytes.resize(header.size);
    answer.outcome = receive(answer.bytes, deadline, stop);
    if (answer.outcome == Outcome::Reply && header.kind == FrameHeader::Failure) answer.outcome = Outcome::Refused;
    return answer;
}

WorkerProcess::Answer WorkerProcess::ask(const std::filesystem::path& program, std::span<const std::byte> request,
                                         std::chrono::milliseconds budget, std::stop_token stop) {
    const bool fresh = !alive();
    if (!start(program)) return {Outcome::NoProgram, {}};
    Answer answer = exchange(request, budget, stop);
    if (answer.outcome != Outcome::Reply && answer.outcome != Outcome::Refused) {
        end();
        // It may have been killed from outside since its last reply: that is not this request's fault.
        if (answer.outcome == Outcome::Broken && !fresh) return ask(program, request, budget, stop);
    }
    return answer;
}

}  // namespace sonde::layout
