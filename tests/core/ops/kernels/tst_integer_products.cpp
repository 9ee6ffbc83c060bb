// Products and convolutions of quantised numbers against their definition in ONNX, summed here in 64-bit integers:
// every combination of signs and zero points, sizes that fill the tiles of the loops and such that do not.

#include <QtTest>

#include <algorithm>
#include <cmath>
#include <random>

#include "core/ops/kernels/float_kernels.h"
#include "core/ops/registry/registry.h"

namespace tst_integer_products {

using namespace sonde;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;
using tensor::Value;

namespace {

Tensor bytes(DType dtype, Shape shape, unsigned seed) {
    std::mt19937 engine(seed);
    Tensor x = Tensor::allocate(dtype, std::move(shape)).value();
    auto* const data = reinterpret_cast<std::uint8_t*>(x.mutableBytes());
    for (std::int64_t i = 0; i < x.numel(); ++i) data[i] = static_cast<std::uint8_t>(engine());
    return x;
}

Tensor floats(std::vector<float> values) {
    const auto count = static_cast<std::int64_t>(values.size());
    return Tensor::of<float>(count == 1 ? Shape{} : Shape{count}, std::move(values));
}

/// As the executor calls it: with what is constant prepared (`isConstant` by position) or not.
Tensor call(const char* name, const std::vector<Value>& inputs, const std::vector<std::size_t>& constants,
            const tensor::Attributes& attributes = {}, std::size_t threads = 2) {
    base::ThreadPool pool(threads);
    ops::RunEnvironment environment{&pool, {}, 0, false};
    const ops::OpDef& op = *ops::Registry::all().find("", name, 0);
    std::vector<Value> known(inputs.size());
    for (const std::size_t i : constants) known[i] = inputs[i];
    std::unique_ptr<ops::PreparedState> state;
    const tensor::Attributes complete = ops::completeAttributes(op, attributes).value();
    if (op.prepare && !constants.empty()) state = op.prepare(ops::Constants(known, op), complete, environment).value();
    auto results = ops::callPrepared(op, inputs, complete, 1, environment, 0, state.get(), nullptr, nullptr);
    if (!results) qFatal("%s", results.error().what.c_str());
    return results->front().tensor().contiguous().value();
}

std::int64_t at(const Tensor& x, std::int64_t i) {
    if (x.dtype() == DType::Int8) return x.data<std::int8_t>()[i];
    return x.dtype() == DType::UInt8 ? x.data<std::uint8_t>()[i] : x.data<std::int32_t>()[i];
}
std::int64_t zeroAt(const Tensor& zeros, std::int64_t i) { return at(zeros, zeros.numel() == 1 ? 0 : i); }

double quantised(double ratio, const Tensor& zero) {
    const bool isSigned = zero.dtype() == DType::Int8;
    return std::clamp(std::nearbyint(ratio) + zero.toDouble(0), isSigned ? -128.0 : 0.0, isSigned ? 127.0 : 255.0);
}

/// The sum of integers in float32, times the factor in float32, as ONNX Runtime has it.
double requantised(std::int64_t sum, float factor) { return static_cast<double>(static_cast<float>(sum) * factor); }

struct Image {
    std::int64_t in, out, size, kernel, stride, pad, groups, dilation = 1;
    std::int64_t outSize() const { return (size + 2 * pad - dilation * (kernel - 1) - 1) / stride + 1; }
    tensor::Attributes attributes() const {
        return {{"strides", std::vector<std::int64_t>{stride, stride}},
                {"dilations", std::vector<std::int64_t>{dilation, dilation}},
                {"pads", std::vector<std::int64_t>{pad, pad, pad, pad}},
                {"group", groups}};
    }
};

std::int64_t convolved(const Image& c, std::int64_t i, const Tensor& x, const Tensor& w, const Tensor& zeroX,
                       const Tensor& zeroW) {
    const std::int64_t side = c.outSize(), ox = i % side, oy = i / side % side, o = i / (side * side) % c.out,
                       n = i / (side * side * c.out), groupIn = c.in / c.groups;
    std::int64_t sum = 0;
    for (std::int64_t channel = 0; channel < groupIn; ++channel) {
        for (std::int64_t t = 0; t < c.kernel * c.kernel; ++t) {
            const std::int64_t iy = oy * c.stride + t / c.kernel * c.dilation - c.pad,
                               ix = ox * c.stride + t % c.kernel * c.dilation - c.pad;
            if (iy < 0 || ix < 0 || iy >= c.size || ix >= c.size) continue;
            const std::int64_t from = o / (c.out / c.groups) * groupIn + channel;
            sum += (at(x, ((n * c.in + from) * c.size + iy) * c.size + ix) - at(zeroX, 0)) *
                   (at(w, (o * groupIn + channel) * c.kernel * c.kernel + t) - zeroAt(zeroW, o));
        }
    }
    return sum;
}

}  // namespace

class TestIntegerProducts : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void tilesOfEveryInstructionSet_data();
    void tilesOfEveryInstructionSet();
    void loopsOfEveryInstructionSet_data() { tilesOfEveryInstructionSet_data(); }
    void loopsOfEveryInstructionSet();
    void matrices_data();
    void matrices();
    void batchesOfMatrices();
    void convolutions_data();
    void convolutions();
    void quantiseRoundsHalvesToEven();
};

