// How long models take to open (read, trace, infer) and how much memory that needs: bench_open FILE|FOLDER…
// One line a file: median and best milliseconds of several openings, resident memory that the first one added, and how
// much of it is private (not pages of the file): weights that are only mapped do not count there. A folder stands for the
// TorchScript archives in it; each file is opened in a process of its own, so that the peaks are its own.

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "core/document/document.h"

using namespace sonde;

namespace {

double milliseconds() {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Private (anonymous) resident memory of this process, kilobytes.
long privateKb() {
    std::ifstream status("/proc/self/status");
    std::string word;
    long kb = 0;
    while (status >> word) {
        if (word == "RssAnon:") status >> kb;
    }
    return kb;
}

long peakKb() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

int measure(const std::string& file) {
    const long peakBefore = peakKb();
    const long privateBefore = privateKb();
    std::vector<double> times;
    long peak = 0;
    long anonymous = 0;
    std::size_t nodes = 0;
    const double until = milliseconds() + 1000;
    while (times.size() < 5 || (milliseconds() < until && times.size() < 100)) {
        const double start = milliseconds();
        const auto document = document::open(file);
        times.push_back(milliseconds() - start);
        if (!document) {
            std::printf("%-36s %s\n", std::filesystem::path(file).filename().c_str(), document.error().text().c_str());
            return 1;
        }
        if (times.size() > 1) continue;
        nodes = (*document)->graph->nodeCount();
        peak = peakKb() - peakBefore;
        anonymous = privateKb() - privateBefore;
    }
    const double first = times.front();
    std::ranges::sort(times);
    std::printf("%-36s %9.2f %9.2f %9.2f %9.1f %9.1f %8zu\n", std::filesystem::path(file).filename().c_str(), first, times[times.size() / 2], times[0],
                static_cast<double>(peak) / 1024, static_cast<double>(anonymous) / 1024, nodes);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    std::vector<std::string> files;
    for (int i = 1; i < argc; ++i) {
        if (!std::filesystem::is_directory(argv[i])) {
            files.emplace_back(argv[i]);
            continue;
        }
        for (const auto& entry : std::filesystem::directory_iterator(argv[i])) {
            if (entry.path().extension() == ".pt") files.push_back(entry.path().string());
        }
    }
    std::ranges::sort(files);
    std::printf("%-36s %9s %9s %9s %9s %9s %8s\n", "file", "first ms", "median ms", "best ms", "peak MB", "private", "nodes");
    std::fflush(stdout);
    for (const std::string& file : files) {
        const pid_t child = fork();
        if (child == 0) {
            const int status = measure(file);
            std::fflush(stdout);
            _exit(status);
        }
        int status = 0;
        if (child > 0) waitpid(child, &status, 0);
    }
    return 0;
}
