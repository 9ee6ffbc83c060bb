#include "core/ops/kernels/gemm.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "core/base/parallel_scope.h"
#include "core/ops/kernels/epilogue.h"
#include "core/ops/kernels/float_kernels.h"
#include "core/ops/kernels/numbers.h"
#include "core/tensor/half_floats.h"

namespace sonde::ops::kernels {

namespace {

/// Columns of one task if there is one thread and the right factor is packed: the block of C stays in the second-level
/// cache.
constexpr std::int64_t kColumnBlock = 256;
/// Of the right factor in one strip: half a megabyte, a part of the second-level cache; and at most so many columns:
/// the rows of C are still in the cache when the epilogue comes.
constexpr std::int64_t kStripFloats = std::int64_t{1} << 17, kStripColumns = 2048;
/// What packing the right factor costs, in rows of C (half of it is in another core's cache): as such, and gathered by
/// a PanelSource.
constexpr std::int64_t kPackRows = 16, kGatherRows = 10;
/// Where two threads write to one line of memory it travels between them, for the time of so many steps of k.
constexpr double kSharedLine = 200;

const MicroKernel& microKernel() { return floatKernels().gemm; }

std::int64_t roundUp(std::int64_t value, std::int64_t step) { return (value + step - 1) / step * step; }

/// target[p][i] = element (p, first + i) of a matrix with strides (depth, across), zeros beyond `dimSize`.
void packPanel(const float* data, std::int64_t depthStride, std::int64_t acrossStride, std::int64_t k0, std::int64_t kc,
               std::int64_t first, std::int64_t width, std::int64_t dimSize, float* target) {
    const std::int64_t valid = std::min(width, dimSize - first);
    const float* base = data + k0 * depthStride + first * acrossStride;
    if (valid < width && 2 * valid != width)
        std::fill(target, target + kc * width, 0.0F);  // of a half only the half is read
    if (acrossStride == 1) {
        for (std::int64_t p = 0; p < kc; ++p) {
            std::memcpy(target + p * width, base + p * depthStride, static_cast<std::size_t>(valid) * sizeof(float));
        }
        return;
    }
    // Rows of the source run along k: read along them, a few lines of the target at a time.
    constexpr std::int64_t kStrip = 16;
    for (std::int64_t p0 = 0; p0 < kc; p0 += kStrip) {
        const std::int64_t p1 = std::min(p0 + kStrip, kc);
        for (std::int64_t i = 0; i < valid; ++i) {
            const float* row = base + i * acrossStride;
            for (std::int64_t p = p0; p < p1; ++p) target[p * width + i] = row[p * depthStride];
        }
    }
}

void packAll(const float* data, std::int64_t depthStride, std::int64_t acrossStride, std::int64_t depth,
             std::int64_t dimSize, std::int64_t width, float* target, base::ThreadPool& pool) {
    const std::int64_t padded = roundUp(dimSize, width);
    const std::int64_t panels = padded / width;
    pool.parallelFor(static_cast<std::size_t>(panels), 1, [&](std::size_t begin, std::size_t end) {
        for (auto panel = static_cast<std::int64_t>(begin); panel < static_cast<std::int64_t>(end); ++panel) {
            for (std::int64_t k0 = 0; k0 < depth; k0 += depthBlock(depth)) {
                const std::int64_t kc = std::min(depthBlock(depth), depth - k0);
                packPanel(data, depthStride, acrossStride, k0, kc, panel * width, width, dimSize,
                          target + k0 * padded + panel * width * kc);
            }
        }
    });
}

std::size_t packedSize(std::int64_t dimSize, std::int64_t width, std::int64_t depth) {
    constexpr std::int64_t kSlack = 64;  // a vector may be read beyond the end
    return static_cast<std::size_t>(roundUp(dimSize, width) * depth + kSlack);
}

/// Where a panel of a packed factor begins.
template <typename T>
const T* panelOf(const T* packed, std::int64_t dimSize, std::int64_t width, std::int64_t depth, std::int64_t k0,
                 std::int64_t panel) {
    return packed + k0 * roundUp(dimSize, width) + panel * width * std::min(depthBlock(depth), depth - k0);
}

}  // namespace

std::size_t PackedMatrix::leftSize(std::int64_t m, std::int64_t k) { return packedSize(m, microKernel().mr, k); }

void PackedMatrix::packLeft(const MatrixView<float>& matrix, std::int64_t m, std::int64_t k, float* target,
                            base::ThreadPool& pool) {
    packAll(matrix.data, matrix.columnStride, matrix.rowStride, k, m, static_cast<std::int64_t>(microKernel().mr),
            target, pool);
}

PackedMatrix PackedMatrix::left(const MatrixView<float>& matrix, std::int64_t m, std::int64_t k,
                                base::ThreadPool& pool) {
    PackedMatrix packed;
    packed.m_panelWidth = microKernel().mr;
    packed.m_dimSize = m;
    packed.m_depth = k;
    packed.m_buffer = AlignedBuffer<float>(leftSize(m, k));
    packLeft(matrix, m, k, packed.m_buffer.data(), pool);
    return packed;
}

PackedMatrix PackedMatrix::right(const MatrixView<float>& matrix, std::int64_t k, std::int64_t n,
                                 base::ThreadPool& pool) {
    PackedMatrix packed;
    packed.m_panelWidth = microKernel().nr;
    packed.m_dimSize = n;
    packed.m_depth = k;
    packed.m_buffer = AlignedBuffer<float>(packedSize(n, packed.m_panelWidth, k));
    packAll(matrix.data, matrix.rowStride, matrix.columnStride, k, n, packed.m_panelWidth, packed.m_buffer.data(),
            pool);
    return packed;
}

void PackedMatrix::narrow(tensor::DType dtype) {
    m_narrow = AlignedBuffer<std::uint16_t>(m_buffer.size());
    const auto used = static_cast<std::size_t>(roundUp(m_dimSize, m_panelWidth) * m_depth);
    if (dtype == tensor::DType::Float16) tensor::floatToHalf(m_buffer.data(), m_narrow.data(), used);
    else tensor::floatToBFloat16(m_buffer.data(), m_narrow.data(), used);
    m_buffer = {};
    m_dtype = dtype;
}

const float* PackedMatrix::address(std::int64_t k0, std::int64_t panel) const {
    if (m_dtype == tensor::DType::Float32) return panelOf(m_buffer.data(), m_dimSize, m_panelWidth, m_depth, k0, panel);
    return reinterpret_cast<const float*>(panelOf(m_narrow.data(), m_dimSize, m_panelWidth, m_depth, k0, panel));
}

std::size_t PackedMatrix::panelSize() const {
    constexpr std::int64_t kSlack = 64;  // a vector may be read beyond the end
    return m_dtype == tensor::DType::Float32
               ? 0
               : static_cast<std::size_t>(m_panelWidth * std::min(depthBlock(m_depth), m_depth) + kSlack);
}

const float* PackedMatrix::panel(std::int64_t k0, std::int64_t panel, float* scratch) const {
    if (m_dtype == tensor::DType::Float32) return panelOf(m_buffer.data(), m_dimSize, m_panelWidth, m_depth, k0, panel);
    const auto count = static_cast<std::size_t>(m_panelWidth * std::min(depthBlock(m_depth), m_depth - k0));
    const std::uint16_t* const from = panelOf(m_narrow.data(), m_dimSize, m_panelWidth, m_depth, k0, panel);
    if (m_dtype == tensor::DType::Float16) tensor::halfToFloat(from, scratch, count);
    else tensor::bfloat16ToFloat(from, scratch, count);
    return scratch;
}

namespace {

/// How C is cut: into parts of rows, and these into tiles of columns, whose borders are multiples of `unit`. Each
/// thread begins with tiles of its own and packs what it needs of the right factor, instead of waiting for all to be
/// packed and reading half of it from another core's cache.
struct Cut {
    std::int64_t parts = 1, tiles = 1, unit = 1;
};

class Product {
  public:
    Product(const GemmCall<float>& call, base::ThreadPool& pool)
        : m_call(call), m_pool(pool), m_micro(microKernel()), m_block(depthBlock(call.k)), m_cut(cut()) {
        if (call.epilogue && !call.rightPacked) m_end = call.epilogue->inRegisters(call.offset, call.m, call.ldc);
    }

