// Matrix products by Eigen, in blocks of C that threads share.

#include <Eigen/Core>
#include <algorithm>
#include <type_traits>

#include "core/ops/kernels/float_kernels.h"
#include "core/ops/kernels/followers.h"
#include "core/ops/kernels/gemm.h"
#include "core/ops/kernels/numbers.h"

namespace sonde::ops::kernels {

namespace {

/// Rows and columns of a block of C. Fixed, so that how Eigen cuts a block depends on the shapes alone and the sums are
/// the same on any number of threads; large enough that its packing of the factors is made up for.
constexpr std::int64_t kEdge = 256;
/// The same where C is a row or a column: reading the matrix is all the work then, and is shared more finely.
constexpr std::int64_t kVectorEdge = 64;

/// Types whose products are built for each instruction set.
template <typename T>
constexpr bool kHasKernel = std::is_same_v<T, float> || std::is_same_v<T, double>;

/// Rows of a factor that lie side by side, or, turned, its columns.
template <typename T>
struct Factor {
    const T* data = nullptr;
    std::int64_t stride = 0;
    bool turned = false;
};

template <typename T>
void multiplyAdd(std::int64_t m, std::int64_t n, std::int64_t k, const Factor<T>& a, const Factor<T>& b, T* c,
                 std::int64_t ldc) {
    if constexpr (kHasKernel<T>) {
        const ProductBlock<T> block{m, n, k, a.data, a.stride, b.data, b.stride, b.turned, c, ldc};
        if constexpr (std::is_same_v<T, float>) floatKernels().product32(block);
        else floatKernels().product64(block);
    } else {
        using Rows = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
        using Stride = Eigen::OuterStride<>;
        Eigen::Map<Rows, 0, Stride>(c, m, n, Stride(ldc)).noalias() +=
            Eigen::Map<const Rows, 0, Stride>(a.data, m, k, Stride(a.stride)) *
            Eigen::Map<const Rows, 0, Stride>(b.data, k, n, Stride(b.stride));
    }
}

template <typename T>
class BlockedProduct {
  public:
    BlockedProduct(const GemmCall<T>& call, base::ThreadPool& pool)
        : m_call(call), m_pool(pool), m_rows(call.rightSource ? call.m : std::min(edge(), call.m)),
          m_columns(std::min(edge(), call.n)) {}

    void run() const {
        const std::int64_t down = divideUp(m_call.m, m_rows), across = divideUp(m_call.n, m_columns);
        const bool shared = m_call.m * m_call.n >= kMinShared / std::max<std::int64_t>(m_call.k, 1);
        const auto blocks = static_cast<std::size_t>(down * across);
        m_pool.parallelFor(blocks, shared ? 1 : blocks, [&](std::size_t begin, std::size_t end) {
            for (auto task = static_cast<std::int64_t>(begin); task < static_cast<std::int64_t>(end); ++task) {
                if (m_call.stop && m_call.stop->stop_requested()) return;
                const std::int64_t i = task / across * m_rows, j = task % across * m_columns;
                block(i, std::min(m_rows, m_call.m - i), j, std::min(m_columns, m_call.n - j));
            }
        });
    }

  private:
    std::int64_t edge() const { return m_call.m == 1 || m_call.n == 1 ? kVectorEdge : kEdge; }

    /// C[i.., j..] of m rows and n columns.
    void block(std::int64_t i, std::int64_t m, std::int64_t j, std::int64_t n) const {
        T* c = m_call.c + i * m_call.ldc + j;
        if (!m_call.accumulate) fillBias(i, m, j, n, c);
        if (m_call.k > 0) {
            WorkBuffer<T> leftCopy, rightCopy;
            multiplyAdd(m, n, m_call.k, left(i, m, leftCopy), right(j, n, rightCopy), c, m_call.ldc);
        }
        if constexpr (std::is_same_v<T, float>) {
            for (std::int64_t r = i; m_call.followers && r < i + m; ++r)
                m_call.followers->apply(m_call.offset + r * m_call.ldc + j, n);
        }
    }

    void fillBias(std::int64_t i, std::int64_t m, std::int64_t j, std::int64_t n, T* c) const {
        for (std::int64_t r = 0; r < m; ++r) {
            T* row = c + r * m_call.ldc;
            if (m_call.columnBias) std::copy_n(m_call.columnBias + j, n, row);
            else std::fill_n(row, n, m_call.rowBias ? m_call.rowBias[i + r] : T{});
        }
    }

    Factor<T> left(std::int64_t i, std::int64_t m, WorkBuffer<T>& copy) const {
        const MatrixView<T>& view = m_call.left;
        const T* data = view.data + i * view.rowStride;
        if (view.columnStride == 1) return {data, view.rowStride};
        return copied({data, view.rowStride, view.columnStride}, m, m_call.k, copy);
    }

    Factor<T> right(std::int64_t j, std::int64_t n, WorkBuffer<T>& copy) const {
        if (m_call.rightSource) {
            copy = WorkBuffer<T>(static_cast<std::size_t>(m_call.k * n));
            (*m_call.rightSource)(0, m_call.k, j, n, copy.data());
            return {copy.data(), n};
        }
        const MatrixView<T>& view = m_call.right;
        const T* data = view.data + j * view.columnStride;
        if (kHasKernel<T> && view.rowStride == 1 && (view.columnStride != 1 || n == 1))
            return {data, view.columnStride, true};
        if (view.columnStride == 1) return {data, view.rowStride};
        return copied({data, view.rowStride, view.columnStride}, m_call.k, n, copy);
    }

    static Factor<T> copied(const MatrixView<T>& view, std::int64_t rows, std::int64_t columns, WorkBuffer<T>& copy) {
        copy = WorkBuffer<T>(static_cast<std::size_t>(rows * columns));
        for (std::int64_t r = 0; r < rows; ++r) {
            for (std::int64_t c = 0; c < columns; ++c)
                copy.data()[r * columns + c] = view.data[r * view.rowStride + c * view.columnStride];
        }
        return {copy.data(), columns};
    }

    const GemmCall<T>& m_call;
    base::ThreadPool& m_pool;
    std::int64_t m_rows, m_columns;  ///< of a block
};

}  // namespace

template <typename T>
void gemm(const GemmCall<T>& call, base::ThreadPool& pool) {
    if (call.m <= 0 || call.n <= 0) return;
    BlockedProduct<T>(call, pool).run();
}

void denseProduct(const GemmCall<float>& call, base::ThreadPool& pool) { BlockedProduct<float>(call, pool).run(); }

template void gemm<double>(const GemmCall<double>&, base::ThreadPool&);
template void gemm<std::complex<float>>(const GemmCall<std::complex<float>>&, base::ThreadPool&);
template void gemm<std::complex<double>>(const GemmCall<std::complex<double>>&, base::ThreadPool&);
template void gemm<std::uint32_t>(const GemmCall<std::uint32_t>&, base::ThreadPool&);
template void gemm<std::uint64_t>(const GemmCall<std::uint64_t>&, base::ThreadPool&);

}  // namespace sonde::ops::kernels
