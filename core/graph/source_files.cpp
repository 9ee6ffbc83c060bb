#include "core/graph/source_files.h"

#include "core/graph/kept_with_graph.h"

namespace sonde::graph {

std::shared_ptr<const InternalGraph> withFiles(std::shared_ptr<const InternalGraph> graph, base::MappedFiles files) {
    if (!graph || files.empty()) return graph;
    const InternalGraph* const pointer = graph.get();
    const KeptWithGraph* const kept = KeptWithGraph::of(graph);
    auto missing = kept ? kept->missing : nullptr;
    return {pointer, KeptWithGraph{std::move(graph), std::move(files), std::move(missing)}};
}

const base::MappedFiles& filesOf(const std::shared_ptr<const InternalGraph>& graph) {
    static const base::MappedFiles none;
    const KeptWithGraph* const kept = KeptWithGraph::of(graph);
    return kept ? kept->files : none;
}

base::Result<void> checkFiles(const std::shared_ptr<const InternalGraph>& graph) {
    return base::checkUnchanged(filesOf(graph), "model file");
}

}  // namespace sonde::graph
