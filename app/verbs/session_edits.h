#pragma once

#include <memory>

#include "core/base/result.h"
#include "core/document/document_types.h"

namespace sonde::app {

/// The document with the edits of the session file that it was opened by, for writing it; the document itself if there
/// are none. Errors: those of session::editedDocument().
base::Result<std::shared_ptr<const document::Document>> withSessionEdits(
    std::shared_ptr<const document::Document> document);

}  // namespace sonde::app
