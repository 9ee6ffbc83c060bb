#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "core/base/mapped_file.h"
#include "core/exec/plan.h"
#include "core/exec/recording.h"
#include "core/graph/internal_graph.h"

namespace sonde::exec {

/// Whether the files that a run reads are still those that were opened: the graph's, and mapped inputs. Looking costs a
/// microsecond for each file.
class FileCheck {
  public:
    /// `inputs` must outlive it.
    FileCheck(const std::shared_ptr<const graph::InternalGraph>& graph, std::span<const tensor::Value> inputs);

    /// Looks at the disk: "model file changed on disk" or "input file changed on disk", of kind Run. To be asked before
    /// a value is published.
    std::optional<base::Error> changed();
    /// Between steps, where nothing is published yet: looks when the last look was some time ago, at failed reads
    /// always.
    std::optional<base::Error> changedMeanwhile();

  private:
    const base::MappedFiles& m_graphFiles;
    std::vector<const base::MappedFile*> m_inputFiles;
    std::int64_t m_lookedNs = 0;
};

/// What is left of a run whose files changed: any of its values may be made of other bytes than those of the model that
/// was opened, and some of its errors too.
Recording recordingOfChangedFiles(const Plan& plan, base::Error error, std::int64_t totalNs);

}  // namespace sonde::exec
