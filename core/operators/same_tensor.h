#pragma once

#include <optional>
#include <string_view>

#include "core/operators/traits.h"

namespace sonde::operators {

/// Whether PyTorch may return the very tensor that was given, not only one that shows its memory: `contiguous` of what
/// is contiguous, `to` of what has the type, `flatten` of what has one dimension, dropout while not training. What
/// changes the shape of one then changes the other. Whenever one of these gives a tensor that shows all of its
/// argument's memory in the same shape, it is that tensor.
bool mayReturnItsArgument(std::string_view domain, std::string_view operatorName);

/// The operator takes a list of tensors and makes new ones of several; of a single one it returns that tensor
/// (`cartesian_prod`, `chain_matmul`) or a view of it (`einsum` that sums nothing).
bool returnsItsOnlyTensor(std::string_view domain, std::string_view operatorName);
/// Whether an equation of einsum with one operand ("ij->ji") sums over a letter: the result has memory of its own.
bool sumsLetters(std::string_view equation);

/// The result of a dropout and its input: all of it as it is unless it trains, and even then if p is 0.
/// @param p, trains  as far as they are known
Sharing sharingOfDropout(std::optional<double> p, std::optional<bool> trains);

/// The result is a part of the argument's whole storage, whatever the argument itself shows of it: `as_strided`.
bool readsWholeStorage(std::string_view domain, std::string_view operatorName);
/// What is said where the argument may be in memory in another order than row by row.
inline constexpr const char* kUnknownLayoutText =
    "is seen through other strides, and the order of its elements in memory is not known: not supported; call contiguous() on it before";

}  // namespace sonde::operators
