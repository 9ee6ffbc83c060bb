#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/ops/registry/registry.h"

namespace sonde::ops {

/// How the axes of a tensor are put in blocks, as text: "NCHW -> N C/8 H W C%8". On the left a letter for each axis; on
/// the right the axes of the packed tensor: C/8 is the number of the block of 8 channels, C%8 the place in it, and a
/// letter alone an axis as it is. I+4 is an axis that is padded to a multiple of 4 and stays whole. An axis that the
/// right side does not name must have dimension 1. What is padded is zero.
class Packing {
  public:
    /// Usage error: the text means nothing.
    static base::Result<Packing> parse(std::string_view text);

    /// Dimensions of the packed tensor; error if the plain one has another rank.
    base::Result<Shape> packedShape(const Shape& plain) const;
    /// Dimensions of the plain tensor, cut to `dimSizes` (one for each axis, -1: all there is, padding included).
    base::Result<Shape> plainShape(const Shape& packed, std::span<const std::int64_t> dimSizes) const;

    base::Result<Tensor> pack(const Tensor& plain) const;
    base::Result<Tensor> unpack(const Tensor& packed, std::span<const std::int64_t> dimSizes) const;

  private:
    struct Axis {
        std::size_t plain;   ///< which axis of the plain tensor
        std::int64_t block;  ///< 1: not in blocks
        char part;           ///< '/' number of the block, '%' place in it, '+' padded, ' ' as it is
    };

    /// Where each element of the packed tensor comes from: its index, and that in the plain tensor or -1 for padding.
    template <typename Visit>
    void forEachElement(const Shape& plain, const Shape& packed, Visit visit) const;

    std::size_t m_rank = 0;
    std::vector<Axis> m_axes;
};

}  // namespace sonde::ops
