// Winograd's convolution against the definition, summed in float64, on shapes with ragged tiles and borders.

#include <QtTest>

#include <cmath>
#include <random>

#include "core/ops/kernels/winograd.h"

namespace tst_winograd {

using namespace sonde;
using namespace sonde::ops;
using namespace sonde::ops::kernels;

class TestWinograd : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void equalsTheDefinition_data();
    void equalsTheDefinition();
    void handWorkedTile();
    void saysWhatIsNotFinite();
    void onlyPlain3x3();

  private:
    static std::vector<float> randomNumbers(std::size_t n, unsigned seed) {
        std::mt19937 engine(seed);
        std::uniform_real_distribution<float> numbers(-1, 1);
        std::vector<float> values(n);
        for (float& value : values) value = numbers(engine);
        return values;
    }
    static Window window(std::int64_t top, std::int64_t left, std::int64_t bottom, std::int64_t right) {
        return {{3, 3}, {1, 1}, {1, 1}, {top, left}, {bottom, right}};
    }
};

void TestWinograd::equalsTheDefinition_data() {
    QTest::addColumn<int>("tile");
    QTest::addColumn<QVector<int>>("shape");  // N C K H W
    QTest::addColumn<QVector<int>>("pads");
    for (int tile : {2, 4}) {
        const QByteArray name = "tile " + QByteArray::number(tile) + ", ";
        QTest::newRow(name + "one tile and a bit") << tile << QVector<int>{1, 3, 5, 5, 5} << QVector<int>{1, 1, 1, 1};
        QTest::newRow(name + "no padding") << tile << QVector<int>{1, 16, 16, 14, 14} << QVector<int>{0, 0, 0, 0};
        QTest::newRow(name + "uneven padding, odd counts")
            << tile << QVector<int>{2, 17, 29, 9, 13} << QVector<int>{2, 0, 1, 2};
        QTest::newRow(name + "narrow") << tile << QVector<int>{1, 16, 15, 40, 3} << QVector<int>{1, 1, 1, 1};
        QTest::newRow(name + "wide") << tile << QVector<int>{1, 8, 14, 3, 200} << QVector<int>{1, 1, 1, 1};
        QTest::newRow(name + "deep") << tile << QVector<int>{1, 300, 31, 7, 7} << QVector<int>{1, 1, 1, 1};
        QTest::newRow(name + "smaller than its padding")
            << tile << QVector<int>{1, 4, 4, 1, 1} << QVector<int>{2, 2, 2, 2};
    }
}

void TestWinograd::equalsTheDefinition() {
    QFETCH(int, tile);
    QFETCH(QVector<int>, shape);
    QFETCH(QVector<int>, pads);
    const std::int64_t n = shape[0], c = shape[1], k = shape[2], h = shape[3], w = shape[4];
    const Window view = window(pads[0], pads[1], pads[2], pads[3]);
    const std::int64_t oh = h + pads[0] + pads[2] - 2, ow = w + pads[1] + pads[3] - 2;
    const std::vector<float> x = randomNumbers(static_cast<std::size_t>(n * c * h * w), 1);
    const std::vector<float> g = randomNumbers(static_cast<std::size_t>(k * c * 9), 2);
    const std::vector<float> bias = randomNumbers(static_cast<std::size_t>(k), 3);
    const WinogradSizes sizes{n, c, k, {h, w}, {oh, ow}};

    std::vector<float> first;
    for (int threads : {1, 3}) {
        base::ThreadPool pool(static_cast<std::size_t>(threads));
        const WinogradWeights weights(g.data(), k, c, tile, pool);
        std::vector<float> y(static_cast<std::size_t>(n * k * oh * ow), NAN);
        QVERIFY(convolveWinograd(x.data(), weights, bias.data(), y.data(), view, sizes, pool));
        // The same bits whatever the number of threads.
        if (threads == 1) first = y;
        else QVERIFY(std::memcmp(first.data(), y.data(), y.size() * sizeof(float)) == 0);
    }
    double worst = 0, largest = 0;
    for (std::int64_t i = 0; i < n * k * oh * ow; ++i) {
        const std::int64_t column = i % ow, row = i / ow % oh, channel = i / (ow * oh) % k, picture = i / (ow * oh * k);
        double sum = static_cast<double>(bias[static_cast<std::size_t>(channel)]);
        for (std::int64_t ci = 0; ci < c; ++ci)
            for (std::int64_t a = 0; a < 3; ++a)
                for (std::int64_t b = 0; b < 3; ++b) {
                    const std::int64_t yy = row + a - pads[0], xx = column + b - pads[1];
                    if (yy < 0 || yy >= h || xx < 0 || xx >= w) continue;
                    sum += static_cast<double>(x[static_cast<std::size_t>(((picture * c + ci) * h + yy) * w + xx)]) *
                           static_cast<double>(g[static_cast<std::size_t>((channel * c + ci) * 9 + a * 3 + b)]);
                }
        worst = std::max(worst, std::abs(sum - static_cast<double>(first[static_cast<std::size_t>(i)])));
        largest = std::max(largest, std::abs(sum));
    }
    // Measured on random inputs: 3e-7 to 8e-7 of the largest output for m = 2 and 7e-6 to 1.2e-5 for m = 4.
    const double bound = tile == 2 ? 2e-6 : 3e-5;
    QVERIFY2(worst <= bound * largest, qPrintable(QStringLiteral("%1 of %2").arg(worst).arg(largest)));
}

