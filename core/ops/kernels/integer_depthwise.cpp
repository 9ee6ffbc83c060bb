#include "core/ops/kernels/integer_depthwise.h"

#include <algorithm>

#include "core/ops/kernels/float_kernels.h"
#include "core/ops/kernels/numbers.h"
#include "core/ops/kernels/quantized_values.h"
#include "core/ops/kernels/scratch.h"

namespace sonde::ops::kernels {

namespace {

const ByteWindowKernel& windowKernel() { return floatKernels().byteWindows; }

/// Whether neighbours in a row of the window are neighbours in the picture, with outputs that the kernels find.
bool joinsTaps(const Window& window) { return window.dilation.back() == 1 && window.stride.back() <= 2; }

/// Steps of each row of a window.
std::int64_t stepsOfRow(const Window& window) {
    return joinsTaps(window) ? divideUp(window.kernel.back(), windowKernel().depth) : window.kernel.back();
}

/// One axis of a window.
struct WindowAxis {
    std::int64_t in = 1, out = 1, kernel = 1, stride = 1, dilation = 1, pad = 0;

    WindowAxis() = default;
    WindowAxis(const Window& window, std::size_t axis, std::int64_t in, std::int64_t out)
        : in(in), out(out), kernel(window.kernel[axis]), stride(window.stride[axis]), dilation(window.dilation[axis]),
          pad(window.padBegin[axis]) {}
    std::int64_t span() const { return dilation * (kernel - 1) + 1; }
    /// Phases that some tap touches: a tap's phase is tap·dilation mod stride.
    std::int64_t phases() const { return std::min(stride, span()); }
    /// Elements of a phase that windows touch.
    std::int64_t reach() const { return out + dilation * (kernel - 1) / stride; }
};

/// A picture with its border in memory. Rows are kept by their phase, row mod stride, and so are columns unless their
/// neighbours stay together: the windows of neighbouring outputs are then `step` elements apart, across the ends of
/// rows too, and one tap of all of them is a stretch of memory.
class BorderedPicture {
  public:
    BorderedPicture(const Window& window, const Tensor& x, const Shape& shape, std::int32_t zero)
        : m_form{x.dtype() == DType::Int8}, m_border(static_cast<std::uint8_t>(zero)), m_joins(joinsTaps(window)) {
        const std::size_t last = window.rank() - 1;
        m_x = WindowAxis(window, last, x.dim(last + 2), shape.dims()[last + 2]);
        if (last == 1) m_y = WindowAxis(window, 0, x.dim(2), shape.dims()[2]);
        if (windowKernel().depth == 4) m_form.flip = m_form.isSigned ? 0x80 : 0;
        else m_form.zero = static_cast<std::int16_t>(zero);
        m_step = m_joins ? m_x.stride : 1;
        m_reach = m_joins ? divideUp(m_step * (m_x.out - 1) + m_x.kernel, m_step) : m_x.reach();
        const std::int64_t depth = windowKernel().depth;
        for (std::int64_t i = 0; i < m_y.kernel; ++i) {
            for (std::int64_t t = 0; t < stepsOfRow(window); ++t) {
                const std::int64_t y = i * m_y.dilation, x0 = m_joins ? t * depth : t * m_x.dilation;
                const std::int64_t phase = y % m_y.stride * columnPhases() + (m_joins ? 0 : x0 % m_x.stride);
                m_offsets.push_back((phase * m_y.reach() + y / m_y.stride) * pitch() +
                                    (m_joins ? x0 : x0 / m_x.stride));
            }
        }
    }

    int step() const { return static_cast<int>(m_step); }
    /// Of each step of a window, from an output's own place on.
    const std::vector<std::int64_t>& offsets() const { return m_offsets; }
    std::int64_t rows() const { return m_y.out; }
    std::int64_t columns() const { return m_x.out; }
    /// Outputs of a row, with those behind its end that are none.
    std::int64_t outputPitch() const { return m_reach; }
    std::int64_t outputs() const { return (m_y.out - 1) * m_reach + m_x.out; }
    /// Bytes that place() and the kernels touch.
    std::size_t size() const {
        const std::int64_t elements = m_y.phases() * columnPhases() * m_y.reach() * pitch();
        return static_cast<std::size_t>((elements + (m_step + 1) * ByteWindowKernel::kSlack) * elementSize());
    }
    /// What the zero point is of the elements.
    std::int32_t zeroOfElements(std::int32_t zero) const { return windowKernel().depth == 4 ? zero + m_form.flip : 0; }

