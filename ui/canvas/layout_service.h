#pragma once

#include <memory>

#include "core/layout/first_view.h"

namespace sonde::canvas {

/// The helper processes and the cache of layouts that all canvases and exports of this process share.
struct LayoutService {
    layout::LayoutWorkers workers;
    layout::LayoutCache cache;

    static LayoutService& instance();
};

/// Lays out what a view shows; see layout::composeScene.
base::Result<std::shared_ptr<const layout::SceneLayout>> layOut(const layout::Outline& outline,
                                                                const layout::ViewState& view,
                                                                const layout::SceneOptions& options,
                                                                const base::WorkContext& work = {});
/// The whole in a room; see layout::composeFitted.
base::Result<layout::FirstView> layOutFitted(const layout::Outline& outline, const layout::ViewState& view,
                                             const layout::Legibility& legibility, const layout::SceneOptions& options,
                                             const base::WorkContext& work = {});
/// A picture for a file; see layout::composePicture.
base::Result<layout::FirstView> layOutPicture(const layout::Outline& outline, const layout::ViewState& view,
                                              const layout::SceneOptions& options, const base::WorkContext& work = {});
/// The first picture of a model; see layout::composeFirstView.
base::Result<layout::FirstView> layOutFirst(const layout::Outline& outline, const layout::ViewState& view,
                                            const layout::Legibility& legibility, const layout::SceneOptions& options,
                                            const base::WorkContext& work = {});

}  // namespace sonde::canvas
