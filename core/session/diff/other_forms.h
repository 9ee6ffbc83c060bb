#pragma once

#include "core/base/progress.h"
#include "core/session/diff/parameter_diff.h"
#include "core/session/diff/structure_diff.h"

namespace sonde::session::diff {

/// Takes back what is listed of two models of ONNX only because they write it in other operators, as exports for two
/// opsets do: HardSigmoid and Mul, and HardSwish. Operations between values that are counterparts are written in one
/// canonical form (canonicalForm()), in which both have to be equal; StructureDiff::otherForms lists them, and what is
/// stored for one of the forms alone is a note. Nothing of a person's pairs is taken back.
void takeBackForms(const graph::InternalGraph& first, const graph::InternalGraph& second, const GraphPairs& pairs,
                   const PairsByHand& byHand, StructureDiff& diff, ParameterDiff& parameters,
                   const base::WorkContext& work);

}  // namespace sonde::session::diff
