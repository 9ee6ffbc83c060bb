// Loops of every instruction set that the processor has, against plain ones over single numbers: bit for bit where
// nothing is rounded, or where the steps are rounded one by one.

#include <QtTest>

#include <bit>
#include <cmath>
#include <cstdint>
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

bool isSame(float a, float b) {
    return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b) || (std::isnan(a) && std::isnan(b));
}

/// What an epilogue does with the sums of a tile [rows, 40]: every combination of its parts, as TileEnd.
struct Ends {
    std::vector<float> factor = waves(16, 77), shift = waves(16, 99), other = waves(16 * kPitch, 400);
    static constexpr std::ptrdiff_t kPitch = 40;

    template <typename Use>
    void forEach(const Use& use) {
        for (const bool scales : {false, true}) {
            for (const bool adds : {false, true}) {
                use(TileEnd{scales ? factor.data() : nullptr, scales ? shift.data() : nullptr,
                            adds ? other.data() : nullptr, nullptr, -0.5F, 0.75F, nullptr});
            }
        }
    }
};

/// By the pass over rows of memory: whether all is finite before the bounds.
bool endRows(const FloatKernels& kernels, const TileEnd& end, const std::vector<float>& sums, std::vector<float>& y,
             int rows, std::ptrdiff_t columns) {
    bool isFinite = true;
    for (int r = 0; r < rows; ++r) {
        const AffinePass pass{end.factor != nullptr, end.factor ? end.factor[r] : 0, end.factor ? end.shift[r] : 0,
                              end.low, end.high};
        const std::ptrdiff_t at = r * Ends::kPitch;
        isFinite = kernels.affinePass(sums.data() + at, pass, end.other ? end.other + at : nullptr, y.data() + at,
                                      static_cast<std::size_t>(columns)) &&
                   isFinite;
    }
    return isFinite;
}

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
                        const AffinePass pass{true, 1.7F, -0.3F, -0.5F, 0.75F};
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

    /// Sums come out of a tile's registers as the pass over memory makes them, whatever the tile's shape; -0 stays.
    void tileEnds() {
        forEachIsa([](const FloatKernels& kernels) {
            const MicroKernel& micro = kernels.gemm;
            constexpr std::ptrdiff_t k = 21, kPitch = Ends::kPitch;
            const std::vector<float> a = waves(static_cast<std::size_t>((k + 1) * micro.mr), 3);
            const std::vector<float> b = waves(static_cast<std::size_t>((k + 1) * micro.nr), 8);
            std::vector<std::ptrdiff_t> starts;
            for (std::ptrdiff_t p = 0; p < k; ++p) starts.push_back(p * micro.nr);
            const std::vector<float> bias = waves(16, 5);
            const auto run = [&](int rows, std::ptrdiff_t columns, bool isAt, float* c, const TileStart& start) {
                if (columns == micro.nr && isAt)
                    micro.runAt(rows, k, a.data(), b.data(), starts.data(), c, kPitch, start, {});
                else if (columns == micro.nr) micro.run(rows, k, a.data(), b.data(), c, kPitch, start, {});
                else if (columns <= micro.narrow)
                    micro.runNarrow(rows, static_cast<int>(columns), k, a.data(), b.data(), c, kPitch, start);
                else micro.runHalf(rows, columns > micro.nr / 2, k, a.data(), b.data(), c, kPitch, start, {});
            };
            Ends ends;
            for (int rows = 1; rows <= micro.mr; ++rows) {
                for (const std::ptrdiff_t columns : {1, micro.narrow, micro.nr / 2, micro.nr / 2 + 1, micro.nr}) {
                    for (const int way : {0, 1, 2, 3}) {
                        std::vector<float> sums = waves(16 * kPitch, 2);
                        const std::vector<float> before = sums;
                        TileStart start{way == 1, way == 2 ? bias.data() : nullptr};
                        run(rows, columns, way == 3, sums.data(), start);
                        ends.forEach([&](TileEnd end) {
                            for (const bool keeps : {false, true}) {
                                std::vector<float> want = before, c = before, y = before;
                                QVERIFY(endRows(kernels, end, sums, want, rows, columns));
                                alignas(64) float bad[16] = {};
                                end.bad = bad, end.y = keeps ? y.data() : nullptr, start.end = &end;
                                run(rows, columns, way == 3, c.data(), start);
                                const std::vector<float>& got = keeps ? y : c;
                                for (std::size_t i = 0; i < want.size(); ++i) {
                                    QVERIFY2(isSame(got[i], want[i]), kernels.name);
                                    QVERIFY2(!keeps || isSame(c[i], sums[i]), kernels.name);
                                }
                                for (const float lane : bad) QCOMPARE(lane, 0.0F);
                            }
                        });
                    }
                }
            }
        });
    }

    /// NaN and infinity are known before the bounds, wherever in a tile they are.
    void tileEndsKnowBadSums() {
        forEachIsa([](const FloatKernels& kernels) {
            const MicroKernel& micro = kernels.gemm;
            std::vector<float> a(static_cast<std::size_t>(2 * micro.mr), 1), b(static_cast<std::size_t>(micro.nr), 1);
            const std::vector<float> factor(16, 2), shift(16, 1);
            for (const float value : {kNan, kInf, -kInf, 3e38F}) {
                for (int at = 0; at < micro.nr; ++at) {
                    std::vector<float> c(static_cast<std::size_t>(micro.mr * micro.nr), 5);
                    alignas(64) float bad[16] = {};
                    const TileEnd end{factor.data(), shift.data(), nullptr, nullptr, -1, 1, bad};
                    b[static_cast<std::size_t>(at)] = value;  // 3e38 is infinite when it is scaled
                    micro.run(micro.mr, 1, a.data(), b.data(), c.data(), micro.nr, {false, nullptr, &end}, {});
                    b[static_cast<std::size_t>(at)] = 1;
                    bool isFinite = true;
                    for (const float lane : bad) isFinite = isFinite && lane == 0;
                    QVERIFY2(!isFinite, kernels.name);
                    const float clipped = std::isnan(value) ? kNan : value > 0 ? 1.0F : -1.0F;
                    QVERIFY(isSame(c[static_cast<std::size_t>(at)], clipped));
                }
            }
        });
    }

    /// The same of a depthwise convolution's planes.
    void planeEnds() {
        forEachIsa([](const FloatKernels& kernels) {
            const std::vector<float> weights = waves(9, 31);
            Ends ends;
            for (const std::ptrdiff_t stride : {1, 2}) {
                const auto loop = kernels.depthwise3x3[stride - 1];
                if (!loop) continue;
                for (std::ptrdiff_t size = 3; size < 40; ++size) {
                    const std::vector<float> x = waves(static_cast<std::size_t>(size * size), 5);
                    const std::ptrdiff_t out = (size - 1) / stride + 1;
                    std::vector<float> sums(16 * Ends::kPitch * 3, 9), want(sums), y(sums);
                    Plane3x3 plane{x.data(), size, size, 1, 1, weights.data(), 0.25F, sums.data(), out, out};
                    loop(plane);
                    ends.forEach([&](TileEnd end) {
                        if (end.other) return;
                        const AffinePass pass{end.factor != nullptr, end.factor ? *end.factor : 0,
                                              end.factor ? *end.shift : 0, end.low, end.high};
                        QVERIFY(kernels.affinePass(sums.data(), pass, nullptr, want.data(),
                                                   static_cast<std::size_t>(out * out)));
                        alignas(64) float bad[16] = {};
                        for (const bool keeps : {false, true}) {
                            std::vector<float> c(y.size(), 9), kept(y.size(), 9);
                            end.bad = bad, end.y = keeps ? kept.data() : nullptr;
                            plane.y = c.data(), plane.end = &end;
                            loop(plane);
                            for (std::size_t i = 0; i < want.size(); ++i) {
                                QVERIFY2(isSame((keeps ? kept : c)[i], want[i]), kernels.name);
                                QVERIFY2(!keeps || isSame(c[i], sums[i]), kernels.name);
                            }
                        }
                    });
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
