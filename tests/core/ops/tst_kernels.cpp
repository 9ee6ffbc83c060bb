// The hot loops of every instruction set against plain ones, and results that may not depend on the number of threads.

#include <QtTest>

#include <cmath>
#include <cstring>

#include "core/ops/kernels/conv.h"
#include "core/ops/kernels/float_kernels.h"
#include "core/ops/kernels/gemm.h"
#include "core/ops/registry/registry.h"

namespace tst_kernels {

using namespace sonde;
using ops::kernels::FloatKernels;
using ops::kernels::Isa;

namespace {

std::vector<float> numbers(std::size_t count, unsigned seed) {
    std::vector<float> values(count);
    std::uint32_t state = seed * 2654435761u + 1;
    for (float& v : values) {
        state = state * 1664525u + 1013904223u;
        v = static_cast<float>(state >> 8) / 8388608.0F - 1.0F;
    }
    return values;
}

std::vector<tensor::Value> callOp(std::string_view domain, std::string_view name, int version,
                                  std::vector<tensor::Value> inputs, tensor::Attributes attributes,
                                  std::size_t threads) {
    base::ThreadPool pool(threads);
    ops::RunEnvironment environment{&pool, {}, 0, false};
    const ops::OpDef* op = ops::Registry::all().find(domain, name, version);
    if (!op) return {};
    auto result = ops::call(*op, inputs, attributes, 1, environment, version);
    if (!result) qWarning("%s", result.error().text().c_str());
    return result ? *result : std::vector<tensor::Value>{};
}

}  // namespace

class TestKernels : public QObject {
    Q_OBJECT

  private slots:
    /// torch.embedding, index_select and gather raise IndexError; torch.take and ONNX's Gather count from the end.
    void indicesOfAtenCountFromTheStart() {
        const tensor::Value table(tensor::Tensor::of<float>({3, 2}, {1, 2, 3, 4, 5, 6}));
        const auto at = [](std::int64_t index) {
            return tensor::Value(tensor::Tensor::of<std::int64_t>({1}, {index}));
        };
        const auto atMatrix = [](std::int64_t index) {
            return tensor::Value(tensor::Tensor::of<std::int64_t>({1, 1}, {index}));
        };
        for (const std::int64_t index : {0, 2, -1, -3, 3}) {
            const bool isRight = index >= 0 && index < 3;
            QCOMPARE(callOp("aten", "embedding", 0, {table, at(index)}, {}, 1).empty(), !isRight);
            QCOMPARE(callOp("aten", "index_select", 0, {table, tensor::Value::ofInt(0), at(index)}, {}, 1).empty(),
                     !isRight);
            QCOMPARE(callOp("aten", "gather", 0, {table, tensor::Value::ofInt(0), atMatrix(index)}, {}, 1).empty(),
                     !isRight);
        }
        QCOMPARE(callOp("aten", "take", 0, {table, at(-1)}, {}, 1).at(0).tensor().toDouble(0), 6.0);
        QCOMPARE(callOp("", "Gather", 13, {table, at(-1)}, {}, 1).at(0).tensor().toDouble(0), 5.0);
    }

    /// The formula of ONNX's Conv and pools gives 0 where a window is one step too large; below that is no shape.
    void windowsLargerThanTheImage() {
        for (const auto& [dimSize, isRight] :
             std::vector<std::pair<std::int64_t, bool>>{{1, false}, {2, true}, {3, true}}) {
            const tensor::Value image(tensor::Tensor::zeros(tensor::DType::Float32, {1, 3, 3, dimSize}).value());
            const tensor::Value kernel(tensor::Tensor::zeros(tensor::DType::Float32, {2, 3, 3, 3}).value());
            const tensor::Attributes window{{"kernel_shape", std::vector<std::int64_t>{3, 3}}};
            const auto convolved = callOp("", "Conv", 11, {image, kernel}, window, 1);
            QCOMPARE(convolved.empty(), !isRight);
            if (isRight) QCOMPARE(convolved[0].tensor().shape(), (tensor::Shape{1, 2, 1, dimSize - 2}));
            QCOMPARE(callOp("", "MaxPool", 12, {image}, window, 1).empty(), !isRight);
            QCOMPARE(callOp("", "AveragePool", 11, {image}, window, 1).empty(), !isRight);
        }
    }

