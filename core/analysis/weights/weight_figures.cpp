#include "core/analysis/weights/weight_figures.h"

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>

namespace sonde::analysis {

namespace {

constexpr std::int64_t kSorted = 1 << 16;  ///< up to so many elements are sorted to find their quartiles
constexpr std::size_t kKeyBins = 1 << 16;

bool isFiniteNumber(double x) { return std::abs(x) <= DBL_MAX; }

float asFloat(double x) {
    return static_cast<float>(std::clamp(x, -static_cast<double>(FLT_MAX), static_cast<double>(FLT_MAX)));
}

/// Integers in the order of the numbers.
std::uint32_t keyOf(double x) {
    const auto bits = std::bit_cast<std::uint32_t>(asFloat(x));
    return (bits & 0x80000000U) != 0 ? ~bits : bits | 0x80000000U;
}
double numberOf(std::uint32_t key) { return std::bit_cast<float>((key & 0x80000000U) != 0 ? key & 0x7fffffffU : ~key); }

/// The bin of a number from low to high; the middle one of numbers that are all alike. Halves, because the range of
/// float64 numbers may be larger than all of them.
class Bins {
  public:
    Bins(double low, double high, std::size_t count)
        : m_low(low / 2), m_last(static_cast<double>(count - 1)),
          m_scale(static_cast<double>(count) / (high / 2 - m_low)), m_middle(count / 2) {
        m_isPoint = !(m_scale > 0 && m_scale <= DBL_MAX);
    }
    std::size_t of(double x) const {
        return m_isPoint ? m_middle : static_cast<std::size_t>(std::min((x / 2 - m_low) * m_scale, m_last));
    }

  private:
    double m_low, m_last, m_scale;
    std::size_t m_middle;
    bool m_isPoint = false;
};

/// Mean and sum of squared deviations of pieces, put together as Chan, Golub and LeVeque (1983) do: one reading is as
/// exact as two.
class Moments {
  public:
    void add(double count, double mean, double squares) {
        const double delta = mean - m_mean, total = m_count + count;
        m_squares += squares + delta * delta * m_count * count / total;
        m_mean += delta * count / total;
        m_count = total;
    }
    double mean() const { return m_mean; }
    double deviation() const { return m_count > 0 ? std::sqrt(m_squares / m_count) : 0; }

  private:
    double m_count = 0, m_mean = 0, m_squares = 0;
};

/// The order statistics of many numbers without keeping them: which of 65,536 bins of the upper half of their bits
/// holds a rank, and then which lower half.
class RankFinder {
  public:
    /// First reading.
    void add(std::uint32_t key) { ++m_upper[key >> 16]; }
    /// Between the readings.
    void seek(std::int64_t rank) {
        std::int64_t before = 0;
        std::uint32_t bin = 0;
        while (before + m_upper[bin] <= rank) before += m_upper[bin++];
        auto found = std::ranges::find(m_sought, bin, &Sought::bin);
        if (found == m_sought.end()) {
            m_sought.push_back({bin, before, std::vector<std::int64_t>(kKeyBins)});
            m_place[bin] = static_cast<std::uint8_t>(m_sought.size());
        }
    }
    /// Second reading.
    void addAgain(std::uint32_t key) {
        if (const std::uint8_t place = m_place[key >> 16]; place > 0) ++m_sought[place - 1U].lower[key & 0xffffU];
    }
    double at(std::int64_t rank) const {
        for (const Sought& sought : m_sought) {
            if (rank < sought.before || rank >= sought.before + m_upper[sought.bin]) continue;
            std::int64_t before = sought.before;
            std::uint32_t low = 0;
            while (before + sought.lower[low] <= rank) before += sought.lower[low++];
            return numberOf(sought.bin << 16 | low);
        }
        return 0;
    }

  private:
    struct Sought {
        std::uint32_t bin;
        std::int64_t before;  ///< elements in the bins below
        std::vector<std::int64_t> lower;
    };
    std::vector<std::int64_t> m_upper = std::vector<std::int64_t>(kKeyBins);
    std::vector<std::uint8_t> m_place = std::vector<std::uint8_t>(kKeyBins);  ///< in m_sought, from 1
    std::vector<Sought> m_sought;
};

/// The rank below a quantile of `count` elements, and how far the quantile is towards the next one.
std::pair<std::int64_t, double> rankOf(std::int64_t count, double fraction) {
    const double place = static_cast<double>(count - 1) * fraction;
    const double below = std::floor(place);
    return {static_cast<std::int64_t>(below), place - below};
}

template <typename At>
std::array<double, 3> quartilesOf(std::int64_t count, At at) {
    std::array<double, 3> quartiles{};
    for (std::size_t i = 0; i < 3; ++i) {
        const auto [rank, part] = rankOf(count, 0.25 * static_cast<double>(i + 1));
        const double low = at(rank), high = at(std::min(rank + 1, count - 1));
        quartiles[i] = low + (high - low) * part;
    }
    return quartiles;
}

class FigureReader {
  public:
    FigureReader(const WeightReader& reader, const std::optional<FilterLayout>& layout, const std::stop_token& stop)
        : m_reader(reader), m_stop(stop) {
        if (layout) m_filters.emplace(*layout);
        m_figures.count = reader.count();
        if (m_figures.count > kSorted) m_ranks.emplace();
    }

