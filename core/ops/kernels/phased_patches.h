#pragma once

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "core/ops/kernels/depthwise.h"
#include "core/ops/kernels/gemm.h"
#include "core/ops/kernels/scratch.h"

namespace sonde::ops::kernels {

/// The image's channels taken apart by stride and padding, so that every row of the matrix [C·taps, outputs] is copied
/// in whole segments; bounds and strides are dealt with once and not for each tap. Elements are only copied: any 32
/// bits travel through as they are.
class PhasedPatches {
  public:
    /// `padding`: what lies outside of the image. The window must fit (fitsDepthwise).
    PhasedPatches(const Window& window, std::span<const std::int64_t> inputSpatial,
                  std::span<const std::int64_t> outputSpatial, std::int64_t channels, float padding,
                  base::ThreadPool& pool)
        : m_plane(window, inputSpatial, outputSpatial), m_channels(channels), m_padding(padding), m_pool(pool),
          m_phases(static_cast<std::size_t>(channels) * m_plane.size() + kMaxWidth) {
        for (std::int64_t dimSize : inputSpatial) m_inputSize *= dimSize;
        for (std::int64_t t = 0; t < m_plane.taps(); ++t)
            m_taps.push_back(m_plane.tap(m_phases.data(), t) - m_phases.data());
        std::fill_n(m_phases.data() + m_phases.size() - kMaxWidth, kMaxWidth, 0.0F);
    }

    const PhasedPlane& plane() const { return m_plane; }
    /// Where the rows of the matrix begin: position r·pitch + c of the plane is so many elements behind.
    /// Up to 31 elements behind the last position may be read.
    std::vector<std::ptrdiff_t> rowStarts() const {
        std::vector<std::ptrdiff_t> starts;
        starts.reserve(static_cast<std::size_t>(m_channels) * m_taps.size());
        for (std::int64_t c = 0; c < m_channels; ++c)
            for (const std::ptrdiff_t tap : m_taps)
                starts.push_back(c * static_cast<std::ptrdiff_t>(m_plane.size()) + tap);
        return starts;
    }
    const float* data() const { return m_phases.data(); }

    void load(const float* image) {
        m_pool.parallelFor(static_cast<std::size_t>(m_channels), 1, [&](std::size_t begin, std::size_t end) {
            for (std::size_t c = begin; c < end; ++c)
                m_plane.fill(image + static_cast<std::int64_t>(c) * m_inputSize, m_padding,
                             m_phases.data() + c * m_plane.size());
        });
    }

    /// The whole matrix, if the window has one tap: what is left of each channel.
    MatrixView<float> matrix() const {
        return {m_phases.data() + m_taps.front(), static_cast<std::int64_t>(m_plane.size()), 1};
    }

    /// Rows [k0, k0 + kc), columns [n0, n0 + width) → target [kc][width].
    void panel(std::int64_t k0, std::int64_t kc, std::int64_t n0, std::int64_t width, float* target) const {
        struct Segment {
            std::int64_t column, offset, count;
        };
        std::vector<Segment> segments;
        const std::int64_t columns = m_plane.outputColumns(),
                           valid = std::min(width, columns * m_plane.outputRows() - n0);
        for (std::int64_t done = 0; done < valid;) {
            const std::int64_t x = (n0 + done) % columns, count = std::min(columns - x, valid - done);
            segments.push_back({done, (n0 + done) / columns * m_plane.pitch() + x, count});
            done += count;
        }
        const auto taps = m_plane.taps();
        std::int64_t tap = k0 % taps;
        const float* channel = m_phases.data() + static_cast<std::size_t>(k0 / taps) * m_plane.size();
        for (std::int64_t k = 0; k < kc; ++k, target += width) {
            const float* row = channel + m_taps[static_cast<std::size_t>(tap)];
            if (segments.size() == 1 && valid == kMaxWidth) {
                std::memcpy(target, row + segments[0].offset, kMaxWidth * sizeof(float));  // a constant size: no call
            } else {
                for (const Segment& segment : segments)
                    copyFloats(row + segment.offset, target + segment.column, segment.count);
                for (std::int64_t i = valid; i < width; ++i) target[i] = 0;
            }
            if (++tap == taps) tap = 0, channel += m_plane.size();
        }
    }

  private:
    static constexpr std::int64_t kMaxWidth = 32;  ///< nr of the widest micro kernel

    PhasedPlane m_plane;
    std::int64_t m_channels, m_inputSize = 1;
    float m_padding;
    base::ThreadPool& m_pool;
    WorkBuffer<float> m_phases;
    std::vector<std::ptrdiff_t> m_taps;
};

}  // namespace sonde::ops::kernels
