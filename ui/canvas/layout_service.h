#pragma once

#include <memory>

#include "core/layout/scene.h"

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

}  // namespace sonde::canvas
