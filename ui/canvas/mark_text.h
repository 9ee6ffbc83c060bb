#pragma once

#include <QStringList>

#include "core/layout/scene.h"
#include "ui/canvas/scene_marks.h"
#include "ui/context/inspector_context.h"

namespace sonde::canvas {

/// What marks of an item stand for that have more to say than their shape, for a tool tip: breakpoints, and what is
/// written on it. Of a closed module, and of one of repeated blocks, for all that it stands for.
QStringList markTexts(const context::InspectorContext& context, const layout::SceneLayout& scene, layout::ItemId item);

/// "differs in 3 of 12 blocks" for "differs" of a box that stands for repeated blocks; where it is so in all of them,
/// or in an item alone, what was given.
QString inBlocks(const QString& what, const BlockCounts* blocks, ItemFlag flag);
/// The same for a tool tip, of all marks that are not of every block.
QStringList blockTexts(const BlockCounts* blocks);

}  // namespace sonde::canvas
