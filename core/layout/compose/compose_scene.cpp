#include "core/layout/compose/layout_draft.h"
#include "core/layout/scene.h"

namespace sonde::layout {

base::Result<std::shared_ptr<const SceneLayout>> composeScene(const Outline& outline, const ViewState& view,
                                                              const SceneOptions& options, LayoutWorkers& workers,
                                                              LayoutCache& cache, const base::WorkContext& work) {
    compose::LayoutDraft draft;
    draft.outline = &outline;
    draft.view = &view;
    compose::findItems(draft);
    if (work.cancelled()) return base::cancelled("laying out");
    compose::connectItems(draft);
    if (work.cancelled()) return base::cancelled("laying out");
    return compose::arrange(draft, options, workers, cache, work);
}

}  // namespace sonde::layout
