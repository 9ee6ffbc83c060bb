#pragma once

#include <QStringList>

#include "core/layout/scene.h"
#include "ui/context/inspector_context.h"

namespace sonde::canvas {

/// What marks of an item stand for that have more to say than their shape, for a tool tip: breakpoints, and what is
/// written on it. Of a closed module, and of one of repeated blocks, for all that it stands for.
QStringList markTexts(const context::InspectorContext& context, const layout::SceneLayout& scene, layout::ItemId item);

}  // namespace sonde::canvas
