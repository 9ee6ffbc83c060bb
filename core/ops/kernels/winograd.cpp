#include "core/ops/kernels/winograd.h"

#include <algorithm>
#include <atomic>
#include <optional>

#include "core/ops/kernels/epilogue.h"
#include "core/ops/kernels/float_kernels.h"
#include "core/ops/kernels/numbers.h"

namespace sonde::ops::kernels {

namespace {

constexpr int kLanes = 16;  ///< tiles are transformed in groups of so many, or of nr if that is less
constexpr int kMaxPoints = 36;
constexpr int kMaxColumns = 32;  ///< nr of the widest micro kernel

/// G of F(m, 3): (m + 2) x 3.
constexpr double kG2[4][3] = {{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}};
constexpr double kG4[6][3] = {{1.0 / 4, 0, 0},
                              {-1.0 / 6, -1.0 / 6, -1.0 / 6},
                              {-1.0 / 6, 1.0 / 6, -1.0 / 6},
                              {1.0 / 24, 1.0 / 12, 1.0 / 6},
                              {1.0 / 24, -1.0 / 12, 1.0 / 6},
                              {0, 0, 1}};

/// Rough cost in fused multiply-adds of a vector of products of so many columns.
double productCost(std::int64_t points, std::int64_t channels, std::int64_t columns) {
    const MicroKernel& micro = floatKernels().gemm;
    const std::int64_t whole = columns / kLanes, rest = columns % kLanes;
    const double vectors =
        static_cast<double>(whole) + (rest <= micro.narrow ? static_cast<double>(rest) / micro.mr : 1);
    return static_cast<double>(points * channels) * vectors;
}

/// Of reading so many weights from beyond the second-level cache; measured with AVX-512. Beside many columns they are
/// fetched ahead.
double readingCost(std::int64_t points, std::int64_t channels, bool isHidden) {
    return static_cast<double>(points * channels) * (isHidden ? 0.4 : 1.8) * floatKernels().gemm.nr / kMaxColumns;
}

/// What a block of tiles takes on its way, in floats: it stays in or near the second-level cache. The weights are read
/// once for each block.
constexpr std::int64_t kBlockFloats = std::int64_t{1} << 19;

/// One convolution: blocks of panels of nr tiles, each in three steps that can be split among threads.
class Winograd {
  public:
    Winograd(const float* x, const WinogradWeights& weights, const float* bias, float* y, const Window& window,
             const WinogradSizes& sizes)
        : m_x(x), m_weights(weights), m_bias(bias), m_y(y), m_sizes(sizes), m_micro(floatKernels().gemm),
          m_kernel(weights.tile() == 2 ? floatKernels().winograd2 : floatKernels().winograd4), m_tile(weights.tile()),
          m_dimSize(m_tile + 2), m_points(m_dimSize * m_dimSize), m_padY(window.padBegin[0]),
          m_padX(window.padBegin[1]), m_tilesX(divideUp(sizes.output[1], m_tile)),
          m_tiles(m_tilesX * divideUp(sizes.output[0], m_tile)), m_columns(m_micro.nr),
          m_lanes(std::min<std::int64_t>(kLanes, m_micro.nr)), m_panels(panelsOfBlock()) {
        if (sizes.epilogue)
            m_end = sizes.epilogue->inRegisters(0, sizes.outChannels, sizes.output[0] * sizes.output[1]);
        if (m_end && (m_end->other || m_end->y)) m_end.reset();  // laid out as y, and not as the tiles
    }

    std::int64_t blocks() const { return m_sizes.batch * blocksOfPicture(); }
    std::size_t inputFloats() const { return static_cast<std::size_t>(m_panels * inputPitch()); }
    std::size_t outputFloats() const { return static_cast<std::size_t>(m_panels * outputPitch()); }

    /// Channels [c0, c1) of a block → v [panel][point][C][nr].
    void transformInput(std::int64_t block, std::int64_t c0, std::int64_t c1, float* v) const {
        forPanels(block, [&](std::int64_t panel, const Place& place) {
            transformPanel(place, c0, c1, v + panel * inputPitch());
        });
    }

