#pragma once

#include <memory>
#include <vector>

#include "core/base/mapped_file.h"
#include "core/graph/internal_graph.h"

namespace sonde::graph {

struct MissingFile;

/// What goes with the pointer and not into the graph: a pass that copies a graph makes one of its own.
struct KeptWithGraph {
    std::shared_ptr<const InternalGraph> graph;
    base::MappedFiles files;
    std::shared_ptr<const std::vector<MissingFile>> missing;  ///< null: nothing is

    void operator()(const InternalGraph*) { graph.reset(); }

    static const KeptWithGraph* of(const std::shared_ptr<const InternalGraph>& graph) {
        return std::get_deleter<KeptWithGraph>(graph);
    }
};

}  // namespace sonde::graph
