#include "core/session/model_info.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <map>

#include "core/analysis/infer.h"
#include "core/analysis/seen_types.h"
#include "core/analysis/weights/weight_table.h"
#include "core/base/mapped_file.h"
#include "core/base/one_line.h"
#include "core/document/format_onnx.h"
#include "core/document/format_plugin.h"
#include "core/document/output_check.h"
#include "core/document/sha256.h"
#include "core/exec/plan.h"
#include "core/exec/recording.h"
#include "core/exec/runner.h"
#include "core/graph/missing_data.h"
#include "core/graph/source_files.h"
#include "core/io/onnx/model_facts.h"

namespace sonde::session {

namespace {

namespace fs = std::filesystem;

base::Result<ModelFile> fileOf(const std::shared_ptr<const base::MappedFile>& file, bool hashes,
                               const base::WorkContext& work) {
    ModelFile result{file->path().string(), file->sizeBytes(), {}};
    if (!hashes) return result;
    SONDE_ASSIGN(result.sha256, document::sha256(file->bytes(), work));
    if (file->hasChanged()) return file->changeError("model file");
    return result;
}

/// Properties of these names are said elsewhere.
bool isSaidElsewhere(const std::string& name) {
    return name == "file size" || name == "producer" || name == "opset" || name == "functions";
}

base::Result<FileFacts> factsOf(const document::Document& document, bool hashes, const base::WorkContext& work) {
    FileFacts facts;
    facts.path = document.location;
    facts.format = document.format;
    std::error_code ignored;
    const fs::path path = document::splitModelPath(document.location).first;
    std::shared_ptr<const base::MappedFile> own;
    for (const auto& file : graph::filesOf(document.graph)) {
        if (!own && document::isSameFile(file->path(), path)) {
            own = file;
            continue;
        }
        SONDE_ASSIGN(ModelFile external, fileOf(file, hashes, work));
        const bool isKnown = std::ranges::any_of(
            facts.external, [&](const ModelFile& other) { return document::isSameFile(other.path, external.path); });
        if (!isKnown) facts.external.push_back(std::move(external));
    }
    if (!own && fs::is_regular_file(path, ignored)) {
        SONDE_ASSIGN(own, base::MappedFile::open(path));
    }
    if (own) {
        SONDE_ASSIGN(facts.file, fileOf(own, hashes, work));
        facts.file->path = path.string();
    }
    const bool isOnnx = document.format == document::onnxFormat().name;
    if (own && isOnnx) {
        io::OnnxFacts onnx = io::onnxFacts(*own);
        facts.producer =
            onnx.producer + (onnx.producer.empty() || onnx.producerVersion.empty() ? "" : " ") + onnx.producerVersion;
        facts.opsets = std::move(onnx.opsets);
        facts.metadata = std::move(onnx.metadata);
        facts.functions = std::move(onnx.functions);
        facts.defaults = std::move(onnx.defaults);
        facts.docStrings = std::move(onnx.docStrings);
    }
    for (const auto& property : document.properties) {
        const bool isMetadata = std::ranges::find(facts.metadata, property) != facts.metadata.end();
        if (!isSaidElsewhere(property.first) && !isMetadata) facts.properties.push_back(property);
        if (!isOnnx && property.first == "producer" && facts.producer.empty()) facts.producer = property.second;
    }
    return facts;
}

std::vector<DTypeBytes> bytesByDType(const analysis::ModelCounts& counts) {
    std::map<tensor::DType, DTypeBytes> sums;
    for (const analysis::StoredTensor& tensor : counts.tensors) {
        if (tensor.size.byDType.empty()) continue;
        DTypeBytes& sum = sums[tensor.size.byDType.begin()->first];
        sum.dtype = tensor.size.byDType.begin()->first;
        sum.tensors += tensor.size.tensors;
        sum.elements += tensor.size.elements;
        sum.bytes += tensor.size.bytes;
    }
    std::vector<DTypeBytes> all;
    for (const auto& [dtype, sum] : sums) all.push_back(sum);
    std::ranges::stable_sort(all, [](const DTypeBytes& a, const DTypeBytes& b) { return a.bytes > b.bytes; });
    return all;
}

std::vector<analysis::NamedValue> named(const std::vector<document::NamedNode>& nodes) {
    std::vector<analysis::NamedValue> values;
    for (const document::NamedNode& node : nodes) values.push_back({node.name, node.node});
    return values;
}

/// In the order of the graph's inputs.
std::vector<tensor::Value> forGraph(const document::Document& document, const std::vector<tensor::Value>& values) {
    const std::vector<graph::NodeId>& inputs = document.graph->inputs();
    std::vector<tensor::Value> ordered(inputs.size());
    for (std::size_t i = 0; i < document.inputs.size() && i < values.size(); ++i) {
        const auto at = std::ranges::find(inputs, document.inputs[i].node);
        if (at != inputs.end()) ordered[static_cast<std::size_t>(at - inputs.begin())] = values[i];
    }
    return ordered;
}

/// What a count needs of a run: types, and how often bodies ran.
class CostObserver : public exec::RunObserver {
  public:
    explicit CostObserver(const std::shared_ptr<const graph::InternalGraph>& graph)
        : m_seen(graph), m_runs(graph->bodyCount(), 0) {}

