#include "core/analysis/profile/machine_limits.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <vector>

#include "core/ops/registry/registry.h"

namespace sonde::analysis {

namespace {

constexpr std::int64_t kSide = 768;
constexpr std::size_t kTriadCount = std::size_t{8} << 20;  // float32: 32 MiB, more than caches hold
constexpr std::size_t kTriadGrain = std::size_t{64} << 10;
constexpr int kTries = 5;

double secondsSince(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

base::Result<double> productRate(base::ThreadPool& pool, const base::WorkContext& work) {
    const ops::OpDef* const product = ops::Registry::all().find("", "MatMul", 13);
    if (!product) return base::runError("there is no operator MatMul");
    std::vector<tensor::Value> inputs;
    for (int i = 0; i < 2; ++i) {
        SONDE_ASSIGN(tensor::Tensor matrix, tensor::Tensor::zeros(tensor::DType::Float32, {kSide, kSide}));
        for (float& element : matrix.mutableSpan<float>()) element = 0.5F;
        inputs.emplace_back(std::move(matrix));
    }
    ops::RunEnvironment environment;
    environment.pool = &pool;
    environment.stop = work.stop;
    double best = 0;
    for (int i = 0; i < kTries; ++i) {
        if (work.cancelled()) return base::cancelled("measuring the machine");
        const auto start = std::chrono::steady_clock::now();
        SONDE_TRY(ops::call(*product, inputs, {}, 1, environment, 13));
        best = std::max(best, 2.0 * kSide * kSide * kSide / secondsSince(start));
    }
    return best;
}

base::Result<double> triadRate(base::ThreadPool& pool, const base::WorkContext& work) {
    std::vector<tensor::Tensor> arrays;
    for (int i = 0; i < 3; ++i) {
        SONDE_ASSIGN(tensor::Tensor array, tensor::Tensor::zeros(tensor::DType::Float32, {kTriadCount}));
        arrays.push_back(std::move(array));
    }
    float* const a = arrays[0].mutableSpan<float>().data();
    const float* const b = arrays[1].span<float>().data();
    const float* const c = arrays[2].span<float>().data();
    double best = 0;
    for (int i = 0; i < kTries; ++i) {
        if (work.cancelled()) return base::cancelled("measuring the machine");
        const auto start = std::chrono::steady_clock::now();
        pool.parallelFor(kTriadCount, kTriadGrain, [&](std::size_t begin, std::size_t end) {
            for (std::size_t j = begin; j < end; ++j) a[j] = b[j] + 3.0F * c[j];
        });
        best = std::max(best, 3.0 * sizeof(float) * static_cast<double>(kTriadCount) / secondsSince(start));
    }
    return best;
}

}  // namespace

double MachineLimits::at(double intensity) const { return std::min(flopsPerSecond, intensity * bytesPerSecond); }

base::Result<MachineLimits> machineLimits(base::ThreadPool& pool, const base::WorkContext& work) {
    static std::mutex mutex;
    static std::map<std::size_t, MachineLimits> known;
    const std::scoped_lock lock(mutex);
    if (const auto found = known.find(pool.threads()); found != known.end()) return found->second;
    work.report("measuring the machine's limits");
    MachineLimits limits{pool.threads(), 0, 0};
    SONDE_ASSIGN(limits.flopsPerSecond, productRate(pool, work));
    SONDE_ASSIGN(limits.bytesPerSecond, triadRate(pool, work));
    return known.emplace(pool.threads(), limits).first->second;
}

}  // namespace sonde::analysis