    /// conv2d: "Kernel size can't be greater than actual input size"; pools: "Output size is too small", non-empty
    /// images.
    void imagesWithoutElements() {
        const auto image = [](std::int64_t height, std::int64_t width) {
            return tensor::Value(tensor::Tensor::zeros(tensor::DType::Float32, {1, 3, height, width}).value());
        };
        const auto number = [](std::int64_t value) { return tensor::Value::ofInt(value); };
        const tensor::Value kernel = tensor::Value(tensor::Tensor::zeros(tensor::DType::Float32, {2, 3, 3, 3}).value());
        const std::vector<std::pair<std::int64_t, bool>> heights{{0, false}, {1, true}, {4, true}};
        for (const auto& [height, isRight] : heights) {
            QCOMPARE(callOp("aten", "conv2d", 0,
                            {image(height, 8), kernel, {}, number(1), number(1), number(1), number(1)}, {}, 1)
                         .empty(),
                     !isRight);
            QCOMPARE(
                callOp("aten", "max_pool2d", 0,
                       {image(height, 8), number(3), number(2), number(1), number(1), tensor::Value::ofBool(false)}, {},
                       1)
                    .empty(),
                !isRight);
            QCOMPARE(callOp("aten", "avg_pool2d", 0,
                            {image(height, 8),
                             number(3),
                             number(2),
                             number(1),
                             tensor::Value::ofBool(false),
                             tensor::Value::ofBool(true),
                             {}},
                            {}, 1)
                         .empty(),
                     !isRight);
            QCOMPARE(callOp("aten", "adaptive_avg_pool2d", 0, {image(height, 8), number(1)}, {}, 1).empty(), !isRight);
        }
        // Without padding a window of 3 needs 3.
        QVERIFY(
            callOp("aten", "conv2d", 0, {image(2, 8), kernel, {}, number(1), number(0), number(1), number(1)}, {}, 1)
                .empty());
        QVERIFY(callOp("aten", "avg_pool2d", 0,
                       {image(2, 8),
                        number(3),
                        number(1),
                        number(0),
                        tensor::Value::ofBool(false),
                        tensor::Value::ofBool(true),
                        {}},
                       {}, 1)
                    .empty());
    }

    void loopsAgreeBetweenInstructionSets_data() {
        QTest::addColumn<int>("isa");
        QTest::addRow("baseline") << 0;
        QTest::addRow("avx2") << 1;
        QTest::addRow("avx512") << 2;
    }
    void loopsAgreeBetweenInstructionSets() {
        QFETCH(int, isa);
        const FloatKernels* kernels = ops::kernels::floatKernels(static_cast<Isa>(isa));
        if (!kernels) return;  // not on this processor
        const std::vector<float> x = numbers(1003, 1), y = numbers(1003, 2);
        std::vector<float> z(1003);
        const auto check = [&](ops::kernels::Unary which, double (*expected)(double), double scale) {
            std::vector<float> in(x);
            for (float& v : in) v *= static_cast<float>(scale);
            kernels->unary[static_cast<std::size_t>(which)](in.data(), z.data(), z.size(), 1.0F, 0.0F);
            for (std::size_t i = 0; i < z.size(); ++i) {
                const double want = expected(static_cast<double>(in[i]));
                if (std::fabs(static_cast<double>(z[i]) - want) > 1e-6 + 4e-7 * std::fabs(want)) {
                    QFAIL(qPrintable(QStringLiteral("function %1 of %2 is %3, not %4")
                                         .arg(static_cast<int>(which))
                                         .arg(static_cast<double>(in[i]))
                                         .arg(static_cast<double>(z[i]))
                                         .arg(want)));
                }
            }
        };
        check(
            ops::kernels::Unary::Exp, [](double v) { return std::exp(v); }, 10);
        check(
            ops::kernels::Unary::Sigmoid, [](double v) { return 1 / (1 + std::exp(-v)); }, 20);
        check(
            ops::kernels::Unary::Tanh, [](double v) { return std::tanh(v); }, 5);
        check(
            ops::kernels::Unary::Erf, [](double v) { return std::erf(v); }, 4);
        check(
            ops::kernels::Unary::Gelu, [](double v) { return 0.5 * v * std::erfc(-v / std::sqrt(2.0)); }, 6);
        check(
            ops::kernels::Unary::Silu, [](double v) { return v / (1 + std::exp(-v)); }, 8);
        // Sums are the same bits everywhere.
        const FloatKernels* plain = ops::kernels::floatKernels(Isa::Baseline);
        QCOMPARE(kernels->sum(x.data(), x.size()), plain->sum(x.data(), x.size()));
        QCOMPARE(kernels->maximum(x.data(), x.size()), plain->maximum(x.data(), x.size()));
    }