    /// Points [p0, p1): m_p [panel][K, nr] = U_p·v_p.
    void multiply(std::int64_t block, std::int64_t p0, std::int64_t p1, const float* v, float* m) const {
        const std::int64_t depth = depthBlock(m_sizes.inChannels);
        for (std::int64_t p = p0; p < p1; ++p) {
            for (std::int64_t k0 = 0; k0 < m_sizes.inChannels; k0 += depth) {
                const std::int64_t kc = std::min(depth, m_sizes.inChannels - k0);
                for (std::int64_t row = 0; row < m_sizes.outChannels; row += m_micro.mr) {
                    const float* left = m_weights.point(static_cast<int>(p)).panel(k0, row / m_micro.mr);
                    // The first panel of tiles meets weights that nobody has read yet.
                    FetchAhead ahead{left + kFetchSteps * m_micro.mr, m_micro.mr};
                    const int rows = static_cast<int>(std::min<std::int64_t>(m_micro.mr, m_sizes.outChannels - row));
                    forPanels(block, [&](std::int64_t panel, const Place& place) {
                        const float* right = v + panel * inputPitch() + p * inputStride() + k0 * m_columns;
                        float* products = m + panel * outputPitch() + p * outputStride() + row * m_columns;
                        multiplyPanel(rows, kc, left, right, products, place.count, {k0 > 0}, ahead);
                        ahead.data = nullptr;
                    });
                }
            }
        }
    }

    /// Channels [k0, k1) of the block's part of y; false as soon as one is not finite.
    bool transformOutput(std::int64_t block, std::int64_t k0, std::int64_t k1, const float* m) const {
        bool isFinite = true;
        forPanels(block, [&](std::int64_t panel, const Place& place) {
            isFinite = isFinite && finishPanel(place, k0, k1, m + panel * outputPitch());
        });
        return isFinite;
    }

    int points() const { return m_points; }

  private:
    /// Tiles [first, first + count) of one picture, row by row.
    struct Place {
        std::int64_t picture, first, count;
    };

    /// Between points, and between panels. Points a power of two apart would share a few lines of the cache.
    std::int64_t inputStride() const { return m_sizes.inChannels * m_columns + kLanes; }
    std::int64_t outputStride() const { return m_sizes.outChannels * m_columns + kLanes; }
    std::int64_t inputPitch() const { return m_points * inputStride(); }
    std::int64_t outputPitch() const { return m_points * outputStride(); }
    std::int64_t panelsOfPicture() const { return divideUp(m_tiles, m_columns); }
    std::int64_t blocksOfPicture() const { return divideUp(panelsOfPicture(), m_panels); }
    std::int64_t panelsOfBlock() const {
        const std::int64_t most = std::max<std::int64_t>(kBlockFloats / (inputPitch() + outputPitch()), 1);
        return divideUp(panelsOfPicture(), divideUp(panelsOfPicture(), most));
    }

    /// Calls use(panel, its tiles) for the panels of a block.
    template <typename Use>
    void forPanels(std::int64_t block, const Use& use) const {
        const std::int64_t begin = block % blocksOfPicture() * m_panels;
        const std::int64_t end = std::min(begin + m_panels, panelsOfPicture());
        for (std::int64_t panel = begin; panel < end; ++panel) {
            const std::int64_t first = panel * m_columns;
            use(panel - begin,
                Place{block / blocksOfPicture(), first, std::min<std::int64_t>(m_columns, m_tiles - first)});
        }
    }

    void transformPanel(const Place& place, std::int64_t c0, std::int64_t c1, float* v) const {
        const std::int64_t lanes = divideUp(place.count, m_lanes) * m_lanes;
        alignas(64) float patches[kMaxPoints * kMaxColumns] = {};
        for (std::int64_t c = c0; c < c1; ++c) {
            gather(m_x + (place.picture * m_sizes.inChannels + c) * m_sizes.input[0] * m_sizes.input[1], place,
                   patches);
            m_kernel.input(patches, m_columns, v + c * m_columns, inputStride(), static_cast<std::size_t>(lanes));
        }
    }

