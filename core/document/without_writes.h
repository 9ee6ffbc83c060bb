#pragma once

#include <memory>

#include "core/base/progress.h"
#include "core/document/document_types.h"

namespace sonde::document {

/// The document without writes in place, so that each value of its graph stays what it was when it was made: the pass
/// remove-inplace. The same document if there are none. Errors: those of applyPasses().
base::Result<std::shared_ptr<const Document>> withoutWrites(const std::shared_ptr<const Document>& document,
                                                            const base::WorkContext& work = {});

}  // namespace sonde::document
