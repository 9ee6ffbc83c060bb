#pragma once

#include "core/document/format.h"

namespace sonde::document {

/// Entry of the table of formats: ONNX files.
Format onnxFormat();

}  // namespace sonde::document
