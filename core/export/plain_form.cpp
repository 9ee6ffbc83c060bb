#include "core/export/plain_form.h"

#include "core/analysis/infer.h"
#include "core/export/inference/export_passes.h"

namespace sonde::exporting {

using graph::InternalGraph;

base::Result<std::shared_ptr<InternalGraph>> plainForm(const InternalGraph& graph, const base::WorkContext& work) {
    auto plain = std::make_shared<InternalGraph>(graph);
    passes::Notes notes;
    passes::Rewrite rewrite(*plain, notes);
    SONDE_TRY(unfuseConvBias(rewrite));
    if (work.cancelled()) return base::cancelled();
    SONDE_TRY(toSingle(rewrite));
    base::Diagnostics findings;
    analysis::inferTypes(*plain, findings);  // of nodes that came in
    return plain;
}

}  // namespace sonde::exporting
