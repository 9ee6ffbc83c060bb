// Memory and speed of a sweep over 1,000 inputs: what the process takes must not grow with their number.
//
//     bench_sweep [MODEL] [COUNT]       default: zoo:resnet18_slim, 1000 arrays

#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <unistd.h>

#include "core/document/document.h"
#include "core/io/npz/npy.h"
#include "core/session/sweep/sweep.h"

namespace {

using namespace sonde;
namespace fs = std::filesystem;

/// Of this process, in MiB.
double residentMib() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("VmRSS:")) return std::stod(line.substr(6)) / 1024;
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string model = argc > 1 ? argv[1] : "zoo:resnet18_slim";
    const int count = argc > 2 ? std::stoi(argv[2]) : 1000;
    const auto document = document::open(model, {});
    if (!document) return fmt::print(stderr, "{}\n", document.error().text()), 1;
    const auto shape = (*document)->graph->node((*document)->inputs.front().node).type.staticShape();
    if (!shape) return fmt::print(stderr, "the first input has no fixed shape\n"), 1;
    const fs::path folder = fs::temp_directory_path() / fmt::format("bench_sweep_{}", ::getpid());
    fs::create_directories(folder);
    for (int i = 0; i < count; ++i) {
        std::vector<float> values(static_cast<std::size_t>(shape->numel()));
        for (std::size_t k = 0; k < values.size(); ++k) values[k] = static_cast<float>((k * 31 + i) % 255) / 255;
        if (!io::writeNpyFile(folder / fmt::format("{}.npy", i), tensor::Tensor::of<float>(*shape, values))) return 1;
    }
    const auto inputs = session::sweepInputs(folder);
    const auto sweep = session::Sweep::make(*document, {});
    if (!inputs || !sweep) return 1;
    double after100 = 0;
    std::size_t done = 0;
    const auto begin = std::chrono::steady_clock::now();
    const auto summary = sweep->run(inputs->inputs, [&](const session::SweepRow&) {
        if (++done == std::min<std::size_t>(100, inputs->inputs.size())) after100 = residentMib();
        if (done % 100 == 0) fmt::print("{:5} inputs, VmRSS {:.1f} MiB\n", done, residentMib());
    });
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    fs::remove_all(folder);
    if (!summary) return 1;
    fmt::print("{} on {} inputs: {:.1f} a second, {} failed, VmRSS grew by {:.1f} MiB from input 100 to the last\n",
               model, summary->done, static_cast<double>(summary->done) / seconds, summary->failed,
               residentMib() - after100);
    return summary->failed == 0 ? 0 : 1;
}
