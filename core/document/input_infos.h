#pragma once

#include <vector>

#include "core/document/document.h"
#include "core/io/inputs/inputs.h"

namespace sonde::document {

/// What values of a document's inputs have to be, in the order of Document::inputs; where the file says nothing, with what
/// the layers tell of it.
std::vector<io::InputInfo> inputInfos(const Document& document);

/// The type with the extents that a first run takes, if anything tells how many there are.
tensor::TypeInfo usualType(const io::InputInfo& input);

}  // namespace sonde::document
