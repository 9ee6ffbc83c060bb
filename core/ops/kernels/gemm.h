#pragma once

#include <complex>
#include <cstdint>
#include <functional>
#include <stop_token>

#include "core/base/thread_pool.h"
#include "core/ops/kernels/scratch.h"
#include "core/tensor/dtype.h"

namespace sonde::ops::kernels {

class Epilogue;

/// A matrix in memory: element (i, j) at data[i·rowStride + j·columnStride]. A transpose swaps the strides.
template <typename T>
struct MatrixView {
    const T* data = nullptr;
    std::int64_t rowStride = 0;
    std::int64_t columnStride = 1;
};

/// So many products are added in registers before they go to C, at most 384 and about the same number each time.
/// Depends on k alone, and with it the order of all sums.
constexpr std::int64_t depthBlock(std::int64_t k) {
    constexpr std::int64_t kMax = 384, kStep = 8;
    const std::int64_t blocks = (k + kMax - 1) / kMax;
    return blocks <= 1 ? kMax : ((k + blocks - 1) / blocks + kStep - 1) / kStep * kStep;
}

/// One side of a float32 product, laid out for the innermost loop: blocks of k, in them panels of mr rows (left side)
/// or nr columns (right side), in them k-major. Padded with zeros. Weights of float16 and bfloat16 stay in these types:
/// a panel is widened each time it is used, for many columns or rows.
class PackedMatrix {
  public:
    /// The left factor [m, k].
    static PackedMatrix left(const MatrixView<float>& matrix, std::int64_t m, std::int64_t k, base::ThreadPool& pool);
    /// The right factor [k, n].
    static PackedMatrix right(const MatrixView<float>& matrix, std::int64_t k, std::int64_t n, base::ThreadPool& pool);

    /// Floats that a factor takes when packed, and packing into memory of the caller (see panelOf).
    static std::size_t leftSize(std::int64_t m, std::int64_t k);
    static void packLeft(const MatrixView<float>& matrix, std::int64_t m, std::int64_t k, float* target,
                         base::ThreadPool& pool);

    bool empty() const { return m_depth == 0 || m_dimSize == 0; }
    /// Keeps the numbers in float16 or bfloat16, which hold them exactly.
    void narrow(tensor::DType dtype);

    /// Panel number `panel` of the block of k that starts at k0; of narrow numbers in `scratch`, of panelSize() floats.
    const float* panel(std::int64_t k0, std::int64_t panel, float* scratch = nullptr) const;
    /// Where it is in memory, whatever its numbers: to be fetched ahead.
    const float* address(std::int64_t k0, std::int64_t panel) const;
    /// 0 if panels are read where they are.
    std::size_t panelSize() const;
    std::int64_t dimSize() const { return m_dimSize; }  ///< m or n
    std::int64_t depth() const { return m_depth; }      ///< k

  private:
    AlignedBuffer<float> m_buffer;
    AlignedBuffer<std::uint16_t> m_narrow;  ///< instead, as bits of m_dtype
    tensor::DType m_dtype = tensor::DType::Float32;
    std::int64_t m_dimSize = 0;
    std::int64_t m_depth = 0;
    std::int64_t m_panelWidth = 0;  ///< mr or nr
};

/// Where the right factor comes from if it is not in memory as such: writes the panel of columns [n0, n0 + nr) for
/// k in [k0, k0 + kc) to `target` [kc][nr], zeros beyond the last column. Called from several threads.
template <typename T>
using PanelSource = std::function<void(std::int64_t k0, std::int64_t kc, std::int64_t n0, std::int64_t nr, T* target)>;

/// C[m, n] = A[m, k]·B[k, n] (+ rowBias[m] or + columnBias[n], or + what is in C). Packed factors may be given as they
/// are in memory as well: where C is a vector every weight is read once, and packed ones are no better.
/// Each element's products are added in an order that depends on the shape alone, whatever the number of threads.
template <typename T>
struct GemmCall {
    std::int64_t m = 0, n = 0, k = 0;
    const PackedMatrix* leftPacked = nullptr;  ///< if set, else `left` (float only)
    MatrixView<T> left;
    const PackedMatrix* rightPacked = nullptr;  ///< if set, else rightSource if set, else `right` (float only)
    const PanelSource<T>* rightSource = nullptr;
    MatrixView<T> right;
    T* c = nullptr;
    std::int64_t ldc = 0;
    const T* rowBias = nullptr;
    const T* columnBias = nullptr;
    bool accumulate = false;
    bool inHalf = false;                    ///< every step is rounded to float16, see productInHalf (float only)
    const Epilogue* epilogue = nullptr;     ///< of the tensor that C's rows are stretches of (float only)
    std::int64_t offset = 0;                ///< of c[0] in that tensor
    const std::stop_token* stop = nullptr;  ///< asked before each block of C; what is left then is not computed
};

/// float32 with a factor that is packed beforehand or comes in panels: our own kernels (gemm.cpp). All else, and a
/// vector times a matrix: Eigen (dense.cpp). Sums of integers wrap modulo 2^32 or 2^64, so that signed ones are
/// computed as unsigned.
template <typename T>
void gemm(const GemmCall<T>& call, base::ThreadPool& pool);

template <>
void gemm<float>(const GemmCall<float>& call, base::ThreadPool& pool);
extern template void gemm<double>(const GemmCall<double>&, base::ThreadPool&);
extern template void gemm<std::complex<float>>(const GemmCall<std::complex<float>>&, base::ThreadPool&);
extern template void gemm<std::complex<double>>(const GemmCall<std::complex<double>>&, base::ThreadPool&);
extern template void gemm<std::uint32_t>(const GemmCall<std::uint32_t>&, base::ThreadPool&);
extern template void gemm<std::uint64_t>(const GemmCall<std::uint64_t>&, base::ThreadPool&);

/// The product by Eigen, of factors in memory.
void denseProduct(const GemmCall<float>& call, base::ThreadPool& pool);

/// The product of factors that hold float16 numbers, as a processor computes it that has float16 only: each product and
/// each sum is rounded, in the order of k; then the bias is added (half_sums.cpp). What GemmCall::inHalf asks for.
void productInHalf(const GemmCall<float>& call, base::ThreadPool& pool);

/// So many steps of k before they are used, rows of a packed left factor are asked for.
constexpr std::ptrdiff_t kFetchSteps = 128;

/// Fewer multiplications than that are not worth waking a thread.
constexpr std::int64_t kMinShared = 100'000;

}  // namespace sonde::ops::kernels
