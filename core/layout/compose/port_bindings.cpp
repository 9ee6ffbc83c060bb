#include "core/layout/compose/port_bindings.h"

#include "core/graph/traits.h"

namespace sonde::layout::compose {

using graph::Argument;
using graph::Body;
using graph::BodyId;
using graph::Expr;
using graph::ExprId;
using graph::ExprKind;
using graph::InternalGraph;
using graph::NodeId;

namespace {

/// Control flow of a file (Apply) or of a traced program (a call into the tracers' own domain), not a call of a module.
bool isControl(const Expr& expr) { return expr.kind == ExprKind::Apply || expr.op.domain == "prim"; }
bool isLoop(const Expr& expr) { return isControl(expr) && graph::traitsOf(expr).opClass == operators::OpClass::Loop; }

}  // namespace

std::vector<PortBinding> entriesOf(const InternalGraph& graph, ExprId id) {
    const Expr& expr = graph.expr(id);
    std::vector<PortBinding> found;
    for (const BodyId bodyId : expr.bodies) {
        const Body& body = graph.body(bodyId);
        if (!isControl(expr)) {  // a call: node by node
            for (std::size_t i = 0; i < body.inputs.size() && i < expr.inputs.size(); ++i)
                found.push_back({expr.inputs[i], bodyId, body.inputs[i]});
            continue;
        }
        // The first form of Scan has lengths before what its body takes; the body of Loop takes the iteration's number
        // where the operation takes how many there are at most.
        const bool late =
            graph::traitsOf(expr).opClass == operators::OpClass::Scan && expr.arguments.size() > body.inputs.size();
        const std::size_t skipped = late ? expr.arguments.size() - body.inputs.size() : 0;
        for (std::size_t i = isLoop(expr) ? 1 : 0; i < body.inputs.size() && i + skipped < expr.arguments.size(); ++i) {
            const Argument& argument = expr.arguments[i + skipped];
            if (argument.kind == Argument::Kind::Node) found.push_back({argument.node, bodyId, body.inputs[i]});
        }
    }
    return found;
}

std::vector<PortBinding> resultsOf(const InternalGraph& graph, ExprId id) {
    const Expr& expr = graph.expr(id);
    std::vector<PortBinding> found;
    for (const BodyId bodyId : expr.bodies) {
        const Body& body = graph.body(bodyId);
        const std::size_t skipped = isLoop(expr) ? 1 : 0;
        const bool asOne = expr.outputs.size() == 1 && !isControl(expr);  // a structure of all
        for (std::size_t i = skipped; i < body.outputs.size(); ++i) {
            const std::size_t output = asOne ? 0 : i - skipped;
            if (output < expr.outputs.size()) found.push_back({expr.outputs[output], bodyId, body.outputs[i]});
        }
    }
    return found;
}

}  // namespace sonde::layout::compose