void TestWinograd::handWorkedTile() {
    // A 4x4 picture of ones, weights of ones, no padding: each of the 2x2 outputs is 9.
    base::ThreadPool pool(1);
    const std::vector<float> x(16, 1.0f), g(9, 1.0f);
    for (int tile : {2, 4}) {
        std::vector<float> y(4, 0.0f);
        const WinogradSizes sizes{1, 1, 1, {4, 4}, {2, 2}};
        QVERIFY(convolveWinograd(x.data(), WinogradWeights(g.data(), 1, 1, tile, pool), nullptr, y.data(),
                                 window(0, 0, 0, 0), sizes, pool));
        for (float value : y) QVERIFY(std::abs(value - 9.0f) < 1e-4f);
    }
}

void TestWinograd::saysWhatIsNotFinite() {
    const WinogradSizes sizes{2, 16, 17, {20, 20}, {20, 20}};
    const std::vector<float> g(17 * 16 * 9, 0.001f);
    for (int tile : {2, 4}) {
        for (int threads : {1, 3}) {
            base::ThreadPool pool(static_cast<std::size_t>(threads));
            const WinogradWeights weights(g.data(), 17, 16, tile, pool);
            std::vector<float> y(2 * 17 * 400);
            const auto isFinite = [&](const std::vector<float>& x) {
                return convolveWinograd(x.data(), weights, nullptr, y.data(), window(1, 1, 1, 1), sizes, pool);
            };
            std::vector<float> x(2 * 16 * 400, 1.0f);
            QVERIFY(isFinite(x));
            for (const float bad : {INFINITY, NAN}) {
                for (const std::size_t at : {std::size_t{0}, x.size() / 2 + 209, x.size() - 1}) {
                    x[at] = bad;
                    QVERIFY(!isFinite(x));
                    x[at] = 1.0f;
                }
            }
            // Sums of 0.001 times these are below 2e36, but not what larger tiles of them are transformed to.
            if (tile == 2) continue;
            for (float& value : x) value = value * 1e37f;
            x[5] = -x[5];
            QVERIFY(!isFinite(x));
        }
    }
}

void TestWinograd::onlyPlain3x3() {
    const WinogradSizes sizes{1, 64, 64, {56, 56}, {56, 56}};
    QVERIFY(winogradTile(window(1, 1, 1, 1), sizes) == 4);
    Window other = window(1, 1, 1, 1);
    other.stride = {2, 2};
    QCOMPARE(winogradTile(other, sizes), 0);
    other = window(1, 1, 1, 1);
    other.dilation = {1, 2};
    QCOMPARE(winogradTile(other, sizes), 0);
    QCOMPARE(winogradTile({{1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}}, sizes), 0);
    QCOMPARE(winogradTile(window(1, 1, 1, 1), {1, 3, 64, {56, 56}, {56, 56}}), 0);
}

QTEST_APPLESS_MAIN(TestWinograd)

}  // namespace tst_winograd

#include "tst_winograd.moc"
