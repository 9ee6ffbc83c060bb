#pragma once

#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <vector>

#include "core/base/result.h"
#include "core/tensor/tensor.h"

namespace sonde::analysis {

/// Whether a tensor may be scores of tokens [.., positions, vocabulary]: floats, three dimensions at most, 8 tokens or
/// more.
bool mayScoreTokens(const tensor::Tensor& tensor);

/// The most likely tokens at each position of logits or probabilities.
struct TopTokens {
    struct Entry {
        std::int64_t id = 0;
        double value = 0;  ///< the element
        double share = 0;  ///< its probability: the element itself, or the softmax of the position's finite elements
    };
    struct Position {
        std::vector<Entry> top;  ///< the largest first, of equal ones the smallest id; never NaN
        std::int64_t bad = 0;    ///< NaN and infinite elements
    };
    static constexpr std::int64_t kMaxPositions = 512;

    std::vector<Position> positions;  ///< the first of positionCount, at most kMaxPositions
    std::int64_t positionCount = 0;
    std::int64_t vocabulary = 0;
    bool areProbabilities = false;  ///< the elements are; else they are taken for logits
};

/// Of [positions, vocabulary], any strides. The share of an infinite element is 0. Blocks, on any thread. Errors:
/// Usage, strings, or no two dimensions; Cancelled.
base::Result<TopTokens> topTokens(const tensor::Tensor& plane, std::size_t top, const std::stop_token& stop = {});

}  // namespace sonde::analysis
