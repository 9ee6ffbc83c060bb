#include "core/graph/missing_data.h"

#include "core/graph/kept_with_graph.h"

namespace sonde::graph {

std::string MissingFile::tensorsText(std::size_t most) const {
    std::string text = std::to_string(tensors.size()) + (tensors.size() == 1 ? " tensor" : " tensors");
    for (std::size_t i = 0; i < tensors.size() && i < most; ++i) text += (i == 0 ? ": '" : ", '") + tensors[i] + '\'';
    return tensors.size() > most && most > 0 ? text + ", …" : text;
}

std::shared_ptr<const InternalGraph> withMissing(std::shared_ptr<const InternalGraph> graph, MissingFiles missing) {
    if (!graph || missing.empty()) return graph;
    const InternalGraph* const pointer = graph.get();
    const KeptWithGraph* const kept = KeptWithGraph::of(graph);
    base::MappedFiles files = kept ? kept->files : base::MappedFiles();
    return {pointer, KeptWithGraph{std::move(graph), std::move(files),
                                   std::make_shared<const MissingFiles>(std::move(missing))}};
}

const MissingFiles& missingOf(const std::shared_ptr<const InternalGraph>& graph) {
    static const MissingFiles none;
    const KeptWithGraph* const kept = KeptWithGraph::of(graph);
    return kept && kept->missing ? *kept->missing : none;
}

base::Result<void> checkComplete(const std::shared_ptr<const InternalGraph>& graph) {
    const MissingFiles& missing = missingOf(graph);
    if (missing.empty()) return {};
    std::string what = "the data file '" + missing.front().location + "' cannot be opened: " + missing.front().reason;
    if (missing.size() > 1)
        what += ", nor can " + std::to_string(missing.size() - 1) + (missing.size() == 2 ? " other" : " others");
    return base::unreadable(std::move(what), missing.front().tensorsText(1),
                            "put the data files into the model's folder; `sonde info` lists those that are missing");
}

}  // namespace sonde::graph
