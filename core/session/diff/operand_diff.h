#pragma once

#include "core/document/document_types.h"
#include "core/session/diff/graph_pairs.h"
#include "core/session/diff/parameter_diff.h"
#include "core/session/diff/structure_diff.h"

namespace sonde::session::diff {

/// Adds to structure.changed what counterparts of one vocabulary read that is no operation's result and is not the
/// same: "input 1: w -> v" where each of two stored tensors has another counterpart (layers with each other's weights),
/// or two inputs of the models, or of bodies, do not correspond. Of an operation that does not mind the order of its
/// operands either order is right. Between two vocabularies operations have their operands in other places: nothing is
/// compared.
void addOtherOperands(const document::Document& first, const document::Document& second, const GraphPairs& pairs,
                      const ParameterDiff& parameters, StructureDiff& structure);

}  // namespace sonde::session::diff
