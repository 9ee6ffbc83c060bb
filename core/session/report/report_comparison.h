#pragma once

#include <memory>
#include <string>

#include "core/document/document_types.h"
#include "core/session/diff/model_diff.h"
#include "core/session/model_info.h"
#include "core/session/report/report.h"

namespace sonde::session {

/// Another model, and how far the reported one is from it.
struct ReportedComparison {
    std::shared_ptr<const document::Document> other;
    FileFacts otherFile;
    ModelDiff diff;  ///< the first model is the reported one
    std::string note;
};

/// What was added, removed, changed and moved, parameters, cost, metadata and, if both ran, values.
ReportSection comparisonSection(const document::Document& document, const ModelInfo& info,
                                const ReportedComparison& comparison);

}  // namespace sonde::session
