#include "core/ops/kernels/integer_product.h"

#include <algorithm>
#include <cstring>

#include "core/base/parallel_scope.h"
#include "core/ops/kernels/float_kernels.h"
#include "core/ops/kernels/numbers.h"

namespace sonde::ops::kernels {

namespace {

/// Bytes of the right factor in one strip: a part of the second-level cache. Columns of it at most: the sums of a panel
/// of rows stay in the first-level cache.
constexpr std::int64_t kStripBytes = std::int64_t{1} << 18, kMaxStrip = 512;

const IntegerKernel& integerKernel() { return floatKernels().integers; }
bool takesBytes() { return integerKernel().depth == 4; }

/// What is added to elements of the left or right factor as they are packed: bytes change between signed and unsigned,
/// 16-bit elements lose their zero point.
std::int32_t shiftOf(bool isLeft, bool isSigned, std::int32_t zero) {
    if (!takesBytes()) return -zero;
    if (isLeft) return isSigned ? 0 : -128;
    return isSigned ? 128 : 0;
}

std::int32_t times(std::int32_t a, std::int32_t b) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) * static_cast<std::uint32_t>(b));
}

std::int32_t valueOf(const ByteMatrix& matrix, std::int64_t at) {
    const std::uint8_t byte = matrix.data[at];
    return matrix.isSigned ? static_cast<std::int8_t>(byte) : byte;
}

/// The panel's row `r` of the left factor: a group of `depth` elements each `mr` steps.
void packRow(const ByteMatrix& matrix, std::int64_t row, std::int64_t channels, std::int64_t taps, std::int32_t shift,
             std::int32_t* target) {
    const IntegerKernel& kernel = integerKernel();
    const std::int64_t depth = kernel.depth;
    const std::int64_t base = row * matrix.rowStride;
    std::int64_t c = 0;
    if (taps == 1 && depth == 4 && matrix.columnStride == 1) {
        const std::uint32_t flip = shift == 0 ? 0U : 0x80808080U;
        for (; c + depth <= channels; c += depth, target += kernel.mr) {
            std::uint32_t group = 0;
            std::memcpy(&group, matrix.data + base + c, sizeof(group));
            *target = static_cast<std::int32_t>(group ^ flip);
        }
    }
    const std::uint32_t mask = depth == 4 ? 0xFFU : 0xFFFFU;
    const int bits = 32 / kernel.depth;
    for (; c < channels; c += depth) {
        for (std::int64_t t = 0; t < taps; ++t, target += kernel.mr) {
            std::uint32_t group = 0;
            for (std::int64_t l = 0; l < depth && c + l < channels; ++l) {
                const std::int32_t value = valueOf(matrix, base + ((c + l) * taps + t) * matrix.columnStride) + shift;
                group |= (static_cast<std::uint32_t>(value) & mask) << (l * bits);
            }
            *target = static_cast<std::int32_t>(group);
        }
    }
}

std::int32_t rowSum(const ByteMatrix& matrix, std::int64_t row, std::int64_t k) {
    if (matrix.columnStride == 1)
        return floatKernels().quantized.sum(matrix.data + row * matrix.rowStride, matrix.isSigned,
                                            static_cast<std::size_t>(k));
    std::int32_t sum = 0;
    for (std::int64_t p = 0; p < k; ++p) sum += valueOf(matrix, row * matrix.rowStride + p * matrix.columnStride);
    return sum;
}

}  // namespace

RightForm rightForm(bool isSigned, std::int32_t zero) {
    RightForm form{isSigned};
    form.zero = zero + shiftOf(false, isSigned, zero);
    if (takesBytes()) {
        form.flip = isSigned ? 0x80 : 0;
        form.padding = static_cast<std::int32_t>(0x01010101U * static_cast<std::uint32_t>(form.zero & 0xFF));
    } else {
        form.subtracted = static_cast<std::int16_t>(zero);
    }
    return form;
}

void PackedIntegers::allocate(PackedLifetime lifetime) {
    const auto count = static_cast<std::size_t>(divideUp(m_dimSize, m_width) * m_width * m_groups);
    if (lifetime == PackedLifetime::Kept) {
        m_kept = AlignedBuffer<std::int32_t>(count);
        m_data = m_kept.data();
    } else {
        m_work = WorkBuffer<std::int32_t>(count);
        m_data = m_work.data();
    }
}

