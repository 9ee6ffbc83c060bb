#pragma once

#include <optional>

#include "core/ops/dependence/dependence.h"

/// Rules that families of operators share. `text` is what stands beside them in explain().
namespace sonde::ops::dependence {

/// Operands are x, y, z, u, v, w by their positions, broadcast to the result; parameters have their own names. `text`
/// is the formula ("x + alpha * y"), after " : " another one for integer results. Without one the operator's kernel
/// computes the element again from these operands alone.
base::Result<Dependence> elementWise(const ElementCall& call);
/// The same with another formula.
base::Result<Dependence> elementWiseAs(const ElementCall& call, std::string_view formula);
/// x (or x plus the second operand, if there is one) times the normal distribution's function of it. `text`: "tanh" for
/// its approximation; else the attribute or argument `approximate` says which it is.
base::Result<Dependence> gelu(const ElementCall& call);
/// The formula of it for an expression that stands on its own, "x" or "(x + y)".
std::string geluFormula(const std::string& x, bool isByTanh);
/// Remainder of the operands: `text` "fmod" with the sign of the first, else with that of the second unless an
/// attribute fmod is set.
base::Result<Dependence> remainder(const ElementCall& call);
/// Of PyTorch's division, as `rounding_mode` says.
base::Result<Dependence> roundedQuotient(const ElementCall& call);
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
/// The last output of the operator (or its only one) has the positions, along an axis, of the elements that the first
/// one has. `text` names the axis.
base::Result<Dependence> selected(const ElementCall& call);
/// Elements put into a copy of the first input, replaced or combined. `text`: the operator that reads elements where
/// this one writes them.
base::Result<Dependence> scattered(const ElementCall& call);

/// Over axes of the first input: `text` is a formula of x, or of row ("max(row)") where one element is chosen; that of
/// the second output after " | ".
base::Result<Dependence> reduced(const ElementCall& call);
/// Running sums and products along an axis.
base::Result<Dependence> running(const ElementCall& call);
/// Differences of neighbours, of PyTorch, taken `n` times.
base::Result<Dependence> differences(const ElementCall& call);
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
/// Of ONNX Runtime: by groups of channels, of X + skip + bias, with an activation.
base::Result<Dependence> sumGroupNormalised(const ElementCall& call);
base::Result<Dependence> localResponse(const ElementCall& call);
base::Result<Dependence> meanVarianceNormalised(const ElementCall& call);

/// Products of matrices: `text` says which of two operands is transposed and what is added: see products.cpp.
base::Result<Dependence> matrixProduct(const ElementCall& call);
base::Result<Dependence> generalProduct(const ElementCall& call);
base::Result<Dependence> linearLayer(const ElementCall& call);
base::Result<Dependence> einsteinSum(const ElementCall& call);
/// Of PyTorch: sums over axes of two operands. `text`: "inner", over the last ones; "batches", of the matrices of
/// addbmm; "dims", over those that dims_self and dims_other name; else over none.
base::Result<Dependence> contracted(const ElementCall& call);
/// Along one axis of two operands, `dim` or the first.
base::Result<Dependence> dotProduct(const ElementCall& call);
base::Result<Dependence> kroneckerProduct(const ElementCall& call);
base::Result<Dependence> crossProduct(const ElementCall& call);
base::Result<Dependence> traced(const ElementCall& call);
/// Of matrices, along their first row; `text`: "sign" where sign and logarithm are outputs, "log" for the logarithm.
base::Result<Dependence> determinant(const ElementCall& call);
base::Result<Dependence> inverted(const ElementCall& call);
/// X of A·X = B (or X·A = B, if `left` is false), of square matrices or triangles.
base::Result<Dependence> solved(const ElementCall& call);
/// What a matrix is taken apart into, in factors.cpp: sums of its elements by weights that the others act through.
/// L (or U) of Cholesky, Q and R, L and U of P·L·U; values and vectors of symmetric matrices; U, S and Vᴴ, or V if
/// `text` is "columns".
base::Result<Dependence> choleskyFactor(const ElementCall& call);
base::Result<Dependence> orthogonalFactor(const ElementCall& call);
base::Result<Dependence> triangularFactor(const ElementCall& call);
base::Result<Dependence> symmetricEigen(const ElementCall& call);
base::Result<Dependence> singularFactor(const ElementCall& call);
/// P·Pᵀ·Aᵀ; the sum of the singular values.
base::Result<Dependence> pseudoInverse(const ElementCall& call);
base::Result<Dependence> nuclearNorm(const ElementCall& call);
/// A·Aⁿ⁻¹, and I + A·φ(A).
base::Result<Dependence> matrixPower(const ElementCall& call);
base::Result<Dependence> matrixExponential(const ElementCall& call);
/// X of A·X = B, from A's Cholesky factor; of a triangle A behind B; of least squares.
base::Result<Dependence> solvedByCholesky(const ElementCall& call);
base::Result<Dependence> solvedByTriangle(const ElementCall& call);
base::Result<Dependence> leastSquares(const ElementCall& call);
/// Σ w[i, j] · x1[i] · x2[j], of PyTorch.
base::Result<Dependence> bilinearForm(const ElementCall& call);
/// Norms along axes, of PyTorch; `text`: "matrix" where a number is a norm of matrices, "except" for all axes but one.
base::Result<Dependence> normed(const ElementCall& call);
/// The p-norm of the difference of two tensors, or of their rows if there is an `eps`.
base::Result<Dependence> differenceNorm(const ElementCall& call);
base::Result<Dependence> cosine(const ElementCall& call);
/// Slices that are held below a norm.
base::Result<Dependence> heldBelowNorm(const ElementCall& call);
/// Directions that are given a length.
base::Result<Dependence> weightNormed(const ElementCall& call);
/// Losses of pairs of elements x and y, and z where a target stands behind two scores: `text` is that of one
/// ("(x - y) ** 2"), after " | " for logarithms as target.
base::Result<Dependence> pairLoss(const ElementCall& call);
base::Result<Dependence> huberLoss(const ElementCall& call);
/// Minus the log probability of counts, of PyTorch, as its flags say.
base::Result<Dependence> countLoss(const ElementCall& call);
/// Minus the scores that labels name, and minus their log softmax; in both vocabularies.
base::Result<Dependence> likelihoodLoss(const ElementCall& call);
base::Result<Dependence> entropyLoss(const ElementCall& call);
/// How many of the bounds are below an element.
base::Result<Dependence> placeAmong(const ElementCall& call);
/// How many elements are the position of the result's.
base::Result<Dependence> countedEqual(const ElementCall& call);
base::Result<Dependence> ofOneClass(const ElementCall& call);
/// The first element that has the result's value, of all.
base::Result<Dependence> firstEqual(const ElementCall& call);
/// The same along the axes that are reduced, or ("first") along axis 0.
base::Result<Dependence> chosenOfLine(const ElementCall& call);
/// Between two neighbours of a sorted line, of PyTorch.
base::Result<Dependence> quantile(const ElementCall& call);
/// Whether all pairs of elements hold: `text` is a formula of x and y.
base::Result<Dependence> ofAllPairs(const ElementCall& call);
/// A product of more than two matrices, in a list.
base::Result<Dependence> chainedProduct(const ElementCall& call);
/// The p-norm of the difference of two rows, of PyTorch.
base::Result<Dependence> distance(const ElementCall& call);

/// Of integers with zero points, of ai.onnx; quantised again or not.
base::Result<Dependence> integerProduct(const ElementCall& call);
base::Result<Dependence> quantizedProduct(const ElementCall& call);
/// alpha times scales times (A·B + C), of which either matrix may be turned; quantised again if there is a scale.
base::Result<Dependence> quantizedGeneralProduct(const ElementCall& call);
base::Result<Dependence> integerConvolved(const ElementCall& call);
base::Result<Dependence> quantizedConvolved(const ElementCall& call);
/// Of real values, quantised again: `text` is a formula in which a capital letter is the real value of the input of
/// that name ("sigmoid(X)"), and other words are inputs or attributes of their own.
base::Result<Dependence> quantizedElementWise(const ElementCall& call);
/// A + B or A * B, as `text` says, in the order of float32 operations that the kernel has.
base::Result<Dependence> quantizedPair(const ElementCall& call);
/// "float32((x - x_zero_point) * x_scale)": the real value of the quantised part x.
std::string realValue(const std::string& x);
/// What a formula of real values of X gives, quantised as Y.
base::Result<Dependence> quantizedFrom(Dependence dependence, const ElementCall& call, const std::string& real);
/// Along axes of a quantised X, quantised as Y: the mean; softmax.
base::Result<Dependence> quantizedMean(const ElementCall& call);
base::Result<Dependence> quantizedSoftmax(const ElementCall& call);
/// (A - its zero point) * (B - its zero point).
base::Result<Dependence> centredFactors(const ElementCall& call);
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

/// The positions of a grid, of rows of theta.
base::Result<Dependence> affineGrid(const ElementCall& call);
/// Elements of an image around the position that a grid names, in both vocabularies.
base::Result<Dependence> gridSampled(const ElementCall& call);

}  // namespace sonde::ops::dependence
