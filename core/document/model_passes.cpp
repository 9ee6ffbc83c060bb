#include "core/document/model_passes.h"

#include <algorithm>
#include <mutex>

#include "core/analysis/compare.h"
#include "core/analysis/infer.h"
#include "core/base/exception_text.h"
#include "core/document/input_infos.h"
#include "core/exec/runner.h"
#include "core/ops/registry/registry.h"

namespace sonde::document {

namespace {

using graph::Expr;
using graph::ExprKind;
using graph::InternalGraph;
using graph::NodeId;
using tensor::Value;

/// Inputs that passes are verified on: empty if the model does not say what it takes.
base::Result<std::vector<std::vector<Value>>> verificationInputs(const Document& document, const OpenOptions& options,
                                                                 const base::WorkContext& work) {
    const std::vector<io::InputInfo> inputs = inputInfos(document);
    for (const io::InputInfo& input : inputs) {
        const bool isKnown = input.type.isTensor() && input.type.dtype != tensor::DType::Undefined && input.type.shape;
        if ((!isKnown || input.isGuide) && options.inputData.empty()) return std::vector<std::vector<Value>>{};
    }
    SONDE_ASSIGN(std::vector<io::InputCase> cases, io::makeInputs(options.inputData, inputs, {}, work));
    std::vector<std::vector<Value>> values;
    for (io::InputCase& each : cases) {
        // Inputs with defaults are not among the document's; a run has one value for each input of the graph.
        std::vector<Value> all(document.graph->inputs().size());
        for (std::size_t i = 0; i < each.values.size() && i < document.inputs.size(); ++i) {
            const auto& nodes = document.graph->inputs();
            const auto at = std::find(nodes.begin(), nodes.end(), document.inputs[i].node);
            if (at != nodes.end()) all[static_cast<std::size_t>(at - nodes.begin())] = std::move(each.values[i]);
        }
        values.push_back(std::move(all));
    }
    return values;
}

base::Result<bool> sameOutputs(const std::shared_ptr<const InternalGraph>& before,
                               const std::shared_ptr<const InternalGraph>& after, const std::vector<Value>& inputs,
                               exec::Runner& runner, const base::WorkContext& work) {
    SONDE_ASSIGN(const auto planBefore, exec::Plan::make(before, {}));
    SONDE_ASSIGN(const auto planAfter, exec::Plan::make(after, {}));
    const exec::Recording expected = runner.run(*planBefore, inputs, work);
    if (expected.error && expected.error->kind == base::ErrorKind::Cancelled) return *expected.error;
    const exec::Recording actual = runner.run(*planAfter, inputs, work);
    if (expected.error) {
        if (actual.error)
            return actual.error->kind == base::ErrorKind::Cancelled ? base::Result<bool>(*actual.error) : false;
        return base::Error(*expected.error).withNote("the run failed before, and succeeds now");
    }
    if (actual.error) return base::Error(*actual.error).withNote("the run succeeded before");
    if (actual.outputs.size() != expected.outputs.size()) return base::runError("the number of outputs changed");
    for (std::size_t i = 0; i < expected.outputs.size(); ++i) {
        const auto a = analysis::asTensor(actual.outputs[i]);
        const auto b = analysis::asTensor(expected.outputs[i]);
        if (!a || !b) continue;
        const std::string where = "output " + std::to_string(i);
        if (a->dtype() != b->dtype())
            return base::runError("the dtype of an output changed: " + b->typeText() + " is " + a->typeText(), where);
        if (a->shape() != b->shape())
            return base::runError("the shape of an output changed: " + b->typeText() + " is " + a->typeText(), where);
        const analysis::Difference difference = analysis::difference(*a, *b, {1e-4, 1e-4});
        if (!difference.ok)
            return base::runError("an output changed by " + std::to_string(difference.maxAbsolute), where);
    }
    return true;
}

/// Outputs of an ONNX model have names that its users rely on: what stands for an output now takes its name.
void keepOutputNames(Document& document, InternalGraph& graph) {
    std::vector<NodeId> outputs = graph.outputs();
    for (std::size_t i = 0; i < outputs.size() && i < document.outputs.size(); ++i) {
        const std::string& name = document.outputs[i].name;
        if (graph.node(outputs[i]).name == name) continue;
        const Expr& producer = graph.expr(graph.node(outputs[i]).producer);
        const bool isShared = std::count(outputs.begin(), outputs.end(), outputs[i]) > 1;
        const bool isPlain = producer.kind == ExprKind::Input || producer.kind == ExprKind::Constant ||
                             producer.kind == ExprKind::GetAttr;
        if (graph.findNode(name).valid()) continue;
        if (!isShared && !isPlain) {
            (void)graph.rename(outputs[i], name);
        } else {
            Expr identity;
            identity.op = {"", "Identity", 13};
            for (graph::ExprId id : graph.main().order) {
                if (graph.expr(id).op.domain.empty() && graph.expr(id).op.version > 0)
                    identity.op.version = graph.expr(id).op.version;
            }
            identity.target = "Identity";
            identity.arguments = {graph::Argument::of(outputs[i])};
            outputs[i] = graph.expr(graph.addExpr(std::move(identity), std::span(&name, 1))).outputs.front();
        }
        for (passes::PassReport& report : document.passReports) {
            for (auto* changes : {&report.went, &report.came, &report.changed}) {
                for (passes::NodeChange& change : *changes) {
                    if (change.node == outputs[i] && changes != &report.went) change.name = name;
                    if (change.replacedBy == outputs[i]) change.replacedByName = name;
                }
            }
        }
    }
    std::vector<graph::Argument> items;
    for (NodeId output : outputs) items.push_back(graph::Argument::of(output));
    if (graph.main().result.kind == graph::Argument::Kind::Node)
        graph.setResult(graph.mainId(), std::move(items.front()));
    else if (graph.main().result.items.size() == items.size()) {
        graph.setResult(graph.mainId(), graph::Argument::container(graph.main().result.kind, std::move(items)));
    }
}

}  // namespace

passes::Evaluate passEvaluator() {
    struct Engine {
        std::mutex mutex;
        base::ThreadPool pool{1};
    };
    const auto engine = std::make_shared<Engine>();
    return [engine](const Expr& expr, std::span<const Value> arguments) -> base::Result<std::vector<Value>> {
        const ops::OpDef* op = ops::Registry::all().find(expr.op.domain, expr.op.name, expr.op.version);
        if (!op || !op->kernel || op->random) return base::runError("operator " + expr.op.name + " cannot be folded");
        std::vector<Value> values(arguments.begin(), arguments.end());
        if (!op->parameters.empty()) {
            if (values.size() > op->parameters.size()) return base::runError("too many arguments");
            for (std::size_t i = values.size(); i < op->parameters.size(); ++i) {
                if (!op->parameters[i].fallback) return base::runError("an argument is missing");
                values.push_back(*op->parameters[i].fallback);
            }
        }
        const std::scoped_lock lock(engine->mutex);
        ops::RunEnvironment environment;
        environment.pool = &engine->pool;
        environment.exact = true;
        try {
            return ops::call(*op, values, expr.attributes, expr.outputs.size(), environment, expr.op.version);
        } catch (const std::exception& exception) {
            return base::runError(base::exceptionText(exception));
        }
    };
}

decltype(passes::PassContext::compare) outputComparer(std::vector<std::vector<Value>> cases,
                                                      const base::WorkContext& work) {
    const auto runner = std::make_shared<exec::Runner>();
    return [cases = std::move(cases), runner, work](
               const std::shared_ptr<const InternalGraph>& before,
               const std::shared_ptr<const InternalGraph>& after) -> base::Result<bool> {
        bool compared = false;
        for (const std::vector<Value>& inputs : cases) {
            SONDE_ASSIGN(const bool same, sameOutputs(before, after, inputs, *runner, work));
            compared = compared || same;
        }
        return compared;
    };
}

base::Result<void> applyPasses(Document& document, const OpenOptions& options, const base::WorkContext& work) {
    if (options.passes.empty()) return {};
    passes::PassContext context;
    context.evaluate = passEvaluator();
    SONDE_ASSIGN(auto cases, verificationInputs(document, options, work));
    if (cases.empty()) {
        document.diagnostics.push_back({base::Severity::Info,
                                        "the passes were not verified: the model does not declare its inputs",
                                        {},
                                        "give --input-data to compare the outputs"});
    } else {
        context.compare = outputComparer(std::move(cases), work);
    }
    SONDE_ASSIGN(passes::PassResult result, passes::runPasses(*document.graph, options.passes, context, work));
    document.passReports = std::move(result.reports);
    document.diagnostics.insert(document.diagnostics.end(), result.diagnostics.begin(), result.diagnostics.end());
    if (document.format == "ONNX") keepOutputNames(document, *result.graph);
    const std::vector<NodeId>& outputs = result.graph->outputs();
    for (std::size_t i = 0; i < outputs.size() && i < document.outputs.size(); ++i)
        document.outputs[i].node = outputs[i];
    // Diagnostics about types were given for the graph before; only what is new is of interest now.
    base::Diagnostics findings;
    analysis::inferTypes(*result.graph, findings);
    document.original = document.graph;
    document.graph = std::move(result.graph);
    return {};
}

}  // namespace sonde::document
