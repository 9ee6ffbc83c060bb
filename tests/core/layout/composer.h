#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/layout/scene.h"
#include "tests/bench/layout_graphs.h"

namespace layout_test {

using namespace sonde::layout;
namespace lg = layout_graphs;

inline const std::string kWorker = SONDE_BINARY_DIR "/sonde-layout-worker";

inline Size sizeOf(const ItemDescription& what) {
    if (what.open) return {60, 24};
    return what.kind == ItemKind::Stub ? Size{48, 18} : Size{90, 36};
}

/// Composes with a cache of its own.
struct Composer {
    explicit Composer(std::shared_ptr<const lg::InternalGraph> graph) : outline(std::move(graph)) {
        options.metrics = sizeOf;
        options.budget = std::chrono::milliseconds(20'000);
    }
    std::shared_ptr<const SceneLayout> operator()() {
        auto scene = composeScene(outline, view, options, workers, cache);
        if (!scene) qFatal("%s", scene.error().text().c_str());
        return *scene;
    }
    ItemId item(const SceneLayout& scene, const char* node) const {
        return scene.itemOf(outline.graph().node(outline.graph().findNode(node)).producer);
    }

    Outline outline;
    ViewState view;
    SceneOptions options;
    LayoutWorkers workers{{kWorker, 2}};
    LayoutCache cache{{{}, false}};
};

/// The names of values, in their order.
inline std::vector<std::string> valueNames(const Composer& composer, const std::vector<NodeId>& values) {
    std::vector<std::string> names;
    for (const NodeId value : values) names.push_back(composer.outline.graph().node(value).name);
    return names;
}

}  // namespace layout_test