    void run() {
        packLeft();
        m_pool.parallelFor(
            static_cast<std::size_t>(m_cut.parts * m_cut.tiles), 1, [&](std::size_t begin, std::size_t end) {
                for (auto task = static_cast<std::int64_t>(begin); task < static_cast<std::int64_t>(end); ++task) {
                    if (m_call.stop && m_call.stop->stop_requested()) return;
                    const std::int64_t part = task / m_cut.tiles, at = task % m_cut.tiles;
                    if (m_left.size() && m_cut.parts > 1)
                        std::call_once(m_packed[static_cast<std::size_t>(part)], [&] { packPart(part); });
                    tile(part, columnAt(at), columnAt(at + 1));
                }
            });
    }

  private:
    static constexpr int kWideSlot = 1;  ///< of Scratch: a panel of narrow numbers, widened

    Cut cut() const {
        Cut best;
        best.unit = m_call.rightPacked ? m_micro.nr : m_micro.nr / 2;
        const std::int64_t units = divideUp(m_call.n, best.unit);
        const auto threads = static_cast<std::int64_t>(m_pool.threads());
        if (threads == 1 || base::insideParallelLoop() ||
            m_call.m * m_call.n < kMinShared / std::max<std::int64_t>(m_call.k, 1)) {
            if (m_call.rightPacked) best.tiles = divideUp(units * best.unit, roundUp(kColumnBlock, m_micro.nr));
            return best;
        }
        const std::int64_t packing = m_call.rightPacked ? 0 : m_call.rightSource ? kGatherRows : kPackRows;
        double least = 0;
        for (std::int64_t parts = 1; parts <= threads && (parts == 1 || m_call.m >= 8 * parts); ++parts) {
            const std::int64_t shares = divideUp(threads, parts);
            double cost =
                static_cast<double>(divideUp(units, shares)) * static_cast<double>(divideUp(m_call.m, parts) + packing);
            if (parts == 1 && !m_call.leftPacked) cost *= 1.05;  // the threads read each other's packed rows
            if (shares > 1)
                cost += kSharedLine * static_cast<double>(m_call.m) /
                        static_cast<double>(parts * std::max<std::int64_t>(m_call.k, 1));
            if (parts > 1 && cost >= least) continue;
            least = cost;
            best.parts = parts;
            // Several tiles for each thread: who is done earlier takes some of the others.
            best.tiles = std::min(
                units, shares * std::clamp<std::int64_t>(units / (shares * 4), 1, m_call.rightPacked ? 16 : 4));
        }
        return best;
    }

