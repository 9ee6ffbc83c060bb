#pragma once

#include <memory>

#include "app/verbs/inputs.h"
#include "core/base/result.h"
#include "core/document/document_types.h"

namespace sonde::app {

/// The document with the edits of the session file that it was opened by, for writing it; the document itself if there
/// are none. An edit that cannot be written without the shapes of a run, as noise of a value of open shape, is written
/// for those of the inputs (inputsFor()); warned of. Without such edits nothing is read or run. Errors: those of
/// session::editedDocument() and typesOfRun().
base::Result<std::shared_ptr<const document::Document>> withSessionEdits(
    std::shared_ptr<const document::Document> document, const InputChoice& inputs);

}  // namespace sonde::app
