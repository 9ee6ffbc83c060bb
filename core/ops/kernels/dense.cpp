// Matrix products by Eigen, in blocks of C that threads share.

#include <Eigen/Core>
#include <algorithm>
#include <type_traits>

#include "core/base/parallel_scope.h"
#include "core/ops/kernels/epilogue.h"
#include "core/ops/kernels/float_kernels.h"
#include "core/ops/kernels/gemm.h"
#include "core/ops/kernels/numbers.h"

namespace sonde::ops::kernels {

namespace {

/// Elements of a block of C at most, so that it is still in the cache for what follows.
constexpr std::int64_t kMaxBlock = std::int64_t{1} << 17;
/// Eigen adds up groups of rows and of columns, and the last rows and columns in another order. Blocks end between
/// groups of every type and instruction set: then the sums are the same whatever the blocks, whose number may depend on
/// the threads.
constexpr std::int64_t kRowUnit = 8, kColumnUnit = 48;
/// Of fewer elements in the left factor Eigen makes narrower groups: these products are not shared.
constexpr std::int64_t kMinGrouped = 1024;
/// Blocks for each thread are cut until they can be dealt out evenly, or so many.
constexpr std::int64_t kSharesEach = 4;
/// Columns of a block if the right factor is made as it is read.
constexpr std::int64_t kSourceColumns = 256;
/// Where C is a row or a column, reading the matrix is all the work; Eigen's order depends on where it begins, so these
/// blocks are always the same.
constexpr std::int64_t kVectorUnit = 64;

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
void multiply(const ProductBlock<T>& block) {
    if constexpr (std::is_same_v<T, float>) {
        floatKernels().product32(block);
    } else if constexpr (std::is_same_v<T, double>) {
        floatKernels().product64(block);
    } else {
        using Rows = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
        using Stride = Eigen::OuterStride<>;
        Eigen::Map<Rows, 0, Stride> c(block.c, block.m, block.n, Stride(block.cStride));
        for (std::ptrdiff_t i = 0; !block.accumulate && i < block.m; ++i) {
            if (block.columnBias) std::copy_n(block.columnBias, block.n, block.c + i * block.cStride);
            else c.row(i).setConstant(block.rowBias ? block.rowBias[i] : T{});
        }
        c.noalias() += Eigen::Map<const Rows, 0, Stride>(block.a, block.m, block.k, Stride(block.aStride)) *
                       Eigen::Map<const Rows, 0, Stride>(block.b, block.k, block.n, Stride(block.bStride));
    }
}

/// One side of C, cut into pieces of about the same number of units; the last has what is left over as well, so that
/// none is less than a unit.
struct Side {
    std::int64_t dimSize = 0, unit = 1, pieces = 1;

    std::int64_t units() const { return std::max<std::int64_t>(dimSize / unit, 1); }
    bool canBeCut() const { return pieces < units(); }
    std::int64_t at(std::int64_t piece) const { return piece == pieces ? dimSize : units() * piece / pieces * unit; }
    std::int64_t length() const { return dimSize / pieces; }
};

template <typename T>
class BlockedProduct {
  public:
    BlockedProduct(const GemmCall<T>& call, base::ThreadPool& pool)
        : m_call(call), m_pool(pool), m_rows{call.m, kRowUnit}, m_columns{call.n, kColumnUnit} {
        cut();
    }

    void run() const {
        const auto blocks = static_cast<std::size_t>(m_rows.pieces * m_columns.pieces);
        m_pool.parallelFor(blocks, isShared() ? 1 : blocks, [&](std::size_t begin, std::size_t end) {
            for (auto task = static_cast<std::int64_t>(begin); task < static_cast<std::int64_t>(end); ++task) {
                if (m_call.stop && m_call.stop->stop_requested()) return;
                const std::int64_t i = m_rows.at(task / m_columns.pieces), j = m_columns.at(task % m_columns.pieces);
                block(i, m_rows.at(task / m_columns.pieces + 1) - i, j, m_columns.at(task % m_columns.pieces + 1) - j);
            }
        });
    }

  private:
    bool isShared() const { return m_call.m * m_call.n >= kMinShared / std::max<std::int64_t>(m_call.k, 1); }

    void cut() {
        if (m_call.rightSource) return cutAll({m_call.m, m_call.m}, {m_call.n, kSourceColumns});
        if (m_call.m == 1 || m_call.n == 1) return cutAll({m_call.m, kVectorUnit}, {m_call.n, kVectorUnit});
        while (m_rows.length() * m_columns.length() > kMaxBlock && cutLonger()) {
        }
        const auto threads = static_cast<std::int64_t>(m_pool.threads());
        if (base::insideParallelLoop() || m_call.m * m_call.k < kMinGrouped) return;
        const double most = static_cast<double>(m_call.m * m_call.n) * static_cast<double>(m_call.k) / kMinShared;
        const auto blocks = [&] { return m_rows.pieces * m_columns.pieces; };
        while (blocks() % threads != 0 && blocks() < kSharesEach * threads && static_cast<double>(blocks()) < most &&
               cutLonger()) {
        }
    }

    void cutAll(Side rows, Side columns) {
        m_rows = rows, m_columns = columns;
        m_rows.pieces = m_rows.units(), m_columns.pieces = m_columns.units();
    }

    /// One more piece of the side whose pieces are longer; false if both are cut into units.
    bool cutLonger() {
        const bool across = m_columns.canBeCut() && (!m_rows.canBeCut() || m_columns.length() > m_rows.length());
        if (!across && !m_rows.canBeCut()) return false;
        ++(across ? m_columns : m_rows).pieces;
        return true;
    }

    /// C[i.., j..] of m rows and n columns.
    void block(std::int64_t i, std::int64_t m, std::int64_t j, std::int64_t n) const {
        WorkBuffer<T> leftCopy, rightCopy;
        const Factor<T> a = left(i, m, leftCopy), b = right(j, n, rightCopy);
        multiply<T>({m, n, m_call.k, a.data, a.stride, b.data, b.stride, b.turned, m_call.c + i * m_call.ldc + j,
                     m_call.ldc, m_call.rowBias ? m_call.rowBias + i : nullptr,
                     m_call.columnBias ? m_call.columnBias + j : nullptr, m_call.accumulate});
        if constexpr (std::is_same_v<T, float>) {
            for (std::int64_t r = i; m_call.epilogue && r < i + m; ++r)
                m_call.epilogue->apply(m_call.offset + r * m_call.ldc + j, n);
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
    Side m_rows, m_columns;
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
