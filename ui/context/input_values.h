#pragma once

#include "core/base/result.h"
#include "core/io/inputs/inputs.h"
#include "ui/context/input_spec.h"

namespace sonde::context {

/// Reads or makes the value that a spec describes, of the input's dtype. Called on a worker thread.
/// `info`: of this input (document::inputInfos()). `index` is the input's place among the model's inputs: each has its own sequence of random numbers, as on the command
/// line. Errors: unreadable file, shape that does not fit, wrong grammar; with a note that names the input.
base::Result<tensor::Value> readInput(const ModelInput& input, const io::InputInfo& info, std::size_t index);

}  // namespace sonde::context
