#pragma once

#include "core/ops/kernels/attention.h"
#include "core/ops/support/shapes.h"

namespace sonde::ops {

// Queries, keys and values by heads: [B, H, S, d] as such, or [B, S, H·d] packed.

struct HeadLayout {
    std::int64_t batches, heads, rows, size;
    bool packed;  ///< [B, S, H·d]
};

/// `heads` is needed for packed tensors only. Error: neither form.
base::Result<HeadLayout> headLayoutOf(const Tensor& x, std::int64_t heads);

template <typename T>
kernels::Heads<T> headsOf(T* data, const HeadLayout& layout) {
    const std::int64_t all = layout.heads * layout.rows * layout.size;
    if (layout.packed) return {data, all, layout.size, layout.heads * layout.size};
    return {data, all, layout.rows * layout.size, layout.size};
}

/// x as [B, H, S, d].
base::Result<Tensor> unpackedHeads(const Tensor& x, const HeadLayout& layout);
/// past and current [B, H, S, d], one behind the other along the sequence.
base::Result<Tensor> appendedHeads(const Tensor& past, const Tensor& current);

/// Rotates pairs of the first `rotated` elements of each head by angles that depend on the position:
/// (a, b) -> (a·cos − b·sin, a·sin + b·cos). Pairs are neighbours (interleaved) or lie half the rotated part apart.
struct Rotation {
    Tensor cosines, sines;                ///< float64, rows of rotated/2
    std::vector<std::int64_t> positions;  ///< row of the tables for each [batch, row]
    std::int64_t rotated = 0;
    bool interleaved = false;
};
/// A copy of x, rotated, in x's dtype. Errors: an odd or too large rotated part, a position outside the tables.
base::Result<Tensor> rotatedHeads(const Tensor& x, const HeadLayout& layout, const Rotation& rotation);

}  // namespace sonde::ops
