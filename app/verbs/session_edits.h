#pragma once

#include <memory>
#include <vector>

#include "core/base/result.h"
#include "core/document/document_types.h"

namespace sonde::app {

/// The document with the edits of the session file that it was opened by, for writing it; the document itself if there
/// are none. `inputs` (none: it is not run): what edits are written for that need the shapes of a run; warned of.
/// Errors: those of session::editedDocument() and typesOfRun().
base::Result<std::shared_ptr<const document::Document>> withSessionEdits(
    std::shared_ptr<const document::Document> document, const std::vector<tensor::Value>& inputs);

}  // namespace sonde::app
