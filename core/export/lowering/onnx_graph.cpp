#include "core/export/lowering/onnx_graph.h"

#include <algorithm>

#include "core/exec/runner.h"
#include "core/export/lowering/dropped_checks.h"
#include "core/export/lowering/transcriber.h"

namespace sonde::exporting {

namespace {

bool isOnnx(const InternalGraph& graph) {
    for (ExprId id : graph.recursiveOrder(graph.mainId())) {
        const Expr& expr = graph.expr(id);
        if (expr.kind == ExprKind::Input || expr.kind == ExprKind::Constant) continue;
        if (expr.kind != ExprKind::Apply || expr.op.name.empty() || expr.op.domain == "aten") return false;
    }
    return true;
}

bool drawsNumbers(const InternalGraph& graph) {
    return std::ranges::any_of(graph.recursiveOrder(graph.mainId()),
                               [&](ExprId id) { return isRandom(graph.expr(id)); });
}

/// In the order in which a structure's parts become outputs; numbers as tensors.
void collectTensors(const Value& value, std::vector<Value>& tensors) {
    if (value.isTensor()) tensors.push_back(value);
    if (value.isNumber()) tensors.emplace_back(LoweredCall::scalarOf(value, Transcriber::dtypeOf(value)));
    if (value.isListLike())
        for (const Value& item : value.items()) collectTensors(item, tensors);
    if (value.kind() == tensor::ValueKind::Dict)
        for (const auto& [key, item] : value.dictItems()) collectTensors(item, tensors);
}

/// What a branch does that was not taken: the same run, where its condition has the other value, until it was reached.
/// Such a branch may be one that never ends: it is given up when it has done far more than the run before.
std::shared_ptr<RunLog> forcedRun(const std::shared_ptr<const InternalGraph>& source, ExprId branch, std::size_t side,
                                  const RunLog::Extent& before, exec::Runner& runner, std::span<const Value> inputs,
                                  const base::WorkContext& work) {
    constexpr std::size_t kMoreOperations = 10'000, kMoreBytes = std::size_t{256} << 20;
    InternalGraph changed = *source;
    std::vector<Argument> arguments = changed.expr(branch).arguments;
    if (arguments.empty()) return nullptr;
    arguments[0] = Argument::of(Value::ofBool(side == 0));
    changed.setArguments(branch, std::move(arguments), changed.expr(branch).keywords);
    const auto shared = std::make_shared<const InternalGraph>(std::move(changed));
    const auto plan = exec::Plan::make(shared, {.watchAll = true});
    if (!plan) return nullptr;
    const auto log = std::make_shared<RunLog>(*source);
    std::stop_source stop;
    log->stopAfter(source->expr(branch).bodies.at(side),
                   {2 * before.operations + kMoreOperations, 2 * before.bytes + kMoreBytes}, stop);
    const std::stop_callback whenCancelled(work.stop, [&stop] { stop.request_stop(); });
    base::WorkContext own;
    own.stop = stop.get_token();
    (void)runner.run(**plan, inputs, own, {.observer = log.get()});
    return log->isReached() && !work.cancelled() ? log : nullptr;
}

}  // namespace

base::Result<OnnxGraph> onnxGraph(const Document& document, std::span<const Value> inputs,
                                  const base::WorkContext& work) {
    if (isOnnx(*document.graph)) return OnnxGraph{document.graph, {}};
    // Parameters with a default may be left out.
    if (inputs.size() > document.graph->inputs().size() || (inputs.empty() && !document.graph->inputs().empty()))
        return base::usageError("writing the model in ONNX operators requires a run, and the run requires inputs",
                                document.location);
    // Everything is watched, so that every operation runs by itself.
    SONDE_ASSIGN(const auto plan, exec::Plan::make(document.graph, {.watchAll = true}));
    const auto log = std::make_shared<RunLog>(*document.graph);
    exec::Runner runner;
    exec::Recording recording = runner.run(*plan, inputs, work, {.observer = log.get()});
    if (recording.error) return std::move(*recording.error);
    SONDE_TRY(checkOpaqueCalls(document, "an ONNX file", [&](ExprId id) { return log->count(id) > 0; }));
    Transcriber transcriber(*document.graph, log, [&](ExprId branch, std::size_t side) {
        return forcedRun(document.graph, branch, side, log->extent(), runner, inputs, work);
    });
    for (std::size_t i = 0; i < inputs.size(); ++i) transcriber.addInput(document.graph->inputs()[i], inputs[i]);
    transcriber.write();
    if (work.cancelled()) return base::cancelled("writing the model in ONNX operators");
    OnnxGraph made;
    std::vector<std::string> names;
    for (const document::NamedNode& output : document.outputs) names.push_back(output.name);
    SONDE_ASSIGN(made.graph, transcriber.finish(names));
    made.notes = transcriber.takeNotes();
    if (!drawsNumbers(*document.graph))
        for (const Value& output : recording.outputs) collectTensors(output, made.results);
    if (made.results.size() != made.graph->outputs().size()) made.results.clear();
    const base::Diagnostics dropped = droppedChecks(*document.graph);
    made.notes.insert(made.notes.end(), dropped.begin(), dropped.end());
    return made;
}

}  // namespace sonde::exporting
