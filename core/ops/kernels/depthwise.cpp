#include "core/ops/kernels/depthwise.h"

#include <algorithm>
#include <optional>

#include "core/ops/kernels/epilogue.h"
#include "core/ops/kernels/float_kernels.h"
#include "core/ops/kernels/scratch.h"

namespace sonde::ops::kernels {

PhasedPlane::PhasedPlane(const Window& window, std::span<const std::int64_t> inputSpatial,
                         std::span<const std::int64_t> outputSpatial) {
    const std::size_t x = window.rank() - 1;
    const bool flat = window.rank() == 1;
    m_inX = inputSpatial[x], m_outX = outputSpatial[x], m_kernelX = window.kernel[x], m_strideX = window.stride[x];
    m_dilationX = window.dilation[x], m_padX = window.padBegin[x];
    m_inY = flat ? 1 : inputSpatial[0], m_outY = flat ? 1 : outputSpatial[0], m_kernelY = flat ? 1 : window.kernel[0];
    m_strideY = flat ? 1 : window.stride[0], m_dilationY = flat ? 1 : window.dilation[0],
    m_padY = flat ? 0 : window.padBegin[0];
    // Phases that no tap touches are not kept apart: a tap's phase is tap·dilation mod stride.
    m_phasesY = std::min(m_strideY, m_dilationY * (m_kernelY - 1) + 1);
    m_phasesX = std::min(m_strideX, m_dilationX * (m_kernelX - 1) + 1);
    m_rows = m_outY + m_dilationY * (m_kernelY - 1) / m_strideY;
    m_columns = m_outX + m_dilationX * (m_kernelX - 1) / m_strideX;
}

void PhasedPlane::fill(const float* plane, float padding, float* phases) const {
    for (std::int64_t q = 0; q < m_phasesX; ++q) {
        // Columns [begin, end) of the phase lie in the plane.
        const std::int64_t shift = q - m_padX, room = m_inX - shift;
        const std::int64_t begin = std::min(shift < 0 ? (-shift + m_strideX - 1) / m_strideX : 0, m_columns);
        const std::int64_t end =
            std::max(begin, room <= 0 ? 0 : std::min((room + m_strideX - 1) / m_strideX, m_columns));
        for (std::int64_t p = 0; p < m_phasesY; ++p) {
            float* out = phases + (p * m_phasesX + q) * m_rows * m_columns;
            for (std::int64_t i = 0; i < m_rows; ++i, out += m_columns) {
                const std::int64_t y = p + i * m_strideY - m_padY;
                if (y < 0 || y >= m_inY || end == begin) {
                    std::fill(out, out + m_columns, padding);
                    continue;
                }
                const float* const row = plane + y * m_inX + shift;
                for (std::int64_t j = 0; j < begin; ++j) out[j] = padding;
                if (m_strideX == 1) {
                    copyFloats(row + begin, out + begin, end - begin);
                } else if (m_strideX == 2) {
                    floatKernels().everyOther(row + begin * 2, out + begin, static_cast<std::size_t>(end - begin));
                } else {
                    for (std::int64_t j = begin; j < end; ++j) out[j] = row[j * m_strideX];
                }
                for (std::int64_t j = end; j < m_columns; ++j) out[j] = padding;
            }
        }
    }
    std::fill(phases + m_phasesY * m_phasesX * m_rows * m_columns, phases + size(), padding);
}

const float* PhasedPlane::tap(const float* phases, std::int64_t index) const {
    const std::int64_t y = index / m_kernelX * m_dilationY, x = index % m_kernelX * m_dilationX;
    return phases + ((y % m_strideY * m_phasesX + x % m_strideX) * m_rows + y / m_strideY) * m_columns + x / m_strideX;
}

bool fitsDepthwise(const Window& window, std::span<const std::int64_t> inputSpatial,
                   std::span<const std::int64_t> outputSpatial) {
    if (window.rank() > 2) return false;
    double padded = 1, held = 1;
    for (std::size_t i = 0; i < window.rank(); ++i) {
        padded *= static_cast<double>(std::min(window.stride[i], window.span(i))) *
                  (static_cast<double>(outputSpatial[i]) +
                   static_cast<double>(window.span(i)) / static_cast<double>(window.stride[i]));
        held *= static_cast<double>(std::max(inputSpatial[i], outputSpatial[i]) + 16);
    }
    return padded < 16 * held;
}

int strideOf3x3(const Window& window) {
    if (window.rank() != 2 || window.stride[0] != window.stride[1] || window.stride[0] > 2) return 0;
    for (std::size_t axis = 0; axis < 2; ++axis)
        if (window.kernel[axis] != 3 || window.dilation[axis] != 1) return 0;
    return static_cast<int>(window.stride[0]);
}

namespace {

/// Of one channel's plane, which begins at `offset`.
TileEnd endOf(TileEnd whole, std::int64_t channel, std::int64_t offset, Epilogue::Bad& bad) {
    if (whole.factor) whole.factor += channel, whole.shift += channel;
    if (whole.y) whole.y += offset;
    whole.bad = bad.lanes;
    return whole;
}

}  // namespace

void convolveDepthwise(const float* x, const float* w, const float* bias, float* y, const Window& window,
                       const DepthwiseSizes& sizes, std::span<const std::int64_t> inputSpatial,
                       std::span<const std::int64_t> outputSpatial, base::ThreadPool& pool) {
    const PhasedPlane plane(window, inputSpatial, outputSpatial);
    const std::int64_t taps = plane.taps(), rows = plane.outputRows(), columns = plane.outputColumns();
    std::int64_t inputSize = 1;
    for (std::int64_t dimSize : inputSpatial) inputSize *= dimSize;
    // Small planes by the handful: what is prepared for each piece would cost as much as they do. Equal shares for two
    // and four.
    constexpr std::int64_t kMinOutputs = 4096;
    const std::int64_t planes = sizes.batch * sizes.channels, outputs = planes * sizes.multiplier * rows * columns;
    const std::int64_t pieces = std::min(planes, std::max<std::int64_t>(outputs / kMinOutputs / 4 * 4, 16));
    const int stride = strideOf3x3(window);
    const auto direct = stride ? floatKernels().depthwise3x3[stride - 1] : nullptr;
    // The whole epilogue in registers, of y's first element.
    std::optional<TileEnd> whole;
    if (direct && sizes.epilogue)
        whole = sizes.epilogue->inRegisters(0, sizes.channels * sizes.multiplier, rows * columns);
    if (whole && whole->other) whole.reset();
    pool.parallelFor(static_cast<std::size_t>(pieces), 1, [&](std::size_t begin, std::size_t end) {
        float* phases = direct ? nullptr : Scratch::of<float>(0, plane.size());
        std::vector<const float*> tapRows(static_cast<std::size_t>(taps));
        for (std::int64_t t = 0; t < taps && !direct; ++t) tapRows[static_cast<std::size_t>(t)] = plane.tap(phases, t);
        const std::int64_t last = planes * static_cast<std::int64_t>(end) / pieces;
        const std::int64_t firstPlane = planes * static_cast<std::int64_t>(begin) / pieces;
        std::int64_t done = firstPlane * sizes.multiplier * rows * columns;  // by the epilogue
        Epilogue::Bad bad;
        for (std::int64_t p = firstPlane; p < last; ++p) {
            if (!direct) plane.fill(x + p * inputSize, 0.0F, phases);
            for (std::int64_t m = 0; m < sizes.multiplier; ++m) {
                const std::int64_t output = p % sizes.channels * sizes.multiplier + m;
                const std::int64_t offset = (p * sizes.multiplier + m) * rows * columns;
                const float start = bias ? bias[output] : 0.0F;
                TileEnd end;
                if (whole) end = endOf(*whole, output, offset, bad);
                if (direct) {
                    direct({x + p * inputSize, inputSpatial[0], inputSpatial[1], window.padBegin[0], window.padBegin[1],
                            w + output * taps, start, y + offset, rows, columns, whole ? &end : nullptr});
                } else {
                    floatKernels().weightedPlane(tapRows.data(), w + output * taps, static_cast<std::size_t>(taps),
                                                 start, plane.pitch(), y + offset, columns, rows);
                }
                // Small planes by the handful.
                const std::int64_t upTo = offset + rows * columns;
                const bool isLast = p + 1 == last && m + 1 == sizes.multiplier;
                if (sizes.epilogue && !whole && (upTo - done >= kEpiloguePiece || isLast)) {
                    sizes.epilogue->apply(done, upTo - done);
                    done = upTo;
                }
            }
        }
        if (whole) sizes.epilogue->looked(bad);
    });
}

}  // namespace sonde::ops::kernels
