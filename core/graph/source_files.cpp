#include "core/graph/source_files.h"

namespace sonde::graph {

namespace {

/// The files go with the pointer and not into the graph: a pass that copies a graph makes one of its own.
struct KeptWithFiles {
    std::shared_ptr<const InternalGraph> graph;
    base::MappedFiles files;

    void operator()(const InternalGraph*) { graph.reset(); }
};

}  // namespace

std::shared_ptr<const InternalGraph> withFiles(std::shared_ptr<const InternalGraph> graph, base::MappedFiles files) {
    if (!graph || files.empty()) return graph;
    const InternalGraph* const pointer = graph.get();
    return {pointer, KeptWithFiles{std::move(graph), std::move(files)}};
}

const base::MappedFiles& filesOf(const std::shared_ptr<const InternalGraph>& graph) {
    static const base::MappedFiles none;
    const auto* const kept = std::get_deleter<KeptWithFiles>(graph);
    return kept ? kept->files : none;
}

base::Result<void> checkFiles(const std::shared_ptr<const InternalGraph>& graph) {
    return base::checkUnchanged(filesOf(graph), "model file");
}

}  // namespace sonde::graph