void TestIntegerProducts::tilesOfEveryInstructionSet_data() {
    QTest::addColumn<int>("isa");
    for (const auto isa : {ops::kernels::Isa::Baseline, ops::kernels::Isa::Avx2, ops::kernels::Isa::Avx512})
        if (const auto* table = ops::kernels::floatKernels(isa)) QTest::newRow(table->name) << static_cast<int>(isa);
}

void TestIntegerProducts::tilesOfEveryInstructionSet() {
    QFETCH(int, isa);
    const ops::kernels::IntegerKernel& kernel = ops::kernels::floatKernels(ops::kernels::Isa(isa))->integers;
    constexpr std::int64_t kGroups = 37;
    const std::int64_t k = kGroups * kernel.depth;
    const Tensor a = bytes(DType::Int8, {kernel.mr, k}, 1), b = bytes(DType::UInt8, {k, kernel.nr}, 2);
    std::vector<std::int32_t> left(static_cast<std::size_t>(kGroups * kernel.mr)),
        right(static_cast<std::size_t>(kGroups * kernel.nr)), c(static_cast<std::size_t>(kernel.mr * kernel.nr));
    const int bits = 32 / kernel.depth;
    for (std::int64_t r = 0; r < kernel.mr; ++r) {
        for (std::int64_t p = 0; p < k; ++p) {
            const auto element = static_cast<std::uint32_t>(at(a, r * k + p)) & (bits == 8 ? 0xFFU : 0xFFFFU);
            left[static_cast<std::size_t>(p / kernel.depth * kernel.mr + r)] |=
                static_cast<std::int32_t>(element << (p % kernel.depth * bits));
        }
    }
    for (std::int64_t g = 0; g < kGroups; ++g) {
        const std::uint8_t* rows[4] = {};
        for (int l = 0; l < kernel.depth; ++l) rows[l] = b.data<std::uint8_t>() + (g * kernel.depth + l) * kernel.nr;
        kernel.interleave(rows, {}, static_cast<std::size_t>(kernel.nr), right.data() + g * kernel.nr);
    }
    for (int rows = 1; rows <= kernel.mr; ++rows) {
        for (const bool half : {true, false}) {
            std::ranges::fill(c, -1);
            kernel.run(rows, half, kGroups, left.data(), right.data(), c.data(), kernel.nr);
            for (std::int64_t i = 0; i < rows; ++i) {
                for (std::int64_t j = 0; j < (half ? kernel.nr / 2 : kernel.nr); ++j) {
                    std::int64_t sum = 0;
                    for (std::int64_t p = 0; p < k; ++p) sum += at(a, i * k + p) * at(b, p * kernel.nr + j);
                    QCOMPARE(static_cast<std::int64_t>(c[static_cast<std::size_t>(i * kernel.nr + j)]), sum);
                }
            }
        }
    }
}

