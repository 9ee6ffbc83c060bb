// Times of the kernels that decide how fast a model runs and of whole models with random weights, in one table:
// bench_kernels [kernels|products|models [MODEL…]|census [MODEL…]]. Best of several runs on one thread and on two,
// GFLOP/s on one, for models (also files) the cost of keeping every node's value; products: our float32 products and
// convolutions and Eigen's in turn, with the ratio. SONDE_KERNELS=baseline|avx2|avx512 chooses the loops.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

#include "core/document/document.h"
#include "core/exec/runner.h"
#include "core/ops/kernels/float_kernels.h"
#include "core/ops/kernels/fourier.h"
#include "core/ops/kernels/gemm.h"
#include "core/ops/registry/registry.h"
#include "tests/bench/products/products.h"

using namespace sonde;

namespace {

double milliseconds() {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double best(const std::function<void()>& run, double budget = 400) {
    run();
    run();
    double least = 1e300;
    const double until = milliseconds() + budget;
    for (int i = 0; i < 5 || (milliseconds() < until && i < 500); ++i) {
        const double start = milliseconds();
        run();
        least = std::min(least, milliseconds() - start);
    }
    return least;
}

/// One line: what is 0 is left out.
void line(const std::string& name, double one, double two, double gigaflops, double watched) {
    std::printf("%-40s %10.3f", name.c_str(), one);
    two > 0 ? std::printf(" %10.3f %7.2f", two, one / two) : std::printf(" %10s %7s", "", "");
    gigaflops > 0 ? std::printf(" %9.1f", gigaflops / one * 1e3) : std::printf(" %9s", "");
    if (watched > 0) std::printf(" %10.2f", watched / one);
    std::printf("\n");
    std::fflush(stdout);
}

struct Pools {
    base::ThreadPool one{1}, two{2};
};

/// run(pool) on one thread and on two.
void report(Pools& pools, const std::string& name, double flops, const std::function<void(base::ThreadPool&)>& run) {
    line(name, best([&] { run(pools.one); }), best([&] { run(pools.two); }), flops / 1e9, 0);
}

tensor::Tensor ones(tensor::Shape shape) {
    tensor::Tensor tensor = tensor::Tensor::allocate(tensor::DType::Float32, std::move(shape)).value();
    std::fill(tensor.mutableData<float>(), tensor.mutableData<float>() + tensor.numel(), 0.5F);
    return tensor;
}

void products(Pools& pools) {
    for (std::int64_t n : {256, 512, 1024}) {
        const tensor::Tensor a = ones({n, n}), b = ones({n, n});
        tensor::Tensor c = ones({n, n});
        ops::kernels::GemmCall<float> call;
        call.m = call.n = call.k = n;
        call.left = {a.data<float>(), n, 1};
        call.right = {b.data<float>(), n, 1};
        call.c = c.mutableData<float>();
        call.ldc = n;
        const std::string name = "product " + std::to_string(n);
        report(pools, name, 2.0 * static_cast<double>(n * n * n),
               [&](base::ThreadPool& pool) { ops::kernels::gemm(call, pool); });
    }
}

void convolution(Pools& pools, const char* name, std::int64_t in, std::int64_t out, std::int64_t size,
                 std::int64_t kernel, std::int64_t stride, std::int64_t group) {
    ops::RunEnvironment environment{&pools.one, {}, 0, false};
    const ops::OpDef* op = ops::Registry::all().find("", "Conv", 22);
    const tensor::Value inputs[] = {ones({1, in, size, size}), ones({out, in / group, kernel, kernel})};
    const std::int64_t pad = kernel / 2;
    const tensor::Attributes attributes =
        ops::completeAttributes(*op, {{"group", group},
                                      {"strides", std::vector<std::int64_t>{stride, stride}},
                                      {"pads", std::vector<std::int64_t>{pad, pad, pad, pad}}})
            .value();
    const tensor::Value constants[] = {tensor::Value(), inputs[1]};
    const auto prepared = op->prepare(ops::Constants(constants, *op), attributes, environment).value();
    const double outputs = static_cast<double>(size / stride * (size / stride) * out);
    report(pools, name, 2.0 * outputs * static_cast<double>(in / group * kernel * kernel), [&](base::ThreadPool& pool) {
        environment.pool = &pool;
        const auto result =
            ops::callPrepared(*op, inputs, attributes, 1, environment, 22, prepared.get(), nullptr, nullptr);
        if (!result) std::abort();
    });
}

/// 16 transforms of one length; of 10007, a prime, also one by the definition, as lengths without small factors were
/// once taken. GFLOP by the usual count of 5·N·log2 N.
template <typename T>
void fourier(Pools& pools, const std::string& type, std::int64_t length) {
    const std::vector<T> x(static_cast<std::size_t>(2 * length), T{0.5});
    ops::kernels::FourierLines<T> lines;
    lines.count = 16, lines.length = length;
    lines.load = [&](std::size_t, T* to) { std::copy(x.begin(), x.end(), to); };
    lines.store = [](std::size_t, const T*) {};
    const auto n = static_cast<double>(length);
    report(pools, "16 Fourier transforms of " + std::to_string(length) + ", " + type, 16 * 5 * n * std::log2(n),
           [&](base::ThreadPool& pool) { static_cast<void>(ops::kernels::transformLines(lines, pool, {})); });
}

void fourierByDefinition(std::size_t n) {
    const std::vector<std::complex<double>> x(n, 0.5);
    std::vector<std::complex<double>> y(n);
    const double turn = -2 * std::numbers::pi / static_cast<double>(n), start = milliseconds();
    for (std::size_t k = 0; k < n; ++k) {
        for (std::size_t i = 0; i < n; ++i) y[k] += x[i] * std::polar(1.0, turn * static_cast<double>(k * i % n));
    }
    line("1 of " + std::to_string(n) + " by the definition", milliseconds() - start, 0, 0, 0);
}

void loops() {
    using ops::kernels::Isa;
    const tensor::Tensor x = ones({1 << 16});
    tensor::Tensor y = ones({1 << 16});
    for (Isa isa : {Isa::Baseline, Isa::Avx2, Isa::Avx512}) {
        const ops::kernels::FloatKernels* kernels = ops::kernels::floatKernels(isa);
        if (!kernels) continue;
        for (const auto& [what, which] :
             {std::pair("exp", ops::kernels::Unary::Exp), std::pair("gelu", ops::kernels::Unary::Gelu),
              std::pair("relu", ops::kernels::Unary::Relu)}) {
            const std::string name = std::string(what) + " of 65536, " + kernels->name;
            line(name, best([&, which = which] {
                     kernels->unary[static_cast<std::size_t>(which)](x.data<float>(), y.mutableData<float>(), 1 << 16,
                                                                     0, 0);
                 }),
                 0, 0, 0);
        }
    }
}

/// GFLOP as performance tables count them: two for each multiplication of convolutions and matrix products.
struct Model {
    std::string name;  ///< of a file, or of what the zoo has
    double gigaflops = 0;
};
const Model kModels[] = {{"zoo:resnet18", 3.63},    {"zoo:resnet50", 8.18}, {"zoo:mobilenet_v2", 0.6},
                         {"zoo:densenet121", 5.67}, {"zoo:vit_b_16", 35.1}, {"zoo:bert_base", 22.3}};

void model(const Model& which) {
    const auto document = document::open(which.name);
    if (!document) return void(std::printf("%s: %s\n", which.name.c_str(), document.error().what.c_str()));
    const auto graph = (*document)->graph;
    std::vector<tensor::Value> inputs;
    for (graph::NodeId node : graph->inputs()) {
        const tensor::TypeInfo& type = graph->node(node).type;
        const auto shape = type.staticShape();
        if (!shape) return void(std::printf("%s: the sizes of its inputs are open\n", which.name.c_str()));
        tensor::Tensor x = ones(*shape);
        if (type.dtype != tensor::DType::Float32) std::fill_n(x.mutableData<float>(), x.numel(), 1.0F);  // words, masks
        inputs.emplace_back(x.cast(type.dtype).value());
    }
    exec::PlanOptions all;
    all.watchAll = true;
    const auto plain = exec::Plan::make(graph, {}).value(), watched = exec::Plan::make(graph, all).value();
    struct Way {
        exec::Runner runner;
        const exec::Plan& plan;
        exec::Recording recording = {};  ///< kept until the next run, as a viewer does
        double least = 1e300;
    };
    Way one{exec::Runner(1), *plain}, two{exec::Runner(2), *plain}, every{exec::Runner(1), *watched};
    // In turn: what else the machine does meets all of them.
    for (int turn = 0; turn < 3; ++turn) {
        for (Way* way : {&one, &two, &every}) {
            way->least = std::min(way->least, best(
                                                  [way, &inputs] {
                                                      way->recording = way->runner.run(way->plan, inputs);
                                                      if (way->recording.error) std::abort();
                                                  },
                                                  1000));
        }
    }
    line(which.name, one.least, two.least, which.gigaflops, every.least);
}

double processorMilliseconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

/// What counting NaN and infinity costs: runs with and without it in turn, on one thread and on two. Processor time, so
/// that what else the machine does counts less; the median and the lower quartile of all runs.
void census(const Model& which) {
    const auto document = document::open(which.name);
    if (!document) return void(std::printf("%s: %s\n", which.name.c_str(), document.error().what.c_str()));
    const auto plan = exec::Plan::make((*document)->graph, {}).value();
    std::vector<tensor::Value> inputs;
    for (graph::NodeId node : (*document)->graph->inputs())
        inputs.emplace_back(ones(*(*document)->graph->node(node).type.staticShape()));
    for (std::size_t threads : {std::size_t{1}, std::size_t{2}}) {
        exec::Runner runner(threads);
        std::vector<double> with, without;
        const auto one = [&](bool counts) {
            exec::RunOptions options;
            options.countsBad = counts;
            const double start = processorMilliseconds();
            const exec::Recording recording = runner.run(*plan, inputs, {}, options);
            if (recording.error) std::abort();
            (counts ? with : without).push_back(processorMilliseconds() - start);
        };
        constexpr int kTurns = 200;
        for (int turn = 0; turn < kTurns; ++turn) one(turn % 2 == 0), one(turn % 2 != 0);
        std::sort(with.begin(), with.end());
        std::sort(without.begin(), without.end());
        const std::size_t middle = with.size() / 2, quarter = with.size() / 4;
        std::printf("%-24s %zu threads: %8.3f ms counted, %8.3f ms not: %+.1f %% (lower quartile %+.1f %%)\n",
                    which.name.c_str(), threads, with[middle], without[middle],
                    (with[middle] / without[middle] - 1) * 100, (with[quarter] / without[quarter] - 1) * 100);
    }
}

}  // namespace

int main(int argc, char** argv) {
    const std::string part = argc > 1 ? argv[1] : "";
    if (part == "census") {
        for (int i = 2; i < argc; ++i) census({argv[i]});
        for (const char* name : {"zoo:resnet18", "zoo:mobilenet_v2"}) {
            if (argc <= 2) census({name});
        }
        return 0;
    }
    if (part.empty() || part == "products") {
        bench::compareProducts();
        bench::compareConversions();
        if (part == "products") return 0;
    }
    std::printf("%-40s %10s %10s %7s %9s %10s\n", ops::kernels::floatKernels().name, "1T ms", "2T ms", "1T/2T",
                "GFLOP/s", "watch all");
    if (part != "models") {
        Pools pools;
        products(pools);
        convolution(pools, "conv 3x3 64, 56x56", 64, 64, 56, 3, 1, 1);
        convolution(pools, "conv 3x3 128, 28x28", 128, 128, 28, 3, 1, 1);
        convolution(pools, "conv 3x3 256, 14x14", 256, 256, 14, 3, 1, 1);
        convolution(pools, "conv 3x3 512, 7x7", 512, 512, 7, 3, 1, 1);
        convolution(pools, "conv 1x1 64 to 256, 56x56", 64, 256, 56, 1, 1, 1);
        convolution(pools, "conv 1x1 64 to 384, 14x14", 64, 384, 14, 1, 1, 1);
        convolution(pools, "conv 1x1 384 to 64, 14x14", 384, 64, 14, 1, 1, 1);
        convolution(pools, "conv 1x1 160 to 960, 7x7", 160, 960, 7, 1, 1, 1);
        convolution(pools, "conv 1x1 256 to 64, 56x56", 256, 64, 56, 1, 1, 1);
        convolution(pools, "conv 1x1 2048 to 512, 7x7", 2048, 512, 7, 1, 1, 1);
        convolution(pools, "conv 1x1 stride 2 256 to 512, 56x56", 256, 512, 56, 1, 2, 1);
        convolution(pools, "conv 3x3 stride 2 128, 56x56", 128, 128, 56, 3, 2, 1);
        convolution(pools, "conv 7x7 stride 2, 3 to 64, 224x224", 3, 64, 224, 7, 2, 1);
        convolution(pools, "depthwise 3x3 144, 56x56", 144, 144, 56, 3, 1, 144);
        convolution(pools, "depthwise 3x3 stride 2 96, 112x112", 96, 96, 112, 3, 2, 96);
        for (std::int64_t length : {400, 1024, 10007, 65537}) {
            fourier<float>(pools, "float32", length);
            fourier<double>(pools, "float64", length);
        }
        fourierByDefinition(10007);
        loops();
    }
    if (part != "kernels") {
        for (int i = 2; i < argc; ++i) model({argv[i]});
        for (const Model& each : kModels) {
            if (argc <= 2) model(each);
        }
    }
    return 0;
}
