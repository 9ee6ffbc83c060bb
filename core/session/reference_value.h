#pragma once

#include <string>

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/document/document_types.h"
#include "core/graph/ids.h"
#include "core/tensor/value.h"

namespace sonde::session {

/// The value that a reference file (.npz) has for a node: under node.NAME, of an output also under out.NAME, of an
/// input under in.NAME; of several cases the first that has one. Blocks. Errors: those of document::openReference();
/// (Usage) the file has none, or a summary only.
base::Result<tensor::Value> referenceValue(const document::Document& document, const std::string& path,
                                           graph::NodeId node, const base::WorkContext& work = {});

}  // namespace sonde::session