void TestIntegerProducts::loopsOfEveryInstructionSet() {
    QFETCH(int, isa);
    const ops::kernels::QuantizedLoops& loops = ops::kernels::floatKernels(ops::kernels::Isa(isa))->quantized;
    constexpr std::size_t kCount = 1003;
    std::mt19937 engine(3);
    std::vector<std::int32_t> sums(kCount);
    std::vector<float> reals(kCount);
    for (std::size_t i = 0; i < kCount; ++i) {
        sums[i] = static_cast<std::int32_t>(engine() % 4001) - 2000;
        reals[i] = static_cast<float>(sums[i]) / 8;
    }
    std::vector<std::uint8_t> y(kCount);
    const ops::kernels::Requantisation by{5, -3, 0.125, nullptr, -128 - 7, 127 - 7, 7};
    loops.requantise(sums.data(), by, y.data(), kCount);
    for (std::size_t i = 0; i < kCount; ++i)
        QCOMPARE(static_cast<double>(static_cast<std::int8_t>(y[i])),
                 std::clamp(std::nearbyint((sums[i] + 5 - 3) * 0.125) + 7, -128.0, 127.0));
    QVERIFY(loops.quantise(reals.data(), {0.25F, -7, 255 - 7, 7}, y.data(), kCount));
    for (std::size_t i = 0; i < kCount; ++i)
        QCOMPARE(static_cast<double>(y[i]),
                 std::clamp(std::nearbyint(static_cast<double>(reals[i]) / 0.25) + 7, 0.0, 255.0));
    reals[17] = std::nanf("");
    QVERIFY(!loops.quantise(reals.data(), {0.25F, -7, 255 - 7, 7}, y.data(), kCount));
    loops.dequantise(y.data(), true, 3, 0.1F, reals.data(), kCount);
    std::int64_t total = 0;
    for (std::size_t i = 0; i < kCount; ++i) {
        QCOMPARE(reals[i], static_cast<float>(static_cast<std::int8_t>(y[i]) - 3) * 0.1F);
        total += static_cast<std::int8_t>(y[i]);
    }
    QCOMPARE(static_cast<std::int64_t>(loops.sum(y.data(), true, kCount)), total);
}

void TestIntegerProducts::matrices_data() {
    QTest::addColumn<int>("m");
    QTest::addColumn<int>("k");
    QTest::addColumn<int>("n");
    QTest::addColumn<bool>("isSignedA");
    QTest::addColumn<bool>("isSignedB");
    QTest::addColumn<bool>("alongAxes");
    for (const auto& [m, k, n] : {std::tuple(1, 64, 40), std::tuple(29, 33, 65), std::tuple(14, 50, 520)})
        for (const bool a : {false, true})
            for (const bool b : {false, true})
                for (const bool along : {false, true})
                    QTest::addRow("%dx%dx%d %s·%s%s", m, k, n, a ? "int8" : "uint8", b ? "int8" : "uint8",
                                  along ? ", zero points along axes" : "")
                        << m << k << n << a << b << along;
}

void TestIntegerProducts::matrices() {
    QFETCH(int, m);
    QFETCH(int, k);
    QFETCH(int, n);
    QFETCH(bool, isSignedA);
    QFETCH(bool, isSignedB);
    QFETCH(bool, alongAxes);
    const DType typeA = isSignedA ? DType::Int8 : DType::UInt8, typeB = isSignedB ? DType::Int8 : DType::UInt8;
    const Tensor a = bytes(typeA, {m, k}, 1), b = bytes(typeB, {k, n}, 2);
    const Tensor zeroA = alongAxes ? bytes(typeA, {m}, 3) : bytes(typeA, {}, 4),
                 zeroB = alongAxes ? bytes(typeB, {n}, 5) : bytes(typeB, {}, 6);
    const auto sum = [&](std::int64_t i, std::int64_t j, bool hasZeros) {
        std::int64_t result = 0;
        for (std::int64_t p = 0; p < k; ++p)
            result += (at(a, i * k + p) - (hasZeros ? zeroAt(zeroA, i) : 0)) *
                      (at(b, p * n + j) - (hasZeros ? zeroAt(zeroB, j) : 0));
        return result;
    };
    for (const std::vector<std::size_t>& constants : {std::vector<std::size_t>{}, {1, 3}, {1}}) {
        const Tensor y = call("MatMulInteger", {a, b, zeroA, zeroB}, constants);
        QCOMPARE(y.dtype(), DType::Int32);
        for (std::int64_t i = 0; i < m * n; ++i) QCOMPARE(at(y, i), sum(i / n, i % n, true));
    }
    const Tensor bare = call("MatMulInteger", {a, b}, {1}, {}, 1);
    for (std::int64_t i = 0; i < m * n; ++i) QCOMPARE(at(bare, i), sum(i / n, i % n, false));

    const Tensor scaleA = floats({0.01F}), scaleY = floats({3.5F}), zeroY = Tensor::scalar<std::int8_t>(-9);
    std::vector<float> scales(static_cast<std::size_t>(alongAxes ? n : 1));
    for (std::size_t j = 0; j < scales.size(); ++j) scales[j] = 0.02F + 0.001F * static_cast<float>(j);
    const Tensor scaleB = floats(scales);
    const Tensor q = call("QLinearMatMul", {a, scaleA, zeroA, b, scaleB, zeroB, scaleY, zeroY}, {3, 5});
    for (std::int64_t i = 0; i < m * n; ++i) {
        const float factor = 0.01F * scales[alongAxes ? static_cast<std::size_t>(i % n) : 0] / 3.5F;
        QCOMPARE(q.toDouble(i), quantised(requantised(sum(i / n, i % n, true), factor), zeroY));
    }
}

