#include "core/session/diff/sequence.h"

#include <algorithm>
#include <cstdint>

namespace sonde::session::diff {

std::vector<std::size_t> longestIncreasing(const std::vector<std::size_t>& numbers) {
    std::vector<std::size_t> ends, before(numbers.size(), SIZE_MAX);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const auto at = std::ranges::lower_bound(ends, numbers[i], {}, [&](std::size_t end) { return numbers[end]; });
        if (at != ends.begin()) before[i] = *(at - 1);
        if (at == ends.end()) ends.push_back(i);
        else *at = i;
    }
    std::vector<std::size_t> kept;
    for (std::size_t i = ends.empty() ? SIZE_MAX : ends.back(); i != SIZE_MAX; i = before[i]) kept.push_back(i);
    std::ranges::reverse(kept);
    return kept;
}

std::vector<std::pair<std::size_t, std::size_t>> commonSequence(
    std::size_t first, std::size_t second, const std::function<bool(std::size_t, std::size_t)>& areEqual) {
    constexpr std::size_t kMaxComparisons = 1'000'000, kWindow = 64;
    std::vector<std::pair<std::size_t, std::size_t>> pairs;
    if (first == 0 || second == 0) return pairs;
    if (first > kMaxComparisons / second) {
        // The next one within a window.
        for (std::size_t i = 0, j = 0; i < first && j < second; ++i)
            for (std::size_t k = j; k < std::min(second, j + kWindow); ++k)
                if (areEqual(i, k)) {
                    pairs.emplace_back(i, k);
                    j = k + 1;
                    break;
                }
        return pairs;
    }
    // length[i][j]: of a longest one from i and j on.
    const std::size_t width = second + 1;
    std::vector<std::uint32_t> length((first + 1) * width, 0);
    for (std::size_t i = first; i-- > 0;)
        for (std::size_t j = second; j-- > 0;)
            length[i * width + j] = areEqual(i, j) ? length[(i + 1) * width + j + 1] + 1
                                                   : std::max(length[(i + 1) * width + j], length[i * width + j + 1]);
    for (std::size_t i = 0, j = 0; i < first && j < second;) {
        if (areEqual(i, j)) pairs.emplace_back(i++, j++);
        else if (length[(i + 1) * width + j] >= length[i * width + j + 1]) ++i;
        else ++j;
    }
    return pairs;
}

}  // namespace sonde::session::diff
