// What a recorded function costs when it is called: as a call that calls the function again and compares, and with
// without_host, which only runs the recording. bench_repeated_trace [LAYERS]. One line for each count of layers:
// median times of a call in microseconds, and their ratio.

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <string_view>
#include <vector>

#include "core/document/repeated_trace.h"
#include "core/nn/functional.h"

using namespace sonde;

namespace {

double microseconds() {
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

tensor::Value filled(std::int64_t rows, std::int64_t columns) {
    std::vector<float> values(static_cast<std::size_t>(rows * columns), 0.01F);
    return tensor::Value(tensor::Tensor::of<float>(tensor::Shape{rows, columns}, values));
}

/// Median time of a call after it was compiled; negative if one fails.
double timeOf(int layers, const document::TraceOptions& options) {
    const trace::Var weight(filled(64, 64));
    document::RepeatedTrace traced(
        [&](std::span<const trace::Var> in) {
            trace::Var x = in[0];
            for (int i = 0; i < layers; ++i) x = nn::relu(nn::linear(x, weight, trace::Var::none()));
            return x;
        },
        {{"x", std::nullopt, false, true}}, options);
    const std::vector<tensor::Value> input{filled(8, 64)};
    std::vector<double> times;
    for (int i = 0; i < 53; ++i) {
        const double start = microseconds();
        if (!traced.call(input)) return -1;
        if (i >= 3) times.push_back(microseconds() - start);
    }
    std::ranges::sort(times);
    return times[times.size() / 2];
}

void measureCalls(int layers) {
    document::TraceOptions compared, symbolic, alone;
    symbolic.symbolic = true;
    alone.withoutHost = true;
    const double with = timeOf(layers, compared), lazily = timeOf(layers, symbolic), without = timeOf(layers, alone);
    std::printf("%6d %12.1f %12.1f %14.1f %8.1f\n", layers, with, lazily, without, with / without);
}

}  // namespace

int main(int argc, char** argv) {
    std::printf("%6s %12s %12s %14s %8s\n", "layers", "compared us", "symbolic us", "without_host us", "ratio");
    int layers = 0;
    if (argc > 1) {
        const std::string_view text = argv[1];
        std::from_chars(text.data(), text.data() + text.size(), layers);
        if (layers > 0) measureCalls(layers);
        return layers > 0 ? 0 : 2;
    }
    for (const int count : {1, 10, 100}) measureCalls(count);
}
