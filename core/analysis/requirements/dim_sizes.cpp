#include "core/analysis/requirements/dim_sizes.h"

#include <algorithm>

namespace sonde::analysis::requirement {

using tensor::Dim;
using tensor::DimSizeHint;
using tensor::DimSizeHints;
using tensor::DType;

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
    const auto small = [](std::int64_t number) { return number >= 0 && number <= kMaxDimSize; };
    return small(window.kernel) && small(window.stride) && small(window.padding) && small(window.dilation) &&
           window.kernel > 0 && window.stride > 0 && window.dilation > 0;
}

/// What a window covers without its padding. Below 2^48.
std::int64_t span(const Window& window) { return window.dilation * (window.kernel - 1) + 1; }

}  // namespace

DimSize DimSize::of(std::int64_t exact) {
    DimSize dimSize;
    if (exact >= 0) dimSize.exact = exact;
    return dimSize;
}

DimSize DimSize::likely(std::int64_t low, std::int64_t high) {
    DimSize dimSize;
    low = std::max<std::int64_t>(low, 1);
    if (high < low || high > kMaxDimSize) return dimSize;
    dimSize.low = low;
    dimSize.high = high;
    return dimSize;
}

DimSize DimSize::softened() const {
    DimSize dimSize = exact >= 0 ? likely(exact, exact) : likely(low, high);
    dimSize.least = least;
    return dimSize;
}

