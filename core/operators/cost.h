#pragma once

#include "core/operators/call.h"
#include "core/tensor/symbolic.h"

namespace sonde::operators {

/// What one call of an operator takes, in the symbols of its shapes; each may be unknown.
///
/// A multiply-add counts as 2 FLOPs. Any other operation on a number is one, whichever function it is: a sum, a
/// comparison, exp. Views, copies, gathers, casts and what else moves data take none. Formulas of composed operators,
/// by element of the result: softmax 5 (maximum, difference, exp, sum, quotient), layer, group and instance norm 5 and
/// one each for weight and bias (sum, difference, square and its sum, scale), RMS norm 3 and one for the weight, batch
/// norm at inference 2 (its factors are folded), pooling one for each element of a window. Attention counts all pairs
/// of positions, masked or not.
struct Cost {
    tensor::Symbolic flops;
    /// Of `flops`, the multiply-adds of convolutions, products, attention and recurrent layers: what papers call MACs
    /// (He et al. 2016 and torchvision's tables, which call them FLOPs).
    tensor::Symbolic multiplyAdds;
    /// Inputs and outputs read and written once, weights among them. A tensor in another shape moves nothing, and
    /// a gather reads what it returns.
    tensor::Symbolic bytes;
    /// Of `bytes`, those written: the outputs.
    tensor::Symbolic bytesWritten = {};
    /// The others: a sum of both may be too long to be known (tensor::Symbolic) where each is.
    tensor::Symbolic bytesRead = {};
};

/// The cost of a call. Unknown where the operator has no formula, or where a shape or argument that it needs is not
/// known.
Cost costOf(const Call& call);

}  // namespace sonde::operators
