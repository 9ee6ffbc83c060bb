#pragma once

#include <cstdint>
#include <string_view>

#include "core/graph/internal_graph.h"

namespace sonde::graph {

/// How the result of an operator stands to the memory of its arguments.
enum class Sharing : std::uint8_t {
    Fresh,      ///< memory of its own
    View,       ///< elements of the first argument's memory
    MaybeView,  ///< a view where nothing has to be moved or converted, else a copy: reshape, contiguous, to
    Written,    ///< the written argument itself: what `add_` returns
    Holds,      ///< a list, tuple or dict with the arguments in it, or one taken out again
};

/// What an operator does with the memory of its tensors, as PyTorch documents it. The one place where this is known:
/// eager execution, tracers, passes and the reader of TorchScript ask here.
struct MemoryEffect {
    Sharing sharing = Sharing::Fresh;
    bool isList = false;   ///< the result is a list of views: chunk, split, unbind
    bool writes = false;   ///< changes elements of its first argument (or of `out`)
    bool reforms = false;  ///< gives its first argument, the tensor object, another shape: unsqueeze_, t_
};

/// By operator name; its overload does not matter ("add_.Tensor"). Domain "aten" or "prim"; operators of other domains
/// compute values. What only the arguments tell is MaybeView: getitem, dropout.
MemoryEffect memoryEffect(std::string_view domain, std::string_view operatorName);
/// With a look at the arguments: indices by masks and lists copy, dropout while training copies, `out=` is written.
MemoryEffect memoryEffect(const InternalGraph& graph, const Expr& expr);

/// What `x[index]` gives: a view for integers, slices, `...` and None (elements of lists and dicts as well), else a copy.
Sharing sharingOfIndex(const tensor::Value& index);

/// The argument that the operator writes to: `out` if it is given, else the first; null if it writes to none.
const Argument* writtenArgument(const InternalGraph& graph, const Expr& expr);

/// "add_" of "add_.Tensor".
std::string_view withoutOverload(std::string_view operatorName);
/// The name of an in-place operator: "add_", "__iand__"; not "__and__".
bool isInPlaceName(std::string_view operatorName);

}  // namespace sonde::graph