    void place(const std::uint8_t* plane, std::uint8_t* target) const {
        const std::int64_t rows = m_y.reach(), columns = pitch();
        for (std::int64_t p = 0; p < m_y.phases(); ++p) {
            for (std::int64_t q = 0; q < columnPhases(); ++q, target += rows * columns * elementSize()) {
                BorderedRows picture{plane, m_y.in,      m_x.in,  p - m_y.pad, m_y.stride,
                                     rows,  q - m_x.pad, columns, m_form,      m_border};
                if (!m_joins && m_x.stride > 1)
                    picture.x = everyColumn(plane, picture.left), picture.width = columns, picture.left = 0;
                windowKernel().place(picture, target);
            }
        }
    }

  private:
    static std::int64_t elementSize() { return 4 / windowKernel().depth; }
    std::int64_t columnPhases() const { return m_joins ? 1 : m_x.phases(); }
    std::int64_t pitch() const { return m_reach * m_step; }

    /// [height, pitch]: columns first, first + stride … of the picture with its border.
    const std::uint8_t* everyColumn(const std::uint8_t* plane, std::int64_t first) const {
        auto* const every = Scratch::of<std::uint8_t>(2, static_cast<std::size_t>(m_y.in * pitch()));
        for (std::int64_t i = 0; i < m_y.in * pitch(); ++i) {
            const std::int64_t x = first + i % pitch() * m_x.stride;
            every[i] = x < 0 || x >= m_x.in ? m_border : plane[i / pitch() * m_x.in + x];
        }
        return every;
    }

    ByteForm m_form;
    std::uint8_t m_border;
    bool m_joins;
    WindowAxis m_x, m_y;
    std::int64_t m_step = 1, m_reach = 0;
    std::vector<std::int64_t> m_offsets;
};

}  // namespace

WindowWeights::WindowWeights(const Tensor& w, std::span<const std::int32_t> zeros, const Window& window) {
    const std::int64_t channels = w.dim(0), taps = w.numel() / channels, columns = window.kernel.back(),
                       depth = windowKernel().depth, bits = 32 / depth, lanes = joinsTaps(window) ? depth : 1,
                       low = depth == 4 ? -128 : -255, high = depth == 4 ? 127 : 255;
    std::vector<std::int32_t> rest(static_cast<std::size_t>(w.numel()));
    const std::uint8_t* const bytes = bytesOf(w);
    for (std::size_t i = 0; i < rest.size(); ++i) {
        const std::int32_t value = w.dtype() == DType::Int8 ? static_cast<std::int8_t>(bytes[i]) : bytes[i];
        rest[i] = value - zeros[zeros.size() == 1 ? 0 : i / static_cast<std::size_t>(taps)];
        parts = std::max(parts, rest[i] < 0 ? divideUp(-rest[i], -low) : divideUp(rest[i], high));
    }
    sums.assign(static_cast<std::size_t>(channels), 0);
    const std::int64_t ofRow = stepsOfRow(window), steps = taps / columns * ofRow;
    weights.assign(static_cast<std::size_t>(channels * parts * steps), 0);
    const std::uint32_t mask = depth == 4 ? 0xFFU : 0xFFFFU;
    for (std::int64_t i = 0; i < w.numel(); ++i) {
        const std::int64_t channel = i / taps, row = i % taps / columns, column = i % columns;
        std::int32_t& value = rest[static_cast<std::size_t>(i)];
        sums[static_cast<std::size_t>(channel)] += value;
        for (std::int64_t part = 0; part < parts; ++part) {
            const auto taken = static_cast<std::int32_t>(std::clamp<std::int64_t>(value, low, high));
            value -= taken;
            std::int32_t& step =
                weights[static_cast<std::size_t>((channel * parts + part) * steps + row * ofRow + column / lanes)];
            step = static_cast<std::int32_t>(static_cast<std::uint32_t>(step) |
                                             (static_cast<std::uint32_t>(taken) & mask) << (column % lanes * bits));
        }
    }
}

namespace {

class EachChannel {
  public:
    EachChannel(const IntegerConv& call, const Shape& shape, const WindowWeights& weights, const SumsOfBytes& result)
        : m_x(call.x), m_weights(weights), m_result(result), m_zero(zeroPoints(call.zeroX).front()),
          m_picture(call.window, call.x, shape, m_zero), m_channels(call.x.dim(1)),
          m_multiplier(shape.dims()[1] / m_channels) {
        for (std::int64_t part = 0; part < weights.parts; ++part)
            m_offsets.insert(m_offsets.end(), m_picture.offsets().begin(), m_picture.offsets().end());
    }