    /// Where the part of rows, the tile of columns begins.
    std::int64_t rowAt(std::int64_t part) const {
        if (part == m_cut.parts) return m_call.m;
        return std::min(roundUp(m_call.m * part / m_cut.parts, m_micro.mr), m_call.m);  // of whole panels
    }
    std::int64_t columnAt(std::int64_t at) const {
        const std::int64_t units = divideUp(m_call.n, m_cut.unit);
        return std::min(units * at / m_cut.tiles * m_cut.unit, m_call.n);
    }

    /// Room for a part of the left factor.
    std::int64_t leftPitch() const {
        return static_cast<std::int64_t>(
            PackedMatrix::leftSize(divideUp(m_call.m, m_cut.parts) + m_micro.mr, m_call.k));
    }

    void packLeft() {
        if (m_call.leftPacked) return;
        m_left = WorkBuffer<float>(static_cast<std::size_t>(leftPitch() * m_cut.parts));
        if (m_cut.parts == 1) packPart(0);
        else m_packed = std::make_unique<std::once_flag[]>(static_cast<std::size_t>(m_cut.parts));
    }

    void packPart(std::int64_t part) {
        MatrixView<float> rows = m_call.left;
        rows.data += rowAt(part) * rows.rowStride;
        PackedMatrix::packLeft(rows, rowAt(part + 1) - rowAt(part), m_call.k, m_left.data() + part * leftPitch(),
                               m_pool);
    }

