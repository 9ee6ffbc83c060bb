#include "core/analysis/demand/extents.h"

#include <algorithm>

namespace sonde::analysis::demand {

using tensor::Dim;
using tensor::DType;
using tensor::ExtentHint;
using tensor::ExtentHints;

namespace {

constexpr std::int64_t kMaxElements = std::int64_t{1} << 27;

std::int64_t roundest(std::int64_t low, std::int64_t high) {
    for (int shift = 24; shift > 0; --shift) {
        const std::int64_t unit = std::int64_t{1} << shift;
        if (const std::int64_t number = (low + unit - 1) / unit * unit; number <= high) return number;
    }
    return low;
}

bool isPlausible(const Window& window) {
    const auto small = [](std::int64_t number) { return number >= 0 && number <= kMaxExtent; };
    return small(window.kernel) && small(window.stride) && small(window.padding) && small(window.dilation) &&
           window.kernel > 0 && window.stride > 0 && window.dilation > 0;
}

/// What a window covers without its padding. Below 2^48.
std::int64_t span(const Window& window) { return window.dilation * (window.kernel - 1) + 1; }

}  // namespace

Extent Extent::of(std::int64_t exact) {
    Extent extent;
    if (exact >= 0) extent.exact = exact;
    return extent;
}

Extent Extent::likely(std::int64_t low, std::int64_t high) {
    Extent extent;
    low = std::max<std::int64_t>(low, 1);
    if (high < low || high > kMaxExtent) return extent;
    extent.low = low;
    extent.high = high;
    return extent;
}

Extent Extent::softened() const {
    Extent extent = exact >= 0 ? likely(exact, exact) : likely(low, high);
    extent.least = least;
    return extent;
}

void Extent::add(const Extent& more) {
    if (exact < 0) exact = more.exact;
    if (low < 0) {
        low = more.low;
        high = more.high;
    } else if (more.low >= 0 && std::max(low, more.low) <= std::min(high, more.high)) {
        low = std::max(low, more.low);
        high = std::min(high, more.high);
    }
    least = std::max(least, more.least);
}

ExtentHint Extent::hint() const {
    if (exact >= 0) return {exact, 1};
    if (low < 0) return {-1, least};
    return {high >= least ? roundest(std::max(low, least), high) : low, least};
}

void Demand::put(std::int64_t axis, const Extent& extent) {
    std::vector<Extent>& extents = axis >= 0 ? front : back;
    const auto at = static_cast<std::size_t>(axis >= 0 ? axis : -(axis + 1));
    if (at >= kHighestRank || !extent.says()) return;
    if (extents.size() <= at) extents.resize(at + 1);
    extents[at].add(extent);
}

void Demand::add(const Demand& more) {
    if (dtype == DType::Undefined) dtype = more.dtype;
    if (!rank) rank = more.rank;
    usualRank = std::max(usualRank, more.usualRank);
    leastRank = std::max(leastRank, more.leastRank);
    mostRank = std::min(mostRank, more.mostRank);
    for (std::size_t i = 0; i < more.front.size(); ++i) put(static_cast<std::int64_t>(i), more.front[i]);
    for (std::size_t i = 0; i < more.back.size(); ++i) put(-1 - static_cast<std::int64_t>(i), more.back[i]);
}

Extent Demand::at(std::int64_t axis) const {
    const auto one = [](const std::vector<Extent>& extents, std::int64_t i) {
        return i >= 0 && i < static_cast<std::int64_t>(extents.size()) ? extents[static_cast<std::size_t>(i)]
                                                                       : Extent();
    };
    const std::int64_t all = rank ? static_cast<std::int64_t>(*rank) : -1;
    if (axis >= 0) {
        Extent extent = one(front, axis);
        if (all > axis) extent.add(one(back, all - 1 - axis));
        return extent;
    }
    Extent extent = one(back, -1 - axis);
    if (all + axis >= 0) extent.add(one(front, all + axis));
    return extent;
}

std::vector<Extent> Demand::extents() const {
    std::vector<Extent> result;
    for (std::size_t i = 0; i < *rank; ++i) result.push_back(at(static_cast<std::int64_t>(i)));
    return result;
}

Demand Demand::rankShifted(int more) const {
    const auto shifted = [more](std::size_t one) {
        return static_cast<std::size_t>(std::max<std::int64_t>(static_cast<std::int64_t>(one) + more, 0));
    };
    Demand result;
    result.dtype = dtype;
    if (rank) result.rank = shifted(*rank);
    if (usualRank > 0) result.usualRank = shifted(usualRank);
    result.leastRank = shifted(leastRank);
    result.mostRank = std::min(shifted(mostRank), kHighestRank + 1);
    return result;
}

Demand Demand::withoutType() const {
    Demand result = *this;
    result.dtype = DType::Undefined;
    return result;
}

std::vector<Dim> Demand::dims() const {
    std::vector<Dim> dims;
    for (const Extent& extent : extents()) dims.push_back(extent.exact >= 0 ? Dim::of(extent.exact) : Dim());
    return dims;
}

ExtentHints Demand::hints() const {
    Demand ranked = *this;
    if (!ranked.rank) {
        const std::size_t told = std::max({usualRank, leastRank, front.size(), back.size()});
        if (told == 0) return {};
        ranked.rank = std::min(told, std::max(mostRank, leastRank));
    }
    if (*ranked.rank > kHighestRank) return {};
    ExtentHints hints;
    std::int64_t elements = 1;
    for (const Extent& extent : ranked.extents()) {
        hints.push_back(extent.hint());
        const std::int64_t used = std::max({hints.back().likely, hints.back().least, std::int64_t{1}});
        if (used > kMaxElements / elements) return {};
        elements *= used;
    }
    return hints;
}

Demand common(const Demand& a, const Demand& b) {
    Demand result;
    if (a.dtype == b.dtype) result.dtype = a.dtype;
    if (a.rank == b.rank) result.rank = a.rank;
    if (a.usualRank == b.usualRank) result.usualRank = a.usualRank;
    const auto both = [](const Extent& one, const Extent& other) {
        Extent extent;
        if (one.exact == other.exact) extent.exact = one.exact;
        if (one.low == other.low && one.high == other.high) extent = Extent{extent.exact, one.low, one.high, 1};
        extent.least = std::min(one.least, other.least);
        return extent;
    };
    for (std::size_t i = 0; i < std::min(a.front.size(), b.front.size()); ++i)
        result.put(static_cast<std::int64_t>(i), both(a.front[i], b.front[i]));
    for (std::size_t i = 0; i < std::min(a.back.size(), b.back.size()); ++i)
        result.put(-1 - static_cast<std::int64_t>(i), both(a.back[i], b.back[i]));
    result.leastRank = std::min(a.rank.value_or(a.leastRank), b.rank.value_or(b.leastRank));
    result.mostRank = std::max(a.rank.value_or(a.mostRank), b.rank.value_or(b.mostRank));
    return result;
}

Extent beforeWindow(const Extent& y, const Window& window) {
    if (!isPlausible(window)) return {};
    const auto before = [&](std::int64_t extent) {
        return (extent - 1) * window.stride + span(window) - 2 * window.padding;
    };
    const Extent wanted = y.softened();
    Extent x;
    if (wanted.low >= 0) x = Extent::likely(before(wanted.low), before(wanted.high) + window.stride - 1);
    if (wanted.least <= kMaxExtent)
        x.least = std::max<std::int64_t>(before(std::max<std::int64_t>(wanted.least, 1)), 1);
    return x;
}

Extent beforeTransposedWindow(const Extent& y, const Window& window, std::int64_t outputPadding) {
    if (!isPlausible(window) || outputPadding < 0 || outputPadding > kMaxExtent) return {};
    const auto steps = [&](std::int64_t extent) { return extent + 2 * window.padding - span(window) - outputPadding; };
    const Extent wanted = y.softened();
    Extent x;
    const std::int64_t exact = steps(wanted.low);
    if (wanted.low >= 0 && wanted.low == wanted.high && exact >= 0 && exact % window.stride == 0)
        x = Extent::likely(exact / window.stride + 1, exact / window.stride + 1);
    if (const std::int64_t least = steps(wanted.least); least > 0)
        x.least = (least + window.stride - 1) / window.stride + 1;
    return x;
}

}  // namespace sonde::analysis::demand
