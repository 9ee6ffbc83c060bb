// The convolution that reads the picture with its border, against the definition summed in float64, and bit for bit
// against the product of the same weights with gathered panels.

#include <QtTest>

#include <cmath>
#include <cstring>
#include <random>

#include "core/ops/kernels/direct.h"
#include "core/ops/kernels/patches.h"

namespace tst_direct {

using namespace sonde;
using namespace sonde::ops;
using namespace sonde::ops::kernels;

class TestDirect : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void equalsTheDefinition_data();
    void equalsTheDefinition();

  private:
    static std::vector<float> randomValues(std::int64_t n, unsigned seed) {
        std::mt19937 engine(seed);
        std::uniform_real_distribution<float> numbers(-1, 1);
        std::vector<float> values(static_cast<std::size_t>(n));
        for (float& value : values) value = numbers(engine);
        return values;
    }
};

void TestDirect::equalsTheDefinition_data() {
    QTest::addColumn<QVector<qint64>>("sizes");   // C, K, H, W, kernel height and width
    QTest::addColumn<QVector<qint64>>("window");  // stride, dilation, of both axes; pads top, left, bottom, right
    using V = QVector<qint64>;
    QTest::newRow("3x3") << V{16, 32, 14, 14, 3, 3} << V{1, 1, 1, 1, 1, 1, 1, 1};
    QTest::newRow("3x3, small") << V{128, 33, 7, 7, 3, 3} << V{1, 1, 1, 1, 1, 1, 1, 1};
    QTest::newRow("3x3, stride 2") << V{9, 15, 28, 27, 3, 3} << V{2, 2, 1, 1, 1, 1, 1, 1};
    QTest::newRow("7x7, stride 2, several strips") << V{3, 29, 90, 70, 7, 7} << V{2, 2, 1, 1, 3, 3, 3, 3};
    QTest::newRow("uneven") << V{5, 3, 17, 40, 2, 5} << V{3, 1, 2, 3, 0, 4, 1, 2};
    QTest::newRow("one row, long") << V{7, 14, 1, 3000, 1, 9} << V{1, 2, 1, 1, 0, 4, 0, 4};
    QTest::newRow("one output") << V{4, 1, 3, 3, 3, 3} << V{1, 1, 1, 1, 0, 0, 0, 0};
}

void TestDirect::equalsTheDefinition() {
    QFETCH(QVector<qint64>, sizes);
    QFETCH(QVector<qint64>, window);
    const std::int64_t c = sizes[0], k = sizes[1], h = sizes[2], w = sizes[3];
    const Window shape{{sizes[4], sizes[5]},
                       {window[0], window[1]},
                       {window[2], window[3]},
                       {window[4], window[5]},
                       {window[6], window[7]}};
    const std::vector<std::int64_t> input{h, w}, output{(h + window[4] + window[6] - shape.span(0)) / window[0] + 1,
                                                        (w + window[5] + window[7] - shape.span(1)) / window[1] + 1};
    const std::int64_t taps = shape.taps(), depth = c * taps, outputs = output[0] * output[1];
    const std::vector<float> x = randomValues(c * h * w, 1), weights = randomValues(k * depth, 2),
                             bias = randomValues(k, 3);
    std::vector<float> gathered(static_cast<std::size_t>(k * outputs));
    {
        base::ThreadPool pool(1);
        const PackedMatrix packed = PackedMatrix::left({weights.data(), depth, 1}, k, depth, pool);
        const Patches patches(shape, input, output);
        const PanelSource<float> source = [&](std::int64_t k0, std::int64_t kc, std::int64_t n0, std::int64_t nr,
                                              float* target) { patches.panel(x.data(), k0, kc, n0, nr, target); };
        GemmCall<float> call;
        call.m = k, call.n = outputs, call.k = depth;
        call.leftPacked = &packed, call.rightSource = &source;
        call.c = gathered.data(), call.ldc = outputs, call.rowBias = bias.data();
        gemm(call, pool);
    }
    for (const std::size_t threads : {1, 3}) {
        base::ThreadPool pool(threads);
        const PackedMatrix packed = PackedMatrix::left({weights.data(), depth, 1}, k, depth, pool);
        PhasedPatches picture(shape, input, output, c, 0.0F, pool);
        picture.load(x.data());
        std::vector<float> y(gathered.size(), NAN);
        convolveDirect({picture, packed, bias.data(), y.data()}, pool);
        QVERIFY(std::memcmp(y.data(), gathered.data(), y.size() * sizeof(float)) == 0);
    }
    for (std::int64_t i = 0; i < k * outputs; ++i) {
        const std::int64_t channel = i / outputs, row = i % outputs / output[1], column = i % output[1];
        auto sum = static_cast<double>(bias[static_cast<std::size_t>(channel)]);
        for (std::int64_t t = 0; t < depth; ++t) {
            const std::int64_t tap = t % taps;
            const std::int64_t yy = row * window[0] + tap / sizes[5] * window[2] - window[4];
            const std::int64_t xx = column * window[1] + tap % sizes[5] * window[3] - window[5];
            if (yy < 0 || yy >= h || xx < 0 || xx >= w) continue;
            sum += static_cast<double>(x[static_cast<std::size_t>((t / taps * h + yy) * w + xx)]) *
                   static_cast<double>(weights[static_cast<std::size_t>(channel * depth + t)]);
        }
        QVERIFY(std::abs(sum - static_cast<double>(gathered[static_cast<std::size_t>(i)])) <=
                1e-6 * static_cast<double>(depth));
    }
}

QTEST_APPLESS_MAIN(TestDirect)

}  // namespace tst_direct

#include "tst_direct.moc"