    /// Products of the tiles that are there; what lies behind them is not defined.
    void multiplyPanel(int rows, std::int64_t kc, const float* left, const float* right, float* m, std::int64_t count,
                       const TileStart& start, FetchAhead ahead) const {
        const std::int64_t half = m_columns / 2;
        if (count > half + m_micro.narrow) return m_micro.run(rows, kc, left, right, m, m_columns, start, ahead);
        if (count > m_micro.narrow) {
            m_micro.runHalf(rows, false, kc, left, right, m, m_columns, start, ahead);
            if (count <= half) return;
            right += half, m += half, count -= half;
        }
        m_micro.runNarrow(rows, static_cast<int>(count), kc, left, right, m, m_columns, start);
    }

    bool finishPanel(const Place& place, std::int64_t k0, std::int64_t k1, const float* m) const {
        alignas(64) float results[(16 + 1) * kMaxColumns];  // vectors are read beyond the end
        Epilogue::Piece piece(m_end ? nullptr : m_sizes.epilogue);
        Epilogue::Bad bad;
        for (std::int64_t k = k0; k < k1; ++k) {
            if (!m_kernel.output(m + k * m_columns, outputStride(), m_bias ? m_bias[k] : 0.0f, results, m_columns,
                                 static_cast<std::size_t>(place.count))) {
                return false;
            }
            const std::int64_t plane =
                (place.picture * m_sizes.outChannels + k) * m_sizes.output[0] * m_sizes.output[1];
            if (m_end && !endTiles(results, place.count, k)) bad.lanes[0] = 1;
            scatter(results, place, m_y + plane);
            if (m_sizes.epilogue && !m_end) runEpilogue(place, plane, piece);
        }
        piece.end();
        if (m_end) m_sizes.epilogue->looked(bad);
        return true;
    }

    /// The whole epilogue of outputs of channel k before they are joined to rows, [m·m] by `count` tiles: whether all
    /// is finite before the bounds.
    bool endTiles(float* results, std::int64_t count, std::int64_t k) const {
        const AffinePass pass{m_end->factor != nullptr, m_end->factor ? m_end->factor[k] : 1,
                              m_end->factor ? m_end->shift[k] : 0, m_end->low, m_end->high};
        // What lies behind the last tile is not defined.
        const std::int64_t points = m_tile * m_tile, rows = count == m_columns ? 1 : points;
        const auto each = static_cast<std::size_t>(rows == 1 ? points * m_columns : count);
        bool isFinite = true;
        for (std::int64_t i = 0; i < rows; ++i) {
            float* const row = results + i * m_columns;
            isFinite = floatKernels().affinePass(row, pass, nullptr, row, each) && isFinite;
        }
        return isFinite;
    }

    /// Calls use(at, row of tiles, first column of tiles, count) for each stretch of tiles that lie in one row.
    template <typename Use>
    void forStretches(const Place& place, const Use& use) const {
        for (std::int64_t done = 0; done < place.count;) {
            const std::int64_t tile = place.first + done, column = tile % m_tilesX;
            const std::int64_t count = std::min(m_tilesX - column, place.count - done);
            use(done, tile / m_tilesX, column, count);
            done += count;
        }
    }

    /// patches[i·a + j][t] = element (i, j) of tile t's patch, zero outside of the picture.
    void gather(const float* plane, const Place& place, float* patches) const {
        const std::int64_t height = m_sizes.input[0], width = m_sizes.input[1];
        forStretches(place, [&](std::int64_t at, std::int64_t tileRow, std::int64_t tileColumn, std::int64_t count) {
            const std::int64_t x = tileColumn * m_tile - m_padX;
            for (int i = 0; i < m_dimSize; ++i) {
                const std::int64_t y = tileRow * m_tile + i - m_padY;
                float* out = patches + i * m_dimSize * m_columns + at;
                const bool inside = y >= 0 && y < height;
                floatKernels().tileRows(inside ? plane + y * width + x : plane, inside ? -x : 0, inside ? width - x : 0,
                                        m_tile, out, m_columns, static_cast<std::size_t>(count));
            }
        });
    }

