#pragma once

#include <functional>
#include <memory>
#include <span>

#include "core/graph/internal_graph.h"
#include "core/trace/var.h"

namespace sonde::trace {

/// What an expr runs on values when its turn comes, with the evaluator of now: a module or function that could not be
/// followed. `isProgram`: nothing uses its arguments after it, so that it may write to copies of them; else a write to
/// one is a run's error.
std::shared_ptr<const graph::Callable> runnable(std::function<Var(std::span<const Var>)> function, bool isProgram);

}  // namespace sonde::trace