    /// Packed rows from m on, and how many of them there are before the next panel.
    struct LeftRows {
        const float* data;
        std::int64_t count;
    };
    LeftRows leftRows(std::int64_t part, std::int64_t k0, std::int64_t m) const {
        const auto mr = static_cast<std::int64_t>(m_micro.mr);
        if (m_call.leftPacked) {
            float* const wide = Scratch::of<float>(kWideSlot, m_call.leftPacked->panelSize());
            return {m_call.leftPacked->panel(k0, m / mr, wide) + m % mr, mr - m % mr};
        }
        const std::int64_t first = rowAt(part), inside = m - first;
        return {panelOf(m_left.data() + part * leftPitch(), rowAt(part + 1) - first, mr, m_call.k, k0, inside / mr) +
                    inside % mr,
                mr - inside % mr};
    }

    /// Columns [n0, n1) of the right factor for k in [k0, k0 + kc) → panels [kc][nr].
    void packRight(std::int64_t k0, std::int64_t kc, std::int64_t n0, std::int64_t n1, float* target) const {
        const MatrixView<float>& right = m_call.right;
        const auto nr = static_cast<std::int64_t>(m_micro.nr);
        if (!m_call.rightSource && right.columnStride == 1)
            return m_micro.packRight(right.data + k0 * right.rowStride + n0, right.rowStride, kc, n1 - n0, target);
        for (std::int64_t n = n0; n < n1; n += nr, target += kc * nr) {
            if (m_call.rightSource) (*m_call.rightSource)(k0, kc, n, nr, target);
            else packPanel(right.data, right.rowStride, right.columnStride, k0, kc, n, nr, n1, target);
        }
    }

    /// Writes what C has before the products are added, unless the tiles do it themselves.
    void fillColumnBias(std::int64_t m0, std::int64_t m1, std::int64_t n0, std::int64_t n1) const {
        if (!m_call.columnBias || m_call.accumulate) return;
        for (std::int64_t i = m0; i < m1; ++i)
            std::copy(m_call.columnBias + n0, m_call.columnBias + n1, m_call.c + i * m_call.ldc + n0);
    }
    /// Of the tiles from row m on.
    TileStart startOf(std::int64_t k0, std::int64_t m) const {
        return {m_call.accumulate || m_call.columnBias || k0 > 0, m_call.rowBias ? m_call.rowBias + m : nullptr};
    }

    /// Of the tile of C that begins there.
    TileEnd endOf(std::int64_t m, std::int64_t n, Epilogue::Bad& bad) const {
        TileEnd end = *m_end;
        const std::int64_t at = m * m_call.ldc + n;
        if (end.factor) end.factor += m, end.shift += m;
        if (end.other) end.other += at;
        if (end.y) end.y += at;
        end.bad = bad.lanes;
        return end;
    }

    bool isStopped() const { return m_call.stop && m_call.stop->stop_requested(); }

    void tile(std::int64_t part, std::int64_t n0, std::int64_t n1) const {
        if (m_call.rightPacked) return tileOfPacked(part, n0, n1);
        const auto nr = static_cast<std::int64_t>(m_micro.nr);
        const std::int64_t panels = divideUp(n1 - n0, nr),
                           depth = std::min(m_block, std::max<std::int64_t>(m_call.k, 1));
        const std::int64_t most = std::max<std::int64_t>(std::min(kStripFloats / depth, kStripColumns) / nr, 1);
        const std::int64_t strips = divideUp(panels, most);
        const std::int64_t width = divideUp(panels, strips) * nr;
        float* scratch = Scratch::of<float>(0, static_cast<std::size_t>(depth * width));
        for (std::int64_t n = n0; n < n1 && !isStopped(); n += width) strip(part, n, std::min(n + width, n1), scratch);
    }

    /// Columns up to here are packed by the first panel of rows while it uses them: whole panels of a factor whose rows
    /// lie in memory.
    std::int64_t packedOnTheWay(std::int64_t m0, std::int64_t m1, std::int64_t n0, std::int64_t n1) const {
        if (m_call.rightSource || m_call.right.columnStride != 1 || m1 - m0 < m_micro.mr || m0 % m_micro.mr != 0)
            return n0;
        return n0 + (n1 - n0) / m_micro.nr * m_micro.nr;
    }

