#pragma once

#include "core/layout/scene.h"

namespace sonde::layout {

/// From what size on a picture can be read, and what it is read on.
struct Legibility {
    Size room;              ///< of the view, in pixels, without its margins
    double minScale = 0.5;  ///< pixels per scene unit: smaller text is not read
};

struct FirstView {
    ViewState view;
    std::shared_ptr<const SceneLayout> scene;  ///< of `view`
};

/// `view`, with as many levels of modules open as can be read when the whole picture is in the room. Where that are no
/// more than a few boxes one level more is opened, as long as little has to be scrolled; a small graph is opened whole.
/// Lays out only pictures that may be legible, and the one returned. Fails only with Cancelled.
base::Result<FirstView> composeFirstView(const Outline& outline, const ViewState& view, const Legibility& legibility,
                                         const SceneOptions& options, LayoutWorkers& workers, LayoutCache& cache,
                                         const base::WorkContext& work = {});

}  // namespace sonde::layout
