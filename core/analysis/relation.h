#pragma once

#include <optional>
#include <string>

#include "core/tensor/tensor.h"

namespace sonde::analysis {

/// How values of a reference follow from other ones of the same shape: r = scale · x + offset, for all elements or by
/// channel, whose order may differ.
struct Relation {
    std::string text;          ///< "reference = 0.01746 * x - 2.118; channels are reversed"
    std::string convention;    ///< "x / 255", where the numbers are a usual normalisation; else empty
    bool isReordered = false;  ///< of the channels
    bool isScaled = false;
};

/// Found by least squares: if what is left is below a thousandth of the reference's deviation. Channels are dimension 1
/// or the last of [N,C,H,W] and [N,H,W,C] (with or without N), at most 16. Nothing if the shapes differ, there is no
/// such relation, or both are equal.
std::optional<Relation> relationOf(const tensor::Tensor& x, const tensor::Tensor& reference);

}  // namespace sonde::analysis
