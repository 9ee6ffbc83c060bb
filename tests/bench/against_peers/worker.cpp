#include "tests/bench/against_peers/worker.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/child_process.h"
#include "core/base/resident_memory.h"

namespace sonde::bench {

using base::Result;
using base::runError;
using nlohmann::json;

Worker::~Worker() {
    if (m_stream) std::fclose(m_stream);
    if (m_process > 0) base::endChild(m_process);
}

Result<std::string> Worker::ask(const std::string& line) {
    if (!line.empty() && ::send(::fileno(m_stream), line.data(), line.size(), MSG_NOSIGNAL) < 0)
        return runError("a worker ended");
    char* text = nullptr;
    std::size_t room = 0;
    const ssize_t count = ::getline(&text, &room, m_stream);
    std::string answer(text ? text : "", static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    std::free(text);
    if (count <= 0) return runError("a worker ended without an answer");
    return answer;
}

Result<void> Worker::start(const std::string& program, const WorkerTask& task) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return runError("no socket can be made");
    base::ChildSettings settings;
    ::posix_spawn_file_actions_adddup2(&settings.actions, ends[1], STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&settings.actions, ends[1], STDOUT_FILENO);
    const int failed = settings.start({program, "--worker", task.way, "--library", task.library, "--threads",
                                       std::to_string(task.threads), task.model},
                                      m_process);
    ::close(ends[1]);
    m_stream = ::fdopen(ends[0], "r");
    if (failed != 0) return runError("a worker cannot be started", program);
    SONDE_ASSIGN(const std::string answer, ask({}));
    const json ready = json::parse(answer, nullptr, false);
    if (!ready.is_object()) return runError("a worker's answer is no JSON", answer);
    if (ready.contains("error")) return runError(ready["error"].get<std::string>(), task.way);
    m_version = ready["version"].get<std::string>();
    m_output = ready["output"].get<std::vector<float>>();
    return {};
}

Result<Times> Worker::run(std::size_t runs) {
    SONDE_ASSIGN(const std::string answer, ask(std::to_string(runs) + "\n"));
    const json reply = json::parse(answer, nullptr, false);
    if (!reply.is_object()) return runError("a worker's answer is no JSON", answer);
    if (reply.contains("error")) return runError(reply["error"].get<std::string>());
    return Times{reply["wall"].get<std::vector<double>>(), reply["processor"].get<std::vector<double>>(),
                 reply["peak_mb"].get<double>()};
}

namespace {

double milliseconds(clockid_t clock) {
    timespec now{};
    ::clock_gettime(clock, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

Result<json> ready(const WorkerTask& task, std::unique_ptr<Engine>& engine) {
    const auto* const way =
        std::find_if(std::begin(kWays), std::end(kWays), [&](const Way& each) { return task.way == each.name; });
    if (way == std::end(kWays)) return base::usageError("there is no such way", task.way);
    if (way->isPeer) {
        SONDE_ASSIGN(engine, openInOrt(task.model, *way, task.threads, task.library));
    } else {
        SONDE_ASSIGN(engine, openInSonde(task.model, *way, task.threads));
    }
    SONDE_TRY(engine->run());
    SONDE_ASSIGN(const tensor::Tensor output, engine->output());
    const float* const data = output.data<float>();
    return json{{"version", engine->version()},
                {"output", std::vector<float>(data, data + std::min<std::int64_t>(output.numel(), 4096))}};
}

Result<json> turn(Engine& engine, std::size_t runs) {
    SONDE_TRY(engine.run());
    Times times;
    for (std::size_t i = 0; i < runs; ++i) {
        const double wall = milliseconds(CLOCK_MONOTONIC), processor = milliseconds(CLOCK_PROCESS_CPUTIME_ID);
        SONDE_TRY(engine.run());
        times.wall.push_back(milliseconds(CLOCK_MONOTONIC) - wall);
        times.processor.push_back(milliseconds(CLOCK_PROCESS_CPUTIME_ID) - processor);
    }
    const auto memory = base::residentMemory();
    return json{{"wall", times.wall},
                {"processor", times.processor},
                {"peak_mb", memory ? static_cast<double>(memory->peak) / (1 << 20) : 0.0}};
}

void answer(const Result<json>& result) {
    std::cout << (result ? *result : json{{"error", result.error().text()}})
                     .dump(-1, ' ', false, json::error_handler_t::replace)
              << std::endl;  // the other side waits for the line
}

}  // namespace

int work(const WorkerTask& task) {
    std::unique_ptr<Engine> engine;
    const Result<json> begin = ready(task, engine);
    answer(begin);
    if (!begin) return 1;
    for (std::string line; std::getline(std::cin, line);)
        answer(turn(*engine, static_cast<std::size_t>(std::stoul(line))));
    std::_Exit(0);  // a library that was loaded may have threads and objects of its own
}

}  // namespace sonde::bench
