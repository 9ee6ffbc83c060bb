// What the graph of a top module takes and gives: changing it changes the module's signature, too.

#include "core/trace/traced_module.h"
#include "core/trace/traced_module/module_graph.h"

namespace sonde::trace {

base::Result<void> ModuleGraph::mustBeTop() const {
    const auto owner = m_owner.lock();
    if (m_parent || !owner || !owner->isTop())
        return base::usageError("only the graph of a top-level module can be changed like this", m_name);
    return {};
}

base::Result<TracedNode*> ModuleGraph::addInputNode(tensor::DType dtype, const tensor::Shape& shape,
                                                    std::string_view name) {
    SONDE_TRY(mustBeTop());
    GraphBuilder builder(*this);
    TracedNode* node = builder.addInput(name, m_qualname + ".[" + std::string(name) + ']', std::string(name), false);
    node->m_type = tensor::TypeInfo::tensor(dtype, shape);
    node->m_expr->m_target = node->name();
    m_owner.lock()->appendTensorParameter(*this, node->name());
    return node;
}

base::Result<std::vector<TracedNode*>> ModuleGraph::resetInputs(
    const std::vector<tensor::Value>& positional, const std::vector<std::pair<std::string, tensor::Value>>& keywords) {
    SONDE_TRY(mustBeTop());
    for (const tensor::Value& value : positional) {
        if (!value.isTensor()) return base::usageError("examples of inputs are tensors, not " + value.typeText());
    }
    for (const auto& [name, value] : keywords) {
        if (!value.isTensor()) return base::usageError("examples of inputs are tensors, not " + value.typeText(), name);
    }
    GraphBuilder builder(*this);
    for (std::size_t i = 1; i < m_inputs.size(); ++i) m_names.free(m_inputs[i]->m_name);
    m_inputs.resize(1);
    std::vector<ForwardParameter> parameters;
    std::vector<TracedNode*> made;
    const auto add = [&](std::string_view name, const tensor::Value& value, bool keywordOnly) {
        TracedNode* node =
            builder.addInput(name, m_qualname + ".[" + std::string(name) + ']', std::string(name), false);
        node->m_type = tensor::TypeInfo::of(value);
        node->m_expr->m_target = node->name();
        parameters.push_back({node->name(), std::nullopt, keywordOnly, true});
        made.push_back(node);
    };
    for (const tensor::Value& value : positional) add("args", value, false);
    for (const auto& [name, value] : keywords) add(name, value, true);
    m_owner.lock()->setTensorParameters(*this, std::move(parameters));
    return made;
}

base::Result<void> ModuleGraph::addOutputNode(TracedNode* node) {
    SONDE_TRY(mustBeTop());
    if (&node->graph() != this) return base::usageError("node '" + node->fullName() + "' is of another graph", m_name);
    if (node->isModule()) return base::usageError("a module cannot be a result", node->fullName());
    m_outputs.push_back(node);
    m_owner.lock()->pairResult(*this);
    return {};
}

base::Result<void> ModuleGraph::resetOutputs(const Operand& structure) {
    SONDE_TRY(mustBeTop());
    std::vector<TracedNode*> outputs;
    structure.forEachNode([&](TracedNode* node) { outputs.push_back(node); });
    for (const TracedNode* node : outputs) {
        if (&node->graph() != this)
            return base::usageError("node '" + node->fullName() + "' is of another graph", m_name);
        if (node->isModule()) return base::usageError("a module cannot be a result", node->fullName());
    }
    m_outputs = std::move(outputs);
    m_owner.lock()->setResult(*this, Structure::of(structure));
    return {};
}

}  // namespace sonde::trace
