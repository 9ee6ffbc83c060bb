#pragma once

#include <QString>

#include <memory>

#include "core/analysis/parameters.h"
#include "core/document/document.h"

namespace sonde::context {

/// What the document stores: parameters, buffers and constants, of the whole and of every module. Counted when it is
/// asked for first and then remembered for the documents that were asked for last. Belongs to the UI thread.
std::shared_ptr<const analysis::ModelCounts> countsOf(const std::shared_ptr<const document::Document>& document);

/// "11,689,512 (44.6 MiB of float32)".
QString storedText(const analysis::StoredSum& sum);

}  // namespace sonde::context
