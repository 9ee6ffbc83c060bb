#include "core/document/optimize.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/document/evaluator.h"
#include "core/document/model_passes.h"
#include "core/document/module_graph_passes.h"
#include "core/io/inputs/inputs.h"
#include "core/passes/optimize_order.h"
#include "core/passes/pass.h"
#include "core/passes/shared_memory.h"
#include "core/trace/traced_module.h"
#include "core/trace/traced_module/builtin_graphs.h"
#include "core/trace/traced_module/fuse_conv_bn.h"
#include "core/trace/traced_module/inline_graph.h"
#include "core/trace/traced_module/module_graph.h"
#include "core/trace/traced_module/traced_module_tracer.h"

namespace sonde::document {

using graph::Expr;
using graph::ExprId;
using graph::ExprKind;
using graph::InternalGraph;
using graph::NodeId;
using trace::ModuleGraph;
using trace::TracedModule;

namespace {

enum class Reach { OwnGraphs, BuiltinsToo };

/// All graphs of a module and of those that were traced below it, each once; with Reach::BuiltinsToo also those of
/// built-in modules that have graphs.
void collectGraphs(const TracedModule& module, Reach reach, std::vector<std::shared_ptr<ModuleGraph>>& graphs,
                   std::set<const TracedModule*>& seen) {
    if ((module.isLibrary() && reach == Reach::OwnGraphs) || !seen.insert(&module).second) return;
    for (const TracedModule::Entry& entry : module.entries()) graphs.push_back(entry.graph);
    for (const trace::Module::Child& child : module.children())
        if (const auto* traced = dynamic_cast<const TracedModule*>(child.module.get()))
            collectGraphs(*traced, reach, graphs, seen);
}

/// Where stored tensors begin that the module, as a whole, may write to: they have no value that can be relied on.
base::Result<std::set<const std::byte*>> writtenTensors(const std::shared_ptr<TracedModule>& module) {
    SONDE_ASSIGN(const auto inlined, trace::inlineTracedModule(module));
    const InternalGraph& whole = *inlined.graph;
    const passes::SharedMemory memory(whole);
    std::set<const std::byte*> written;
    for (const ExprId id : whole.recursiveOrder(whole.mainId())) {
        const Expr& expr = whole.expr(id);
        for (const NodeId node : expr.outputs) {
            const auto& constant = whole.node(node).constant;
            if (constant && constant->isTensor() && memory.isWritten(node)) written.insert(constant->tensor().bytes());
        }
    }
    return written;
}

/// Runs a pass on each graph by itself, calls of modules being opaque (but for `layers`), and puts what it made of them
/// back. Weights
/// count as known unless the module may write to them. Needs an EvaluatorScope. After an error the module is to be
/// thrown away.
base::Result<void> runInGraphs(const std::shared_ptr<TracedModule>& module, const passes::Pass& pass, Reach reach,
                               const base::WorkContext& work, trace::LayerModules* layers = nullptr) {
    std::vector<std::shared_ptr<ModuleGraph>> graphs;
    std::set<const TracedModule*> seen;
    collectGraphs(*module, reach, graphs, seen);
    SONDE_ASSIGN(const auto written, writtenTensors(module));
    trace::BuiltinGraphs builtins(*module);
    for (const auto& each : graphs) {
        if (work.cancelled()) return base::cancelled("in pass " + std::string(pass.id));
        SONDE_TRY(runPassOn(*each, {builtins, written, layers}, pass, work));
    }
    return {};
}

/// The same within built-in modules: they get the graphs that a file has of them, and these are changed.
base::Result<void> runInBuiltins(const std::shared_ptr<TracedModule>& module, const passes::Pass& pass,
                                 const base::WorkContext& work) {
    SONDE_TRY(trace::BuiltinGraphs(*module).replaceBelow(*module));
    return runInGraphs(module, pass, Reach::BuiltinsToo, work);
}

using ChangeModule = base::Result<std::shared_ptr<TracedModule>> (*)(const TracedModule&);

/// Passes that change modules and the graphs that call them; others run in each graph by itself.
const std::map<std::string_view, ChangeModule>& modulePasses() {
    static const std::map<std::string_view, ChangeModule> passes{{"fuse-conv-bn", trace::fuseConvBn}};
    return passes;
}

/// How many changes a pass would make in the whole graph, which it does not make in the graphs of the modules.
base::Result<std::size_t> changesLeft(const std::shared_ptr<TracedModule>& module, const passes::Pass& pass,
                                      const base::WorkContext& work) {
    SONDE_ASSIGN(const auto inlined, trace::inlineTracedModule(module));
    InternalGraph whole(*inlined.graph);
    for (const ExprId id : whole.recursiveOrder(whole.mainId())) {
        Expr& expr = whole.mutableExpr(id);
        // What is a constant in its graph is read like an attribute in the whole.
        if (expr.kind == ExprKind::GetAttr && expr.target.starts_with("_tensor_constant"))
            expr.kind = ExprKind::Constant;
    }
    passes::PassContext context;
    context.evaluate = passEvaluator();
    const std::string id(pass.id);
    SONDE_ASSIGN(const auto result, passes::runPasses(whole, std::span(&id, 1), context, work));
    return changesIn(result.reports);
}

/// A pass that finds something to do in the whole graph would report what the module does not do.
base::Result<void> checkNothingLeft(const std::shared_ptr<TracedModule>& module, const passes::Pass& pass,
                                    const base::WorkContext& work) {
    SONDE_ASSIGN(const std::size_t changes, changesLeft(module, pass, work));
    if (changes == 0) return {};
    const std::string id(pass.id);
    return base::Error(base::usageError("pass " + id + " makes " + std::to_string(changes) +
                                            " changes that a traced module cannot hold with its hierarchy",
                                        module->className()))
        .withHint("save the changed graph as ONNX: sonde save MODEL -o FILE.onnx --pass " + id);
}

/// Results on random inputs of the recorded types; without such types nothing is compared.
base::Result<void> checkSameResults(TracedModule& before, TracedModule& after, const base::WorkContext& work) {
    if (before.entries().size() != 1) return {};
    std::vector<io::InputInfo> infos;
    for (const trace::TracedNode* node : before.entries().front().graph->inputs()) {
        if (node->isModule()) continue;
        if (!node->type().isTensor() || !node->type().shape) return {};
        infos.push_back({node->name(), node->type()});
    }
    SONDE_ASSIGN(const auto cases, io::makeInputs({}, infos, {}, work));
    if (cases.empty() || infos.size() != before.signature().size()) return {};
    const auto expected = before.run(cases.front().values);
    if (!expected) return {};  // other inputs than the example's may lead elsewhere
    SONDE_ASSIGN(const auto actual, after.run(cases.front().values));
    auto same = trace::compareResults(*expected, actual, 1e-4, 1);
    if (!same) return base::runError("the optimised module returns another result: " + same.error().what);
    return {};
}

}  // namespace

namespace {

/// Modules as a whole, graphs by themselves, graphs with the layers that they call, built-in modules: as far as needed.
base::Result<std::shared_ptr<TracedModule>> changedBy(const passes::Pass& pass, std::shared_ptr<TracedModule> made,
                                                      const base::WorkContext& work) {
    if (const auto own = modulePasses().find(pass.id); own != modulePasses().end()) {
        SONDE_ASSIGN(made, own->second(*made));
    } else {
        made = made->clone();
        SONDE_TRY(runInGraphs(made, pass, Reach::OwnGraphs, work));
    }
    SONDE_ASSIGN(std::size_t left, changesLeft(made, pass, work));
    if (left > 0) {
        trace::LayerModules layers(*made);
        SONDE_TRY(runInGraphs(made, pass, Reach::OwnGraphs, work, &layers));
        SONDE_ASSIGN(left, changesLeft(made, pass, work));
    }
    if (left > 0) SONDE_TRY(runInBuiltins(made, pass, work));
    return made;
}

base::Result<std::shared_ptr<TracedModule>> changedInOrder(const TracedModule& module,
                                                           const std::vector<std::string>& passes,
                                                           const std::set<std::string>& unasked,
                                                           const base::WorkContext& work) {
    const trace::EvaluatorScope evaluator(kernelEvaluator());
    const auto original = module.clone();
    std::shared_ptr<TracedModule> made = original;
    for (const std::string& name : passes) {
        SONDE_ASSIGN(const passes::Pass* pass, passes::findPass(name));
        if (work.cancelled()) return base::cancelled("before pass " + std::string(pass->id));
        SONDE_ASSIGN(made, changedBy(*pass, std::move(made), work));
        if (!unasked.contains(std::string(pass->id))) SONDE_TRY(checkNothingLeft(made, *pass, work));
    }
    SONDE_TRY(checkSameResults(*original, *made, work));
    return made;
}

}  // namespace

base::Result<std::shared_ptr<TracedModule>> runModulePasses(const TracedModule& module,
                                                            const std::vector<std::string>& passes,
                                                            const base::WorkContext& work) {
    return changedInOrder(module, passes, {}, work);
}

base::Result<std::shared_ptr<TracedModule>> optimize(const TracedModule& module, const std::vector<std::string>& passes,
                                                     const base::WorkContext& work, base::Diagnostics* findings) {
    std::set<std::string> asked;
    for (const std::string& name : passes) {
        SONDE_ASSIGN(const passes::Pass* pass, passes::findPass(name));
        asked.emplace(pass->id);
    }
    const std::vector<std::string> order = passes::optimizeOrder(passes);
    std::set<std::string> unasked;
    for (const std::string& id : order)
        if (!asked.contains(id)) unasked.insert(id);
    if (findings && unasked.contains("fuse-conv-bn")) findings->push_back(passes::forcedFuseConvBn());
    return changedInOrder(module, order, unasked, work);
}

}  // namespace sonde::document
