#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/tensor/shape.h"

namespace sonde::exporting {

/// A convolution of pictures, as the rules of the layouts see it. w [K, C/G, R, S].
struct ConvShape {
    std::int64_t channels = 0, groups = 1;
    tensor::Shape weights;
    std::int64_t height = -1, width = -1;  ///< of the input; -1: not known
    std::int64_t strideH = 1, strideW = 1;
    bool dilated = false;
    bool quantised = false;    ///< bytes times bytes
    bool bytesOut = false;     ///< and bytes again
    bool canPad = true;        ///< channels can be added to the result
    bool hasSum = false;       ///< a z is part of it
    std::string nonlinearity;  ///< "", "Relu", "Sigmoid", "HardSwish"
};

/// How a convolution looks in a layout: texts of ops::Packing, empty for what stays as it is.
struct ConvForm {
    std::string x, w, y;
    bool grouped = false;       ///< the weights are [G, K/G, C/G, R, S] before they are packed
    std::int64_t paddedTo = 0;  ///< channels of the result, zeros among them
};

/// The rules of dump.md, "Which convolutions convert"; p is the size of a block:
///   nchw88, nchw44    dense with C % p = 0; C < p and no dilation: the input stays as it is (nchw44 also: a square
///   kernel of 2,
///                     3, 5 or 7, equal strides of 1 or 2, no Sigmoid). K is padded with zeros. Groups: C/G and K/G of
///                     whole blocks. One channel a group: G % p = 0. Never with a sum.
///   nchw44_dot        the same; weights of bytes have the order of the dot product
///   nchw4             bytes only: K % 4 = 0 and (C % 4 = 0 or C < 4); groups of whole blocks
///   nchw32, chwn4     nchw4 and then, of bytes to bytes without groups: nchw32 where C and K are multiples of 32 and
///   the picture
///                     is 3x3 at least; chwn4 everywhere
///   nchw64            bytes only: C and K are padded to a multiple of 4 (up to 16) or 32; then nchw32 or nchw4
///   hwcd4             K/G % 4 = 0 and (C/G % 4 = 0 or G = 1); one channel a group: G % 4 = 0
/// None: it stays [N, C, H, W].
std::optional<ConvForm> formIn(std::string_view layout, const ConvShape& conv);

}  // namespace sonde::exporting
