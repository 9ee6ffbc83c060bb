#pragma once

#include <functional>

#include "core/passes/rewrite.h"
#include "core/passes/vocabulary.h"

namespace sonde::passes {

/// A convolution whose weight is known: w [K, C/groups, ...], b [K] or none.
struct KnownConv {
    Step step;
    NodeId input;   ///< in the caller's body
    NodeId output;  ///< in the caller's body
    KnownTensor weight;
    std::optional<KnownTensor> bias;
};
/// None: no convolution, a transposed one, or one whose weight or bias is computed.
std::optional<KnownConv> knownConv(const InternalGraph& graph, ExprId id);

/// w'[k] = w[k] * scale[k], b'[k] = b[k] * scale[k] + shift[k]; `scale` and `shift` hold one number for each of the K
/// channels. Weights that others read, too, are copied. A bias is made if there was none and it is not all 0.
/// Error: no memory.
base::Result<void> scaleConv(Rewrite& rewrite, const KnownConv& conv, const std::vector<double>& scale,
                             const std::vector<double>& shift, const std::string& why);

/// The elements of a tensor as doubles.
std::vector<double> numbersOf(const Tensor& tensor);
/// Doubles in the shape and dtype of another tensor.
base::Result<Tensor> tensorLike(const Tensor& like, const tensor::Shape& shape, const std::vector<double>& numbers);
/// Puts another value into a constant that this one argument reads: in place if nobody else reads it, else as a new
/// constant in front of the expr.
void setKnownArgument(Rewrite& rewrite, ExprId expr, std::size_t index, std::string_view keyword, Tensor value,
                      const std::string& wantedName, const std::string& why);

}  // namespace sonde::passes
