#pragma once

#include <cstddef>
#include <memory>

#include "core/document/document_types.h"

namespace sonde::document {

/// One of a document's further graphs as a document of its own: same modules, its own inputs and outputs. Null if that
/// part has no graph.
std::shared_ptr<const Document> documentOfPart(const Document& whole, std::size_t part);
/// The graph before the passes as a document. Null if there were no passes.
std::shared_ptr<const Document> documentBeforePasses(const Document& whole);

}  // namespace sonde::document
