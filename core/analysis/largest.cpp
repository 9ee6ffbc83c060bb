#include "core/analysis/largest.h"

#include <queue>

#include <algorithm>
#include <cmath>
#include <utility>

namespace sonde::analysis {

std::vector<std::int64_t> largestElements(const tensor::Tensor& tensor, std::size_t most, const std::stop_token& stop) {
    using Entry = std::pair<double, std::int64_t>;
    if (!tensor.defined() || tensor.dtype() == tensor::DType::String || most == 0) return {};
    // The worst of the best lies on top; of equal ones the later counts as worse.
    const auto better = [](const Entry& a, const Entry& b) {
        return a.first != b.first ? a.first > b.first : a.second < b.second;
    };
    std::priority_queue<Entry, std::vector<Entry>, decltype(better)> best(better);
    constexpr std::int64_t kPiece = 1 << 16;  // elements between two looks at the stop token
    for (std::int64_t i = 0; i < tensor.numel(); ++i) {
        if (i % kPiece == 0 && stop.stop_requested()) return {};
        const Entry entry{tensor.toDouble(i), i};
        if (std::isnan(entry.first)) continue;
        if (best.size() < most) {
            best.push(entry);
        } else if (better(entry, best.top())) {
            best.pop();
            best.push(entry);
        }
    }
    std::vector<std::int64_t> indices(best.size());
    for (auto at = indices.rbegin(); at != indices.rend(); ++at) {
        *at = best.top().second;
        best.pop();
    }
    return indices;
}

}  // namespace sonde::analysis
