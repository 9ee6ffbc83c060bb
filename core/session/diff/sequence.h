#pragma once

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

namespace sonde::session::diff {

/// Indices of a longest strictly increasing subsequence, ascending. O(n log n).
std::vector<std::size_t> longestIncreasing(const std::vector<std::size_t>& numbers);

/// Pairs (i, j), both ascending, of a longest common subsequence of two sequences; of long ones (more than a million
/// comparisons) a common subsequence that may not be the longest.
std::vector<std::pair<std::size_t, std::size_t>> commonSequence(
    std::size_t first, std::size_t second, const std::function<bool(std::size_t, std::size_t)>& areEqual);

}  // namespace sonde::session::diff
