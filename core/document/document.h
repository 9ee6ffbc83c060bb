#pragma once

// The front door: what opening a model takes and gives.

#include <memory>
#include <string>

#include "core/base/progress.h"
#include "core/document/document_types.h"
#include "core/document/formats.h"
#include "core/document/part.h"

namespace sonde::document {

/// Opens a model file (recognised by its content) or a built-in model ("zoo:NAME"), traces it and infers shapes.
base::Result<std::shared_ptr<const Document>> open(const std::string& model, const OpenOptions& options = {},
                                                   const base::WorkContext& work = {});

}  // namespace sonde::document