void DimSize::add(const DimSize& more) {
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

DimSizeHint DimSize::hint() const {
    if (exact >= 0) return {exact, 1};
    if (low < 0) return {-1, least};
    return {high >= least ? roundest(std::max(low, least), high) : low, least};
}

void Requirement::put(std::int64_t axis, const DimSize& dimSize) {
    std::vector<DimSize>& dimSizes = axis >= 0 ? front : back;
    const auto at = static_cast<std::size_t>(axis >= 0 ? axis : -(axis + 1));
    if (at >= kHighestRank || !dimSize.says()) return;
    if (dimSizes.size() <= at) dimSizes.resize(at + 1);
    dimSizes[at].add(dimSize);
}

void Requirement::add(const Requirement& more) {
    if (dtype == DType::Undefined) dtype = more.dtype;
    if (!rank) rank = more.rank;
    usualRank = std::max(usualRank, more.usualRank);
    leastRank = std::max(leastRank, more.leastRank);
    mostRank = std::min(mostRank, more.mostRank);
    for (std::size_t i = 0; i < more.front.size(); ++i) put(static_cast<std::int64_t>(i), more.front[i]);
    for (std::size_t i = 0; i < more.back.size(); ++i) put(-1 - static_cast<std::int64_t>(i), more.back[i]);
}

DimSize Requirement::at(std::int64_t axis) const {
    const auto one = [](const std::vector<DimSize>& dimSizes, std::int64_t i) {
        return i >= 0 && i < static_cast<std::int64_t>(dimSizes.size()) ? dimSizes[static_cast<std::size_t>(i)]
                                                                        : DimSize();
    };
    const std::int64_t all = rank ? static_cast<std::int64_t>(*rank) : -1;
    if (axis >= 0) {
        DimSize dimSize = one(front, axis);
        if (all > axis) dimSize.add(one(back, all - 1 - axis));
        return dimSize;
    }
    DimSize dimSize = one(back, -1 - axis);
    if (all + axis >= 0) dimSize.add(one(front, all + axis));
    return dimSize;
}

std::vector<DimSize> Requirement::dimSizes() const {
    std::vector<DimSize> result;
    for (std::size_t i = 0; i < *rank; ++i) result.push_back(at(static_cast<std::int64_t>(i)));
    return result;
}

Requirement Requirement::rankShifted(int more) const {
    const auto shifted = [more](std::size_t one) {
        return static_cast<std::size_t>(std::max<std::int64_t>(static_cast<std::int64_t>(one) + more, 0));
    };
    Requirement result;
    result.dtype = dtype;
    if (rank) result.rank = shifted(*rank);
    if (usualRank > 0) result.usualRank = shifted(usualRank);
    result.leastRank = shifted(leastRank);
    result.mostRank = std::min(shifted(mostRank), kHighestRank + 1);
    return result;
}

Requirement Requirement::withoutType() const {
    Requirement result = *this;
    result.dtype = DType::Undefined;
    return result;
}

std::vector<Dim> Requirement::dims() const {
    std::vector<Dim> dims;
    for (const DimSize& dimSize : dimSizes()) dims.push_back(dimSize.exact >= 0 ? Dim::of(dimSize.exact) : Dim());
    return dims;
}

DimSizeHints Requirement::hints() const {
    Requirement ranked = *this;
    if (!ranked.rank) {
        const std::size_t told = std::max({usualRank, leastRank, front.size(), back.size()});
        if (told == 0) return {};
        ranked.rank = std::min(told, std::max(mostRank, leastRank));
    }
    if (*ranked.rank > kHighestRank) return {};
    DimSizeHints hints;
    std::int64_t elements = 1;
    for (const DimSize& dimSize : ranked.dimSizes()) {
        hints.push_back(dimSize.hint());
        const std::int64_t used = std::max({hints.back().likely, hints.back().least, std::int64_t{1}});
        if (used > kMaxElements / elements) return {};
        elements *= used;
    }
    return hints;
}

Requirement common(const Requirement& a, const Requirement& b) {
    Requirement result;
    if (a.dtype == b.dtype) result.dtype = a.dtype;
    if (a.rank == b.rank) result.rank = a.rank;
    if (a.usualRank == b.usualRank) result.usualRank = a.usualRank;
    const auto both = [](const DimSize& one, const DimSize& other) {
        DimSize dimSize;
        if (one.exact == other.exact) dimSize.exact = one.exact;
        if (one.low == other.low && one.high == other.high) dimSize = DimSize{dimSize.exact, one.low, one.high, 1};
        dimSize.least = std::min(one.least, other.least);
        return dimSize;
    };
    for (std::size_t i = 0; i < std::min(a.front.size(), b.front.size()); ++i)
        result.put(static_cast<std::int64_t>(i), both(a.front[i], b.front[i]));
    for (std::size_t i = 0; i < std::min(a.back.size(), b.back.size()); ++i)
        result.put(-1 - static_cast<std::int64_t>(i), both(a.back[i], b.back[i]));
    result.leastRank = std::min(a.rank.value_or(a.leastRank), b.rank.value_or(b.leastRank));
    result.mostRank = std::max(a.rank.value_or(a.mostRank), b.rank.value_or(b.mostRank));
    return result;
}

DimSize beforeWindow(const DimSize& y, const Window& window) {
    if (!isPlausible(window)) return {};
    const auto before = [&](std::int64_t dimSize) {
        return (dimSize - 1) * window.stride + span(window) - 2 * window.padding;
    };
    const DimSize wanted = y.softened();
    DimSize x;
    if (wanted.low >= 0) x = DimSize::likely(before(wanted.low), before(wanted.high) + window.stride - 1);
    if (wanted.least <= kMaxDimSize)
        x.least = std::max<std::int64_t>(before(std::max<std::int64_t>(wanted.least, 1)), 1);
    return x;
}

DimSize beforeTransposedWindow(const DimSize& y, const Window& window, std::int64_t outputPadding) {
    if (!isPlausible(window) || outputPadding < 0 || outputPadding > kMaxDimSize) return {};
    const auto steps = [&](std::int64_t dimSize) {
        return dimSize + 2 * window.padding - span(window) - outputPadding;
    };
    const DimSize wanted = y.softened();
    DimSize x;
    const std::int64_t exact = steps(wanted.low);
    if (wanted.low >= 0 && wanted.low == wanted.high && exact >= 0 && exact % window.stride == 0)
        x = DimSize::likely(exact / window.stride + 1, exact / window.stride + 1);
    if (const std::int64_t least = steps(wanted.least); least > 0)
        x.least = (least + window.stride - 1) / window.stride + 1;
    return x;
}

}  // namespace sonde::analysis::requirement