    WeightFigures read() {
        m_reader.forEachPiece(m_stop, [this](std::span<const double> piece, std::int64_t) { addPiece(piece); });
        if (m_figures.finite() == 0) m_figures.minimum = m_figures.maximum = 0;
        m_figures.mean = m_moments.mean();
        m_figures.deviation = m_moments.deviation();
        if (m_filters) m_figures.filters = m_filters->finish(m_reader, m_stop);
        readAgain();
        return std::move(m_figures);
    }

  private:
    void addPiece(std::span<const double> piece) {
        if (m_filters) m_filters->add(piece);
        double low = INFINITY, high = -INFINITY, sum = 0;
        std::int64_t finite = 0, zero = 0;
        for (const double x : piece) {
            if (!isFiniteNumber(x)) {
                ++(std::isnan(x) ? m_figures.nan : m_figures.inf);
                continue;
            }
            ++finite;
            low = std::min(low, x);
            high = std::max(high, x);
            sum += x;
            if (x == 0) {
                ++zero;
            } else if (m_ranks) {
                m_ranks->add(keyOf(x));
            } else {
                m_sorted.push_back(x);
            }
        }
        m_figures.zero += zero;
        m_inRanks += finite - zero;
        if (finite == 0) return;
        const double mean = sum / static_cast<double>(finite);
        double squares = 0;
        for (const double x : piece)
            if (isFiniteNumber(x)) squares += (x - mean) * (x - mean);
        m_moments.add(static_cast<double>(finite), mean, squares);
        m_figures.minimum = m_hasAny ? std::min(m_figures.minimum, low) : low;
        m_figures.maximum = m_hasAny ? std::max(m_figures.maximum, high) : high;
        m_hasAny = true;
    }

    /// Bins, which need the range, and the lower halves of the quartiles.
    void readAgain() {
        if (m_stop.stop_requested() || m_figures.finite() == 0) return;
        if (m_ranks && m_inRanks > 0)
            for (const double fraction : {0.25, 0.5, 0.75}) {
                const std::int64_t rank = rankOf(m_inRanks, fraction).first;
                m_ranks->seek(rank);
                m_ranks->seek(std::min(rank + 1, m_inRanks - 1));
            }
        const Bins bins(m_figures.minimum, m_figures.maximum, kWeightBins);
        m_reader.forEachPiece(m_stop, [&](std::span<const double> piece, std::int64_t) {
            for (const double x : piece) {
                if (!isFiniteNumber(x)) continue;
                ++m_figures.histogram[bins.of(x)];
                if (m_ranks && x != 0) m_ranks->addAgain(keyOf(x));
            }
        });
        if (m_inRanks > 0 && !m_stop.stop_requested()) findOutliers();
    }

    void findOutliers() {
        if (m_ranks) {
            m_figures.quartiles = quartilesOf(m_inRanks, [this](std::int64_t rank) { return m_ranks->at(rank); });
        } else {
            std::ranges::sort(m_sorted);
            m_figures.quartiles =
                quartilesOf(m_inRanks, [this](std::int64_t rank) { return m_sorted[static_cast<std::size_t>(rank)]; });
        }
        m_figures.hasQuartiles = true;
        const double first = m_figures.quartiles[0], third = m_figures.quartiles[2];
        m_figures.lowFence = first - kOutlierFence * (third - first);
        m_figures.highFence = third + kOutlierFence * (third - first);
        if (m_figures.minimum >= m_figures.lowFence && m_figures.maximum <= m_figures.highFence) return;
        m_reader.forEachPiece(m_stop, [this](std::span<const double> piece, std::int64_t) {
            for (const double x : piece) {
                const bool isOut = isFiniteNumber(x) && x != 0 && (x < m_figures.lowFence || x > m_figures.highFence);
                m_figures.outliers += isOut ? 1 : 0;
            }
        });
    }

    const WeightReader& m_reader;
    const std::stop_token& m_stop;
    WeightFigures m_figures;
    Moments m_moments;
    std::optional<FilterCollector> m_filters;
    std::optional<RankFinder> m_ranks;
    std::vector<double> m_sorted;
    std::int64_t m_inRanks = 0;  ///< finite and not 0
    bool m_hasAny = false;
};

}  // namespace

WeightFigures weightFigures(const WeightReader& reader, const std::optional<FilterLayout>& layout,
                            const std::stop_token& stop) {
    return FigureReader(reader, layout, stop).read();
}

void addToBins(BinnedWeights& bins, const WeightReader& reader, double low, double high, const std::stop_token& stop) {
    const Bins places(low, high, bins.counts.size());
    reader.forEachPiece(stop, [&](std::span<const double> piece, std::int64_t) {
        for (const double x : piece) {
            if (!isFiniteNumber(x)) continue;
            if (x < low || x > high) {
                ++(x < low ? bins.below : bins.above);
                continue;
            }
            ++bins.counts[places.of(x)];
        }
    });
}

}  // namespace sonde::analysis
