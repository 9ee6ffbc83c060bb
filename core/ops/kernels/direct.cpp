// Every tap of a window is one shift of the picture with its border:
//
//     y[m, r·pitch + c] = bias[m] + Σ_k w[m, k] · picture[row_k + r·pitch + c],   row_k = start of channel k / taps and
//     tap
//
// so that a product's tile can take positions r·pitch + c side by side, over the ends of lines: row k of its right
// factor lies in memory from row_k on. What comes out between the lines, and behind the last, is left away.

#include "core/ops/kernels/direct.h"

#include <algorithm>
#include <optional>

#include "core/ops/kernels/epilogue.h"
#include "core/ops/kernels/float_kernels.h"
#include "core/ops/kernels/numbers.h"

namespace sonde::ops::kernels {

namespace {

/// Positions of a strip: what a panel of rows makes of them stays in the nearest cache.
constexpr std::int64_t kStripPositions = 512;

class Direct {
  public:
    Direct(const DirectConv& call, std::size_t threads)
        : m_call(call), m_plane(call.picture.plane()), m_micro(floatKernels().gemm),
          m_rowStarts(call.picture.rowStarts()),
          m_positions((m_plane.outputRows() - 1) * m_plane.pitch() + m_plane.outputColumns()),
          m_panels(divideUp(call.weights.dimSize(), m_micro.mr)) {
        // The tiles have other rows than y: what is added, or kept beside it, they cannot reach.
        const std::int64_t rows = call.weights.dimSize(), plane = m_plane.outputRows() * m_plane.outputColumns();
        if (call.epilogue) m_end = call.epilogue->inRegisters(call.offset, rows, plane);
        if (m_end && (m_end->other || m_end->y)) m_end.reset();
        cut(divideUp(m_positions, kStripPositions));
        if (threads == 1) return;
        // Where there are few strips the threads share the rows, each with weights of its own; of few rows shorter
        // strips.
        const auto shares = static_cast<std::int64_t>(threads) * 4;
        m_parts = std::min(divideUp(shares, m_strips), m_panels);
        if (m_parts == m_panels) cut(std::max(m_strips, divideUp(shares, m_parts)));
    }

    std::int64_t tasks() const { return m_strips * m_parts; }
    double products() const {
        return static_cast<double>(m_call.weights.dimSize() * m_call.weights.depth()) *
               static_cast<double>(m_positions);
    }

    void task(std::int64_t task) const {
        const std::int64_t part = task / m_strips, first = task % m_strips * m_width;
        float* const sums = Scratch::of<float>(kSumsSlot, static_cast<std::size_t>(m_micro.mr * m_width));
        Epilogue::Bad bad;
        for (std::int64_t panel = m_panels * part / m_parts; panel < m_panels * (part + 1) / m_parts; ++panel) {
            if (m_call.stop && m_call.stop->stop_requested()) return;
            multiply(panel, first, sums, bad);
            keep(panel, first, sums);
        }
        if (m_end) m_call.epilogue->looked(bad);
    }

  private:
    /// Into so many strips, or fewer if they would be less than a tile.
    void cut(std::int64_t strips) {
        m_width = divideUp(divideUp(m_positions, m_micro.nr), strips) * m_micro.nr;
        m_strips = divideUp(m_positions, m_width);
    }

    static constexpr int kSumsSlot = 0, kWideSlot = 1;  ///< of Scratch

    std::int64_t rowsOf(std::int64_t panel) const {
        return std::min<std::int64_t>(m_micro.mr, m_call.weights.dimSize() - panel * m_micro.mr);
    }

