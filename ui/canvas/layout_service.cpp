#include "ui/canvas/layout_service.h"

namespace sonde::canvas {

LayoutService& LayoutService::instance() {
    static LayoutService service;
    return service;
}

base::Result<std::shared_ptr<const layout::SceneLayout>> layOut(const layout::Outline& outline,
                                                                const layout::ViewState& view,
                                                                const layout::SceneOptions& options,
                                                                const base::WorkContext& work) {
    LayoutService& service = LayoutService::instance();
    return layout::composeScene(outline, view, options, service.workers, service.cache, work);
}

base::Result<layout::FirstView> layOutFirst(const layout::Outline& outline, const layout::ViewState& view,
                                            const layout::Legibility& legibility, const layout::SceneOptions& options,
                                            const base::WorkContext& work) {
    LayoutService& service = LayoutService::instance();
    return layout::composeFirstView(outline, view, legibility, options, service.workers, service.cache, work);
}

base::Result<layout::FirstView> layOutFitted(const layout::Outline& outline, const layout::ViewState& view,
                                             const layout::Legibility& legibility, const layout::SceneOptions& options,
                                             const base::WorkContext& work) {
    LayoutService& service = LayoutService::instance();
    return layout::composeFitted(outline, view, legibility, options, service.workers, service.cache, work);
}

base::Result<layout::FirstView> layOutPicture(const layout::Outline& outline, const layout::ViewState& view,
                                              const layout::SceneOptions& options, const base::WorkContext& work) {
    LayoutService& service = LayoutService::instance();
    return layout::composePicture(outline, view, options, service.workers, service.cache, work);
}

}  // namespace sonde::canvas
