#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/tensor/tensor.h"

namespace sonde::analysis {

/// Whether a tensor looks like attention probabilities [.., heads, queries, keys]: three dimensions or more, and rows
/// of keys that are distributions (hasDistributionRows()).
bool isAttention(const tensor::Tensor& tensor);

/// One head as [queries, keys]: the last two axes, all others at `index`, of which those of the last two are not used.
tensor::Tensor attentionHead(const tensor::Tensor& tensor, std::span<const std::int64_t> index);

/// The share of a query in one key.
struct KeyShare {
    std::int64_t key = 0;
    double share = 0;
};
/// The keys that a query of a head attends to most, the largest share first, of equal ones the first; NaN is left out.
std::vector<KeyShare> topKeys(const tensor::Tensor& head, std::int64_t query, std::size_t most);

/// How spread a query's attention is: -sum p log2 p in bits, 0 if all of it is on one key, log2(keys) if it is even.
/// The mean over the queries of a head, at most 256 of them; those with NaN are left out. NaN if none is left.
double meanEntropy(const tensor::Tensor& head);

}  // namespace sonde::analysis
