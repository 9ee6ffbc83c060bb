#pragma once

#include <optional>
#include <string>

#include "core/graph/internal_graph.h"

namespace sonde::trace {

/// Why a second trace of a function differs (dump.md, "Recorded functions"): "operator mismatch", "tensors not equals"
/// (a constant changed), "mismature end" (too few operations), "too many instructions", "expect internal node, got
/// external", "expect external node, got internal", "input id mismatch", "data unreadable" (a value is read that the
/// recorded one did not read), "dtype mismatch: A vs B". The words are those that users of MegEngine search for.
/// Nothing: they agree. Externals are inputs, constants and tensors of modules; what the function returns and what
/// guards ask for is read.
/// `capturesMayChange`: tensors that are neither inputs nor computed may have another value, of the same dtype.
std::optional<std::string> repetitionMismatch(const graph::InternalGraph& recorded, const graph::InternalGraph& again,
                                              bool capturesMayChange = false);

/// Whether a second trace without mismatch also returns the same: the same containers and keys with the same values,
/// computed by the same operations, at the same positions, and has the same guards: what was decided by values was
/// decided alike. Tensors from outside count as one where `capturesMayChange`.
bool repeatsResult(const graph::InternalGraph& recorded, const graph::InternalGraph& again,
                   bool capturesMayChange = false);

}  // namespace sonde::trace
