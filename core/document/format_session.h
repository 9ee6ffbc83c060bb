#pragma once

#include "core/document/format.h"

namespace sonde::document {

/// Session files (io::SessionFile), which are opened by opening the model that they are about: see session_model.h.
Format sessionFormat();

}  // namespace sonde::document
