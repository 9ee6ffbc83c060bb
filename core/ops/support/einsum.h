#pragma once

#include <string>
#include <vector>

#include "core/ops/support/eager.h"

namespace sonde::ops {

/// An equation as lists of labels, one for each dimension; an ellipsis stands as labels '0', '1', … counted from the
/// right.
struct EinsumEquation {
    std::vector<std::string> inputs;
    std::string output;
};

/// "ij,jk->ik" for tensors of these shapes, of which the ranks count. Without an arrow the result has the letters that
/// stand once, in alphabetic order. Errors: another number of operands, terms that do not fit a rank, other characters.
base::Result<EinsumEquation> parseEinsum(std::string text, const std::vector<Shape>& shapes);

/// Products of tensors of one dtype, summed over the labels that the result does not have. The operands are contracted
/// in pairs, the pair with the smallest result first, each as one batched matrix product: float16 and bfloat16
/// accumulate in float32 from beginning to end, integers wrap. Dimensions of 1 are broadcast.
Tensor einsum(Eager& e, const std::string& equation, const std::vector<Tensor>& operands);

}  // namespace sonde::ops
