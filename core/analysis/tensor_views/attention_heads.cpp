#include "core/analysis/tensor_views/attention_heads.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/analysis/largest.h"
#include "core/analysis/tensor_views/distributions.h"
#include "core/tensor/plane.h"

namespace sonde::analysis {

bool isAttention(const tensor::Tensor& tensor) { return tensor.rank() >= 3 && hasDistributionRows(tensor); }

tensor::Tensor attentionHead(const tensor::Tensor& tensor, std::span<const std::int64_t> index) {
    const int rank = static_cast<int>(tensor.rank());
    return tensor::plane(tensor, rank - 2, rank - 1, index);
}

std::vector<KeyShare> topKeys(const tensor::Tensor& head, std::int64_t query, std::size_t most) {
    const tensor::Tensor row = head.selected(0, query);
    std::vector<KeyShare> keys;
    for (const std::int64_t key : largestElements(row, most)) keys.push_back({key, row.toDouble(key)});
    return keys;
}

double meanEntropy(const tensor::Tensor& head) {
    constexpr std::int64_t kMaxQueries = 256;
    const auto read = tensor::planeReader(head);
    const std::int64_t queries = head.dim(0), keys = head.dim(1), count = std::min(queries, kMaxQueries);
    double sum = 0;
    std::int64_t used = 0;
    for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t query = queries * i / count;
        double entropy = 0;
        for (std::int64_t key = 0; key < keys; ++key) {
            const double share = read(query, key);
            if (share > 0 || std::isnan(share)) entropy -= share * std::log2(share);
        }
        if (std::isnan(entropy)) continue;
        sum += entropy;
        ++used;
    }
    return used > 0 ? std::max(0.0, sum / static_cast<double>(used)) : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace sonde::analysis
