#include "core/trace/traced_module/builtin_graphs.h"

#include <algorithm>

namespace sonde::trace {

namespace {

/// Zeros of the recorded types stand for the arguments.
base::Result<Var> exampleOf(const Operand& operand) {
    std::vector<TracedNode*> nodes;
    operand.forEachNode([&](TracedNode* node) { nodes.push_back(node); });
    std::vector<Var> leaves;
    for (const TracedNode* node : nodes) {
        const auto shape = node->type().staticShape();
        if (!shape || !node->type().isTensor()) {
            return base::usageError("the shape of '" + node->fullName() +
                                    "' is unknown, so what the module that uses it does cannot be recorded");
        }
        SONDE_ASSIGN(tensor::Tensor zeros, tensor::Tensor::zeros(node->type().dtype, *shape));
        leaves.emplace_back(std::move(zeros));
    }
    std::size_t next = 0;
    return Structure::of(operand).rebuilt(std::span<const Var>(leaves), next);
}

base::Result<std::shared_ptr<TracedModule>> traceCall(Module& module, const TracedExpr& call) {
    std::vector<Var> args;
    for (std::size_t i = 1; i < call.args().size(); ++i) {
        SONDE_ASSIGN(Var example, exampleOf(call.args()[i]));
        args.push_back(std::move(example));
    }
    Keywords keywords;
    for (const auto& [name, operand] : call.keywords()) {
        SONDE_ASSIGN(Var example, exampleOf(operand));
        keywords.emplace_back(name, std::move(example));
    }
    TraceModuleOptions options;
    options.traceAll = true;
    options.checkResult = false;
    options.guardsData = true;  // zeros decide here, and other values in a run
    options.isPart = true;
    auto traced =
        traceForward(module.shared_from_this(), call.forwardName(), std::move(args), std::move(keywords), options);
    if (!traced) return base::Error(traced.error()).withNote("while recording what " + call.text() + " does");
    return traced;
}

}  // namespace

void BuiltinGraphs::collect(const TracedModule& module) {
    for (const TracedModule::Entry& entry : module.entries()) {
        for (const TracedExpr* expr : entry.graph->body()) {
            if (expr->isModuleCall() && !expr->innerGraph())
                m_calls[expr->inputs().front()->owner().get()].push_back(expr);
        }
    }
    for (const Module::Child& child : module.children()) {
        if (const auto* traced = dynamic_cast<const TracedModule*>(child.module.get())) collect(*traced);
    }
}

base::Result<std::shared_ptr<Module>> BuiltinGraphs::of(const std::shared_ptr<Module>& module) {
    if (std::dynamic_pointer_cast<TracedModule>(module)) return module;
    if (const auto known = m_made.find(module.get()); known != m_made.end())
        return std::static_pointer_cast<Module>(known->second);
    // The parameters are those of the forward that is called: an archive's class may have forward__0 and no other.
    std::vector<std::shared_ptr<TracedModule>> traced;
    for (const TracedExpr* call : m_calls[module.get()]) {
        const CallStructure structure = call->argDef();
        const auto isSame = [&](const std::shared_ptr<TracedModule>& made) {
            return made->findEntry(call->forwardName(), structure) != nullptr;
        };
        if (std::ranges::any_of(traced, isSame)) continue;
        SONDE_ASSIGN(auto one, traceCall(*module, *call));
        traced.push_back(std::move(one));
    }
    const auto made = std::make_shared<TracedModule>(
        module->className(), traced.empty() ? module->signature() : traced.front()->signature(), false);
    m_made.emplace(module.get(), made);
    made->setBuiltin(true);
    for (const Module::NamedSlot& named : module->ownTensors()) made->addSlot(named.name, named.slot);
    for (const Module::Child& child : module->children()) {
        SONDE_ASSIGN(auto below, of(child.module));
        made->addChild(child.name, std::move(below));
    }
    for (const auto& one : traced) SONDE_TRY(takeOver(*made, *one));
    return std::static_pointer_cast<Module>(made);
}

base::Result<void> BuiltinGraphs::replaceBelow(TracedModule& module) {
    for (const Module::Child& child : std::vector(module.children())) {
        if (auto* traced = dynamic_cast<TracedModule*>(child.module.get())) {
            SONDE_TRY(replaceBelow(*traced));
        } else {
            SONDE_ASSIGN(auto made, of(child.module));
            module.addChild(child.name, std::move(made));
        }
    }
    return {};
}

base::Result<void> BuiltinGraphs::takeOver(TracedModule& made, const TracedModule& traced) {
    for (const TracedModule::Entry& entry : traced.entries()) made.addEntry(entry);
    GraphBuilder builder(*made.entries().back().graph);
    builder.place(builder.graph().name(), builder.graph().qualname(), nullptr,
                  std::static_pointer_cast<TracedModule>(made.shared_from_this()));
    for (const Module::Child& child : traced.children()) {
        if (auto* below = dynamic_cast<TracedModule*>(child.module.get())) SONDE_TRY(replaceBelow(*below));
        SONDE_ASSIGN(auto inside, of(child.module));
        made.addChild(child.name, std::move(inside));
    }
    return {};
}

}  // namespace sonde::trace
