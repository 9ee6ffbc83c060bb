#pragma once

#include "core/document/format.h"

namespace sonde::document {

/// Saved traced modules (io/traced_module): what `sonde trace --tracer traced-module --save` writes.
Format tracedModuleFormat();

}  // namespace sonde::document