    /// As many columns as fit into the second-level cache, each panel of rows with all of them: the left factor is
    /// read once for a strip, and rows of C are done while they are in the cache.
    void strip(std::int64_t part, std::int64_t n0, std::int64_t n1, float* scratch) const {
        const std::int64_t m0 = rowAt(part), m1 = rowAt(part + 1);
        std::int64_t k0 = 0;
        do {
            const std::int64_t kc = std::min(m_block, m_call.k - k0);
            const std::int64_t whole = packedOnTheWay(m0, m1, n0, n1);
            packRight(k0, kc, whole, n1, scratch + (whole - n0) * kc);
            const bool isFirst = k0 == 0, isLast = k0 + kc >= m_call.k;
            std::int64_t done = m0;  // by the epilogue
            Epilogue::Bad bad;
            for (std::int64_t m = m0; m < m1;) {
                const LeftRows lines = leftRows(part, k0, m);
                const std::int64_t rows = std::min(lines.count, m1 - m);
                if (isFirst) fillColumnBias(m, m + rows, n0, n1);
                TileStart start = startOf(k0, m);
                TileEnd end;
                if (isLast && m_end) start.end = &end;
                // The first panel of columns meets rows that nobody has read yet.
                FetchAhead ahead{lines.data + kFetchSteps * m_micro.mr, m_micro.mr};
                for (std::int64_t n = n0; n < n1; n += m_micro.nr, ahead.data = nullptr) {
                    float* const packed = scratch + (n - n0) * kc;
                    float* const c = m_call.c + m * m_call.ldc + n;
                    if (start.end) end = endOf(m, n, bad);
                    if (m == m0 && n < whole) {
                        const float* const right = m_call.right.data + k0 * m_call.right.rowStride + n;
                        m_micro.runPacking(kc, lines.data, right, m_call.right.rowStride, packed, c, m_call.ldc, start);
                    } else {
                        panel(lines.data, static_cast<int>(rows), kc, packed, c,
                              std::min<std::int64_t>(m_micro.nr, n1 - n), start, ahead);
                    }
                }
                m += rows;
                if (!isLast || !m_call.epilogue || m_end) continue;
                if (n1 - n0 == m_call.ldc && (m - done) * m_call.ldc < kEpiloguePiece && m < m1) continue;
                finish(done, m, n0, n1);
                done = m;
            }
            if (isLast && m_end) m_call.epilogue->looked(bad);
            k0 += kc;
        } while (k0 < m_call.k && !isStopped());
    }

    /// Where the right factor is packed weights, each panel of them is read once and used for all rows.
    void tileOfPacked(std::int64_t part, std::int64_t n0, std::int64_t n1) const {
        const std::int64_t m0 = rowAt(part), m1 = rowAt(part + 1);
        const auto nr = static_cast<std::int64_t>(m_micro.nr);
        constexpr std::int64_t kLine = 64 / sizeof(float);
        fillColumnBias(m0, m1, n0, n1);
        for (std::int64_t k0 = 0; k0 == 0 || k0 < m_call.k; k0 += m_block) {
            const std::int64_t kc = std::min(m_block, m_call.k - k0);
            for (std::int64_t n = n0; n < n1; n += nr) {
                const float* right = m_call.rightPacked->panel(
                    k0, n / nr, Scratch::of<float>(kWideSlot, m_call.rightPacked->panelSize()));
                // The first panels of rows fetch a part of the next panel each.
                const float* const fetched = m_call.rightPacked->address(k0, n / nr + 2);
                FetchAhead ahead{m_call.rightPacked->address(k0, n / nr + 1), kLine};
                for (std::int64_t m = m0; m < m1;) {
                    const LeftRows lines = leftRows(part, k0, m);
                    const std::int64_t rows = std::min(lines.count, m1 - m);
                    panel(lines.data, static_cast<int>(rows), kc, right, m_call.c + m * m_call.ldc + n,
                          std::min(nr, n1 - n), startOf(k0, m), ahead);
                    if (ahead.data) ahead.data += kc * kLine;
                    if (ahead.data >= fetched) ahead.data = nullptr;
                    m += rows;
                }
            }
        }
        if (m_call.epilogue) finish(m0, m1, n0, n1);
    }

    /// The epilogue. Short rows by the handful, where they follow each other in memory.
    void finish(std::int64_t m0, std::int64_t m1, std::int64_t n0, std::int64_t n1) const {
        const std::int64_t step = n1 - n0 == m_call.ldc ? divideUp(kEpiloguePiece, m_call.ldc) : 1;
        Epilogue::Piece piece(m_call.epilogue);
        for (std::int64_t m = m0; m < m1; m += step)
            piece.apply(m_call.offset + m * m_call.ldc + n0, std::min(step, m1 - m) * (n1 - n0));
        piece.end();
    }

