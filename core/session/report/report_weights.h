#pragma once

#include "core/document/document_types.h"
#include "core/session/model_info.h"
#include "core/session/report/report.h"

namespace sonde::session {

/// The stored parameters and buffers of a model: bytes by element type, and each tensor by its name. Tensors of one
/// module and one type share a row, so that a page has several hundred of them. Of more rows than a table shows the
/// largest are there, and the note has the sums of the others.
ReportSection weightsSection(const document::Document& document, const ModelInfo& info);

}  // namespace sonde::session
