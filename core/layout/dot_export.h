#pragma once

#include <string>

#include "core/layout/scene.h"

namespace sonde::layout {

/// What a scene shows as a Graphviz file: open boxes as clusters, items with operator, qualname and name, edges with
/// types. Positions are left to Graphviz. The same scene gives the same text.
std::string sceneDot(const InternalGraph& graph, const SceneLayout& scene);

/// What a scene shows with its geometry, as one JSON object:
/// {"format":"sonde-scene","version":1,"bounds","items":[{"id","kind","parent","open","op","qualname","name","rect"}…],
///  "edges":[{"from","to","values","points"}…],"hidden":{"operations","constants"}}.
std::string sceneJson(const InternalGraph& graph, const SceneLayout& scene);

}  // namespace sonde::layout
