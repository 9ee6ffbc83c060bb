#pragma once

#include "core/document/format.h"

namespace sonde::document {

/// Entry of the table of formats: built-in models, which are no files. "zoo:NAME" opens one (zoo::makeModel).
Format zooFormat();

}  // namespace sonde::document
