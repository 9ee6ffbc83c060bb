#pragma once

#include <algorithm>

#include "core/layout/scene.h"

namespace sonde::layout {

/// From what size on a picture can be read, and what it is read on.
struct Legibility {
    Size room;              ///< of the view, in pixels, without its margins
    double minScale = 0.5;  ///< pixels per scene unit: smaller text is not read
    double easyScale = 0;   ///< columns are of use below this; no less than minScale

    double columnsBelow() const { return std::max(minScale, easyScale); }
};

struct FirstView {
    ViewState view;
    std::shared_ptr<const SceneLayout> scene;  ///< of `view`
};

/// `view`, with as many levels of modules open as can be read when the whole picture is in the room. Where that are no
/// more than a few boxes one level more is opened, as long as little has to be scrolled; a small graph is opened whole.
/// What cannot be read with ease is drawn in columns if that makes it much larger and Wrapping is Automatic.
/// Lays out only pictures that may be legible, and the one returned. Fails only with Cancelled.
base::Result<FirstView> composeFirstView(const Outline& outline, const ViewState& view, const Legibility& legibility,
                                         const SceneOptions& options, LayoutWorkers& workers, LayoutCache& cache,
                                         const base::WorkContext& work = {});

/// `view` as it is read best when the whole is in the room: where Wrapping is Automatic, in columns if it cannot be
/// read with ease otherwise and they make it larger, and if not in one. Fails only with Cancelled.
base::Result<FirstView> composeFitted(const Outline& outline, const ViewState& view, const Legibility& legibility,
                                      const SceneOptions& options, LayoutWorkers& workers, LayoutCache& cache,
                                      const base::WorkContext& work = {});

/// `view` for a picture that is not zoomed, as files and paper show it: where Wrapping is Automatic, in columns if it
/// would be longer than a page on which its text can be read and more than kMaxRatio times as long as wide, such that
/// it has about the shape of a page; whatever columns suit a window (columnHeight). Fails only with Cancelled.
base::Result<FirstView> composePicture(const Outline& outline, const ViewState& view, const SceneOptions& options,
                                       LayoutWorkers& workers, LayoutCache& cache, const base::WorkContext& work = {});
inline constexpr double kMaxRatio = 3;

/// The length of columns that are as long as the room is when text can just be read.
double columnHeightFor(const ViewState& view, const Legibility& legibility);

}  // namespace sonde::layout