    void exprFinished(graph::ExprId expr, std::span<const tensor::Value> outputs, std::int64_t) override {
        m_seen.add(expr, outputs);
    }
    void bodyStarted(graph::BodyId body, std::span<const tensor::Value>, std::int64_t) override {
        ++m_runs[body.index()];
    }
    std::map<graph::NodeId, tensor::TypeInfo> types() const { return m_seen.types(); }
    const analysis::BodyRuns& runs() const { return m_runs; }

  private:
    analysis::SeenTypes m_seen;
    analysis::BodyRuns m_runs;
};

bool isSettled(const analysis::ModelCost& cost) {
    return cost.total.flops.constant() && cost.total.multiplyAdds.constant() && cost.assumptions.empty() &&
           cost.notCounted.empty() && cost.bytesUnknown == 0;
}

/// Tensors of which not even the rank is known.
std::vector<std::string> inputsWithoutSizes(const document::Document& document, const graph::InternalGraph& graph) {
    std::vector<std::string> names;
    for (const document::NamedNode& input : document.inputs) {
        const tensor::TypeInfo& type = graph.node(input.node).type;
        if ((type.isTensor() || !type.kind) && !type.shape) names.push_back(input.name);
    }
    return names;
}

base::Result<void> addCost(ModelInfo& info, const document::Document& document, const ModelInfoRequest& request,
                           const base::WorkContext& work) {
    info.graph = request.typed ? request.typed : document.graph;
    info.costBasis = "symbolic";
    if (!request.inputs.empty()) {
        const std::vector<tensor::Value> inputs = forGraph(document, request.inputs);
        const auto typed = [&](const std::map<graph::NodeId, tensor::TypeInfo>& seen) {
            return graph::withKeptOf(
                std::make_shared<const graph::InternalGraph>(analysis::typedFor(*document.graph, inputs, seen)),
                document.graph);
        };
        info.graph = typed({});
        info.costBasis = request.inputsAre;
        info.cost = analysis::costOfModel(*info.graph, *document.modules);
        if (isSettled(info.cost)) return {};
        // Shapes and counts that depend on the data.
        work.report("running the model for its cost");
        if (const auto complete = graph::checkComplete(document.graph); !complete) {
            info.notes.push_back("the model was not run for its cost, which is what shapes tell: " +
                                 complete.error().what);
            return {};
        }
        SONDE_ASSIGN(const auto plan, exec::Plan::make(document.graph, {}));
        exec::Runner runner(request.threads);
        CostObserver observer(document.graph);
        exec::RunOptions options;
        options.seed = request.seed;
        options.observer = &observer;
        options.keepsWatched = false;
        const exec::Recording recording = runner.run(*plan, inputs, work, options);
        if (work.cancelled()) return base::cancelled("running the model for its cost");
        if (recording.error) {
            info.notes.push_back("the run on " + request.inputsAre + " failed, so that the cost is what shapes tell: " +
                                 base::oneLine(recording.error->text()));
            return {};
        }
        info.graph = typed(observer.types());
        info.costBasis = "a run on " + request.inputsAre;
        info.cost = analysis::costOfModel(*info.graph, *document.modules, &observer.runs());
        return {};
    }
    info.cost = analysis::costOfModel(*info.graph, *document.modules);
    const bool isNumber = info.cost.total.flops.constant() && info.cost.total.multiplyAdds.constant();
    const std::vector<std::string> open = inputsWithoutSizes(document, *info.graph);
    if (isNumber && !info.cost.notCounted.empty() && !open.empty())
        info.costBasis = fmt::format("what can be told without the sizes of {}", fmt::join(open, ", "));
    else if (isNumber) info.costBasis = request.typed ? "the sizes of the last run" : "the model's own input sizes";
    return {};
}

}  // namespace

bool isTiedParameter(const analysis::StoredTensor& tensor) {
    return tensor.kind == analysis::StoredKind::Parameter && tensor.isTied();
}

bool isUnusedTensor(const analysis::StoredTensor& tensor) { return analysis::isUnused(tensor); }

base::Result<ModelInfo> modelInfo(const document::Document& document, const ModelInfoRequest& request,
                                  const base::WorkContext& work) {
    ModelInfo info;
    SONDE_ASSIGN(info.file, factsOf(document, request.hashes, work));
    info.counts = analysis::countParameters(*document.graph, *document.modules, document.original.get());
    info.byDType = bytesByDType(info.counts);
    info.summary = analysis::summaryOf(*document.graph);
    info.structure = analysis::structureOf(*document.graph);
    if (work.cancelled()) return base::cancelled("summarising the model");
    SONDE_TRY(addCost(info, document, request, work));
    info.dimensions = analysis::dynamicDimensions(*document.graph, named(document.inputs), named(document.outputs));
    if (info.graph != document.graph) analysis::bindDimensions(info.dimensions, *document.graph, *info.graph);
    if (work.cancelled()) return base::cancelled("summarising the model");
    info.fields = analysis::receptiveFields(*info.graph);
    return info;
}

}  // namespace sonde::session
