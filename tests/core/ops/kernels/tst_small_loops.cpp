// Loops of every instruction set that the processor has, against plain ones over single numbers: bit for bit where
// nothing is rounded, or where the steps are rounded one by one.

#include <QtTest>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "core/ops/kernels/float_kernels.h"

namespace tst_small_loops {

using namespace sonde::ops::kernels;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInf = std::numeric_limits<float>::infinity();

/// Numbers between -1 and 1 that depend on the position alone.
std::vector<float> waves(std::size_t count, std::size_t first) {
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i)
        values[i] = static_cast<float>(((i + first) * 7919 + 13) % 2003) / 1001.0F - 1.0F;
    return values;
}

bool isSame(float a, float b) { return std::memcmp(&a, &b, sizeof a) == 0 || (std::isnan(a) && std::isnan(b)); }

template <typename Use>
void forEachIsa(const Use& use) {
    for (const Isa isa : {Isa::Baseline, Isa::Avx2, Isa::Avx512})
        if (const FloatKernels* const kernels = floatKernels(isa)) use(*kernels);
}

}  // namespace

class TestSmallLoops : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    /// Every size around a vector's, with and without a border; NaN wins, what lies outside does not count.
    void maxPools() {
        forEachIsa([](const FloatKernels& kernels) {
            for (const std::ptrdiff_t stride : {1, 2}) {
                const auto loop = kernels.maxPool3x3[stride - 1];
                if (!loop) continue;
                for (std::ptrdiff_t size = 3; size < 75; ++size) {
                    for (const std::ptrdiff_t pad : {0, 1}) {
                        std::vector<float> x = waves(static_cast<std::size_t>(size * size), 5);
                        x[static_cast<std::size_t>(size * size / 2)] = kNan;
                        x[static_cast<std::size_t>(size)] = -kInf;
                        const std::ptrdiff_t out = (size + 2 * pad - 3) / stride + 1;
                        std::vector<float> y(static_cast<std::size_t>(out * out), 9);
                        loop({x.data(), size, size, pad, pad, nullptr, 0, y.data(), out, out});
                        for (std::ptrdiff_t o = 0; o < out * out; ++o) {
                            float want = -kInf;
                            for (std::ptrdiff_t t = 0; t < 9; ++t) {
                                const std::ptrdiff_t row = o / out * stride + t / 3 - pad;
                                const std::ptrdiff_t column = o % out * stride + t % 3 - pad;
                                if (row < 0 || column < 0 || row >= size || column >= size) continue;
                                const float v = x[static_cast<std::size_t>(row * size + column)];
                                if (v > want || std::isnan(v)) want = std::isnan(want) ? want : v;
                            }
                            QVERIFY2(isSame(y[static_cast<std::size_t>(o)], want), kernels.name);
                        }
                    }
                }
            }
        });
    }

    /// The pass of an epilogue is its operators one after the other, and knows of NaN and infinity before the bounds.
    void affinePasses() {
        forEachIsa([](const FloatKernels& kernels) {
            for (std::size_t n = 1; n < 70; ++n) {
                for (const bool adds : {false, true}) {
                    for (const float bad : {0.0F, kNan, kInf, -kInf}) {
                        std::vector<float> x = waves(n, 1), y(n), want(n);
                        const std::vector<float> other = waves(n, 400);
                        if (bad != 0) x[n - 1] = bad;
                        const AffinePass pass{1.7F, -0.3F, -0.5F, 0.75F};
                        kernels.scaleShift(x.data(), pass.factor, pass.shift, want.data(), n);
                        if (adds)
                            kernels.binary[static_cast<std::size_t>(Binary::Add)](want.data(), false, other.data(),
                                                                                  false, want.data(), n);
                        kernels.unary[static_cast<std::size_t>(Unary::Clip)](want.data(), want.data(), n, pass.low,
                                                                             pass.high);
                        const bool isFinite =
                            kernels.affinePass(x.data(), pass, adds ? other.data() : nullptr, y.data(), n);
                        QCOMPARE(isFinite, bad == 0);
                        for (std::size_t i = 0; i < n; ++i) QVERIFY2(isSame(y[i], want[i]), kernels.name);
                        QCOMPARE(kernels.affinePass(x.data(), pass, adds ? other.data() : nullptr, x.data(), n),
                                 isFinite);
                        for (std::size_t i = 0; i < n; ++i) QVERIFY2(isSame(x[i], want[i]), kernels.name);
                    }
                }
            }
        });
    }

    void joinedTiles() {
        forEachIsa([](const FloatKernels& kernels) {
            const std::vector<float> x = waves(5 * 32, 0);
            for (const int step : {2, 4}) {
                for (std::size_t n = 1; n <= 32 * static_cast<std::size_t>(step); ++n) {
                    std::vector<float> y(n + 1, 9);
                    kernels.joinTiles(x.data(), 32, step, y.data(), n);
                    for (std::size_t i = 0; i < n; ++i)
                        QVERIFY2(
                            y[i] == x[i % static_cast<std::size_t>(step) * 32 + i / static_cast<std::size_t>(step)],
                            kernels.name);
                    QCOMPARE(y[n], 9.0F);
                }
            }
        });
    }

    /// A few columns come out as in a whole tile, and a right factor is packed as it says.
    void narrowTiles() {
        forEachIsa([](const FloatKernels& kernels) {
            const MicroKernel& micro = kernels.gemm;
            constexpr std::ptrdiff_t k = 37;
            const std::ptrdiff_t nr = micro.nr, columns = 2 * nr + 3;
            const std::vector<float> a = waves(static_cast<std::size_t>((k + 1) * micro.mr), 3);
            const std::vector<float> b = waves(static_cast<std::size_t>(k * columns), 8);
            std::vector<float> packed(static_cast<std::size_t>(3 * k * nr), 9);
            micro.packRight(b.data(), columns, k, columns, packed.data());
            for (std::ptrdiff_t p = 0; p < k; ++p) {
                for (std::ptrdiff_t j = 0; j < 3 * nr; ++j) {
                    const float got = packed[static_cast<std::size_t>(j / nr * k * nr + p * nr + j % nr)];
                    QCOMPARE(got, j < columns ? b[static_cast<std::size_t>(p * columns + j)] : 0.0F);
                }
            }
            for (int rows = 1; rows <= micro.mr; ++rows) {
                for (const bool adds : {false, true}) {
                    std::vector<float> whole = waves(static_cast<std::size_t>(micro.mr * nr), 2), narrow = whole;
                    micro.run(rows, k, a.data(), packed.data(), whole.data(), nr, {adds}, {});
                    for (int n = 1; n <= micro.narrow; ++n) {
                        std::vector<float> c = narrow;
                        micro.runNarrow(rows, n, k, a.data(), packed.data(), c.data(), nr, {adds});
                        for (std::size_t i = 0; i < c.size(); ++i) {
                            const bool inside =
                                static_cast<std::ptrdiff_t>(i) % nr < n && static_cast<std::ptrdiff_t>(i) / nr < rows;
                            QVERIFY2(isSame(c[i], inside ? whole[i] : narrow[i]), kernels.name);
                        }
                    }
                }
            }
        });
    }
};

QTEST_APPLESS_MAIN(TestSmallLoops)

}  // namespace tst_small_loops

#include "tst_small_loops.moc"
