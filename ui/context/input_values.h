#pragma once

#include "core/base/progress.h"
#include "core/base/result.h"
#include "ui/context/input_spec.h"

namespace sonde::context {

/// Reads or makes the value that a spec describes, of the input's dtype. Called on a worker thread.
/// Errors: unreadable file, shape that does not fit, wrong grammar; with the input's name as place.
base::Result<tensor::Value> readInput(const ModelInput& input, const base::WorkContext& work);

}  // namespace sonde::context
