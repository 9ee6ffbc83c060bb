#include "core/ops/kernels/patches.h"

#include <algorithm>
#include <cstring>

#include "core/tensor/float_types.h"

namespace sonde::ops::kernels {

Patches::Patches(const Window& window, std::span<const std::int64_t> inputSpatial,
                 std::span<const std::int64_t> outputSpatial)
    : m_window(window), m_input(inputSpatial.begin(), inputSpatial.end()),
      m_output(outputSpatial.begin(), outputSpatial.end()) {
    for (std::int64_t dimSize : m_output) m_outputs *= dimSize;
    for (std::int64_t dimSize : m_input) m_inputSize *= dimSize;
    m_taps = window.taps();
}

std::vector<Patches::Line> Patches::lines(std::int64_t n0, std::int64_t width) const {
    std::vector<Line> result;
    const std::size_t last = m_output.size() - 1;
    const std::int64_t end = std::min(n0 + width, m_outputs);
    for (std::int64_t n = n0; n < end;) {
        Line line;
        line.column = n - n0;
        line.x = n % m_output[last];
        line.count = std::min(m_output[last] - line.x, end - n);
        line.outer.resize(last);
        std::int64_t rest = n / m_output[last];
        for (std::size_t i = last; i-- > 0;) {
            line.outer[i] = rest % m_output[i];
            rest /= m_output[i];
        }
        n += line.count;
        result.push_back(std::move(line));
    }
    return result;
}

template <typename T>
void Patches::panel(const T* image, std::int64_t k0, std::int64_t kc, std::int64_t n0, std::int64_t width,
                    T* target) const {
    const std::vector<Line> parts = lines(n0, width);
    const std::size_t last = m_output.size() - 1;
    const std::int64_t stride = m_window.stride[last];
    const std::int64_t valid = std::min(width, m_outputs - n0);
    std::vector<std::int64_t> tap(m_output.size());
    for (std::int64_t k = k0; k < k0 + kc; ++k, target += width) {
        const T* channel = image + k / m_taps * m_inputSize;
        std::int64_t rest = k % m_taps;
        for (std::size_t i = m_output.size(); i-- > 0;) {
            tap[i] = rest % m_window.kernel[i] * m_window.dilation[i] - m_window.padBegin[i];
            rest /= m_window.kernel[i];
        }
        if (valid < width) std::fill(target + valid, target + width, T{});
        for (const Line& line : parts) {
            T* out = target + line.column;
            const T* row = channel;
            bool inside = true;
            std::int64_t offset = 0;
            for (std::size_t i = 0; i < last; ++i) {
                const std::int64_t at = line.outer[i] * m_window.stride[i] + tap[i];
                inside = inside && at >= 0 && at < m_input[i];
                offset = offset * m_input[i] + at;
            }
            if (!inside) {
                std::fill(out, out + line.count, T{});
                continue;
            }
            row += offset * m_input[last];
            // Positions x·stride + tap inside [0, dimension): a stretch in the middle, zeros on both sides.
            const std::int64_t first = line.x * stride + tap[last];
            std::int64_t begin = first < 0 ? std::min((-first + stride - 1) / stride, line.count) : 0;
            const std::int64_t room = m_input[last] - first;
            std::int64_t stop = room <= 0 ? 0 : std::min((room + stride - 1) / stride, line.count);
            stop = std::max(stop, begin);
            std::fill(out, out + begin, T{});
            if (stride == 1) {
                if (stop > begin)
                    std::memcpy(static_cast<void*>(out + begin), row + first + begin,
                                static_cast<std::size_t>(stop - begin) * sizeof(T));
            } else {
                for (std::int64_t i = begin; i < stop; ++i) out[i] = row[first + i * stride];
            }
            std::fill(out + stop, out + line.count, T{});
        }
    }
}

template <typename T>
void Patches::addRow(const T* row, std::int64_t k, T* image) const {
    T* channel = image + k / m_taps * m_inputSize;
    const std::size_t last = m_output.size() - 1;
    std::vector<std::int64_t> tap(m_output.size());
    std::int64_t rest = k % m_taps;
    for (std::size_t i = m_output.size(); i-- > 0;) {
        tap[i] = rest % m_window.kernel[i] * m_window.dilation[i] - m_window.padBegin[i];
        rest /= m_window.kernel[i];
    }
    for (const Line& line : lines(0, m_outputs)) {
        bool inside = true;
        std::int64_t offset = 0;
        for (std::size_t i = 0; i < last; ++i) {
            const std::int64_t at = line.outer[i] * m_window.stride[i] + tap[i];
            inside = inside && at >= 0 && at < m_input[i];
            offset = offset * m_input[i] + at;
        }
        if (!inside) continue;
        T* out = channel + offset * m_input[last];
        for (std::int64_t i = 0; i < line.count; ++i) {
            const std::int64_t at = (line.x + i) * m_window.stride[last] + tap[last];
            if (at >= 0 && at < m_input[last]) out[at] += row[line.column + i];
        }
    }
}

template void Patches::panel(const float*, std::int64_t, std::int64_t, std::int64_t, std::int64_t, float*) const;
template void Patches::panel(const double*, std::int64_t, std::int64_t, std::int64_t, std::int64_t, double*) const;
template void Patches::addRow(const float*, std::int64_t, float*) const;
template void Patches::addRow(const double*, std::int64_t, double*) const;

}  // namespace sonde::ops::kernels
