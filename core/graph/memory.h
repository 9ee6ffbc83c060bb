#pragma once

#include <string_view>

#include "core/graph/internal_graph.h"
#include "core/operators/names.h"
#include "core/operators/traits.h"

namespace sonde::graph {

using operators::MemoryEffect;
using operators::Sharing;

/// What is known of it without its arguments (core/operators/traits.h). By operator name; its overload does not matter
/// ("add_.Tensor"). Domain "aten" or "prim"; operators of other domains compute values. What only the arguments tell is
/// MaybeView: getitem, dropout.
MemoryEffect memoryEffect(std::string_view domain, std::string_view operatorName);
/// With a look at the arguments: indices by masks and lists copy, dropout while training copies, `out=` is written.
MemoryEffect memoryEffect(const InternalGraph& graph, const Expr& expr);

/// What `x[index]` gives: a view for integers, slices, `...` and None (elements of lists and dicts as well), else a
/// copy.
Sharing sharingOfIndex(const tensor::Value& index);

/// The argument that the operator writes to: `out` if it is given, else the first; null if it writes to none.
const Argument* writtenArgument(const InternalGraph& graph, const Expr& expr);

using operators::isInPlaceName;
using operators::withoutOverload;

}  // namespace sonde::graph
