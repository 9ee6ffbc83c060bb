#include "ui/canvas/scene_selection.h"

namespace sonde::canvas {

using context::Selection;
using layout::ItemId;
using layout::ItemKind;

ItemId itemOf(const layout::SceneLayout& scene, const Selection& selection) {
    switch (selection.kind) {
        case Selection::Kind::Node:
        case Selection::Kind::Expr: return selection.expr.valid() ? scene.itemOf(selection.expr) : ItemId();
        case Selection::Kind::Scope: return scene.itemOf(selection.scope);
        case Selection::Kind::None:
        case Selection::Kind::Module: break;
    }
    return {};
}

Selection selectionOf(const layout::ItemDescription& what, const context::OpenModel& model,
                      const context::Navigation& navigation) {
    switch (what.kind) {
        case ItemKind::Module: return navigation.selectionOf(what.scope);
        case ItemKind::Body: {
            const graph::ExprId owner = model.graph().body(what.body).owner;
            return owner.valid() ? navigation.selectionOf(owner) : Selection{};
        }
        case ItemKind::Stub: return what.values.empty() ? Selection{} : navigation.selectionOf(what.values.front());
        case ItemKind::Output:
            if (!what.expr.valid())
                return what.values.empty() ? Selection{} : navigation.selectionOf(what.values.front());
            break;
        case ItemKind::Expr:
        case ItemKind::Input: break;
    }
    return what.expr.valid() ? navigation.selectionOf(what.expr) : Selection{};
}

}  // namespace sonde::canvas
