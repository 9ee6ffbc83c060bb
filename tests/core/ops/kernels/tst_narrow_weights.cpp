// Constant weights of float16 and bfloat16 against the definition, summed in float64 over the numbers that they hold:
// what is packed in 16 bits and widened again as it is used.

#include <QtTest>

#include <cmath>

#include "core/ops/registry/registry.h"
#include "tests/support/random_tensor.h"

namespace tst_narrow_weights {

using namespace sonde;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;
using tensor::Value;

namespace {

Tensor numbers(DType dtype, Shape shape, unsigned seed) {
    return test::randomTensor(std::move(shape), seed).cast(dtype).value();
}

/// As the executor calls it, with input 1 prepared.
Tensor call(const char* name, const std::vector<Value>& inputs, const tensor::Attributes& attributes = {}) {
    base::ThreadPool pool(2);
    ops::RunEnvironment environment{&pool, {}, 0, false};
    const ops::OpDef& op = *ops::Registry::all().find("", name, 0);
    std::vector<Value> known(inputs.size());
    known[1] = inputs[1];
    const tensor::Attributes complete = ops::completeAttributes(op, attributes).value();
    const auto state = op.prepare(ops::Constants(known, op), complete, environment).value();
    if (!state) qFatal("%s prepares nothing", name);
    auto results = ops::callPrepared(op, inputs, complete, 1, environment, 0, state.get(), nullptr, nullptr);
    if (!results) qFatal("%s", results.error().what.c_str());
    return results->front().tensor().contiguous().value();
}

/// Rounded once from a sum whose terms have `size` in all: half a unit of the last place, and errors of float32.
bool isRounded(const Tensor& y, std::int64_t i, double sum, double size) {
    const double unit = y.dtype() == DType::Float16 ? 0x1p-11 : 0x1p-8;
    return std::fabs(y.toDouble(i) - sum) <= unit * std::fabs(sum) + 1e-6 * size + 0x1p-25;
}

}  // namespace

class TestNarrowWeights : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void products_data() {
        QTest::addColumn<int>("dtype");
        QTest::addColumn<int>("m");
        QTest::addColumn<int>("k");
        QTest::addColumn<int>("n");
        for (const DType dtype : {DType::Float16, DType::BFloat16})
            for (const auto& [m, k, n] : {std::tuple(1, 40, 33), std::tuple(19, 500, 70)})
                QTest::addRow("%s, %dx%dx%d", tensor::name(dtype).data(), m, k, n)
                    << static_cast<int>(dtype) << m << k << n;
    }
    void products() {
        QFETCH(int, dtype);
        QFETCH(int, m);
        QFETCH(int, k);
        QFETCH(int, n);
        const Tensor a = numbers(DType(dtype), {m, k}, 1), b = numbers(DType(dtype), {k, n}, 2),
                     turned = b.transposed(0, 1).contiguous().value(), c = numbers(DType(dtype), {n}, 3);
        const Tensor y = call("MatMul", {a, b}), z = call("Gemm", {a, turned, c}, {{"transB", std::int64_t{1}}});
        QCOMPARE(y.dtype(), DType(dtype));
        for (std::int64_t i = 0; i < m * n; ++i) {
            double sum = 0, size = 0;
            for (std::int64_t p = 0; p < k; ++p) {
                const double product = a.toDouble(i / n * k + p) * b.toDouble(p * n + i % n);
                sum += product, size += std::fabs(product);
            }
            QVERIFY(isRounded(y, i, sum, size));
            QVERIFY(isRounded(z, i, sum + c.toDouble(i % n), size));
        }
    }

    void convolutions_data() {
        QTest::addColumn<int>("dtype");
        QTest::addColumn<int>("kernel");
        QTest::addColumn<int>("stride");
        for (const DType dtype : {DType::Float16, DType::BFloat16})
            for (const auto& [kernel, stride] : {std::pair(1, 1), std::pair(3, 1), std::pair(3, 2)})
                QTest::addRow("%s, %dx%d of stride %d", tensor::name(dtype).data(), kernel, kernel, stride)
                    << static_cast<int>(dtype) << kernel << stride;
    }
    void convolutions() {
        QFETCH(int, dtype);
        QFETCH(int, kernel);
        QFETCH(int, stride);
        constexpr std::int64_t kIn = 24, kOut = 30, kSize = 16;
        const std::int64_t pad = kernel / 2, side = (kSize + 2 * pad - kernel) / stride + 1, taps = kernel * kernel;
        const Tensor x = numbers(DType(dtype), {1, kIn, kSize, kSize}, 1),
                     w = numbers(DType(dtype), {kOut, kIn, kernel, kernel}, 2), bias = numbers(DType(dtype), {kOut}, 3);
        const Tensor y = call("Conv", {x, w, bias},
                              {{"strides", std::vector<std::int64_t>{stride, stride}},
                               {"pads", std::vector<std::int64_t>{pad, pad, pad, pad}}});
        QCOMPARE(y.shape(), Shape({1, kOut, side, side}));
        for (std::int64_t i = 0; i < y.numel(); ++i) {
            const std::int64_t o = i / (side * side), oy = i / side % side, ox = i % side;
            double sum = bias.toDouble(o), size = std::fabs(sum);
            for (std::int64_t c = 0; c < kIn * taps; ++c) {
                const std::int64_t iy = oy * stride + c % taps / kernel - pad, ix = ox * stride + c % kernel - pad;
                if (iy < 0 || ix < 0 || iy >= kSize || ix >= kSize) continue;
                const double product =
                    x.toDouble((c / taps * kSize + iy) * kSize + ix) * w.toDouble(o * kIn * taps + c);
                sum += product, size += std::fabs(product);
            }
            QVERIFY2(isRounded(y, i, sum, 10 * size), qPrintable(QString::number(y.toDouble(i) - sum)));
        }
    }
};

QTEST_APPLESS_MAIN(TestNarrowWeights)

}  // namespace tst_narrow_weights

#include "tst_narrow_weights.moc"