    void notANumberStaysNotANumber() {
        const float nan = std::numeric_limits<float>::quiet_NaN();
        const FloatKernels& kernels = ops::kernels::floatKernels();
        for (std::size_t i = 0; i < static_cast<std::size_t>(ops::kernels::Unary::Count); ++i) {
            std::vector<float> x(17, nan), y(17);
            kernels.unary[i](x.data(), y.data(), x.size(), 1.0F, 2.0F);
            for (float v : y) QVERIFY2(std::isnan(v), qPrintable(QString::number(i)));
        }
        std::vector<float> x(40, 1.0F);
        x[33] = nan;
        QVERIFY(std::isnan(kernels.maximum(x.data(), x.size())));
        const float inf = std::numeric_limits<float>::infinity();
        float in[2] = {-inf, inf}, out[2];
        kernels.unary[static_cast<std::size_t>(ops::kernels::Unary::Exp)](in, out, 2, 0, 0);
        QCOMPARE(out[0], 0.0F);
        QCOMPARE(out[1], inf);
    }

    void productsAgreeWithThePlainSum_data() {
        QTest::addColumn<int>("m");
        QTest::addColumn<int>("n");
        QTest::addColumn<int>("k");
        for (int m : {1, 5, 14, 30}) {
            for (int n : {1, 31, 64, 300}) {
                for (int k : {0, 1, 77, 300}) QTest::addRow("%dx%dx%d", m, n, k) << m << n << k;
            }
        }
    }
    void productsAgreeWithThePlainSum() {
        QFETCH(int, m);
        QFETCH(int, n);
        QFETCH(int, k);
        const std::vector<float> a = numbers(static_cast<std::size_t>(m * k), 3),
                                 b = numbers(static_cast<std::size_t>(k * n), 4),
                                 bias = numbers(static_cast<std::size_t>(m), 5);
        std::vector<float> first, c(static_cast<std::size_t>(m * n));
        for (std::size_t threads : {1u, 2u, 3u}) {
            base::ThreadPool pool(threads);
            ops::kernels::GemmCall<float> call;
            call.m = m, call.n = n, call.k = k;
            call.left = {a.data(), k, 1};
            call.right = {b.data(), n, 1};
            call.c = c.data();
            call.ldc = n;
            call.rowBias = bias.data();
            ops::kernels::gemm(call, pool);
            if (first.empty()) first = c;
            QVERIFY(std::memcmp(first.data(), c.data(), c.size() * sizeof(float)) == 0);
        }
        for (int i = 0; i < m; ++i) {
            for (int j = 0; j < n; ++j) {
                double want = static_cast<double>(bias[static_cast<std::size_t>(i)]);
                for (int p = 0; p < k; ++p)
                    want += static_cast<double>(a[static_cast<std::size_t>(i * k + p)]) *
                            static_cast<double>(b[static_cast<std::size_t>(p * n + j)]);
                QVERIFY(std::fabs(static_cast<double>(c[static_cast<std::size_t>(i * n + j)]) - want) < 1e-4);
            }
        }
    }

