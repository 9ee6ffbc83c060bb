#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/io/torchscript/script_value.h"
#include "core/operators/traits.h"

namespace sonde::io::script {

/// How a view is cut out of its base.
struct ViewStep {
    enum class Kind : std::uint8_t {
        Same,   ///< all of it, as it is
        Index,  ///< base[parts]; numbers, slices and `...` only
        Call,   ///< the operator `name` with `arguments` after the base
        Item,   ///< element `item` of what that operator gives: chunk, split, unbind
    };
    Kind kind = Kind::Same;
    std::string name;
    std::vector<Var> arguments;  ///< Index: the parts
    std::size_t item = 0;
};
using Step = std::shared_ptr<const ViewStep>;

/// The step of an operator's result, `arguments` being all of its arguments. Null: it does not say (a conversion copies
/// if it changes anything, a reshape of a tensor that is not known to be dense if it has to).
Step viewStep(const std::string& op, const std::vector<ScriptValue>& arguments);
/// How the result of the operator stands to the memory of its first argument, or of the tensors in a list of them.
operators::Sharing sharingOf(const std::string& op, const std::vector<ScriptValue>& arguments);
/// The same: it may show it.
bool mayBeView(const std::string& op, const std::vector<ScriptValue>& arguments);
/// The step that takes what `second` takes of what `first` takes. Null: there is no single one.
Step merged(const ViewStep& first, const Step& second);

/// Several elements of the view may be one place in memory, so that PyTorch refuses to write to it: expand.
bool mayRepeat(const ViewStep& step, const Var& base, const Var& view);

/// The view, cut out of `base` now.
Var cutAgain(const ViewStep& step, const Var& base);
/// `base` with the view replaced by `value`. Throws TraceError if there is no operator for that.
Var putBack(const ViewStep& step, const Var& base, const Var& value);

}  // namespace sonde::io::script
