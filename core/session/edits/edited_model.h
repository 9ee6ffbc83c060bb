#pragma once

#include <memory>

#include "core/document/document.h"
#include "core/session/edits/edits.h"

namespace sonde::session {

/// A document with the edits that are switched on in its graph, for writing it as a model: weights and other constants
/// have their edited values; behind inputs and computed values are operations of ONNX (Where, Mul, Add, Gather) that do
/// what the edits do. Named values keep their names; one before its edits is "NAME_before_edits". A run of it has the
/// values that the session's edits give, bit for bit.
///
/// Errors (Usage): an edit that has no node in the model, or that reads values of the run or has a slice of a value
/// whose shape is not fixed, with what to do instead.
base::Result<std::shared_ptr<const document::Document>> editedDocument(const document::Document& document,
                                                                       const Edits& edits);

/// The same; the document itself if no edit is switched on.
base::Result<std::shared_ptr<const document::Document>> withEdits(std::shared_ptr<const document::Document> document,
                                                                  const Edits& edits);

}  // namespace sonde::session
