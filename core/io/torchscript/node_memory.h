#pragma once

#include <optional>
#include <span>
#include <unordered_map>

#include "core/io/torchscript/view_steps.h"

// Nodes that a script has as plain values although they are tensors, or hold some: an Optional[Tensor], what a module
// in a graph of its own gives as a list or tuple, the parts that chunk() gives. However often such a node is taken for
// a tensor, it is one tensor, and what holds tensors knows whose memory they show.

namespace sonde::io::script {

/// What a list shows that an operator has cut out of a tensor.
struct ListOfParts {
    CellPtr cell;
    ViewStep step;
    int version;  ///< of the tensor's root when the list was made
};

/// Of the nodes of one trace.
struct NodeMemory {
    std::unordered_map<graph::NodeId, CellPtr> tensors;  ///< what a node is taken for; of a list all that it holds
    std::unordered_map<graph::NodeId, ListOfParts> parts;
};

/// The tensor that a node is, as old as the node: a branch that first takes it for one writes to what is around it.
CellPtr tensorOf(const Var& node);
/// The same, or null if nobody has taken it for one.
CellPtr knownTensorOf(const Var& node);
/// What is in the node, or the node itself, may show the memory of these roots.
void shareNode(const Var& node, std::span<const CellPtr> roots);

/// The node is what the operator `step` has cut out of the tensor.
void noteParts(const Var& list, const CellPtr& cell, const ViewStep& step);
const ListOfParts* partsOf(const Var& list);
/// Element `item` of a list or tuple that is a node, with the memory that it shows. `value`: the element's own node.
ScriptValue partOf(const Var& list, std::size_t item, ScriptValue value);
/// An element that only a run knows.
ScriptValue anyPartOf(const Var& list, ScriptValue value);
/// What the node holds now. Throws TraceError if only a run knows.
Var currentOf(const Var& node);

}  // namespace sonde::io::script
