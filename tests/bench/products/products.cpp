#include "tests/bench/products/products.h"

#include <Eigen/Core>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/ops/kernels/epilogue.h"
#include "core/ops/kernels/float_kernels.h"
#include "core/ops/kernels/gemm.h"
#include "core/tensor/cast.h"
#include "tests/bench/products/eigen_product.h"

namespace sonde::bench {

#define SONDE_DECLARE_EIGEN(isa)            \
    namespace isa {                         \
    void product(const EigenProduct& call); \
    }
SONDE_DECLARE_EIGEN(baseline)
#if defined(SONDE_X86_KERNELS)
SONDE_DECLARE_EIGEN(avx2)
SONDE_DECLARE_EIGEN(avx512)
#endif

EigenProductFunction eigenProduct() {
#if defined(SONDE_X86_KERNELS)
    if (std::strcmp(ops::kernels::floatKernels().name, "avx512") == 0) return avx512::product;
    if (std::strcmp(ops::kernels::floatKernels().name, "avx2") == 0) return avx2::product;
#endif
    return baseline::product;
}

namespace {

using base::ThreadPool;
using ops::kernels::Epilogue;
using tensor::Shape;
using tensor::Tensor;
using tensor::Value;
using Run = std::function<void(ThreadPool&)>;

double milliseconds() {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

struct Times {
    double ours, eigen, ratio;
};

/// Readings of at least a millisecond in turn: what else the machine does meets both.
Times series(ThreadPool& pool, const Run& ours, const Run& eigen) {
    const auto once = [&](const Run& run, int repeats) {
        const double start = milliseconds();
        for (int i = 0; i < repeats; ++i) run(pool);
        return (milliseconds() - start) / repeats;
    };
    const int repeats = std::clamp(static_cast<int>(1.0 / std::max(once(ours, 2), 1e-4)), 1, 1000);
    once(eigen, 1);
    std::vector<double> first, second, ratios;
    for (int i = 0; i < 11; ++i) {
        first.push_back(once(ours, repeats));
        second.push_back(once(eigen, repeats));
        ratios.push_back(second.back() / first.back());
    }
    return {median(first), median(second), median(ratios)};
}

void compare(const std::string& name, const Run& ours, const Run& eigen) {
    std::printf("%-44s", name.c_str());
    bool holds = true;
    for (std::size_t threads : {1, 2}) {
        ThreadPool pool(threads);
        std::vector<double> own, other, ratios;
        for (int i = 0; i < 3; ++i) {
            const Times times = series(pool, ours, eigen);
            own.push_back(times.ours), other.push_back(times.eigen), ratios.push_back(times.ratio);
        }
        const double least = *std::min_element(ratios.begin(), ratios.end());
        holds = holds && least >= 1.05;
        std::printf(" %9.4f %9.4f %5.2f %5.2f", median(own), median(other), median(ratios), least);
    }
    std::printf("  %s\n", holds ? "ours" : "EIGEN");
    std::fflush(stdout);
}

Tensor random(Shape shape) {
    Tensor x = Tensor::allocate(tensor::DType::Float32, std::move(shape)).value();
    std::uint32_t state = 1;
    for (float& value : x.mutableSpan<float>())
        value = static_cast<float>((state = state * 1664525 + 1013904223) >> 8) * 0x1p-24F - 0.5F;
    return x;
}

/// Copies of weights that are used in turn: in a model the other layers have driven them out of the caches by the next
/// run.
template <typename T>
class Turns {
  public:
    template <typename Make>
    Turns(std::int64_t floats, Make make) {
        constexpr std::int64_t kFloats = std::int64_t{1} << 24, kMax = 256;
        const std::int64_t count = std::clamp<std::int64_t>(kFloats / std::max<std::int64_t>(floats, 1), 2, kMax);
        for (std::int64_t i = 0; i < count; ++i) m_all.push_back(make());
    }
    std::size_t count() const { return m_all.size(); }
    const T& next() const { return m_all[m_at++ % m_all.size()]; }

  private:
    std::vector<T> m_all;
    mutable std::size_t m_at = 0;
};

class Heap : public ops::OutputAllocator {
  public:
    base::Result<Tensor> allocate(std::size_t, tensor::DType dtype, const Shape& shape) override {
        return Tensor::allocate(dtype, shape);
    }
};

/// Runs `body` with a relu as epilogue of the kernel, in place, as the executor does.
template <typename Body>
void withRelu(Body body) {
    static Heap heap;
    static const ops::OpDef& relu = *ops::Registry::all().find("", "Relu", 14);
    static const tensor::Attributes none;
    Epilogue::Link link;
    link.op = &relu;
    link.inputs = {Value()};
    link.ownInputs = {0};
    link.attributes = &none;
    link.overwrites = true;
    Epilogue epilogue({link}, heap);
    const Epilogue::Scope scope(&epilogue);
    body();
}

/// Eigen has no threads of its own here: rows or columns of C are shared, whichever are more.
void eigenShared(const EigenProduct& all, ThreadPool& pool) {
    const auto shares = static_cast<std::ptrdiff_t>(pool.threads());
    pool.parallelFor(pool.threads(), 1, [&](std::size_t begin, std::size_t) {
        const auto share = static_cast<std::ptrdiff_t>(begin);
        EigenProduct part = all;
        if (all.m >= all.n) {
            const std::ptrdiff_t from = all.m * share / shares;
            part.m = all.m * (share + 1) / shares - from;
            part.a += from * all.aStride, part.c += from * all.cStride;
            if (part.rowBias) part.rowBias += from;
        } else {
            const std::ptrdiff_t from = all.n * share / shares;
            part.n = all.n * (share + 1) / shares - from;
            part.b += from * (all.bTurned ? all.bStride : 1), part.c += from;
            if (part.columnBias) part.columnBias += from;
        }
        if (part.m > 0 && part.n > 0) eigenProduct()(part);
    });
}

/// relu(x·wᵀ + bias), x [m, k], w [n, k].
void linear(const std::string& model, std::int64_t m, std::int64_t k, std::int64_t n) {
    const Tensor x = random(Shape{m, k}), bias = random(Shape{n});
    Tensor y = random(Shape{m, n});
    ThreadPool alone(1);
    struct Weights {
        Tensor plain;
        ops::kernels::PackedMatrix packed;
    };
    const Turns<Weights> weights(n * k, [&] {
        Weights made{random(Shape{n, k}), {}};
        made.packed = ops::kernels::PackedMatrix::right({made.plain.data<float>(), 1, k}, k, n, alone);
        return made;
    });
    const Run ours = [&](ThreadPool& pool) {
        withRelu([&] {
            const Weights& w = weights.next();
            ops::kernels::GemmCall<float> call;
            call.m = m, call.n = n, call.k = k;
            call.left = {x.data<float>(), k, 1};
            call.right = {w.plain.data<float>(), 1, k};
            call.rightPacked = &w.packed;
            call.columnBias = bias.data<float>();
            call.c = y.mutableData<float>();
            call.ldc = n;
            call.epilogue = Epilogue::of(y);
            ops::kernels::gemm(call, pool);
        });
    };
    const Run eigen = [&](ThreadPool& pool) {
        eigenShared({m, n, k, x.data<float>(), k, weights.next().plain.data<float>(), k, true, y.mutableData<float>(),
                     n, bias.data<float>()},
                    pool);
    };
    compare(
        model + (m == 1 ? " GEMV " : " GEMM ") + std::to_string(m) + "x" + std::to_string(k) + "x" + std::to_string(n),
        ours, eigen);
}

/// [batches, m, k]·[batches, k, n], or the second as [batches, n, k]: scores and sums of attention.
void batched(const std::string& model, std::int64_t batches, std::int64_t m, std::int64_t k, std::int64_t n,
             bool turned) {
    const Tensor a = random(Shape{batches, m, k}),
                 stored = random(turned ? Shape{batches, n, k} : Shape{batches, k, n});
    const Value inputs[] = {Value(a), Value(turned ? stored.transposed(1, 2) : stored)};
    Tensor y = random(Shape{batches, m, n});
    const ops::OpDef& op = *ops::Registry::all().find("", "MatMul", 13);
    const Run ours = [&](ThreadPool& pool) {
        ops::RunEnvironment environment{&pool, {}, 0, false};
        if (!ops::callPrepared(op, inputs, {}, 1, environment, 13, nullptr, nullptr, nullptr)) std::abort();
    };
    const Run eigen = [&](ThreadPool& pool) {
        const Tensor result = Tensor::allocate(tensor::DType::Float32, y.shape()).value();
        pool.parallelFor(static_cast<std::size_t>(batches), 1, [&](std::size_t begin, std::size_t) {
            const auto i = static_cast<std::ptrdiff_t>(begin);
            eigenProduct()({m, n, k, a.data<float>() + i * m * k, k, stored.data<float>() + i * k * n, turned ? k : n,
                            turned, const_cast<float*>(result.data<float>()) + i * m * n, n});
        });
    };
    compare(model + " batched " + std::to_string(batches) + " x " + std::to_string(m) + "x" + std::to_string(k) + "x" +
                std::to_string(n),
            ours, eigen);
}

/// Rows of the matrix [C·taps, outputs] that an image [C, size, size] is for a window with half of it as padding.
void columnsOf(const float* image, std::int64_t size, std::int64_t kernel, std::int64_t stride, std::int64_t out,
               std::int64_t row, float* target) {
    const std::int64_t c = row / (kernel * kernel), dy = row / kernel % kernel - kernel / 2,
                       dx = row % kernel - kernel / 2;
    for (std::int64_t y = 0; y < out; ++y) {
        for (std::int64_t x = 0; x < out; ++x) {
            const std::int64_t iy = y * stride + dy, ix = x * stride + dx;
            target[y * out + x] =
                iy >= 0 && iy < size && ix >= 0 && ix < size ? image[(c * size + iy) * size + ix] : 0.0F;
        }
    }
}

/// relu(conv(x, w) + bias) of one image [in, size, size]; Eigen through im2col unless the image is the matrix already.
void convolution(const std::string& model, std::int64_t in, std::int64_t out, std::int64_t size, std::int64_t kernel,
                 std::int64_t stride) {
    const std::int64_t pad = kernel / 2, outSize = (size + 2 * pad - kernel) / stride + 1, depth = in * kernel * kernel,
                       positions = outSize * outSize;
    const Tensor x = random(Shape{1, in, size, size}), bias = random(Shape{out});
    const ops::OpDef& op = *ops::Registry::all().find("", "Conv", 11);
    ThreadPool alone(1);
    ops::RunEnvironment preparing{&alone, {}, 0, false};
    const tensor::Attributes attributes =
        ops::completeAttributes(op, {{"strides", std::vector<std::int64_t>{stride, stride}},
                                     {"pads", std::vector<std::int64_t>{pad, pad, pad, pad}}})
            .value();
    struct Weights {
        Tensor plain;
        std::unique_ptr<ops::PreparedState> prepared;
    };
    const Turns<Weights> weights(out * depth, [&] {
        Weights made{random(Shape{out, in, kernel, kernel}), nullptr};
        const Value constants[] = {Value(), Value(made.plain), Value(bias)};
        made.prepared = op.prepare(ops::Constants(constants, op), attributes, preparing).value();
        return made;
    });
    const Run ours = [&](ThreadPool& pool) {
        withRelu([&] {
            ops::RunEnvironment environment{&pool, {}, 0, false};
            const Weights& w = weights.next();
            const Value inputs[] = {Value(x), Value(w.plain), Value(bias)};
            if (!ops::callPrepared(op, inputs, attributes, 1, environment, 11, w.prepared.get(), nullptr, nullptr))
                std::abort();
        });
    };
    for (std::size_t i = 0; i < weights.count(); ++i) ours(alone);  // layouts are made when they are first wanted
    const bool plain = kernel == 1 && stride == 1;
    std::vector<float> columns(plain ? 0 : static_cast<std::size_t>(depth * positions));
    const Run eigen = [&](ThreadPool& pool) {
        const Tensor y = Tensor::allocate(tensor::DType::Float32, Shape{1, out, outSize, outSize}).value();
        const float* image = x.data<float>();
        if (!plain) {
            pool.parallelFor(static_cast<std::size_t>(depth), 16, [&](std::size_t begin, std::size_t end) {
                for (auto row = static_cast<std::int64_t>(begin); row < static_cast<std::int64_t>(end); ++row)
                    columnsOf(image, size, kernel, stride, outSize, row, columns.data() + row * positions);
            });
        }
        eigenShared({out, positions, depth, weights.next().plain.data<float>(), depth, plain ? image : columns.data(),
                     positions, false, const_cast<float*>(y.data<float>()), positions, nullptr, bias.data<float>()},
                    pool);
    };
    compare(model + " conv " + std::to_string(kernel) + "x" + std::to_string(kernel) + (stride > 1 ? "/2 " : " ") +
                std::to_string(in) + " to " + std::to_string(out) + ", " + std::to_string(size),
            ours, eigen);
}

void resnet() {
    convolution("ResNet-50", 3, 64, 224, 7, 2);
    for (const auto& [channels, size] : {std::pair{64, 56}, {128, 28}, {256, 14}, {512, 7}}) {
        convolution("ResNet-50", 4 * channels, channels, size, 1, 1);
        convolution("ResNet-50", channels, channels, size, 3, 1);
        convolution("ResNet-50", channels, 4 * channels, size, 1, 1);
    }
    for (const auto& [channels, size] : {std::pair{128, 56}, {256, 28}, {512, 14}}) {
        convolution("ResNet-50", channels, channels, size, 3, 2);
        convolution("ResNet-50", 2 * channels, 4 * channels, size, 1, 2);
    }
    linear("ResNet-50", 1, 2048, 1000);
}

void transformer(const std::string& model, std::int64_t tokens, std::int64_t lastColumns) {
    linear(model, tokens, 768, 768);
    linear(model, tokens, 768, 2304);
    linear(model, tokens, 768, 3072);
    linear(model, tokens, 3072, 768);
    linear(model, 1, 768, lastColumns);
    batched(model, 12, tokens, 64, tokens, true);
    batched(model, 12, tokens, tokens, 64, false);
}

/// Nanoseconds an element of 65,536, the median of 25.
double conversion(const std::function<void()>& run) {
    std::vector<double> times;
    for (int i = 0; i < 25; ++i) {
        const double start = milliseconds();
        for (int k = 0; k < 10; ++k) run();
        times.push_back((milliseconds() - start) * 1e6 / 10 / 65536);
    }
    return median(times);
}

/// Eigen's cast between a type T of its own and float, on arrays.
template <typename T>
void conversions(const char* name, tensor::DType dtype) {
    const Tensor values = random(Shape{65536});
    Tensor narrow = values.cast(dtype).value(), back = random(Shape{65536});
    Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>> bits(reinterpret_cast<T*>(narrow.mutableBytes()), 65536);
    Eigen::Map<Eigen::ArrayXf> floats(back.mutableData<float>(), 65536);
    const double widen = conversion(
        [&] { tensor::castElements(dtype, narrow.bytes(), tensor::DType::Float32, back.mutableBytes(), 65536); });
    const double eigenWiden = conversion([&] { floats = bits.template cast<float>(); });
    const double round = conversion(
        [&] { tensor::castElements(tensor::DType::Float32, values.bytes(), dtype, narrow.mutableBytes(), 65536); });
    const double eigenRound = conversion([&] { bits = floats.template cast<T>(); });
    std::printf("%-10s to float32 %6.3f (Eigen's array %6.3f), from float32 %6.3f (%6.3f) ns an element\n", name, widen,
                eigenWiden, round, eigenRound);
}

}  // namespace

void compareProducts() {
    std::printf("%-44s %31s   %31s\n%-44s %9s %9s %5s %5s %9s %9s %5s %5s\n", "", "1 thread", "2 threads",
                ops::kernels::floatKernels().name, "ours ms", "Eigen ms", "ratio", "least", "ours ms", "Eigen ms",
                "ratio", "least");
    resnet();
    transformer("ViT-B/16", 197, 1000);
    transformer("BERT", 128, 768);  // the pooler
}

void compareConversions() {
    conversions<Eigen::half>("float16", tensor::DType::Float16);
    conversions<Eigen::bfloat16>("bfloat16", tensor::DType::BFloat16);
}

}  // namespace sonde::bench
