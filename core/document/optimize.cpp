#include "core/document/optimize.h"

#include <map>

#include "core/document/evaluator.h"
#include "core/document/model_passes.h"
#include "core/io/inputs/inputs.h"
#include "core/passes/pass.h"
#include "core/trace/traced_module.h"
#include "core/trace/traced_module/fuse_conv_bn.h"
#include "core/trace/traced_module/inline_graph.h"
#include "core/trace/traced_module/traced_module_tracer.h"

namespace sonde::document {

namespace {

using trace::TracedModule;
using ChangeModule = base::Result<std::shared_ptr<TracedModule>> (*)(const TracedModule&);

/// The passes that change the graphs of modules, and not one graph of the whole.
const std::map<std::string_view, ChangeModule>& modulePasses() {
    static const std::map<std::string_view, ChangeModule> passes{{"fuse-conv-bn", trace::fuseConvBn}};
    return passes;
}

/// A pass that finds something to do in the whole graph would report what the module does not do.
base::Result<void> checkNothingLeft(const std::shared_ptr<TracedModule>& module, const passes::Pass& pass,
                                    const base::WorkContext& work) {
    SONDE_ASSIGN(const auto inlined, trace::inlineTracedModule(module));
    passes::PassContext context;
    context.evaluate = passEvaluator();
    const std::string id(pass.id);
    SONDE_ASSIGN(const auto result, passes::runPasses(*inlined.graph, std::span(&id, 1), context, work));
    std::size_t changes = 0;
    for (const passes::PassReport& report : result.reports) changes += report.count;
    if (changes == 0) return {};
    return base::Error(base::usageError("pass " + id + " makes " + std::to_string(changes) +
                                            " changes that a traced module cannot hold with its hierarchy",
                                        module->className()))
        .withHint("save the changed graph as ONNX: sonde save MODEL FILE.onnx --pass " + id);
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
    auto same = trace::compareResults(*expected, actual, 1e-4);
    if (!same) return base::runError("the optimised module returns another result: " + same.error().what);
    return {};
}

}  // namespace

base::Result<std::shared_ptr<TracedModule>> optimize(const TracedModule& module, const std::vector<std::string>& passes,
                                                     const base::WorkContext& work) {
    const trace::EvaluatorScope evaluator(kernelEvaluator());
    const auto original = module.clone();
    std::shared_ptr<TracedModule> made = original;
    for (const std::string& name : passes) {
        SONDE_ASSIGN(const passes::Pass* pass, passes::findPass(name));
        if (work.cancelled()) return base::cancelled("before pass " + std::string(pass->id));
        if (const auto own = modulePasses().find(pass->id); own != modulePasses().end()) {
            SONDE_ASSIGN(made, own->second(*made));
        }
        SONDE_TRY(checkNothingLeft(made, *pass, work));
    }
    SONDE_TRY(checkSameResults(*original, *made, work));
    return made;
}

}  // namespace sonde::document
