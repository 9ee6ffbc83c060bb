#pragma once

#include <vector>

#include "core/document/format.h"

namespace sonde::document {

/// Every format that can be opened, in the order in which they are asked.
const std::vector<Format>& formats();

}  // namespace sonde::document
