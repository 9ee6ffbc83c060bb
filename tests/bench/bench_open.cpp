// How long models take to open (read, trace, infer) and how much memory that needs: bench_open [--times N] FILE|FOLDER…
// One row "open archive" a file: the process's CPU milliseconds of the first opening, the median and the best of all,
// resident memory that the first one added, and how much of it is private (not pages of the file): weights that are
// only mapped do not count there. A folder stands for the TorchScript archives in it; each file is opened in a process
// of its own, so that the peaks are its own. open_archive.py sets these rows beside torch.jit.load.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "core/document/document.h"

using namespace sonde;

namespace {

/// CPU time of this process: other work on the machine does not count.
double milliseconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

/// A field of this process's status in kilobytes: "RssAnon:" is private resident memory, "VmHWM:" the resident peak.
long statusKb(std::string_view field) {
    std::ifstream status("/proc/self/status");
    std::string word;
    long kb = 0;
    while (status >> word) {
        if (word == field) status >> kb;
    }
    return kb;
}

int measure(const std::string& file, std::size_t count) {
    const std::string name = std::filesystem::path(file).filename().string();
    const long peakBefore = statusKb("VmHWM:");
    const long privateBefore = statusKb("RssAnon:");
    std::vector<double> times;
    long peak = 0;
    long anonymous = 0;
    std::size_t nodes = 0;
    while (times.size() < count) {
        const double start = milliseconds();
        const auto document = document::open(file);
        times.push_back(milliseconds() - start);
        if (!document) {
            std::printf("%-14s %-28s %s\n", "open archive", name.c_str(), document.error().text().c_str());
            return 1;
        }
        if (times.size() > 1) continue;
        nodes = (*document)->graph->nodeCount();
        peak = statusKb("VmHWM:") - peakBefore;
        anonymous = statusKb("RssAnon:") - privateBefore;
    }
    const double first = times.front();
    std::ranges::sort(times);
    std::printf("%-14s %-28s %9.2f %9.2f %9.2f %9.1f %9.1f %8zu\n", "open archive", name.c_str(), first,
                times[times.size() / 2], times[0], static_cast<double>(peak) / 1024,
                static_cast<double>(anonymous) / 1024, nodes);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    std::vector<std::string> files;
    std::size_t count = 21;
    for (int i = 1; i < argc; ++i) {
        if (std::string_view(argv[i]) == "--times" && i + 1 < argc) {
            count = std::max<std::size_t>(1, std::strtoul(argv[++i], nullptr, 10));
            continue;
        }
        if (!std::filesystem::is_directory(argv[i])) {
            files.emplace_back(argv[i]);
            continue;
        }
        for (const auto& entry : std::filesystem::directory_iterator(argv[i])) {
            if (entry.path().extension() == ".pt") files.push_back(entry.path().string());
        }
    }
    std::ranges::sort(files);
    std::printf("%-14s %-28s %9s %9s %9s %9s %9s %8s\n", "row", "file", "first ms", "median ms", "best ms", "peak MB",
                "private", "nodes");
    std::fflush(stdout);
    if (files.size() == 1) return measure(files.front(), count);  // a profiler sees it
    for (const std::string& file : files) {
        const pid_t child = fork();
        if (child == 0) {
            const int status = measure(file, count);
            std::fflush(stdout);
            _exit(status);
        }
        int status = 0;
        if (child > 0) waitpid(child, &status, 0);
    }
    return 0;
}