    /// A panel of rows by a panel of columns, of which `width` are there.
    void panel(const float* left, int rows, std::int64_t kc, const float* right, float* c, std::int64_t width,
               TileStart start, FetchAhead ahead) const {
        const std::int64_t nr = m_micro.nr, half = nr / 2;
        if (width == nr) return m_micro.run(rows, kc, left, right, c, m_call.ldc, start, ahead);
        TileEnd behind;
        if (width >= half && (width - half) <= m_micro.narrow) {
            const bool isOneMore = width == half + 1;
            m_micro.runHalf(rows, isOneMore, kc, left, right, c, m_call.ldc, start, ahead);
            if (isOneMore) return;
            right += half, c += half, width -= half;
            if (start.end) {
                behind = *start.end, start.end = &behind;
                if (behind.other) behind.other += half;
                if (behind.y) behind.y += half;
            }
        }
        if (width == 0) return;
        if (width <= m_micro.narrow)
            return m_micro.runNarrow(rows, static_cast<int>(width), kc, left, right, c, m_call.ldc, start);
        edge(left, rows, kc, right, c, width, start, ahead);
    }

    /// So many columns that they are computed as half a tile or a whole one, but not in C itself.
    void edge(const float* left, int rows, std::int64_t kc, const float* right, float* c, std::int64_t width,
              TileStart start, FetchAhead ahead) const {
        constexpr std::int64_t kFloats = 16 * 32;  // mr x nr of the largest kernel
        alignas(64) float sums[kFloats], others[kFloats], results[kFloats];
        const std::int64_t nr = m_micro.nr;
        // Of matrices with the rows of C; `to` has rows of a tile, zeros behind the columns.
        const auto take = [&](const float* from, float* to) {
            for (int r = 0; r < rows; ++r) {
                std::copy(from + r * m_call.ldc, from + r * m_call.ldc + width, to + r * nr);
                std::fill(to + r * nr + width, to + (r + 1) * nr, 0.0F);
            }
        };
        const auto give = [&](const float* from, float* to) {
            for (int r = 0; r < rows; ++r) std::copy(from + r * nr, from + r * nr + width, to + r * m_call.ldc);
        };
        if (start.accumulate) take(c, sums);
        TileEnd end;
        float* y = nullptr;
        if (start.end) {
            end = *start.end, start.end = &end;
            if (end.other) take(std::exchange(end.other, others), others);
            if (end.y) y = std::exchange(end.y, results);
        }
        const bool isHalf = 2 * width < nr;
        if (isHalf) m_micro.runHalf(rows, false, kc, left, right, sums, nr, start, ahead);
        else m_micro.run(rows, kc, left, right, sums, nr, start, ahead);
        give(sums, c);
        if (y) give(results, y);
    }

    const GemmCall<float>& m_call;
    base::ThreadPool& m_pool;
    const MicroKernel& m_micro;
    std::int64_t m_block;  ///< of k
    Cut m_cut;
    std::optional<TileEnd> m_end;  ///< the whole epilogue, in the registers of the tiles; of C's first element
    WorkBuffer<float> m_left;      ///< packed here, part by part, if nobody did before
    std::unique_ptr<std::once_flag[]> m_packed;
};

/// What Eigen does at least as fast (bench_kernels products): two factors that are in memory as Eigen takes them, where
/// neither is packed yet or C is a vector.
bool isDense(const GemmCall<float>& call) {
    if (call.rightSource || !call.left.data || !call.right.data || call.left.columnStride != 1) return false;
    if (call.right.columnStride != 1 && call.right.rowStride != 1) return false;
    return (!call.leftPacked && !call.rightPacked) || call.m == 1 || call.n == 1;
}

}  // namespace

template <>
void gemm<float>(const GemmCall<float>& call, base::ThreadPool& pool) {
    if (call.m <= 0 || call.n <= 0) return;
    if (call.inHalf) productInHalf(call, pool);
    else if (isDense(call)) denseProduct(call, pool);
    else Product(call, pool).run();
}

}  // namespace sonde::ops::kernels
