#pragma once

#include "core/document/format.h"

namespace sonde::document {

/// Entry of the table of formats: dumps (dump.md). The document is the model alone: the checks of its test cases and
/// the inputs for their expected values are left out (see readTestCases).
Format dumpFormat();

}  // namespace sonde::document
