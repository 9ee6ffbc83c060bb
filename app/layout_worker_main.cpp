// sonde-layout-worker: lays out graphs with Graphviz for Sonde. Reads requests on standard input and writes replies on
// standard output (core/layout/engine/frames.h) until the input ends. It may be killed at any time.

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <span>
#include <string>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>
#include <vector>

#include "core/layout/engine/frames.h"
#include "core/layout/engine/graphviz/graphviz.h"

namespace {

using sonde::layout::BoxLayout;
using sonde::layout::FrameBytes;
using sonde::layout::FrameHeader;

bool readAll(int file, std::span<std::byte> into) {
    while (!into.empty()) {
        const ssize_t got = ::read(file, into.data(), into.size());
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        into = into.subspan(static_cast<std::size_t>(got));
    }
    return true;
}

bool writeAll(int file, std::span<const std::byte> from) {
    while (!from.empty()) {
        const ssize_t put = ::write(file, from.data(), from.size());
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return false;
        from = from.subspan(static_cast<std::size_t>(put));
    }
    return true;
}

/// A hostile graph must not eat the machine, nor leave a core file or a process behind.
void limitSelf() {
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // these reserve terabytes of addresses
    const rlimit memory{rlim_t{1536} << 20, rlim_t{1536} << 20};
    ::setrlimit(RLIMIT_AS, &memory);
#endif
}

/// Ends this process when the time is over; 0 calls that off.
void alarmAfter(std::uint64_t ms) {
    const itimerval timer{{0, 0}, {static_cast<time_t>(ms / 1000), static_cast<suseconds_t>(ms % 1000 * 1000)}};
    ::setitimer(ITIMER_REAL, &timer, nullptr);
}

/// The reply's bytes to one request.
std::vector<std::byte> answer(sonde::layout::Graphviz& graphviz, std::span<const std::byte> request,
                              FrameHeader& header) {
    auto graph = sonde::layout::decodeGraph(request);
    auto layout = graph ? graphviz.layout(*graph) : sonde::base::Result<BoxLayout>(graph.error());
    header.kind = layout ? FrameHeader::Reply : FrameHeader::Failure;
    if (layout) return sonde::layout::encode(*layout);
    const std::string text = layout.error().text();
    const auto* begin = reinterpret_cast<const std::byte*>(text.data());
    return {begin, begin + text.size()};
}

/// Makes Graphviz load its plug-ins and fonts before the first request comes.
void warmUp(sonde::layout::Graphviz& graphviz) {
    sonde::layout::BoxGraph graph;
    graph.boxes = {{100, 30}, {100, 30}};
    graph.edges = {{0, 1, 10.0, -10.0}};
    (void)graphviz.layout(graph);
}

int serve(int in, int out) {
    sonde::layout::Graphviz graphviz;
    warmUp(graphviz);
    FrameBytes bytes;
    std::vector<std::byte> request;
    while (readAll(in, bytes)) {
        FrameHeader header = sonde::layout::toHeader(bytes);
        if (!header.sane() || header.kind != FrameHeader::Request) return 1;
        request.resize(header.size);
        if (!readAll(in, request)) return 1;
        alarmAfter(std::clamp<std::uint64_t>(header.budgetMs, 1, 3'600'000));
        const std::vector<std::byte> reply = answer(graphviz, request, header);
        header.size = reply.size();
        if (!writeAll(out, sonde::layout::toBytes(header)) || !writeAll(out, reply)) return 1;
        alarmAfter(0);
    }
    return 0;
}

}  // namespace

int main() {
    limitSelf();
    // What Graphviz prints must not get between the replies.
    const int out = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    if (out < 0 || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return 1;
    try {
        return serve(STDIN_FILENO, out);
    } catch (const std::exception& error) {  // out of memory: the caller starts another one
        std::fprintf(stderr, "sonde-layout-worker: %s\n", error.what());
        return 1;
    }
}
