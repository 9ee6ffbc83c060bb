#include <algorithm>

#include "core/trace/module.h"
#include "core/trace/traced_module.h"
#include "core/trace/traced_module/module_graph.h"

namespace sonde::trace {

using tensor::Value;

void GraphBuilder::place(std::string name, std::string qualname, ModuleGraph* parent,
                         const std::shared_ptr<TracedModule>& owner) {
    m_graph.m_name = std::move(name);
    m_graph.m_qualname = std::move(qualname);
    m_graph.m_parent = parent;
    m_graph.m_owner = owner;
}

TracedExpr* GraphBuilder::makeExpr(TracedExpr::Kind kind, std::string target) {
    TracedExpr* expr = m_graph.m_exprs.emplace_back(std::make_unique<TracedExpr>()).get();
    expr->m_kind = kind;
    expr->m_graph = &m_graph;
    expr->m_id = m_graph.root().m_nextExpr++;
    expr->m_target = std::move(target);
    if (kind != TracedExpr::Kind::Input) m_graph.m_body.push_back(expr);
    return expr;
}

TracedNode* GraphBuilder::makeNode(TracedExpr& expr, std::string_view name, std::string qualname) {
    TracedNode* node = m_graph.m_nodes.emplace_back(std::make_unique<TracedNode>()).get();
    node->m_id = m_graph.root().m_nextNode++;
    node->m_name = m_graph.m_names.unique(name);
    node->m_qualname = std::move(qualname);
    node->m_expr = &expr;
    node->m_graph = &m_graph;
    expr.m_outputs.push_back(node);
    return node;
}

TracedNode* GraphBuilder::addInput(std::string_view name, std::string qualname, std::string parameter, bool isModule,
                                   std::string moduleType) {
    TracedExpr* expr = makeExpr(TracedExpr::Kind::Input, std::move(parameter));
    TracedNode* node = makeNode(*expr, name, std::move(qualname));
    node->m_isModule = isModule;
    node->m_moduleType = std::move(moduleType);
    expr->m_outDef.kind = isModule ? Structure::Kind::Module : Structure::Kind::Tensor;
    m_graph.m_inputs.push_back(node);
    return node;
}

TracedNode* GraphBuilder::addGetAttr(TracedNode* module, std::string path, std::string qualname, std::string_view name,
                                     bool isModule, std::string moduleType) {
    TracedExpr* expr = makeExpr(TracedExpr::Kind::GetAttr, std::move(path));
    expr->m_args = {Operand(module)};
    link(*expr);
    TracedNode* node = makeNode(*expr, name, std::move(qualname));
    node->m_isModule = isModule;
    node->m_moduleType = std::move(moduleType);
    expr->m_outDef.kind = isModule ? Structure::Kind::Module : Structure::Kind::Tensor;
    return node;
}

TracedNode* GraphBuilder::addConstant(Value value, std::string_view name, std::string qualname) {
    TracedExpr* expr = makeExpr(TracedExpr::Kind::Constant, {});
    TracedNode* node = makeNode(*expr, name, std::move(qualname));
    node->m_type = tensor::TypeInfo::of(value);
    expr->m_constant = std::move(value);
    return node;
}

TracedNode* GraphBuilder::addModuleConstant(std::shared_ptr<Module> module, std::string_view name,
                                            std::string qualname) {
    TracedExpr* expr = makeExpr(TracedExpr::Kind::Constant, {});
    expr->m_outDef.kind = Structure::Kind::Module;
    TracedNode* node = makeNode(*expr, name, std::move(qualname));
    node->m_isModule = true;
    node->m_moduleType = module->className();
    expr->m_constantModule = std::move(module);
    return node;
}

TracedExpr* GraphBuilder::addCall(TracedExpr::Kind kind, std::string target, std::vector<Operand> args,
                                  std::vector<std::pair<std::string, Operand>> keywords, TracedOperation operation) {
    TracedExpr* expr = makeExpr(kind, std::move(target));
    expr->m_args = std::move(args);
    expr->m_keywords = std::move(keywords);
    expr->m_operation = std::move(operation);
    link(*expr);
    return expr;
}

TracedNode* GraphBuilder::addOutput(TracedExpr& expr, std::string_view name, std::string qualname) {
    return makeNode(expr, name, std::move(qualname));
}

void GraphBuilder::addActual(const TracedExpr& call) {
    if (!call.m_inner) return;
    const std::size_t count = std::min(call.m_inputs.size(), call.m_inner->m_inputs.size());
    for (std::size_t i = 0; i < count; ++i) call.m_inner->m_inputs[i]->m_actual.push_back(call.m_inputs[i]);
}

void GraphBuilder::dropActual(const TracedExpr& call) {
    if (!call.m_inner) return;
    const std::size_t count = std::min(call.m_inputs.size(), call.m_inner->m_inputs.size());
    for (std::size_t i = 0; i < count; ++i) {
        std::vector<TracedNode*>& actual = call.m_inner->m_inputs[i]->m_actual;
        if (const auto found = std::ranges::find(actual, call.m_inputs[i]); found != actual.end()) actual.erase(found);
    }
}

void GraphBuilder::setInner(TracedExpr& call, std::shared_ptr<ModuleGraph> inner) {
    dropActual(call);
    call.m_inner = std::move(inner);
    addActual(call);
}

void GraphBuilder::link(TracedExpr& expr) {
    expr.m_inputs.clear();
    const auto add = [&](TracedNode* node) {
        expr.m_inputs.push_back(node);
        node->m_users.push_back(&expr);
    };
    for (Operand& operand : expr.m_args) operand.forEachNode(add);
    for (auto& [name, operand] : expr.m_keywords) operand.forEachNode(add);
    addActual(expr);
}

void GraphBuilder::unlink(TracedExpr& expr) {
    dropActual(expr);
    for (TracedNode* node : expr.m_inputs) {
        if (const auto found = std::ranges::find(node->m_users, &expr); found != node->m_users.end())
            node->m_users.erase(found);
    }
    expr.m_inputs.clear();
}

void GraphBuilder::forceName(TracedNode& node, std::string name) {
    if (name == node.m_name) return;
    m_graph.m_names.free(node.m_name);
    m_graph.m_names.take(name);
    node.m_name = std::move(name);
}

void GraphBuilder::uniquifyNames() {
    m_graph.m_names = TracedNames();
    for (TracedExpr* expr : m_graph.exprs(false)) {
        for (TracedNode* node : expr->m_outputs) node->m_name = m_graph.m_names.unique(node->m_name);
    }
}

void GraphBuilder::setArguments(TracedExpr& expr, std::vector<Operand> args,
                                std::vector<std::pair<std::string, Operand>> keywords) {
    unlink(expr);
    expr.m_args = std::move(args);
    expr.m_keywords = std::move(keywords);
    link(expr);
}

void GraphBuilder::redirect(TracedNode& before, TracedNode& after, std::size_t fromPosition, bool outputsToo) {
    for (std::size_t i = fromPosition; i < m_graph.m_body.size(); ++i) {
        TracedExpr& expr = *m_graph.m_body[i];
        if (std::ranges::find(expr.m_inputs, &before) == expr.m_inputs.end()) continue;
        unlink(expr);
        const auto replace = [&](TracedNode*& node) {
            if (node == &before) node = &after;
        };
        for (Operand& operand : expr.m_args) operand.forEachNode(replace);
        for (auto& [name, operand] : expr.m_keywords) operand.forEachNode(replace);
        link(expr);
    }
    if (outputsToo) std::ranges::replace(m_graph.m_outputs, &before, &after);
}

void GraphBuilder::remove(TracedExpr& expr) {
    unlink(expr);
    std::erase(m_graph.m_body, &expr);
    for (TracedNode* node : expr.m_outputs) m_graph.m_names.free(node->m_name);
}

void GraphBuilder::moveTail(std::size_t first, std::size_t position) {
    auto& body = m_graph.m_body;
    std::rotate(body.begin() + static_cast<std::ptrdiff_t>(position), body.begin() + static_cast<std::ptrdiff_t>(first),
                body.end());
}

void GraphBuilder::renumber() {
    std::uint64_t nextExpr = 0;
    std::uint64_t nextNode = 0;
    for (TracedExpr* expr : m_graph.exprs()) {
        expr->m_id = nextExpr++;
        for (TracedNode* node : expr->m_outputs) node->m_id = nextNode++;
    }
    m_graph.root().m_nextNode = nextNode;
    m_graph.root().m_nextExpr = nextExpr;
}

}  // namespace sonde::trace
