#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>

namespace sonde::analysis {

/// Elements that a model sets on purpose to keep others out, as attention does with −1e9: they say nothing of the
/// magnitude of the others. Numbers alone tell them; see maskValues().
struct MaskValues {
    double from = std::numeric_limits<double>::infinity();  ///< elements of at least this magnitude are masks
    double largest = 0;                                     ///< of them, with its sign
    double largestOther = 0;                                ///< magnitude of the finite elements below `from`
    bool areConstant = true;                                ///< nothing was added to any, in either tensor

    /// "mask values (-1e+09) do not count: the largest other magnitude is 12.4".
    std::string text() const;
};

/// A mask is at least this large, and this many times as large as every element that is none.
inline constexpr double kMinMask = 1e3, kMinMaskRatio = 100;
/// So many constants may be masks of one tensor: two masks are often added.
inline constexpr std::size_t kMaxMaskConstants = 4;

/// The i-th of a tensor's elements.
using ElementAt = std::function<double(std::int64_t)>;

/// The finite elements far above all others (kMinMask, kMinMaskRatio), if they are a few constants, at least one of
/// them more than once, each the same in both tensors, or the same but for what the magnitude of the others explains:
/// scores to which −1e4 was added. Elements of `expected` from `ignoredFrom` on that are equal in both take no part.
/// Two passes over the elements, or a few more. Empty if there are none.
std::optional<MaskValues> maskValues(std::int64_t count, const ElementAt& actual, const ElementAt& expected,
                                     double ignoredFrom = std::numeric_limits<double>::infinity());

}  // namespace sonde::analysis