PackedIntegers PackedIntegers::left(const ByteMatrix& matrix, std::int64_t m, std::int64_t channels, std::int64_t taps,
                                    std::span<const std::int32_t> zeros, PackedLifetime lifetime,
                                    base::ThreadPool& pool) {
    const IntegerKernel& kernel = integerKernel();
    PackedIntegers packed;
    packed.m_width = kernel.mr, packed.m_dimSize = m, packed.m_depth = channels * taps;
    packed.m_groups = divideUp(channels, kernel.depth) * taps;
    packed.allocate(lifetime);
    packed.m_sums.resize(static_cast<std::size_t>(m));
    const auto zeroOf = [&](std::int64_t row) { return zeros[zeros.size() == 1 ? 0 : static_cast<std::size_t>(row)]; };
    for (std::size_t i = 0; i < zeros.size(); ++i)
        packed.m_zeros.push_back(zeros[i] + shiftOf(true, matrix.isSigned, zeros[i]));
    constexpr std::size_t kRowsAtOnce = 16;
    pool.parallelFor(static_cast<std::size_t>(m), kRowsAtOnce, [&](std::size_t begin, std::size_t end) {
        for (auto i = static_cast<std::int64_t>(begin); i < static_cast<std::int64_t>(end); ++i) {
            const std::int32_t shift = shiftOf(true, matrix.isSigned, zeroOf(i));
            packRow(matrix, i, channels, taps, shift,
                    packed.m_data + i / kernel.mr * packed.m_groups * kernel.mr + i % kernel.mr);
            packed.m_sums[static_cast<std::size_t>(i)] =
                rowSum(matrix, i, packed.m_depth) + times(shift, static_cast<std::int32_t>(packed.m_depth));
        }
    });
    return packed;
}

PackedIntegers PackedIntegers::ones(std::int64_t channels, std::int64_t taps, base::ThreadPool& pool) {
    const std::uint8_t one = 1;
    const std::int32_t none = 0;
    return left({&one, true, 0, 0}, 1, channels, taps, std::span(&none, 1), PackedLifetime::OneCall, pool);
}

PackedIntegers PackedIntegers::right(const ByteMatrix& matrix, std::int64_t k, std::int64_t n,
                                     std::span<const std::int32_t> zeros, PackedLifetime lifetime,
                                     base::ThreadPool& pool) {
    const IntegerKernel& kernel = integerKernel();
    const std::int64_t depth = kernel.depth, nr = kernel.nr;
    PackedIntegers packed;
    packed.m_width = nr, packed.m_dimSize = n, packed.m_depth = k;
    packed.m_groups = divideUp(k, depth);
    packed.allocate(lifetime);
    // A zero point for each column stays with the sums.
    const RightForm form = rightForm(matrix.isSigned, zeros.size() == 1 ? zeros[0] : 0);
    for (const std::int32_t zero : zeros) packed.m_zeros.push_back(zeros.size() == 1 ? form.zero : zero + form.zero);
    packed.m_sums.assign(static_cast<std::size_t>(n),
                         times(form.zero - (zeros.size() == 1 ? zeros[0] : 0), static_cast<std::int32_t>(k)));
    const ByteForm bytes{form.isSigned, form.flip, form.subtracted};
    pool.parallelFor(static_cast<std::size_t>(divideUp(n, nr)), 1, [&](std::size_t begin, std::size_t end) {
        constexpr std::int64_t kMaxDepth = 4, kMaxColumns = 32;
        std::uint8_t turned[kMaxDepth][kMaxColumns];
        for (auto panel = static_cast<std::int64_t>(begin); panel < static_cast<std::int64_t>(end); ++panel) {
            const std::int64_t n0 = panel * nr, count = std::min(nr, n - n0);
            std::int32_t* target = packed.m_data + panel * packed.m_groups * nr;
            for (std::int64_t p = 0; p < k; p += depth, target += nr) {
                const std::uint8_t* rows[kMaxDepth] = {};
                for (std::int64_t l = 0; l < depth && p + l < k; ++l) {
                    rows[l] = matrix.data + (p + l) * matrix.rowStride + n0 * matrix.columnStride;
                    for (std::int64_t j = 0; matrix.columnStride != 1 && j < count; ++j)
                        turned[l][j] = rows[l][j * matrix.columnStride];
                    if (matrix.columnStride != 1) rows[l] = turned[l];
                    for (std::int64_t j = 0; j < count; ++j)
                        packed.m_sums[static_cast<std::size_t>(n0 + j)] +=
                            matrix.isSigned ? static_cast<std::int8_t>(rows[l][j]) : rows[l][j];
                }
                kernel.interleave(rows, bytes, static_cast<std::size_t>(count), target);
                std::fill(target + count, target + nr, 0);
            }
        }
    });
    return packed;
}

namespace {

class StripedProduct {
  public:
    StripedProduct(const IntegerCall& call, base::ThreadPool& pool)
        : m_call(call), m_pool(pool), m_kernel(integerKernel()), m_groups(call.left->groups()),
          m_rows(call.left->dimSize()), m_columns(call.right ? call.right->dimSize() : call.columns) {
        const std::int64_t nr = m_kernel.nr, fits = kStripBytes / (nr * 4 * std::max<std::int64_t>(m_groups, 1)) * nr;
        m_strip = std::clamp(fits, nr, kMaxStrip);
        const auto threads = static_cast<std::int64_t>(base::insideParallelLoop() ? 1 : pool.threads());
        if (m_rows * m_columns * m_groups * m_kernel.depth < kMinSharedSums) return;
        // Sums are exact: how they are shared changes nothing but the time.
        if (divideUp(m_columns, m_strip) < 2 * threads)
            m_strip = std::max(nr, divideUp(divideUp(m_columns, 2 * threads), nr) * nr);
        m_parts =
            std::min(divideUp(m_rows, m_kernel.mr),
                     std::max<std::int64_t>(threads / std::max<std::int64_t>(divideUp(m_columns, m_strip), 1), 1));
        m_isShared = threads > 1;
        if (threads == 1) m_strip = std::clamp(fits, nr, kMaxStrip), m_parts = 1;
    }

