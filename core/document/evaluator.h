#pragma once

#include <memory>

#include "core/trace/record.h"

namespace sonde::document {

/// Computes operators with the engine's kernels, for constants met while tracing and for modules that run on values.
/// Thread-safe.
std::shared_ptr<const trace::Evaluator> kernelEvaluator();

}  // namespace sonde::document
