// Times of the kernels that decide how fast a model runs, for each instruction set where that matters:
// bench_kernels [threads]. One line a case: median and best of several runs, GFLOP/s at best.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include "core/ops/kernels/float_kernels.h"
#include "core/ops/kernels/gemm.h"
#include "core/ops/registry/registry.h"

using namespace sonde;

namespace {

double milliseconds() {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void report(const char* name, double flops, const std::function<void()>& run) {
    run();
    std::vector<double> times;
    const double until = milliseconds() + 400;
    while (times.size() < 5 || (milliseconds() < until && times.size() < 200)) {
        const double start = milliseconds();
        run();
        times.push_back(milliseconds() - start);
    }
    std::ranges::sort(times);
    std::printf("%-40s %9.3f %9.3f", name, times[times.size() / 2], times[0]);
    if (flops > 0) std::printf(" %9.1f", flops / times[0] / 1e6);
    std::printf("\n");
}

tensor::Tensor ones(tensor::Shape shape) {
    tensor::Tensor tensor = tensor::Tensor::allocate(tensor::DType::Float32, std::move(shape)).value();
    std::fill(tensor.mutableData<float>(), tensor.mutableData<float>() + tensor.numel(), 0.5F);
    return tensor;
}

void products(base::ThreadPool& pool) {
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
        report(name.c_str(), 2.0 * static_cast<double>(n * n * n), [&] { ops::kernels::gemm(call, pool); });
    }
}

void convolution(base::ThreadPool& pool, const char* name, std::int64_t in, std::int64_t out, std::int64_t size, std::int64_t kernel, std::int64_t stride, std::int64_t group) {
    ops::RunEnvironment environment{&pool, {}, 0, false};
    const ops::OpDef* op = ops::Registry::all().find("", "Conv", 22);
    const tensor::Value inputs[] = {ones({1, in, size, size}), ones({out, in / group, kernel, kernel})};
    const std::int64_t pad = kernel / 2;
    const tensor::Attributes attributes = ops::completeAttributes(
        *op, {{"group", group}, {"strides", std::vector<std::int64_t>{stride, stride}}, {"pads", std::vector<std::int64_t>{pad, pad, pad, pad}}}).value();
    const tensor::Value constants[] = {tensor::Value(), inputs[1]};
    const auto prepared = op->prepare(constants, attributes, environment).value();
    const double outputs = static_cast<double>(size / stride * (size / stride) * out);
    report(name, 2.0 * outputs * static_cast<double>(in / group * kernel * kernel), [&] {
        const auto result = ops::callPrepared(*op, inputs, attributes, 1, environment, 22, prepared.get(), nullptr, nullptr);
        if (!result) std::abort();
    });
}

void loops() {
    using ops::kernels::Isa;
    const tensor::Tensor x = ones({1 << 16});
    tensor::Tensor y = ones({1 << 16});
    for (Isa isa : {Isa::Baseline, Isa::Avx2, Isa::Avx512}) {
        const ops::kernels::FloatKernels* kernels = ops::kernels::floatKernels(isa);
        if (!kernels) continue;
        for (const auto& [what, which] : {std::pair("exp", ops::kernels::Unary::Exp), std::pair("gelu", ops::kernels::Unary::Gelu), std::pair("relu", ops::kernels::Unary::Relu)}) {
            const std::string name = std::string(what) + " of 65536, " + kernels->name;
            report(name.c_str(), 0, [&, which = which] { kernels->unary[static_cast<std::size_t>(which)](x.data<float>(), y.mutableData<float>(), 1 << 16, 0, 0); });
        }
    }
}

}  // namespace

int main(int argc, char** argv) {
    const int threads = argc > 1 ? std::atoi(argv[1]) : 1;
    base::ThreadPool pool(static_cast<std::size_t>(std::max(threads, 0)));
    std::printf("%s, %zu threads\n%-40s %9s %9s %9s\n", ops::kernels::floatKernels().name, pool.threads(), "", "median ms", "best ms", "GFLOP/s");
    products(pool);
    convolution(pool, "conv 3x3 64, 56x56", 64, 64, 56, 3, 1, 1);
    convolution(pool, "conv 3x3 128, 28x28", 128, 128, 28, 3, 1, 1);
    convolution(pool, "conv 3x3 256, 14x14", 256, 256, 14, 3, 1, 1);
    convolution(pool, "conv 3x3 512, 7x7", 512, 512, 7, 3, 1, 1);
    convolution(pool, "conv 1x1 64 to 256, 56x56", 64, 256, 56, 1, 1, 1);
    convolution(pool, "conv 7x7 stride 2, 3 to 64, 224x224", 3, 64, 224, 7, 2, 1);
    convolution(pool, "depthwise 3x3 144, 56x56", 144, 144, 56, 3, 1, 144);
    loops();
    return 0;
}
