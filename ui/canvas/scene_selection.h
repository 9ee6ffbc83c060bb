#pragma once

#include "core/layout/scene.h"
#include "ui/context/navigation.h"

namespace sonde::canvas {

/// The item that shows a selection; none if it is not in the scene.
layout::ItemId itemOf(const layout::SceneLayout& scene, const context::Selection& selection);

/// What is selected where an item is clicked: of a stub the value that it stands for.
context::Selection selectionOf(const layout::ItemDescription& what, const context::OpenModel& model,
                               const context::Navigation& navigation);

}  // namespace sonde::canvas
