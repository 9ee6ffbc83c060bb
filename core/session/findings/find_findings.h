#pragma once

#include <string>
#include <vector>

#include "core/document/document_types.h"
#include "core/session/findings/acceptances.h"
#include "core/session/findings/finding_groups.h"
#include "core/session/findings/finding_report.h"
#include "core/session/model_info.h"

namespace sonde::session {

struct FindingRequest {
    /// Values in the order of Document::inputs, a run for each; none: only what needs no run is looked for.
    std::vector<std::vector<tensor::Value>> cases;
    std::string withoutCases;  ///< why there are none: "input 'x' has no known shape"
    std::vector<Acceptance> acceptances;
    std::vector<graph::NodeId> acceptedValues;  ///< whose NaN and infinity are meant: Problems::accepted()
    std::uint64_t seed = 0;
    std::size_t threads = 0;
};

/// Everything that analysis::findingCheckers() find in a model. The runs keep figures of each value, no values; a run
/// that fails is told in a note, and what came before it is checked. `info`: modelInfo() of the document. Blocks, on
/// any thread. Errors: Cancelled; a file of the model changed.
base::Result<FindingReport> findFindings(const document::Document& document, const ModelInfo& info,
                                         const FindingRequest& request, const base::WorkContext& work = {});

/// Findings that acceptances cover have the first one's reason, the others none.
void accept(FindingReport& report, const std::vector<Acceptance>& acceptances);

/// The acceptances without those of a group's findings. One that also covers others is replaced by one for each of
/// these.
std::vector<Acceptance> withoutGroup(const FindingReport& report, const FindingGroup& group,
                                     std::vector<Acceptance> acceptances);

}  // namespace sonde::session
