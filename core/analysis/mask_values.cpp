#include "core/analysis/mask_values.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/number_text.h"

namespace sonde::analysis {

namespace {

/// Magnitudes by their power of two: what is far apart is never in one.
struct Magnitudes {
    double smallest = std::numeric_limits<double>::infinity();
    double largest = 0;
};

struct ComparedElements {
    std::int64_t count;
    const ElementAt& actual;
    const ElementAt& expected;
    double ignoredFrom;

    /// Whether the i-th element is finite in the expected tensor and no mask of its type.
    bool isMeasured(std::int64_t i, double r) const {
        return std::isfinite(r) && !(std::abs(r) >= ignoredFrom && actual(i) == r);
    }
};

/// A constant with what was added to it.
struct Constant {
    double low, high;

    bool takes(double a, double r, double width) const {
        return std::max({high, a, r}) - std::min({low, a, r}) <= width;
    }
    void take(double a, double r) {
        low = std::min({low, a, r});
        high = std::max({high, a, r});
    }
};

/// Whether the elements from `from` on are masks over others of at most `largestOther`.
std::optional<MaskValues> masksFrom(const ComparedElements& elements, double from, double largestOther) {
    // Sums of the others' magnitude on both sides of a constant, and some that are kept out and larger than the others.
    constexpr double kSpread = 4;
    MaskValues masks;
    masks.from = from;
    masks.largestOther = largestOther;
    std::vector<Constant> constants;
    std::int64_t found = 0;
    for (std::int64_t i = 0; i < elements.count; ++i) {
        const double r = elements.expected(i);
        if (std::abs(r) < from || !elements.isMeasured(i, r)) continue;
        const double a = elements.actual(i), width = kSpread * largestOther;
        const auto known = std::ranges::find_if(constants, [&](const Constant& one) { return one.takes(a, r, width); });
        if (known != constants.end()) known->take(a, r);
        else if (constants.size() == kMaxMaskConstants || !(std::abs(a - r) <= width)) return std::nullopt;
        else constants.push_back({std::min(a, r), std::max(a, r)});
        ++found;
        if (std::abs(r) > std::abs(masks.largest)) masks.largest = r;
    }
    if (found <= static_cast<std::int64_t>(constants.size())) return std::nullopt;  // none more than once
    masks.areConstant = std::ranges::all_of(constants, [](const Constant& one) { return one.low == one.high; });
    return masks;
}

}  // namespace

std::string MaskValues::text() const {
    return "mask values (" + base::roundedText(largest, 3) + ") do not count: the largest other magnitude is " +
           base::roundedText(largestOther, 3);
}

std::optional<MaskValues> maskValues(std::int64_t count, const ElementAt& actual, const ElementAt& expected,
                                     double ignoredFrom) {
    const ComparedElements elements{count, actual, expected, ignoredFrom};
    constexpr int kMin = -1075, kMax = 1023;  // of doubles; the first is for zero
    std::vector<Magnitudes> powers(kMax - kMin + 1);
    for (std::int64_t i = 0; i < count; ++i) {
        const double r = expected(i), magnitude = std::abs(r);
        if (!elements.isMeasured(i, r)) continue;
        Magnitudes& one = powers[static_cast<std::size_t>(magnitude > 0 ? std::ilogb(magnitude) - kMin : 0)];
        one.smallest = std::min(one.smallest, magnitude);
        one.largest = std::max(one.largest, magnitude);
    }
    double below = -1;  // the largest magnitude of the powers before
    for (const Magnitudes& magnitudes : powers) {
        if (magnitudes.smallest > magnitudes.largest) continue;  // none
        const bool isFar =
            below >= 0 && magnitudes.smallest >= kMinMask && magnitudes.smallest >= kMinMaskRatio * below;
        if (isFar)
            if (auto masks = masksFrom(elements, magnitudes.smallest, below)) return masks;
        below = magnitudes.largest;
    }
    return std::nullopt;
}

}  // namespace sonde::analysis