    /// 3x3 ones over a 3x3 image of ones with padding 1: the number of neighbours.
    void convolutionByHand() {
        const tensor::Tensor x = tensor::Tensor::of<float>(tensor::Shape{1, 1, 3, 3}, std::vector<float>(9, 1.0F));
        const tensor::Tensor w = tensor::Tensor::of<float>(tensor::Shape{1, 1, 3, 3}, std::vector<float>(9, 1.0F));
        tensor::Attributes attributes;
        attributes.set("pads", std::vector<std::int64_t>{1, 1, 1, 1});
        const auto y = callOp("", "Conv", 11, {x, w}, attributes, 1);
        QCOMPARE(y.size(), std::size_t{1});
        QVERIFY(identical(y[0].tensor(),
                          tensor::Tensor::of<float>(tensor::Shape{1, 1, 3, 3}, {4, 6, 4, 6, 9, 6, 4, 6, 4})));
    }

    void convolutionsDoNotDependOnThreads_data() {
        QTest::addColumn<int>("group");
        QTest::addColumn<int>("kernel");
        QTest::addColumn<int>("stride");
        QTest::addColumn<int>("dilation");
        for (int group : {1, 2, 8}) {
            for (int kernel : {1, 3, 5}) {
                for (int stride : {1, 2, 3}) {
                    for (int dilation : {1, 2})
                        QTest::addRow("group %d, kernel %d, stride %d, dilation %d", group, kernel, stride, dilation)
                            << group << kernel << stride << dilation;
                }
            }
        }
    }
    void convolutionsDoNotDependOnThreads() {
        QFETCH(int, group);
        QFETCH(int, kernel);
        QFETCH(int, stride);
        QFETCH(int, dilation);
        const std::int64_t channels = 8, height = 17, width = 19, outputs = 16, k = kernel;
        const tensor::Tensor x =
            tensor::Tensor::of<float>(tensor::Shape{2, channels, height, width},
                                      numbers(static_cast<std::size_t>(2 * channels * height * width), 6));
        const tensor::Tensor w =
            tensor::Tensor::of<float>(tensor::Shape{outputs, channels / group, k, k},
                                      numbers(static_cast<std::size_t>(outputs * channels / group * k * k), 7));
        tensor::Attributes attributes;
        attributes.set("group", std::int64_t{group});
        attributes.set("pads", std::vector<std::int64_t>{1, 2, 0, 1});
        attributes.set("strides", std::vector<std::int64_t>{stride, stride});
        attributes.set("dilations", std::vector<std::int64_t>{dilation, dilation});
        const auto one = callOp("", "Conv", 11, {x, w}, attributes, 1),
                   three = callOp("", "Conv", 11, {x, w}, attributes, 3);
        QCOMPARE(one.size(), std::size_t{1});
        const tensor::Tensor& y = one[0].tensor();
        QVERIFY(identical(y, three[0].tensor()));
        // The definition, point by point.
        for (std::int64_t i = 0; i < y.numel(); i += 7) {
            const std::int64_t ox = i % y.dim(3), oy = i / y.dim(3) % y.dim(2), o = i / (y.dim(3) * y.dim(2)) % outputs,
                               n = i / (y.dim(3) * y.dim(2) * outputs);
            double want = 0;
            for (std::int64_t c = 0; c < channels / group; ++c) {
                for (std::int64_t t = 0; t < k * k; ++t) {
                    const std::int64_t iy = oy * stride + t / k * dilation - 1, ix = ox * stride + t % k * dilation - 2;
                    if (iy < 0 || ix < 0 || iy >= height || ix >= width) continue;
                    const std::int64_t channel = o / (outputs / group) * (channels / group) + c;
                    want += x.toDouble(((n * channels + channel) * height + iy) * width + ix) *
                            w.toDouble((o * (channels / group) + c) * k * k + t);
                }
            }
            QVERIFY(std::fabs(y.toDouble(i) - want) < 1e-4);
        }
    }
};

QTEST_APPLESS_MAIN(TestKernels)

}  // namespace tst_kernels

#include "tst_kernels.moc"
