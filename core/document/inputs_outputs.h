#pragma once

#include <functional>
#include <string>

#include "core/document/document_types.h"

namespace sonde::document {

/// Names the inputs of a traced graph by forward's parameters (those with a default need not be given and are left out)
/// and the outputs by their place in the result: "out", "out_0_1", a dict's key.
/// `isListed`: inputs that take values although their default is None; may be empty.
void nameInputsAndOutputs(Document& document, const graph::InternalGraph& graph,
                          const std::function<bool(const std::string&)>& isListed = {});

}  // namespace sonde::document
