#include "core/graph/missing_data.h"

#include <algorithm>

#include "core/graph/kept_with_graph.h"
#include "core/graph/source_files.h"

namespace sonde::graph {

std::string MissingFile::tensorsText(std::size_t most) const {
    std::string text = std::to_string(tensors.size()) + (tensors.size() == 1 ? " tensor" : " tensors");
    for (std::size_t i = 0; i < tensors.size() && i < most; ++i) text += (i == 0 ? ": '" : ", '") + tensors[i] + '\'';
    return tensors.size() > most && most > 0 ? text + ", …" : text;
}

std::string MissingFile::text() const {
    return "the data file '" + location + (isCutOff ? "' is " : "' cannot be opened: ") + reason;
}

std::string MissingFile::hint() const {
    return isCutOff ? "copy the whole data file into the model's folder" : "put the data file into the model's folder";
}

std::shared_ptr<const InternalGraph> withKeptOf(std::shared_ptr<const InternalGraph> copy,
                                                const std::shared_ptr<const InternalGraph>& original) {
    return withMissing(withFiles(std::move(copy), filesOf(original)), missingOf(original));
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
    std::string what = missing.front().text();
    const std::string more = std::to_string(missing.size() - 1);
    const bool areCutOff = std::ranges::any_of(missing, &MissingFile::isCutOff);
    if (missing.size() > 1 && !areCutOff) what += ", nor can " + more + (missing.size() == 2 ? " other" : " others");
    else if (missing.size() > 1)
        what += ", and " + more + (missing.size() == 2 ? " other is" : " others are") + " missing or cut off";
    return base::unreadable(std::move(what), missing.front().tensorsText(1),
                            std::string("put the ") + (areCutOff ? "whole " : "") +
                                "data files into the model's folder; `sonde info` lists those that are missing" +
                                (areCutOff ? " or cut off" : ""));
}

}  // namespace sonde::graph
