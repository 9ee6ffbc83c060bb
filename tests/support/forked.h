#pragma once

#include <QByteArray>
#include <QFile>
#include <QList>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sonde::test {

/// What became of one case that ran in a process of its own.
struct CaseResult {
    enum Kind : std::int32_t { NotRun, Passed, Failed, Killed };
    std::int32_t kind = NotRun;
    std::int32_t signal = 0;  ///< Killed: by which; SIGALRM is a hang
    char text[240] = {};      ///< Failed: what the case said
};

struct ForkLimits {
    unsigned seconds = 10;                   ///< of wall time, each case
    std::uint64_t memoryBytes = 2ull << 30;  ///< address space beyond what the process has already
};

/// Address space in use, in bytes.
inline std::uint64_t addressSpace() {
    QFile statm("/proc/self/statm");
    if (!statm.open(QIODevice::ReadOnly)) return 0;
    return statm.readAll().split(' ').value(0).toULongLong() * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

/// The child's part of runForked: cases from `first` on, each result written where the parent sees it.
[[noreturn]] inline void runCasesHere(int first, int count, const ForkLimits& limits, CaseResult* results,
                                      const std::function<QByteArray(int)>& runCase) {
    for (int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGALRM}) std::signal(signal, SIG_DFL);
    const rlimit noCore{0, 0};
    setrlimit(RLIMIT_CORE, &noCore);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // sanitizers reserve terabytes of address space
    const rlim_t bytes = addressSpace() + limits.memoryBytes;
    const rlimit memory{bytes, bytes};
    setrlimit(RLIMIT_AS, &memory);
#endif
    for (int i = first; i < count; ++i) {
        alarm(limits.seconds);
        QByteArray text;
        try {
            text = runCase(i);
        } catch (const std::exception& e) {
            text = QByteArray("exception: ") + e.what();
        }
        alarm(0);
        std::strncpy(results[i].text, text.constData(), sizeof results[i].text - 1);
        results[i].kind = text.isEmpty() ? CaseResult::Passed : CaseResult::Failed;
    }
    _exit(0);
}

/// Runs cases 0 … count-1 in child processes, as many in one child as survive, and reports each. A case returns nothing
/// if all is well, else a sentence. A crash or a hang costs one child and not the test.
inline QList<CaseResult> runForked(int count, const ForkLimits& limits, const std::function<QByteArray(int)>& runCase) {
    const std::size_t bytes = static_cast<std::size_t>(std::max(count, 1)) * sizeof(CaseResult);
    void* shared = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return {};
    auto* results = static_cast<CaseResult*>(shared);
    for (int next = 0; next < count;) {
        const pid_t child = fork();
        if (child == 0) runCasesHere(next, count, limits, results, runCase);
        int status = 0;
        if (child < 0 || waitpid(child, &status, 0) != child) break;
        while (next < count && results[next].kind != CaseResult::NotRun) ++next;
        if (next < count) {  // the child ended in this case
            results[next].kind = CaseResult::Killed;
            results[next].signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
            ++next;
        }
    }
    QList<CaseResult> copy(results, results + count);
    munmap(shared, bytes);
    return copy;
}

}  // namespace sonde::test
