#pragma once

#include <cstdint>

#include "core/operators/traits.h"

namespace sonde::trace {

class Recording;
struct OperatorCall;

/// What a call makes of its first argument, as core/graph/memory.h knows it of the operator and the call's arguments
/// tell.
enum class Link : std::uint8_t {
    None,         ///< the result has memory of its own
    Same,         ///< the result shows all of the argument as it is: detach
    View,         ///< the result is a view
    Parts,        ///< a list of views that cover the argument: chunk
    Conditional,  ///< a view or a copy: reshape of what is not known to be packed, to
    Write,        ///< writes into the argument
    Reform,       ///< gives the argument another shape in place: unsqueeze_
};
/// `recording`: whose nodes the proxies among the arguments are; null: there are none. `isPacked`: the first argument
/// is in memory in row-major order.
Link linkOf(const OperatorCall& call, const Recording* recording, bool isPacked);

/// The result may be the very tensor that the call is given, and not another one that shows its memory.
bool mayGiveItself(const OperatorCall& call);
/// Of a view: all elements as they are (detach).
bool keepsAll(const OperatorCall& call);
/// Of a view: several elements may be one place in memory (expand), so that PyTorch refuses to write to it.
bool mayOverlap(const OperatorCall& call);
/// Of a view: the elements of the argument in the same order, in another shape.
bool keepsOrder(const OperatorCall& call);
/// Of a view: the part is packed in row-major order if the argument is.
bool takesLeadingPart(const OperatorCall& call);
/// Of what gives its argument another shape in place: the same memory seen in that shape (unsqueeze_, t_).
bool keepsMemory(const operators::Traits& traits);
/// An operator without views whose result is packed in row-major order if all its arguments are.
bool keepsPacked(const OperatorCall& call);
/// The operator's result is always packed in row-major order.
bool makesPacked(const OperatorCall& call);

}  // namespace sonde::trace
