#include "core/ort/target.h"

#include <algorithm>

#include "core/analysis/injection.h"
#include "core/base/mapped_file.h"
#include "core/document/document.h"
#include "core/export/write_export.h"
#include "core/io/onnx/onnx_writer.h"
#include "core/ort/reference.h"
#include "core/ort/work_folder.h"

namespace sonde::ort {

using document::Document;
using graph::InternalGraph;
using graph::NodeId;
using tensor::Value;

namespace {

bool isComputed(const InternalGraph& graph, NodeId node) {
    const graph::Expr& expr = graph.expr(graph.node(node).producer);
    return expr.body == graph.mainId() && !expr.op.name.empty() && expr.kind != graph::ExprKind::Input &&
           expr.kind != graph::ExprKind::Constant && expr.kind != graph::ExprKind::GetAttr;
}

std::string bytesOf(const base::MappedFile& file) {
    return {reinterpret_cast<const char*>(file.bytes().data()), file.sizeBytes()};
}

}  // namespace

EngineTarget::EngineTarget(std::shared_ptr<const Document> document, std::vector<Value> inputs, EngineOptions options)
    : m_document(std::move(document)), m_inputs(std::move(inputs)), m_options(std::move(options)) {
    const InternalGraph& graph = *m_document->graph;
    for (const graph::ExprId id : graph.main().order)
        for (const NodeId node : graph.expr(id).outputs)
            if (isComputed(graph, node)) m_matched.push_back(node);
}

base::Result<analysis::BisectTarget::Values> EngineTarget::run(const Values& given, std::span<const NodeId> wanted,
                                                               const base::WorkContext& work) {
    return given.empty() ? runFile(wanted, work) : runGraph(given, wanted, work);
}

base::Result<analysis::BisectTarget::Values> EngineTarget::runFile(std::span<const NodeId> wanted,
                                                                   const base::WorkContext& work) {
    SONDE_ASSIGN(const EngineReference reference, engineReference(*m_document, m_inputs, m_options, work));
    m_version = reference.version;
    std::map<std::string_view, const tensor::Tensor*> byKey;
    for (const auto& [key, tensor] : reference.arrays) byKey.emplace(key, &tensor);
    Values values;
    for (const NodeId node : wanted) {
        const auto found = byKey.find("node." + m_document->graph->node(node).name);
        if (found != byKey.end()) values.emplace(node, Value(*found->second));
    }
    return values;
}

base::Result<analysis::BisectTarget::Values> EngineTarget::runGraph(const Values& given, std::span<const NodeId> wanted,
                                                                    const base::WorkContext& work) {
    std::vector<NodeId> places;
    for (const auto& [node, value] : given)
        if (value.isTensor()) places.push_back(node);
    const std::size_t before = m_document->graph->inputs().size();
    const auto injected = analysis::withInjected(m_document->graph, places);
    auto graph = std::make_shared<InternalGraph>(*injected);
    EngineTask task;
    for (std::size_t i = 0; i < m_document->inputs.size(); ++i)
        if (const Value value = valueOf(*m_document, i, m_inputs); value.isTensor())
            task.inputs.emplace_back(m_document->inputs[i].name, value.tensor());
    for (std::size_t i = 0; i < places.size(); ++i) {
        const NodeId input = graph->inputs()[before + i];
        const tensor::Tensor& tensor = given.at(places[i]).tensor();
        graph->setType(input, tensor::TypeInfo::of(Value(tensor)));
        task.inputs.emplace_back(graph->node(input).name, tensor);
    }
    std::vector<graph::Argument> results;
    for (const NodeId node : wanted) {
        results.push_back(graph::Argument::of(node));
        task.outputs.push_back(graph->node(node).name);
    }
    graph->setResult(graph->mainId(), graph::Argument::container(graph::Argument::Kind::List, std::move(results)));
    WorkFolder folder;
    SONDE_TRY(folder.make());
    const auto path = folder.path() / "injected.onnx";
    SONDE_TRY(io::writeOnnx(path, *graph, {}, work));
    SONDE_ASSIGN(const auto file, base::MappedFile::open(path));
    const std::string bytes = bytesOf(*file);
    task.model = bytes;
    task.weightsFolder = folder.path();
    SONDE_ASSIGN(const EngineRun run, runInEngine(task, m_options, work));
    Values values;
    for (const NodeId node : wanted) {
        const auto found = run.values.find(graph->node(node).name);
        if (found != run.values.end()) values.emplace(node, Value(found->second));
    }
    return values;
}

base::Result<std::shared_ptr<const Document>> onnxForm(const std::shared_ptr<const Document>& document,
                                                       const std::vector<Value>& inputs,
                                                       const std::filesystem::path& folder, bool hasEdits,
                                                       const base::WorkContext& work) {
    if (isItsFile(*document) && !hasEdits) return document;
    exporting::ExportChoice choice;
    choice.format = exporting::ExportFormat::Onnx;
    const auto path = folder / "exported.onnx";
    SONDE_TRY(exporting::writeExport(*document, choice, path, inputs, work));
    return document::open(path.string(), {}, work);
}

}  // namespace sonde::ort
