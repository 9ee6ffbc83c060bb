#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <vector>

#include "core/base/thread_pool.h"
#include "core/ops/kernels/scratch.h"

namespace sonde::ops::kernels {

/// A matrix of int8 or uint8 in memory: element (i, j) at data[i·rowStride + j·columnStride].
struct ByteMatrix {
    const std::uint8_t* data = nullptr;
    bool isSigned = false;
    std::int64_t rowStride = 0, columnStride = 1;
};

enum class PackedLifetime : std::uint8_t { Kept, OneCall };

/// One factor of a product of quantised numbers, laid out for IntegerKernel: panels of mr rows (left) or nr columns
/// (right), in them the groups of k. The elements v of the tensor are packed as v + shift, whatever the instruction set
/// needs; sums and zero points are of what is packed.
class PackedIntegers {
  public:
    PackedIntegers() = default;
    /// The left factor [m, channels·taps]. Groups are of channels, and in them the taps follow each other: the order of
    /// an image whose channels were interleaved. `zeros`: one, or one for each row.
    static PackedIntegers left(const ByteMatrix& matrix, std::int64_t m, std::int64_t channels, std::int64_t taps,
                               std::span<const std::int32_t> zeros, PackedLifetime lifetime, base::ThreadPool& pool);
    /// The right factor [k, n]; `zeros`: one, or one for each column.
    static PackedIntegers right(const ByteMatrix& matrix, std::int64_t k, std::int64_t n,
                                std::span<const std::int32_t> zeros, PackedLifetime lifetime, base::ThreadPool& pool);
    /// A row of ones: its product is the sums of the right factor's columns.
    static PackedIntegers ones(std::int64_t channels, std::int64_t taps, base::ThreadPool& pool);

    std::int64_t dimSize() const { return m_dimSize; }  ///< m or n
    std::int64_t depth() const { return m_depth; }      ///< k
    std::int64_t groups() const { return m_groups; }
    const std::int32_t* panel(std::int64_t index) const { return m_data + index * m_groups * m_width; }
    /// Σ over k of each row or column.
    const std::vector<std::int32_t>& sums() const { return m_sums; }
    /// One, or one for each row or column.
    const std::vector<std::int32_t>& zeros() const { return m_zeros; }
    std::int32_t zero(std::int64_t index) const {
        return m_zeros[m_zeros.size() == 1 ? std::size_t{0} : static_cast<std::size_t>(index)];
    }

  private:
    void allocate(PackedLifetime lifetime);

    AlignedBuffer<std::int32_t> m_kept;
    WorkBuffer<std::int32_t> m_work;
    std::int32_t* m_data = nullptr;
    std::int64_t m_dimSize = 0, m_depth = 0, m_groups = 0, m_width = 0;
    std::vector<std::int32_t> m_sums, m_zeros;
};

/// How the elements of the right factor are packed by those who give panels of it.
struct RightForm {
    bool isSigned = false;
    std::uint8_t flip = 0;
    std::int16_t subtracted = 0;
    std::int32_t zero = 0;     ///< what the zero point became
    std::int32_t padding = 0;  ///< a group of elements that stand for 0
};
RightForm rightForm(bool isSigned, std::int32_t zero);

/// C[i, j] = Σ_p (A[i, p] − zeroA[i])·(B[p, j] − zeroB[j]), modulo 2^32, exactly:
///     Σ A·B − zeroA[i]·Σ_p B[p, j] − zeroB[j]·(Σ_p A[i, p] − k·zeroA[i])
/// C is not kept: each stretch of a row is handed on.
struct IntegerCall {
    const PackedIntegers* left = nullptr;
    const PackedIntegers* right = nullptr;  ///< or a source:
    /// Writes columns [n0, n0 + nr) of all groups to `target` [groups][nr]; what lies behind the last column is any.
    std::function<void(std::int64_t n0, std::int32_t* target)> source = {};
    std::int64_t columns = 0;              ///< of the source
    std::int32_t zero = 0;                 ///< of the source
    const PackedIntegers* ones = nullptr;  ///< needed with a source if a zero point of the left factor is not 0
    /// C[row, n0 + j] = sums[j] + offset modulo 2^32 for j < count. Called from several threads.
    std::function<void(std::int64_t row, std::int64_t n0, std::int64_t count, const std::int32_t* sums,
                       std::int32_t offset)>
        finish = {};
    std::stop_token stop = {};
};
void integerProduct(const IntegerCall& call, base::ThreadPool& pool);

/// y[i] = sums[i] + offset modulo 2^32: what IntegerCall::finish makes of sums where they are the result.
void addOffset(const std::int32_t* sums, std::int32_t offset, std::int32_t* y, std::int64_t count);

}  // namespace sonde::ops::kernels
