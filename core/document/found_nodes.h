#pragma once

#include <string_view>
#include <vector>

#include "core/document/document_types.h"

namespace sonde::document {

/// The nodes that a text means: one, as Document::findNode() has it, but of a module ("QUALNAME:") everything that it
/// returns. Usage error with the nearest names.
base::Result<std::vector<graph::NodeId>> findNodes(const Document& document, std::string_view text);

}  // namespace sonde::document
