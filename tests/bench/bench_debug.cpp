// What going through a run step by step costs: bench_debug [--memory MIB] [MODEL [INPUT-DATA]]
// Three rows for a model (default: ResNet-18 on one image). "steps": nodes a second, forward with the value of each
// node looked at, and back. "anywhere": 1,000 steps in both directions; how many values were not the same the second
// time. "memory": all values with no more than MIB of memory for them (default: a tenth of what they take), first with
// the rest on disk, then computed again; MiB of values, of memory for them at most, and what the process had at most
// above what it had with the model open, each in a process of its own.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>

#include "core/session/session.h"

using namespace sonde;
using session::Session;
using session::debug::Direction;
using session::debug::ItemId;
using session::debug::Target;

namespace {

double secondsNow() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double statusMib(std::string_view field) {
    std::ifstream status("/proc/self/status");
    std::string word;
    double kb = 0;
    while (status >> word)
        if (word == field) status >> kb;
    return kb / 1024;
}

bool open(Session& session, const std::string& model, const std::string& data) {
    if (const auto opened = session.open(model); !opened) {
        std::printf("%s\n", opened.error().text().c_str());
        return false;
    }
    const auto cases = session.readCases({data, "bgr", 0});
    if (!cases || cases->empty()) {
        std::printf("%s\n", cases ? "no inputs" : cases.error().text().c_str());
        return false;
    }
    session.runs().giveValues(cases->front().values);
    return true;
}

/// Nodes a second in one direction, the value of each looked at.
double speed(Session& session, Direction direction) {
    std::size_t steps = 0;
    const double start = secondsNow();
    for (;; ++steps) {
        session.debugger().step(Target::Kind::Into, direction);
        const graph::NodeId current = session.debugger().current();
        if (!current.valid() || session.debugger().place().reason == session::debug::Reason::Start) break;
        if (!session.debugger().value(current)) break;
    }
    return static_cast<double>(steps) / (secondsNow() - start);
}

void measureSteps(const std::string& model, const std::string& data) {
    Session session;
    if (!open(session, model, data)) return;
    const double forward = speed(session, Direction::Forward), back = speed(session, Direction::Back);
    std::printf("%-10s %10.0f nodes/s forward %10.0f nodes/s back\n", "steps", forward, back);
}

void measureAnywhere(const std::string& model, const std::string& data) {
    Session session;
    if (!open(session, model, data)) return;
    std::map<ItemId, tensor::Value> seen;
    std::mt19937 engine(1);
    std::size_t others = 0, again = 0;
    for (int i = 0; i < 1'000; ++i) {
        session.debugger().step(engine() % 3 ? Target::Kind::Into : Target::Kind::Over,
                                engine() % 2 ? Direction::Forward : Direction::Back);
        if (!session.debugger().current().valid()) continue;
        const auto value = session.debugger().value(session.debugger().current());
        if (!value) continue;
        const auto [found, isNew] = seen.emplace(session.debugger().place().item, *value);
        if (isNew) continue;
        ++again;
        others += tensor::identical(found->second, *value) ? 0 : 1;
    }
    std::printf("%-10s 1000 steps, %zu values looked at again, %zu of them not the same\n", "anywhere", again, others);
}

/// Bytes of all values of a run.
std::size_t bytesOfValues(const std::string& model, const std::string& data) {
    Session session;
    if (!open(session, model, data)) return 0;
    session.debugger().setLimits({~std::size_t{0}, 0, {}});
    session.debugger().restart();
    return session.debugger().run() ? session.debugger().run()->kept().memoryBytes() : 0;
}

void measureMemory(const std::string& model, const std::string& data, std::size_t bytes, std::size_t memory,
                   bool onDisk) {
    Session session;
    if (!open(session, model, data)) return;
    session.runs().run();  // weights are packed, as for any run
    session.debugger().setLimits({memory, onDisk ? ~std::size_t{0} : 0, {}});
    const double before = statusMib("VmRSS:");
    std::ofstream("/proc/self/clear_refs") << "5";  // VmHWM begins anew
    const double start = secondsNow();
    session.debugger().restart();
    const double forward = secondsNow() - start;
    std::mt19937 engine(1);
    std::size_t looked = 0;
    for (; looked < 100 && session.debugger().run(); ++looked) {
        for (auto i = engine() % 20; i > 0; --i)
            session.debugger().step(Target::Kind::Into, looked < 60 ? Direction::Back : Direction::Forward);
        if (session.debugger().current().valid() && !session.debugger().value(session.debugger().current())) break;
    }
    const auto& kept = session.debugger().run()->kept();
    std::printf(
        "%-10s values %.0f MiB, limit %.0f, in memory %.0f, on disk %.0f, process %+.0f at most; run %.2f s, "
        "%zu values looked at in %.2f s, %zu operations again\n",
        onDisk ? "disk" : "again", static_cast<double>(bytes) / 1048576, static_cast<double>(memory) / 1048576,
        static_cast<double>(kept.memoryBytes()) / 1048576, static_cast<double>(kept.diskBytes()) / 1048576,
        statusMib("VmHWM:") - before, forward, looked, secondsNow() - start - forward,
        session.debugger().run()->computedAgain());
}

/// In a process of its own, so that its peak of memory is its own.
template <typename Work>
void apart(const Work& work) {
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        work();
        std::fflush(stdout);
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
}

}  // namespace

int main(int argc, char** argv) {
    std::string model = "zoo:resnet18", data = "#rand(0,1)";
    std::size_t memory = 0;
    int given = 0;
    for (int i = 1; i < argc; ++i) {
        if (std::string_view(argv[i]) == "--memory" && i + 1 < argc)
            memory = std::strtoul(argv[++i], nullptr, 10) << 20;
        else (given++ == 0 ? model : data) = argv[i];
    }
    apart([&] { measureSteps(model, data); });
    apart([&] { measureAnywhere(model, data); });
    int ends[2];
    if (pipe(ends) != 0) return 1;
    apart([&] {
        const std::size_t bytes = bytesOfValues(model, data);
        if (write(ends[1], &bytes, sizeof bytes) != sizeof bytes) _exit(1);
    });
    close(ends[1]);
    std::size_t bytes = 0;
    if (read(ends[0], &bytes, sizeof bytes) != sizeof bytes || bytes == 0) return 1;
    if (memory == 0) memory = bytes / 10;
    for (const bool onDisk : {true, false}) apart([&] { measureMemory(model, data, bytes, memory, onDisk); });
    return 0;
}