    void scatter(const float* results, const Place& place, float* plane) const {
        const std::int64_t height = m_sizes.output[0], width = m_sizes.output[1];
        forStretches(place, [&](std::int64_t at, std::int64_t tileRow, std::int64_t tileColumn, std::int64_t count) {
            for (int i = 0; i < m_tile; ++i) {
                const std::int64_t y = tileRow * m_tile + i;
                if (y >= height) break;
                const std::int64_t first = tileColumn * m_tile;
                floatKernels().joinTiles(results + i * m_tile * m_columns + at, m_columns, m_tile,
                                         plane + y * width + first,
                                         static_cast<std::size_t>(std::min(count * m_tile, width - first)));
            }
        });
    }

    /// The epilogue, on the outputs of a block in one plane.
    void runEpilogue(const Place& place, std::int64_t plane, Epilogue::Piece& piece) const {
        const std::int64_t height = m_sizes.output[0], width = m_sizes.output[1];
        forStretches(place, [&](std::int64_t, std::int64_t tileRow, std::int64_t tileColumn, std::int64_t count) {
            const std::int64_t first = tileColumn * m_tile, last = std::min(first + count * m_tile, width);
            const std::int64_t top = tileRow * m_tile, rows = std::min<std::int64_t>(m_tile, height - top);
            if (first == 0 && last == width) return piece.apply(plane + top * width, rows * width);
            for (std::int64_t y = top; y < top + rows; ++y) piece.apply(plane + y * width + first, last - first);
        });
    }

