#pragma once

#include <vector>

#include "core/ops/dependence/dependence.h"

/// Attention by heads, whose queries, keys and values lie in tensors in several ways.
namespace sonde::ops::dependence {

struct HeadPlace {
    std::int64_t batch = 0, head = 0, row = 0, place = 0;  ///< `place`: in the head
};

/// Rows of heads in a tensor: how far one is from the next, in elements.
struct HeadRows {
    std::size_t input = 0;  ///< position in the call
    std::int64_t batches = 1, heads = 1, rows = 1, size = 1;
    std::int64_t first = 0, batch = 0, head = 0, row = 0;
    std::size_t bias = kNoOperand;  ///< an input [heads * size] from `biasFirst` on, which is added to each row
    std::int64_t biasFirst = 0;

    std::int64_t element(const HeadPlace& at) const;
    HeadPlace placeOf(std::int64_t element) const;
};
/// Packed [batch, rows, heads * size] if a number of heads is given, else [batch, heads, rows, size] or with fewer
/// dimensions in front.
HeadRows headRows(std::size_t input, const Tensor& x, std::int64_t packedHeads);

struct AttendedHeads {
    Tensor weights;  ///< behind the softmax: [batch, heads, rows, keys]
    HeadRows queries;
    std::vector<HeadRows> keys, values;  ///< those that are kept from calls before, and those of the call
    bool isPacked = false;               ///< the result [batch, rows, heads * size]
};
/// sum(w * v). Queries and keys act through the weights.
base::Result<Dependence> attendedHeads(const ElementCall& call, const AttendedHeads& heads);
/// An element of what is kept for calls after this one: [batch, heads, rows, size].
base::Result<Dependence> presentRows(const ElementCall& call, const std::vector<HeadRows>& kept);
/// softmax over the last axis, in float64.
base::Result<Tensor> softmaxOfScores(const Tensor& scores);

std::vector<Value> callInputs(const ElementCall& call);

/// A pair of elements of a head, rotated by the angle of its position.
struct RotatedPair {
    HeadRows x;
    std::size_t cosines = 0, sines = 0;  ///< positions of the tables in the call
    std::size_t positions = kNoOperand;  ///< of the input that tells which angle it is
    std::int64_t position = 0;           ///< its element
    std::int64_t entry = 0;              ///< row of the tables
    std::int64_t half = 0;               ///< pairs of a head that are rotated
    bool isInterleaved = false;          ///< they are neighbours, not `half` apart
};
base::Result<Dependence> rotatedPair(const ElementCall& call, const RotatedPair& pair);

}  // namespace sonde::ops::dependence
