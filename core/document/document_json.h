#pragma once

#include <string>

#include "core/document/document_types.h"

namespace sonde::document {

/// The document as `sonde trace --format json` prints it: the graph (io::graphJson), its parts, and what failed.
std::string documentJson(const Document& document);

}  // namespace sonde::document
