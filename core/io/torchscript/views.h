#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/io/torchscript/view_steps.h"

// What tensors of a script share, and what that means when one of them is written. A write makes a new value; the root
// takes it up, and views are cut again, when somebody reads them, so that a graph has no nodes for what nobody sees.

namespace sonde::io::script {

/// The tensor in the shape that it has now.
TensorCell& shown(TensorCell& cell);
/// What has the memory that the tensor shows.
TensorCell& rootOf(TensorCell& cell);
/// The tensor that shows all of the memory of which `tensor` shows a part, for as_strided, which counts there.
/// `isStartGiven`: as_strided says where it begins; else it is where the tensor begins. Throws TraceError: that, or the
/// order of the elements in it, is not known.
ScriptValue storageOf(const ScriptValue& tensor, bool isStartGiven);
/// Roots of all tensors in a value; a list whose elements only a run knows has one that stands for them.
std::vector<CellPtr> rootsIn(const ScriptValue& value);

/// Of a tensor, or of one in a list or tuple: several elements may be one place in memory.
bool mayRepeatElements(const ScriptValue& value);

/// Makes a new tensor a view of another one; without a step it may be one, or not.
void setBase(TensorCell& view, const CellPtr& base, Step step);
/// The tensor may show the memory of these roots.
void mayShare(TensorCell& cell, std::span<const CellPtr> roots);
/// A tensor that only a run can tell from others: it may show the memory of these roots.
ScriptValue makeUncertain(Var tensor, std::span<const CellPtr> roots);
/// A list that a node gives. Its elements may show the memory of these roots.
ScriptValue makeSymbolicList(Var list, bool ofTensors, std::span<const CellPtr> roots);
/// All roots that the memory of these may be, themselves included.
std::vector<CellPtr> withSharers(std::span<const CellPtr> roots);
/// Takes what the roots hold now as what the tensor was made of. To be called when it is known to fit them.
void agreeWithSharers(TensorCell& root);

/// Whether reading it gives a value, and not an error.
bool isKnown(TensorCell& cell);
/// Brings a tensor up to date with writes to its memory. Throws TraceError if only a run knows what it holds.
void refresh(TensorCell& cell);
/// The same for it and what it is cut out of, as far as that is known.
void takeUp(TensorCell& cell);
/// What a run may take for the value has another name from now on: these tensors must not get another shape in place.
void noteOtherName(const ScriptValue& value);
/// The same for a list that a node gives.
void checkKnown(const ListValue& list);
/// What it holds now, in the shape that it had before operators gave it other ones in place.
Var contentOf(TensorCell& cell);

/// The tensor takes the result of an in-place operator.
void write(TensorCell& cell, const Var& result);
/// `name` (unsqueeze_) has given the tensor another shape: from now on it is `result`, a view of what it was.
void reform(const CellPtr& cell, const std::string& name, const std::vector<ScriptValue>& arguments, const Var& result);
/// view[...] = value. The view itself need not be there: false, if it has to be (it is no view, or not by an index).
/// `source`: the tensor that `value` is.
bool assignThrough(TensorCell& view, const Var& value, const ScriptValue& source = {});
/// To be called before an operator in place is recorded: what has the tensor assigned to a part of it takes that up.
void beforeWrite(TensorCell& cell);
/// Nobody knows what the root holds any more, nor what may share its memory. `by`: what the write gave. `writer`: whose
/// it was, "module 'conv1' of class Conv2d", if not an operator's.
void lose(TensorCell& root, const Var& by, const std::string& writer = {});
/// Another one each time: what a branch did is taken back, and must not be taken for what comes after it.
int nextVersion();
/// How many writes there were on this thread.
std::uint64_t writeCount();

}  // namespace sonde::io::script
