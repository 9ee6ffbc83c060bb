#pragma once

#include "core/session/watch/watch_policy.h"
#include "core/tensor/value.h"
#include "ui/canvas/canvas_style.h"
#include "ui/canvas/scene_marks.h"

namespace sonde::canvas {

/// A value as it is on a node. Called on workers: asks no fonts and no widgets.
Preview makePreview(const tensor::Value& value, theme::Scheme scheme, const std::stop_token& stop = {});
/// What is left of a value that was not kept whole.
Preview makePreview(const session::WatchSummary& summary);

}  // namespace sonde::canvas