    /// sums [rows of the panel, width] = bias + the weights times the picture from position `first` on; and what comes
    /// behind, if it can be done here.
    void multiply(std::int64_t panel, std::int64_t first, float* sums, Epilogue::Bad& bad) const {
        const std::int64_t depth = m_call.weights.depth(), block = depthBlock(depth);
        const float* const bias = m_call.bias ? m_call.bias + panel * m_micro.mr : nullptr;
        TileEnd end;
        if (m_end) {
            end = *m_end, end.bad = bad.lanes;
            if (end.factor) end.factor += panel * m_micro.mr, end.shift += panel * m_micro.mr;
        }
        float* const wide = Scratch::of<float>(kWideSlot, m_call.weights.panelSize());
        const std::int64_t width = std::min(m_width, divideUp(m_positions - first, m_micro.nr) * m_micro.nr);
        for (std::int64_t k0 = 0; k0 < depth; k0 += block) {
            const std::int64_t kc = std::min(block, depth - k0);
            const float* const left = m_call.weights.panel(k0, panel, wide);
            const TileStart start{k0 > 0, bias, m_end && k0 + kc == depth ? &end : nullptr};
            for (std::int64_t n = 0; n < width; n += m_micro.nr) {
                // The last tile asks for the weights that come next, which nobody has read yet.
                const FetchAhead ahead{n + m_micro.nr < width ? nullptr : behind(k0 + kc, panel), m_micro.mr};
                m_micro.runAt(static_cast<int>(rowsOf(panel)), kc, left, m_call.picture.data() + first + n,
                              m_rowStarts.data() + k0, sums + n, m_width, start, ahead);
            }
        }
    }

    /// The weights for k0 and more of a panel of rows, or the first ones of the next.
    const float* behind(std::int64_t k0, std::int64_t panel) const {
        if (k0 < m_call.weights.depth()) return m_call.weights.address(k0, panel);
        return panel + 1 < m_panels ? m_call.weights.address(0, panel + 1) : nullptr;
    }

    /// What lies in lines of y of the sums from position `first` on; then the epilogue, if it was not done before.
    void keep(std::int64_t panel, std::int64_t first, const float* sums) const {
        const std::int64_t columns = m_plane.outputColumns(), pitch = m_plane.pitch();
        const std::int64_t end = std::min(first + m_width, m_positions), plane = m_plane.outputRows() * columns;
        const auto outputsBefore = [&](std::int64_t position) {
            return position / pitch * columns + std::min(position % pitch, columns);
        };
        const std::int64_t begin = outputsBefore(first), count = outputsBefore(end) - begin;
        Epilogue::Piece piece(m_end ? nullptr : m_call.epilogue);
        for (std::int64_t r = 0; r < rowsOf(panel); ++r) {
            const std::int64_t row = (panel * m_micro.mr + r) * plane + begin;
            float* y = m_call.y + row;
            for (std::int64_t line = first / pitch; line * pitch < end; ++line) {
                const std::int64_t from = std::max(line * pitch, first), to = std::min(line * pitch + columns, end);
                if (from >= to) continue;
                copyFloats(sums + r * m_width + from - first, y, to - from);
                y += to - from;
            }
            if (m_strips > 1) piece.apply(m_call.offset + row, count);
        }
        if (m_strips == 1) piece.apply(m_call.offset + panel * m_micro.mr * plane, rowsOf(panel) * plane);
        piece.end();
    }

    const DirectConv& m_call;
    const PhasedPlane& m_plane;
    const MicroKernel& m_micro;
    const std::vector<std::ptrdiff_t> m_rowStarts;
    std::optional<TileEnd> m_end;            ///< the whole epilogue, in the registers of the tiles; of y's first row
    std::int64_t m_positions, m_panels;      ///< of y's lines with what is between them; of rows
    std::int64_t m_width = 0, m_strips = 1;  ///< positions of a strip
    std::int64_t m_parts = 1;                ///< of panels
};

}  // namespace

void convolveDirect(const DirectConv& call, base::ThreadPool& pool) {
    const Direct work(call, pool.threads());
    const auto tasks = static_cast<std::size_t>(work.tasks());
    pool.parallelFor(tasks, work.products() < kMinShared ? tasks : 1, [&](std::size_t begin, std::size_t end) {
        for (std::size_t task = begin; task < end; ++task) work.task(static_cast<std::int64_t>(task));
    });
}

}  // namespace sonde::ops::kernels
