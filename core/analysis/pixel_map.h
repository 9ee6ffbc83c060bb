#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace sonde::analysis {

/// Which indices of its input an operator reads along one axis: for index u of the result those from
/// ceil((stride·u + first) / scale) to floor((stride·u + last) / scale), of these the i for which
/// stride·u + last − scale·i is a multiple of the gap. A convolution has scale 1 and its dilation as gap, an
/// enlargement stride 1.
struct AxisReading {
    std::int64_t stride = 1, scale = 1, first = 0, last = 0, gap = 1;

    bool isSame() const { return stride == 1 && scale == 1 && first == 0 && last == 0; }
    /// Kernel k, stride s, dilation d, padding p: s·u − p to s·u − p + d·(k − 1).
    static AxisReading window(std::int64_t kernel, std::int64_t stride, std::int64_t dilation, std::int64_t padding);
    /// The reverse of window(): all i with s·i − p + d·t = u for a tap t.
    static AxisReading transposed(std::int64_t kernel, std::int64_t stride, std::int64_t dilation,
                                  std::int64_t padding);
    /// Linear interpolation between pixels whose centres are where those of the input are: floor((u + ½) / f − ½) and
    /// the next one.
    static AxisReading interpolated(std::int64_t factor);
    /// `factor` results for each index, from that index and `more` of its neighbours on both sides.
    static AxisReading enlarged(std::int64_t factor, std::int64_t more);
};

/// Which pixels along one axis of an input the elements of a value depend on, as intervals that repeat: element
/// period·q + r depends on those from jump·q + begin[r] to jump·q + end[r] (none if end < begin). One convolution after
/// the other gives the formula of Araujo, Norris and Sim, "Computing Receptive Fields of Convolutional Neural
/// Networks" (Distill, 2019, doi 10.23915/distill.00021): r = 1 + Σ (kₗ − 1)·∏ sᵢ over the layers before.
class PixelMap {
  public:
    /// Every element depends on the pixel of its own index.
    PixelMap() = default;

    /// Of what reads a value with this map; nothing if it is too irregular to be followed.
    std::optional<PixelMap> read(const AxisReading& reading) const;
    /// Of elements that depend on both; nothing if they do not move alike, so that there is no bound.
    static std::optional<PixelMap> both(const PixelMap& a, const PixelMap& b);

    /// Pixels that one element depends on, from the first to the last one: the most of all elements.
    std::int64_t size() const;
    /// Pixels between neighbours, on average.
    double stride() const { return static_cast<double>(m_jump) / static_cast<double>(m_intervals.size()); }
    bool operator==(const PixelMap&) const = default;

  private:
    struct Interval {
        std::int64_t begin = 0, end = 0;
        bool isEmpty() const { return end < begin; }
        bool operator==(const Interval&) const = default;
    };
    Interval at(std::int64_t index) const;

    std::int64_t m_jump = 1;
    std::vector<Interval> m_intervals{Interval{}};  ///< by r
};

}  // namespace sonde::analysis