void TestIntegerProducts::batchesOfMatrices() {
    const Tensor a = bytes(DType::UInt8, {3, 2, 17, 20}, 1), b = bytes(DType::UInt8, {3, 2, 20, 31}, 2),
                 shared = bytes(DType::Int8, {20, 31}, 3);
    const Tensor zeroA = Tensor::scalar<std::uint8_t>(120), zeroB = Tensor::scalar<std::uint8_t>(7),
                 none = Tensor::scalar<std::int8_t>(0);
    const Tensor y = call("MatMulInteger", {a, b, zeroA, zeroB}, {}),
                 z = call("MatMulInteger", {a, shared, zeroA, none}, {1, 3});
    QCOMPARE(y.shape(), Shape({3, 2, 17, 31}));
    QCOMPARE(z.shape(), Shape({3, 2, 17, 31}));
    for (std::int64_t i = 0; i < y.numel(); ++i) {
        const std::int64_t row = i / 31, column = i % 31, batch = row / 17;
        std::int64_t sum = 0, other = 0;
        for (std::int64_t p = 0; p < 20; ++p) {
            sum += (at(a, row * 20 + p) - 120) * (at(b, (batch * 20 + p) * 31 + column) - 7);
            other += (at(a, row * 20 + p) - 120) * at(shared, p * 31 + column);
        }
        QCOMPARE(at(y, i), sum);
        QCOMPARE(at(z, i), other);
    }
}

void TestIntegerProducts::convolutions_data() {
    QTest::addColumn<QList<qint64>>("sizes");
    QTest::addColumn<bool>("isSignedX");
    QTest::addColumn<bool>("isSignedW");
    const std::pair<const char*, QList<qint64>> cases[] = {{"1x1", {9, 30, 13, 1, 1, 0, 1, 1}},
                                                           {"3x3", {6, 17, 11, 3, 1, 1, 1, 1}},
                                                           {"3x3 of stride 2", {5, 8, 15, 3, 2, 1, 1, 1}},
                                                           {"7x7 of 3 channels", {3, 16, 21, 7, 2, 3, 1, 1}},
                                                           {"groups", {8, 12, 9, 3, 1, 1, 2, 1}},
                                                           {"each channel", {10, 10, 12, 3, 1, 1, 10, 1}},
                                                           {"each channel, stride 2", {6, 12, 13, 5, 2, 2, 6, 1}},
                                                           {"two of each channel", {12, 6, 7, 3, 1, 1, 6, 1}},
                                                           {"each channel, 14x14, stride 2", {5, 5, 14, 3, 2, 1, 5, 1}},
                                                           {"each channel, 5x5", {4, 4, 14, 5, 1, 2, 4, 1}},
                                                           {"each channel, wide", {2, 2, 67, 3, 1, 1, 2, 1}},
                                                           {"each channel, 7x7, stride 2", {2, 2, 69, 7, 2, 3, 2, 1}},
                                                           {"each channel, stride 3", {4, 4, 17, 4, 3, 1, 4, 1}},
                                                           {"each channel, holes", {4, 4, 15, 3, 1, 2, 4, 2}},
                                                           {"each channel, holes, stride 2", {4, 4, 15, 3, 2, 3, 4, 3}},
                                                           {"each channel, 1x1", {3, 3, 9, 1, 1, 0, 3, 1}},
                                                           {"holes", {4, 6, 16, 3, 1, 2, 1, 2}},
                                                           {"1x1 of stride 2", {8, 5, 10, 1, 2, 0, 1, 1}}};
    for (const auto& [name, sizes] : cases)
        for (const bool x : {false, true})
            for (const bool w : {false, true})
                QTest::addRow("%s, %s image, %s weights", name, x ? "int8" : "uint8", w ? "int8" : "uint8")
                    << sizes << x << w;
}