    void run(base::ThreadPool& pool) const {
        constexpr std::int64_t kPiece = 16384;
        const std::int64_t planes = m_x.dim(0) * m_channels, inputs = m_x.numel() / planes;
        const std::int64_t atOnce = divideUp(kPiece, std::max<std::int64_t>(inputs, 1));
        pool.parallelFor(static_cast<std::size_t>(planes), static_cast<std::size_t>(atOnce),
                         [&](std::size_t begin, std::size_t end) {
                             auto* const x = Scratch::of<std::uint8_t>(0, m_picture.size());
                             for (auto p = static_cast<std::int64_t>(begin); p < static_cast<std::int64_t>(end); ++p) {
                                 m_picture.place(bytesOf(m_x) + p * inputs, x);
                                 for (std::int64_t m = 0; m < m_multiplier; ++m) output(p * m_multiplier + m, x);
                             }
                         });
    }

  private:
    /// Plane `index` of the result.
    void output(std::int64_t index, const std::uint8_t* x) const {
        const std::int64_t channel = index % (m_channels * m_multiplier),
                           steps = static_cast<std::int64_t>(m_offsets.size()), rows = m_picture.rows(),
                           columns = m_picture.columns(), pitch = m_picture.outputPitch();
        const auto sum = static_cast<std::uint32_t>(m_weights.sums[static_cast<std::size_t>(channel)]);
        std::uint32_t start = 0U - static_cast<std::uint32_t>(m_picture.zeroOfElements(m_zero)) * sum;
        BytePlane plane{x,
                        m_picture.step(),
                        m_offsets.data(),
                        m_weights.weights.data() + channel * steps,
                        steps,
                        m_picture.outputs(),
                        0};
        const auto size = static_cast<std::size_t>(m_picture.outputs() + ByteWindowKernel::kSlack);
        if (std::uint8_t* const target = m_result.bytes()) {
            const Requantisation by = m_result.requantisation(channel);
            start += static_cast<std::uint32_t>(by.offset) + static_cast<std::uint32_t>(by.bias);
            plane.start = static_cast<std::int32_t>(start);
            auto* const y = Scratch::of<std::uint8_t>(1, size);
            const ByteWindowKernel& kernel = windowKernel();
            kernel.bytes(plane, by, y);
            kernel.joinRows(y, pitch, rows, columns, target + index * rows * columns);
            return;
        }
        plane.start = static_cast<std::int32_t>(start);
        auto* const y = Scratch::of<std::int32_t>(1, size);
        windowKernel().sums(plane, y);
        for (std::int64_t r = 0; r < rows; ++r)
            m_result.take(channel, (index * rows + r) * columns, columns, y + r * pitch, 0);
    }

    const Tensor& m_x;
    const WindowWeights& m_weights;
    const SumsOfBytes& m_result;
    std::int32_t m_zero;
    BorderedPicture m_picture;
    std::int64_t m_channels, m_multiplier;
    std::vector<std::ptrdiff_t> m_offsets;
};

}  // namespace

void convolveEachChannel(const IntegerConv& call, const Shape& shape, const WindowWeights& weights,
                         const SumsOfBytes& result, base::ThreadPool& pool) {
    EachChannel(call, shape, weights, result).run(pool);
}

}  // namespace sonde::ops::kernels