    const float* m_x;
    const WinogradWeights& m_weights;
    const float* m_bias;
    float* m_y;
    const WinogradSizes& m_sizes;
    const MicroKernel& m_micro;
    const WinogradKernel& m_kernel;
    int m_tile, m_dimSize, m_points;
    std::int64_t m_padY, m_padX, m_tilesX, m_tiles;
    std::int64_t m_columns, m_lanes;
    std::int64_t m_panels;         ///< of a block
    std::optional<TileEnd> m_end;  ///< the whole epilogue, on tiles
};

/// Splits [0, count) among the threads.
template <typename Use>
void spread(base::ThreadPool& pool, std::int64_t count, std::int64_t least, const Use& use) {
    pool.parallelFor(static_cast<std::size_t>(count), static_cast<std::size_t>(least),
                     [&](std::size_t begin, std::size_t end) {
                         use(static_cast<std::int64_t>(begin), static_cast<std::int64_t>(end));
                     });
}

}  // namespace

WinogradWeights::WinogradWeights(const float* weights, std::int64_t outChannels, std::int64_t inChannels, int tile,
                                 base::ThreadPool& pool)
    : m_tile(tile) {
    const int dimSize = tile + 2;
    const auto g = [&](int i, int j) { return tile == 2 ? kG2[i][j] : kG4[i][j]; };
    AlignedBuffer<float> point(static_cast<std::size_t>(outChannels * inChannels));
    for (int i = 0; i < dimSize; ++i) {
        for (int j = 0; j < dimSize; ++j) {
            spread(pool, outChannels * inChannels, 4096, [&](std::int64_t begin, std::int64_t end) {
                for (std::int64_t kc = begin; kc < end; ++kc) {
                    double sum = 0;
                    for (int a = 0; a < 3; ++a)
                        for (int b = 0; b < 3; ++b)
                            sum += g(i, a) * g(j, b) * static_cast<double>(weights[kc * 9 + a * 3 + b]);
                    point.data()[kc] = static_cast<float>(sum);
                }
            });
            m_points.push_back(PackedMatrix::left({point.data(), inChannels, 1}, outChannels, inChannels, pool));
        }
    }
}

int winogradTile(const Window& window, const WinogradSizes& sizes) {
    constexpr std::int64_t kMinChannels = 16;
    if (window.rank() != 2 || sizes.inChannels < kMinChannels || sizes.outChannels < kMinChannels) return 0;
    for (std::size_t axis = 0; axis < 2; ++axis)
        if (window.kernel[axis] != 3 || window.stride[axis] != 1 || window.dilation[axis] != 1) return 0;
    const std::int64_t channels = sizes.inChannels * sizes.outChannels;
    constexpr double kTransform = 40;  // a vector at a point; measured with AVX-512
    const auto ofTile = [&](int tile) {
        const std::int64_t tiles = divideUp(sizes.output[0], tile) * divideUp(sizes.output[1], tile) * sizes.batch;
        const std::int64_t points = (tile + 2) * (tile + 2);
        const double transforms = kTransform * static_cast<double>(points * (sizes.inChannels + sizes.outChannels)) *
                                  static_cast<double>(divideUp(tiles, kLanes));
        return productCost(points, channels, tiles) + readingCost(points, channels, false) + transforms;
    };
    // convolveDirect computes what is between the lines as well, in whole tiles.
    const std::int64_t positions = sizes.output[0] * (sizes.output[1] + 2), unit = floatKernels().gemm.nr;
    const double direct =
        static_cast<double>(sizes.batch) * productCost(9, channels, divideUp(positions, unit) * unit) +
        readingCost(9, channels, true);
    // The less exact and the larger weights have to be worth it.
    const double two = ofTile(2), four = ofTile(4);
    if (0.9 * direct < std::min(two, four)) return 0;
    return four < 0.95 * two ? 4 : 2;
}

bool convolveWinograd(const float* x, const WinogradWeights& weights, const float* bias, float* y, const Window& window,
                      const WinogradSizes& sizes, base::ThreadPool& pool) {
    const Winograd work(x, weights, bias, y, window, sizes);
    // As many blocks as can be dealt out evenly run each on one thread.
    const std::int64_t rest = work.blocks() % static_cast<std::int64_t>(pool.threads()), whole = work.blocks() - rest;
    std::atomic<bool> isFinite = true;
    spread(pool, whole, 1, [&](std::int64_t begin, std::int64_t end) {
        float* v = Scratch::of<float>(1, work.inputFloats());
        float* m = Scratch::of<float>(2, work.outputFloats());
        for (std::int64_t block = begin; block < end && isFinite.load(std::memory_order_relaxed); ++block) {
            work.transformInput(block, 0, sizes.inChannels, v);
            work.multiply(block, 0, work.points(), v, m);
            if (!work.transformOutput(block, 0, sizes.outChannels, m)) isFinite = false;
        }
    });
    if (rest == 0 || !isFinite) return isFinite;
    // Of the others the threads share each step.
    const auto inputs = static_cast<std::int64_t>(work.inputFloats()),
               outputs = static_cast<std::int64_t>(work.outputFloats());
    float* v = Scratch::of<float>(1, static_cast<std::size_t>(rest * inputs));
    float* m = Scratch::of<float>(2, static_cast<std::size_t>(rest * outputs));
    const auto share = [&](std::int64_t count, std::int64_t least, const auto& use) {
        const std::int64_t pieces = divideUp(count, least);
        spread(pool, rest * pieces, 1, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i)
                use(i % rest, i / rest * least, std::min((i / rest + 1) * least, count));
        });
    };
    share(sizes.inChannels, 8, [&](std::int64_t i, std::int64_t begin, std::int64_t end) {
        work.transformInput(whole + i, begin, end, v + i * inputs);
    });
    share(work.points(), 1, [&](std::int64_t i, std::int64_t begin, std::int64_t end) {
        work.multiply(whole + i, begin, end, v + i * inputs, m + i * outputs);
    });
    share(sizes.outChannels, 8, [&](std::int64_t i, std::int64_t begin, std::int64_t end) {
        if (!work.transformOutput(whole + i, begin, end, m + i * outputs)) isFinite = false;
    });
    return isFinite;
}

}  // namespace sonde::ops::kernels
