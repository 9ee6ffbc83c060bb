#pragma once

#include <memory>

#include "core/base/mapped_file.h"
#include "core/graph/internal_graph.h"

namespace sonde::graph {

/// The same graph, which from now on knows the files that its constants were read from. Runs of it fail once one of
/// them has changed (exec::Runner), whether a constant is still mapped or was copied.
std::shared_ptr<const InternalGraph> withFiles(std::shared_ptr<const InternalGraph> graph, base::MappedFiles files);

/// The files of withFiles(); empty for a graph without.
const base::MappedFiles& filesOf(const std::shared_ptr<const InternalGraph>& graph);

/// Looks at the disk. Error (Unreadable): "model file changed on disk" (or "can no longer be read from disk"), with its
/// path.
base::Result<void> checkFiles(const std::shared_ptr<const InternalGraph>& graph);

}  // namespace sonde::graph