    void run() const {
        const auto tasks = static_cast<std::size_t>(divideUp(m_columns, m_strip) * m_parts);
        m_pool.parallelFor(tasks, m_isShared ? 1 : tasks, [&](std::size_t begin, std::size_t end) {
            for (auto task = static_cast<std::int64_t>(begin); task < static_cast<std::int64_t>(end); ++task) {
                if (m_call.stop.stop_requested()) return;
                const std::int64_t panels = divideUp(m_rows, m_kernel.mr), part = task % m_parts,
                                   n0 = task / m_parts * m_strip;
                strip(panels * part / m_parts, panels * (part + 1) / m_parts, n0, std::min(n0 + m_strip, m_columns));
            }
        });
    }

  private:
    static constexpr std::int64_t kMinSharedSums = 1'000'000;

    /// Panels [first, last) of rows by columns [n0, n1).
    void strip(std::int64_t first, std::int64_t last, std::int64_t n0, std::int64_t n1) const {
        const std::int64_t nr = m_kernel.nr, width = divideUp(n1 - n0, nr) * nr;
        const std::int32_t* right = m_call.right ? m_call.right->panel(n0 / nr) : packed(n0, n1);
        auto* const sums = Scratch::of<std::int32_t>(1, static_cast<std::size_t>((m_kernel.mr + 1) * width));
        const std::int32_t* columnSums = m_call.right ? m_call.right->sums().data() + n0 : nullptr;
        if (m_call.ones) {
            std::int32_t* const line = sums + m_kernel.mr * width;
            rows(1, m_call.ones->panel(0), right, n1 - n0, line, width);
            columnSums = line;
        }
        for (std::int64_t panel = first; panel < last; ++panel) {
            const std::int64_t m0 = panel * m_kernel.mr, count = std::min<std::int64_t>(m_kernel.mr, m_rows - m0);
            rows(static_cast<int>(count), m_call.left->panel(panel), right, n1 - n0, sums, width);
            for (std::int64_t i = 0; i < count; ++i) finish(m0 + i, n0, n1 - n0, sums + i * width, columnSums);
        }
    }

    const std::int32_t* packed(std::int64_t n0, std::int64_t n1) const {
        const std::int64_t nr = m_kernel.nr;
        auto* const target =
            Scratch::of<std::int32_t>(0, static_cast<std::size_t>(divideUp(n1 - n0, nr) * nr * m_groups));
        for (std::int64_t n = n0; n < n1; n += nr) m_call.source(n, target + (n - n0) * m_groups);
        return target;
    }

    void rows(int count, const std::int32_t* left, const std::int32_t* right, std::int64_t columns, std::int32_t* sums,
              std::int64_t width) const {
        const std::int64_t nr = m_kernel.nr;
        for (std::int64_t n = 0; n < columns; n += nr)
            m_kernel.run(count, 2 * (columns - n) <= nr, m_groups, left, right + n * m_groups, sums + n, width);
    }

    void finish(std::int64_t row, std::int64_t n0, std::int64_t count, std::int32_t* sums,
                const std::int32_t* columnSums) const {
        const std::int32_t zero = m_call.left->zero(row);
        const std::int32_t rest = m_call.left->sums()[static_cast<std::size_t>(row)] -
                                  times(zero, static_cast<std::int32_t>(m_call.left->depth()));
        const auto& add = floatKernels().quantized.axpy;
        if (zero != 0) add(times(zero, -1), columnSums, sums, static_cast<std::size_t>(count));
        std::int32_t offset = 0;
        if (m_call.right && m_call.right->zeros().size() > 1)
            add(times(rest, -1), m_call.right->zeros().data() + n0, sums, static_cast<std::size_t>(count));
        else offset = times(m_call.right ? m_call.right->zero(0) : m_call.zero, times(rest, -1));
        m_call.finish(row, n0, count, sums, offset);
    }

    const IntegerCall& m_call;
    base::ThreadPool& m_pool;
    const IntegerKernel& m_kernel;
    std::int64_t m_groups, m_rows, m_columns, m_strip = 0, m_parts = 1;
    bool m_isShared = false;
};

}  // namespace

void integerProduct(const IntegerCall& call, base::ThreadPool& pool) {
    if (call.left->dimSize() > 0 && (call.right ? call.right->dimSize() : call.columns) > 0)
        StripedProduct(call, pool).run();
}

void addOffset(const std::int32_t* sums, std::int32_t offset, std::int32_t* y, std::int64_t count) {
    floatKernels().quantized.shift(sums, offset, y, static_cast<std::size_t>(count));
}

}  // namespace sonde::ops::kernels
