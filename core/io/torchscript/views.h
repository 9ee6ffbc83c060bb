#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/io/torchscript/script_value.h"

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

/// The step of an operator's result, `arguments` being all of its arguments. Null: it does not say (a conversion copies
/// if it changes anything, a reshape of a tensor that is not known to be dense if it has to).
std::shared_ptr<const ViewStep> viewStep(const std::string& op, const std::vector<ScriptValue>& arguments);
/// The result of the operator may share its first argument's memory.
bool mayBeView(const std::string& op, const std::vector<ScriptValue>& arguments);

/// Makes a cell the view of another one. Index upon index becomes one, where that can be said.
void setBase(TensorCell& view, const std::shared_ptr<TensorCell>& base, std::shared_ptr<const ViewStep> step);

/// Brings a cell up to date with what was changed through views. Throws TraceError if that cannot be known.
void refresh(TensorCell& cell);

/// The cell takes the result of an in-place operator; its base and the base's views see it when they are read next.
void write(TensorCell& cell, const Var& result);
/// The cell shows the same elements in another form from now on (unsqueeze_). Its views become stale.
void reform(const std::shared_ptr<TensorCell>& cell, const Var& result);
/// view[...] = value. The view itself need not be there: false, if it has to be (it is no view, or not by an index).
bool assignThrough(TensorCell& view, const Var& value);

}  // namespace sonde::io::script
