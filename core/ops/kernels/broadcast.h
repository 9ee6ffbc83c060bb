#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/base/thread_pool.h"
#include "core/tensor/shape.h"

namespace sonde::ops::kernels {

/// How to walk N contiguous operands that are broadcast to one shape: axes that all operands walk alike are merged,
/// and the innermost is a run in which each operand either moves by one or stands still.
template <std::size_t N>
class BroadcastWalk {
  public:
    BroadcastWalk(const tensor::Shape& result, const std::array<const tensor::Shape*, N>& operands) {
        std::array<std::vector<std::int64_t>, N> strides;
        for (std::size_t o = 0; o < N; ++o) strides[o] = stridesIn(*operands[o], result);
        for (std::size_t axis = 0; axis < result.rank(); ++axis) {
            if (result[axis] == 1) continue;
            Axis next{result[axis], {}};
            for (std::size_t o = 0; o < N; ++o) next.strides[o] = strides[o][axis];
            if (!m_axes.empty() && mergeable(m_axes.back(), next)) {
                m_axes.back().dimSize *= next.dimSize;
                m_axes.back().strides = next.strides;
            } else {
                m_axes.push_back(next);
            }
        }
        if (m_axes.empty()) m_axes.push_back({result.numel(), {}});
        m_runs = 1;
        for (std::size_t i = 0; i + 1 < m_axes.size(); ++i) m_runs *= m_axes[i].dimSize;
    }

    std::int64_t runLength() const { return m_axes.back().dimSize; }
    std::int64_t runs() const { return m_runs; }
    bool moves(std::size_t operand) const { return m_axes.back().strides[operand] != 0; }

    /// Calls body(offsets of the operands, offset of the result, length) for pieces that cover everything, in parallel.
    template <typename Body>
    void forEachRun(base::ThreadPool& pool, const Body& body) const {
        constexpr std::int64_t kPiece = 16384;
        const std::int64_t length = runLength();
        if (length == 0 || m_runs == 0) return;
        if (m_runs == 1) {
            pool.parallelFor(static_cast<std::size_t>(length), kPiece, [&](std::size_t begin, std::size_t end) {
                std::array<std::int64_t, N> offsets{};
                const auto first = static_cast<std::int64_t>(begin);
                for (std::size_t o = 0; o < N; ++o) offsets[o] = moves(o) ? first : 0;
                body(offsets, first, static_cast<std::int64_t>(end - begin));
            });
            return;
        }
        const std::int64_t grain = kPiece / length + 1;
        pool.parallelFor(static_cast<std::size_t>(m_runs), static_cast<std::size_t>(grain),
                         [&](std::size_t begin, std::size_t end) {
                             for (std::size_t run = begin; run < end; ++run) {
                                 std::array<std::int64_t, N> offsets{};
                                 auto rest = static_cast<std::int64_t>(run);
                                 for (std::size_t i = m_axes.size() - 1; i-- > 0;) {
                                     const std::int64_t index = rest % m_axes[i].dimSize;
                                     rest /= m_axes[i].dimSize;
                                     for (std::size_t o = 0; o < N; ++o) offsets[o] += index * m_axes[i].strides[o];
                                 }
                                 body(offsets, static_cast<std::int64_t>(run) * length, length);
                             }
                         });
    }

  private:
    struct Axis {
        std::int64_t dimSize;
        std::array<std::int64_t, N> strides;
    };

    static std::vector<std::int64_t> stridesIn(const tensor::Shape& operand, const tensor::Shape& result) {
        std::vector<std::int64_t> strides(result.rank(), 0);
        const std::vector<std::int64_t> own = operand.contiguousStrides();
        const std::size_t lead = result.rank() - operand.rank();
        for (std::size_t i = 0; i < operand.rank(); ++i) strides[lead + i] = operand[i] == 1 ? 0 : own[i];
        return strides;
    }

    static bool mergeable(const Axis& outer, const Axis& inner) {
        for (std::size_t o = 0; o < N; ++o) {
            if (outer.strides[o] != inner.strides[o] * inner.dimSize) return false;
        }
        return true;
    }

    std::vector<Axis> m_axes;
    std::int64_t m_runs = 1;
};

}  // namespace sonde::ops::kernels
