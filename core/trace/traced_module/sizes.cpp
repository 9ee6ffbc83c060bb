// How TracedModuleTracer treats the sizes of tensors: questions for them and what is computed of the answers are
// expressions of the graph, so that it works at other sizes (guards.cpp has what becomes a plain number of the
// program).

#include <algorithm>

#include "core/operators/traits.h"
#include "core/trace/traced_module/traced_module_tracer.h"

namespace sonde::trace {

using graph::NodeId;
using tensor::ValueKind;

bool isSizeQuery(const graph::OpKey& op, const std::vector<Var>& arguments) {
    const operators::Traits& traits = operators::traitsOf(op.domain, op.name);
    if (traits.opClass == operators::OpClass::GetAttr) {
        if (arguments.size() != 2 || arguments[1].kind() != Var::Kind::Value ||
            arguments[1].value().kind() != ValueKind::String)
            return false;
        const std::string& name = arguments[1].value().toString();
        return name == "shape" || name == "ndim";
    }
    return traits.query != operators::ShapeQuery::None;
}

bool TracedModuleTracer::isNumber(NodeId node) const {
    const Known& known = m_known[current(node).index()];
    return known.node->isNumber();
}

bool TracedModuleTracer::hasNumber(const Var& var) const {
    if (var.isProxy()) return &var.tracer() == this && isNumber(var.node());
    return var.kind() != Var::Kind::Value &&
           std::ranges::any_of(var.items(), [this](const Var& item) { return hasNumber(item); });
}

bool TracedModuleTracer::dependsOnSize(const graph::OpKey& op, const std::vector<Var>& arguments,
                                       const Keywords& keywords) const {
    const bool ofNumber = std::ranges::any_of(arguments, [this](const Var& var) { return hasNumber(var); }) ||
                          std::ranges::any_of(keywords, [this](const auto& entry) { return hasNumber(entry.second); });
    if (ofNumber) return true;
    if (arguments.empty() || !isSizeQuery(op, arguments)) return false;
    const TracedNode* tensor = nodeOf(arguments.front());
    return tensor && !tensor->isFixed();
}

}  // namespace sonde::trace
