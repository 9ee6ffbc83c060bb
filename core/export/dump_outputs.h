#pragma once

#include "core/document/document_types.h"

namespace sonde::exporting {

using document::Document;

/// The document with the outputs that a dump has: those in a dict in the order of their keys, and numbers as tensors of
/// rank 0 (int64, float32, bool). The same document if its outputs are so.
Document withDumpOutputs(const Document& document);

}  // namespace sonde::exporting
