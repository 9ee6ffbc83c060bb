#include "core/session/diff/compared_operations.h"

#include <algorithm>

#include "core/graph/traits.h"
#include "core/layout/shape_math.h"

namespace sonde::session::diff {

using graph::Expr;
using graph::ExprId;
using graph::ExprKind;
using graph::InternalGraph;
using graph::NodeId;

namespace {

bool givesTensor(const InternalGraph& graph, const Expr& expr) {
    return std::ranges::any_of(expr.outputs, [&](NodeId node) {
        const tensor::TypeInfo& type = graph.node(node).type;
        return !type.kind || type.isTensor() || std::ranges::any_of(type.elements, &tensor::TypeInfo::isTensor);
    });
}

}  // namespace

ComparedOperations::ComparedOperations(const FlatGraph& flat, bool isOneVocabulary)
    : isListed(flat.graph.exprCount(), false), hasTensors(flat.graph.exprCount(), false) {
    const InternalGraph& graph = flat.graph;
    std::vector<bool> isShapeMath = layout::shapeMath(graph);
    isShapeMath.resize(graph.exprCount(), false);
    std::vector<bool> isOfInput(graph.nodeCount(), false);
    for (const ExprId id : flat.order) {
        const Expr& expr = graph.expr(id);
        if (expr.outputs.empty()) continue;
        const std::vector<NodeId> inputs = flat.inputsOf(id);
        const bool dependsOnInput = !expr.bodies.empty() || std::ranges::any_of(inputs, [&](NodeId input) {
            return isOfInput[input.index()] || graph.expr(graph.node(input).producer).kind == ExprKind::Input;
        });
        const operators::Traits& traits = graph::traitsOf(expr);
        // Sizes are no elements of the input, nor is what is filled with one number.
        const bool hasElements = dependsOnInput && !isShapeMath[id.index()] &&
                                 traits.query == operators::ShapeQuery::None &&
                                 traits.opClass != operators::OpClass::Create;
        for (const NodeId output : expr.outputs) isOfInput[output.index()] = hasElements;
        const bool isCheck = traits.is(operators::Trait::Effect), isTensor = givesTensor(graph, expr);
        const bool isAside = isCheck || !isTensor || isShapeMath[id.index()] || !dependsOnInput ||
                             traits.form == operators::ViewForm::Contiguous;
        isListed[id.index()] = isOneVocabulary || !isAside;
        hasTensors[id.index()] = isTensor && !isCheck;
    }
}

}  // namespace sonde::session::diff
