#include "core/analysis/pixel_map.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace sonde::analysis {

namespace {

/// More different neighbours than that are no pattern: enlargements by 64 in all.
constexpr std::int64_t kMaxPixelPeriod = 64;
/// Of every number here, so that no product overflows. Files may hold any stride.
constexpr std::int64_t kMaxPixels = std::int64_t{1} << 30;

bool isSane(std::int64_t number) { return number > -kMaxPixels && number < kMaxPixels; }

std::int64_t floorDivided(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }
std::int64_t ceilDivided(std::int64_t a, std::int64_t b) { return -floorDivided(-a, b); }

/// What is between the taps of a kernel; of kernels with wider gaps all between is counted, too.
std::int64_t gapOf(std::int64_t dilation) {
    constexpr std::int64_t kMaxGap = 64;
    return dilation > 1 && dilation <= kMaxGap ? dilation : 1;
}

}  // namespace

AxisReading AxisReading::window(std::int64_t kernel, std::int64_t stride, std::int64_t dilation, std::int64_t padding) {
    if (!isSane(kernel) || !isSane(dilation) || !isSane(padding)) return {.stride = 0};
    return {.stride = stride,
            .scale = 1,
            .first = -padding,
            .last = dilation * (kernel - 1) - padding,
            .gap = gapOf(dilation)};
}

AxisReading AxisReading::transposed(std::int64_t kernel, std::int64_t stride, std::int64_t dilation,
                                    std::int64_t padding) {
    if (!isSane(kernel) || !isSane(dilation) || !isSane(padding)) return {.stride = 0};
    return {.stride = 1,
            .scale = stride,
            .first = padding - dilation * (kernel - 1),
            .last = padding,
            .gap = gapOf(dilation)};
}

AxisReading AxisReading::enlarged(std::int64_t factor, std::int64_t more) {
    if (!isSane(factor)) return {.stride = 0};
    return {.stride = 1, .scale = factor, .first = -(factor - 1) - more * factor, .last = more * factor};
}

AxisReading AxisReading::interpolated(std::int64_t factor) {
    if (!isSane(factor)) return {.stride = 0};
    return {.stride = 2, .scale = 2 * factor, .first = 2 - 3 * factor, .last = 1 + factor};
}

PixelMap::Interval PixelMap::at(std::int64_t index) const {
    const auto period = static_cast<std::int64_t>(m_intervals.size());
    const std::int64_t turn = floorDivided(index, period);
    Interval interval = m_intervals[static_cast<std::size_t>(index - turn * period)];
    if (interval.isEmpty()) return interval;
    interval.begin += m_jump * turn;
    interval.end += m_jump * turn;
    return interval;
}

std::optional<PixelMap> PixelMap::read(const AxisReading& reading) const {
    if (reading.isSame()) return *this;
    const bool isUsable = reading.stride > 0 && reading.scale > 0 && isSane(reading.stride) && isSane(reading.scale) &&
                          isSane(reading.first) && isSane(reading.last);
    if (!isUsable) return std::nullopt;
    const auto period = static_cast<std::int64_t>(m_intervals.size());
    // After `next` results what is read has moved by a multiple of the period.
    const std::int64_t next = reading.scale * period / std::gcd(reading.stride, reading.scale * period);
    const std::int64_t turns = reading.stride * next / (reading.scale * period);
    if (next > kMaxPixelPeriod || !isSane(turns) || !isSane(m_jump * turns)) return std::nullopt;
    PixelMap result;
    result.m_jump = m_jump * turns;
    result.m_intervals.assign(static_cast<std::size_t>(next), Interval{0, -1});
    for (std::int64_t r = 0; r < next; ++r) {
        const std::int64_t first = ceilDivided(reading.stride * r + reading.first, reading.scale),
                           last = floorDivided(reading.stride * r + reading.last, reading.scale);
        Interval& all = result.m_intervals[static_cast<std::size_t>(r)];
        const auto add = [&](std::int64_t index) {
            const Interval one = at(index);
            if (one.isEmpty()) return;
            all = all.isEmpty() ? one : Interval{std::min(all.begin, one.begin), std::max(all.end, one.end)};
        };
        // A period later everything is farther on: the ends tell.
        const auto isRead = [&](std::int64_t i) {
            return (reading.stride * r + reading.last - reading.scale * i) % reading.gap == 0;
        };
        const std::int64_t ends = period * reading.gap;
        for (std::int64_t i = first; i <= std::min(last, first + ends - 1); ++i)
            if (isRead(i)) add(i);
        for (std::int64_t i = std::max(first, last - ends + 1); i <= last; ++i)
            if (isRead(i)) add(i);
        if (!isSane(all.begin) || !isSane(all.end)) return std::nullopt;
    }
    return result;
}

std::optional<PixelMap> PixelMap::both(const PixelMap& a, const PixelMap& b) {
    if (a == b) return a;
    const auto periodA = static_cast<std::int64_t>(a.m_intervals.size()),
               periodB = static_cast<std::int64_t>(b.m_intervals.size());
    const std::int64_t period = std::lcm(periodA, periodB);
    if (period > kMaxPixelPeriod || a.m_jump * (period / periodA) != b.m_jump * (period / periodB)) return std::nullopt;
    PixelMap result;
    result.m_jump = a.m_jump * (period / periodA);
    result.m_intervals.clear();
    for (std::int64_t r = 0; r < period; ++r) {
        const Interval one = a.at(r), other = b.at(r);
        if (one.isEmpty() || other.isEmpty()) result.m_intervals.push_back(one.isEmpty() ? other : one);
        else result.m_intervals.push_back({std::min(one.begin, other.begin), std::max(one.end, other.end)});
    }
    return result;
}

std::int64_t PixelMap::size() const {
    std::int64_t most = 0;
    for (const Interval& interval : m_intervals)
        if (!interval.isEmpty()) most = std::max(most, interval.end - interval.begin + 1);
    return most;
}

}  // namespace sonde::analysis
