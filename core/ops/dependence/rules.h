#pragma once

#include <optional>

#include "core/ops/dependence/dependence.h"

/// Rules that families of operators share. `text` is what stands beside them in explain().
namespace sonde::ops::dependence {

/// Operands are x, y, z, u, v, w by their positions, broadcast to the result; parameters have their own names. `text`
/// is the formula ("x + alpha * y"), after " : " another one for integer results. Without one the operator's kernel
/// computes the element again from these operands alone.
base::Result<Dependence> elementWise(const ElementCall& call);
/// The first operand in another dtype.
base::Result<Dependence> converted(const ElementCall& call);
/// The first operand, scaled or dropped by chance: by which factor, the values say.
base::Result<Dependence> dropped(const ElementCall& call);
/// With a slope for each channel.
base::Result<Dependence> sloped(const ElementCall& call);
/// Held between bounds that are inputs, or attributes.
base::Result<Dependence> clipped(const ElementCall& call);
/// What follows from shapes, attributes and arguments alone: no element of an input.
base::Result<Dependence> fixed(const ElementCall& call);
/// All inputs (or those of the list that the first one is) as one part: "sum(x)".
base::Result<Dependence> elementWiseOfAll(const ElementCall& call);

/// The element is one of the inputs' or a constant; which one is found by running the kernel on indices. `text` names
/// the inputs that are moved; without one, the traits tell, or it is
/// the first.
base::Result<Dependence> moved(const ElementCall& call);
base::Result<MovedElements> movedElements(const ElementCall& call);
/// Row `indices` of a table: the axis is the attribute or parameter that `text` names; none: 0.
base::Result<Dependence> gathered(const ElementCall& call);
/// The last output of the operator has the positions, along an axis, of the elements that the first one has. `text`
/// names the axis.
base::Result<Dependence> selected(const ElementCall& call);
/// Elements put into a copy of the first input, replaced or combined. `text`: the operator that reads elements where
/// this one writes them.
base::Result<Dependence> scattered(const ElementCall& call);

/// Over axes of the first input: `text` is a formula of x, or of row ("max(row)") where one element is chosen.
base::Result<Dependence> reduced(const ElementCall& call);
/// Running sums and products along an axis.
base::Result<Dependence> running(const ElementCall& call);
/// Softmax and what else has one element and those of its line: `text` is a formula of x and row, or of row and the
/// element's `position` there.
base::Result<Dependence> ofLine(const ElementCall& call);

/// Normalisations; the formulas are in normalization.cpp.
base::Result<Dependence> batchNormalised(const ElementCall& call);
base::Result<Dependence> layerNormalised(const ElementCall& call);
base::Result<Dependence> rootMeanSquareNormalised(const ElementCall& call);
/// Of the sum of input, skip and bias, by rows; `text`: "mean" where that is taken off.
base::Result<Dependence> skipNormalised(const ElementCall& call);
/// Of the sum of the rows of two or three tables.
base::Result<Dependence> embeddingNormalised(const ElementCall& call);
base::Result<Dependence> instanceNormalised(const ElementCall& call);
base::Result<Dependence> groupNormalised(const ElementCall& call);
base::Result<Dependence> localResponse(const ElementCall& call);
base::Result<Dependence> meanVarianceNormalised(const ElementCall& call);

/// Products of matrices: `text` says which of two operands is transposed and what is added: see products.cpp.
base::Result<Dependence> matrixProduct(const ElementCall& call);
base::Result<Dependence> generalProduct(const ElementCall& call);
base::Result<Dependence> linearLayer(const ElementCall& call);
base::Result<Dependence> einsteinSum(const ElementCall& call);
/// Σ w[i, j] · x1[i] · x2[j], of PyTorch.
base::Result<Dependence> bilinearForm(const ElementCall& call);
/// The p-norm of the difference of two rows, of PyTorch.
base::Result<Dependence> distance(const ElementCall& call);

/// Of integers with zero points, of ai.onnx; quantised again or not.
base::Result<Dependence> integerProduct(const ElementCall& call);
base::Result<Dependence> quantizedProduct(const ElementCall& call);
base::Result<Dependence> integerConvolved(const ElementCall& call);
base::Result<Dependence> quantizedConvolved(const ElementCall& call);
/// Of real values, quantised again: `text` is a formula in which a capital letter is the real value of the input of
/// that name ("A + B").
base::Result<Dependence> quantizedElementWise(const ElementCall& call);
/// The mean of each channel of a quantised image, quantised again.
base::Result<Dependence> quantizedChannelMean(const ElementCall& call);
/// Parts with scales and zero points of their own, one behind the other, quantised again.
base::Result<Dependence> quantizedJoined(const ElementCall& call);
/// How a call quantises numbers to bytes before it computes with them.
struct DynamicRange {
    double scale = 0, zeroPoint = 0;
};
/// A product of bytes A and B, scaled; of numbers A that are quantised first, if a range is given.
base::Result<Dependence> scaledProduct(const ElementCall& call, const std::optional<DynamicRange>& range);

/// softmax(scale q·k + mask)·v. `text` names the values' input.
base::Result<Dependence> attended(const ElementCall& call);

/// Elements of an image around the position that a grid names, in both vocabularies.
base::Result<Dependence> gridSampled(const ElementCall& call);

}  // namespace sonde::ops::dependence
