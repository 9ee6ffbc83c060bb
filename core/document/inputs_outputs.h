#pragma once

#include "core/document/document.h"

namespace sonde::document {

/// Names the inputs of a traced graph by forward's parameters (those with a default need not be given and are left out)
/// and the outputs by their place in the result: "out", "out_0_1", a dict's key.
void nameInputsAndOutputs(Document& document, const graph::InternalGraph& graph);

}  // namespace sonde::document
