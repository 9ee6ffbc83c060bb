#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/graph/internal_graph.h"

namespace sonde::graph {

/// A data file of a model that cannot be opened or is too short, and what is lacking: nodes of the graph with a type
/// and without a value, or the operations that have it as an attribute.
struct MissingFile {
    std::string location;              ///< as the model names it, relative to its folder
    std::string reason;                ///< "No such file or directory"; "cut off after 512 bytes"
    std::vector<std::string> tensors;  ///< names of the nodes, in the order of the file
    std::int64_t bytes = 0;            ///< of these tensors, by their types
    bool isCutOff = false;             ///< it is there, and ends before these tensors do

    std::string text() const;  ///< "the data file 'w.bin' cannot be opened: No such file or directory"
    std::string hint() const;  ///< "put the data file into the model's folder"
    std::string tensorsText(std::size_t most) const;  ///< "3 tensors: 'a', 'b', …"
};
using MissingFiles = std::vector<MissingFile>;

/// The same graph, which from now on knows what it lacks. A graph that is made of it knows it only if it is told.
std::shared_ptr<const InternalGraph> withMissing(std::shared_ptr<const InternalGraph> graph, MissingFiles missing);

/// A graph that was made of `original` and is looked at or run in its place: it knows the same files (withFiles) and
/// lacks the same ones.
std::shared_ptr<const InternalGraph> withKeptOf(std::shared_ptr<const InternalGraph> copy,
                                                const std::shared_ptr<const InternalGraph>& original);

/// What withMissing() was given; empty for a graph without.
const MissingFiles& missingOf(const std::shared_ptr<const InternalGraph>& graph);

/// For what needs all values. Error (Unreadable): the first file that is missing, why, and how many more.
base::Result<void> checkComplete(const std::shared_ptr<const InternalGraph>& graph);

}  // namespace sonde::graph
