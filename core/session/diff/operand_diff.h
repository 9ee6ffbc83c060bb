#pragma once

#include "core/document/document_types.h"
#include "core/session/diff/graph_pairs.h"
#include "core/session/diff/parameter_diff.h"
#include "core/session/diff/structure_diff.h"

namespace sonde::session::diff {

/// Adds to structure.changed what counterparts of one vocabulary read, and what they and the models give; of any two
/// models the inputs of one name that are in other places: "input 0: x -> y"; of one vocabulary also those with another
/// element type.
///
/// Read: what is no operation's result and is not the same: "input 1: w -> v" where each of two stored tensors has
/// another counterpart (layers with each other's weights), or two inputs of the models, or of bodies, do not
/// correspond. Of an operation that does not mind the order of its operands either order is right. Between two
/// vocabularies operations have their operands in other places: nothing is compared.
///
/// Given: "output 1 of then_branch: p -> q", "output 0: p -> q" where the values at one place come of operations that
/// have counterparts, but of others, or are other results of them, and do not compute the same; names of the outputs of
/// the models that changed places; "output q: none in the second model". Outputs of the models are paired by their
/// place if there are as many, else by name. Values with one name are told with their operators: "p (Relu) -> p (Exp)".
void addOtherOperands(const document::Document& first, const document::Document& second, const GraphPairs& pairs,
                      const ParameterDiff& parameters, StructureDiff& structure);

}  // namespace sonde::session::diff
