#include "core/export/inference/inference_form.h"

#include <algorithm>

#include "core/document/model_passes.h"
#include "core/export/inference/export_passes.h"
#include "core/export/lowering/onnx_graph.h"

namespace sonde::exporting {

using graph::InternalGraph;
using graph::NodeId;
using tensor::Value;

namespace {

/// A convolution that took in its norm has the norm's value, and gets its name: under its own it would be compared with
/// what the model's convolution computes.
void renameRevalued(InternalGraph& graph, const std::vector<passes::PassReport>& reports) {
    for (const passes::PassReport& report : reports) {
        for (const passes::NodeChange& change : report.changed) {
            if (!change.newValue || graph.isErased(graph.node(change.node).producer)) continue;
            const auto gone = std::ranges::find(report.went, change.node, &passes::NodeChange::replacedBy);
            std::string name = gone == report.went.end() ? change.name + "_fused" : gone->name;
            if (!graph.findNode(name).valid()) (void)graph.rename(change.node, std::move(name));
        }
    }
}

}  // namespace

io::dump::InferenceOptions withoutStaticForms(const io::dump::InferenceOptions& options) {
    io::dump::InferenceOptions plain;
    plain.fuseGrain = options.fuseGrain;
    // A request to who runs the dump: here weights are packed once for each plan in any case.
    plain.weightPreprocess = options.weightPreprocess;
    return plain;
}

bool needsStaticForm(const io::dump::InferenceOptions& options) {
    return options.bits() != withoutStaticForms(options).bits();
}

base::Result<Document> staticForm(const Document& document, std::span<const Value> inputs,
                                  const base::WorkContext& work) {
    const std::vector<NodeId>& all = document.graph->inputs();
    std::vector<Value> values(all.size());
    for (std::size_t i = 0; i < inputs.size() && i < document.inputs.size(); ++i) {
        const auto at = std::ranges::find(all, document.inputs[i].node);
        if (at != all.end()) values[static_cast<std::size_t>(at - all.begin())] = inputs[i];
    }
    SONDE_ASSIGN(const OnnxGraph made, onnxGraph(document, values, work));
    Document result = document;
    result.graph = made.graph;
    if (made.graph == document.graph) return result;
    result.inputs.clear();
    for (const document::NamedNode& input : document.inputs) {
        const NodeId node = made.graph->findNode(document.graph->node(input.node).name);
        if (node.valid() && std::ranges::find(made.graph->inputs(), node) != made.graph->inputs().end())
            result.inputs.push_back({input.name, node});
    }
    result.diagnostics.insert(result.diagnostics.end(), made.notes.begin(), made.notes.end());
    return result;
}

base::Result<std::shared_ptr<InternalGraph>> optimisedForInference(const InternalGraph& graph,
                                                                   const io::dump::InferenceOptions& options,
                                                                   int optLevel, const base::WorkContext& work,
                                                                   AppliedOptions* applied) {
    passes::PassContext context;
    context.evaluate = document::passEvaluator();
    std::vector<std::string> ids{"fuse-conv-bn", "remove-identity", "fold-constant", "merge-duplicates",
                                 "remove-dead-code"};
    if (optLevel > 0) ids.insert(ids.begin(), "simplify-arithmetic");
    SONDE_ASSIGN(passes::PassResult always, passes::runPasses(graph, ids, context, work));
    renameRevalued(*always.graph, always.reports);
    passes::Notes notes;
    passes::Rewrite rewrite(*always.graph, notes);
    const auto did = [&](const std::string& name, base::Result<std::size_t> count) -> base::Result<void> {
        if (!count) return std::move(count).error();
        if (applied && *count > 0) applied->emplace_back(name, *count);
        return {};
    };
    if (options.fuseGrain) SONDE_TRY(did(std::string(kFuseGrain), fuseGrain(rewrite)));
    if (options.fusePreprocess) SONDE_TRY(did("enable_fuse_preprocess", fusePreprocess(rewrite)));
    if (options.ioc16 || options.io16xc32)
        SONDE_TRY(did(options.ioc16 ? "enable_ioc16" : "enable_io16xc32", toHalf(rewrite, options.ioc16)));
    if (!options.layout.empty()) {
        // Sums are not taken in by layouts whose kernels have none.
        const bool takesSums = options.layout == "nchw4" || options.layout == "nchw32" || options.layout == "nchw64" ||
                               options.layout == "chwn4";
        SONDE_TRY(fuseConvBias(rewrite, true));
        if (takesSums) SONDE_TRY(fuseConvBiasWithZ(rewrite));
        SONDE_TRY(did("enable_" + options.layout, toLayout(rewrite, options.layout)));
    }
    if (options.fuseConvBiasNonlinearity || options.fuseConvBiasWithZ)
        SONDE_TRY(did("enable_fuse_conv_bias_nonlinearity", fuseConvBias(rewrite)));
    if (options.fuseConvBiasWithZ) SONDE_TRY(did("enable_fuse_conv_bias_with_z", fuseConvBiasWithZ(rewrite)));
    const std::vector<std::string> last{"merge-duplicates", "remove-dead-code"};
    SONDE_ASSIGN(passes::PassResult made, passes::runPasses(*always.graph, last, context, work));
    return made.graph;
}

}  // namespace sonde::exporting
