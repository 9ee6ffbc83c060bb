// Memory and speed of a sweep over 1,000 inputs: what the process takes at most must not grow with their number.
//
//     bench_sweep [MODEL] [COUNT] [pictures]       default: zoo:resnet18_slim, 1000 arrays
//
// With `pictures` the inputs are files of pixels, each of another size.

#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <string_view>
#include <unistd.h>

#include "core/document/document.h"
#include "core/io/npz/npy.h"
#include "core/session/sweep/sweep.h"

namespace {

using namespace sonde;
namespace fs = std::filesystem;

/// Of this process, in MiB: "VmRSS:" now, "VmHWM:" at most so far.
double memoryMib(std::string_view field) {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with(field)) return std::stod(line.substr(field.size())) / 1024;
    return 0;
}

bool writeArray(const fs::path& path, const tensor::Shape& shape, int seed) {
    std::vector<float> values(static_cast<std::size_t>(shape.numel()));
    for (std::size_t k = 0; k < values.size(); ++k)
        values[k] = static_cast<float>((k * 31 + static_cast<std::size_t>(seed)) % 255) / 255;
    return static_cast<bool>(io::writeNpyFile(path, tensor::Tensor::of<float>(shape, values)));
}

/// 200 to 456 pixels wide.
bool writePicture(const fs::path& path, int seed) {
    const int width = 200 + seed * 7 % 257, height = 180 + seed * 5 % 199;
    std::ofstream file(path, std::ios::binary);
    file << "P6\n" << width << ' ' << height << "\n255\n";
    for (int k = 0; k < width * height * 3; ++k) file.put(static_cast<char>((k * 13 + seed) % 251));
    return file.good();
}

}  // namespace

int main(int argc, char** argv) {
    const std::string model = argc > 1 ? argv[1] : "zoo:resnet18_slim";
    const int count = argc > 2 ? std::stoi(argv[2]) : 1000;
    const bool arePictures = argc > 3 && std::string_view(argv[3]) == "pictures";
    const auto document = document::open(model, {});
    if (!document) return fmt::print(stderr, "{}\n", document.error().text()), 1;
    const auto shape = (*document)->graph->node((*document)->inputs.front().node).type.staticShape();
    if (!shape) return fmt::print(stderr, "the first input has no fixed shape\n"), 1;
    const fs::path folder = fs::temp_directory_path() / fmt::format("bench_sweep_{}", ::getpid());
    fs::create_directories(folder);
    for (int i = 0; i < count; ++i) {
        const fs::path path = folder / fmt::format("{}.{}", i, arePictures ? "ppm" : "npy");
        if (!(arePictures ? writePicture(path, i) : writeArray(path, *shape, i))) return 1;
    }
    const auto inputs = session::sweepInputs(folder);
    const auto sweep = session::Sweep::make(*document, {});
    if (!inputs || !sweep) return 1;
    double after100 = 0;
    std::size_t done = 0;
    const auto begin = std::chrono::steady_clock::now();
    const auto summary = sweep->run(inputs->inputs, [&](const session::SweepRow&) {
        if (++done == std::min<std::size_t>(100, inputs->inputs.size())) after100 = memoryMib("VmHWM:");
        if (done % 100 == 0)
            fmt::print("{:5} inputs, VmRSS {:.1f} MiB, VmHWM {:.1f} MiB\n", done, memoryMib("VmRSS:"),
                       memoryMib("VmHWM:"));
    });
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    fs::remove_all(folder);
    if (!summary) return 1;
    fmt::print("{} on {} inputs: {:.1f} a second, {} failed, VmHWM grew by {:.1f} MiB from input 100 to the last\n",
               model, summary->done, static_cast<double>(summary->done) / seconds, summary->failed,
               memoryMib("VmHWM:") - after100);
    return summary->failed == 0 ? 0 : 1;
}