void TestIntegerProducts::convolutions() {
    QFETCH(QList<qint64>, sizes);
    QFETCH(bool, isSignedX);
    QFETCH(bool, isSignedW);
    const Image c{sizes[0], sizes[1], sizes[2], sizes[3], sizes[4], sizes[5], sizes[6], sizes[7]};
    const DType typeX = isSignedX ? DType::Int8 : DType::UInt8, typeW = isSignedW ? DType::Int8 : DType::UInt8;
    const Tensor x = bytes(typeX, {2, c.in, c.size, c.size}, 1),
                 w = bytes(typeW, {c.out, c.in / c.groups, c.kernel, c.kernel}, 2), zeroX = bytes(typeX, {}, 3),
                 zeroW = bytes(typeW, {c.out}, 4);
    const Tensor y = call("ConvInteger", {x, w, zeroX, zeroW}, {1, 3}, c.attributes());
    QCOMPARE(y.shape(), Shape({2, c.out, c.outSize(), c.outSize()}));
    std::vector<std::int32_t> bias(static_cast<std::size_t>(c.out));
    std::vector<float> scales(bias.size());
    for (std::size_t k = 0; k < bias.size(); ++k) {
        bias[k] = static_cast<std::int32_t>(k) * 1000 - 4000;
        scales[k] = 0.01F + 0.001F * static_cast<float>(k);
    }
    const Tensor zeroY = Tensor::scalar<std::uint8_t>(77);
    const std::vector<Value> inputs{x,
                                    floats({0.05F}),
                                    zeroX,
                                    w,
                                    floats(scales),
                                    zeroW,
                                    floats({0.75F}),
                                    zeroY,
                                    Tensor::of<std::int32_t>({c.out}, bias)};
    const Tensor prepared = call("QLinearConv", inputs, {3, 5}, c.attributes()),
                 unprepared = call("QLinearConv", inputs, {}, c.attributes(), 1);
    for (std::int64_t i = 0; i < y.numel(); ++i) {
        const std::int64_t sum = convolved(c, i, x, w, zeroX, zeroW);
        QCOMPARE(at(y, i), sum);
        const auto k = static_cast<std::size_t>(i / (c.outSize() * c.outSize()) % c.out);
        const double expected = quantised(requantised(sum + bias[k], 0.05F * scales[k] / 0.75F), zeroY);
        QCOMPARE(prepared.toDouble(i), expected);
        QCOMPARE(unprepared.toDouble(i), expected);
    }
}

void TestIntegerProducts::quantiseRoundsHalvesToEven() {
    const Tensor x = floats({-1.0F, -0.75F, -0.25F, 0.25F, 0.75F, 1.25F, 1e30F, -1e30F});
    const Tensor y = call("QuantizeLinear", {x, floats({0.5F}), Tensor::scalar<std::int8_t>(2)}, {});
    const std::vector<double> expected{0, 0, 2, 2, 4, 4, 127, -128};
    for (std::int64_t i = 0; i < x.numel(); ++i) QCOMPARE(y.toDouble(i), expected[static_cast<std::size_t>(i)]);
}

QTEST_APPLESS_MAIN(TestIntegerProducts)

}  // namespace tst_integer_products

#include "tst_integer_products.moc"
