#include "core/document/format_onnx.h"

#include <algorithm>

#include "core/analysis/infer.h"
#include "core/analysis/parameters.h"
#include "core/base/mapped_file.h"
#include "core/document/finish.h"
#include "core/document/found_modules.h"
#include "core/graph/inline_calls.h"
#include "core/graph/missing_data.h"
#include "core/graph/traits.h"
#include "core/io/onnx/onnx_reader.h"
#include "core/passes/gradient.h"

namespace sonde::document {

namespace {

bool recognisesOnnx(std::span<const std::byte> head, const std::filesystem::path& path) {
    std::error_code code;
    const std::uintmax_t size = std::filesystem::file_size(path, code);
    return !code && io::looksLikeOnnx(head, static_cast<std::size_t>(size));
}

/// Gradients become operators, for whose rules shapes are inferred first; the findings of that come again when it is
/// done.
void unfoldGradients(Document& document, graph::InternalGraph& graph) {
    const auto isGradient = [&graph](graph::ExprId id) {
        return graph::traitsOf(graph.expr(id)).opClass == operators::OpClass::Gradient;
    };
    if (std::none_of(graph.main().order.begin(), graph.main().order.end(), isGradient)) return;
    base::Diagnostics ignored;
    analysis::inferTypes(graph, ignored);
    passes::expandGradients(graph, document.diagnostics);
}

/// The model can be looked at without: what needs values refuses (graph::checkComplete).
void tellMissing(Document& document, const graph::MissingFiles& missing) {
    for (const graph::MissingFile& file : missing)
        document.diagnostics.push_back({base::Severity::Warning, file.text(), file.tensorsText(3),
                                        file.hint() + ": until then the model cannot be run"});
}

base::Result<std::shared_ptr<Document>> openOnnx(const std::filesystem::path& path, const OpenOptions& options,
                                                 const base::WorkContext& work) {
    if (!options.tracer.empty() || !options.leaves.empty() || !options.concrete.empty()) {
        return base::usageError("an ONNX file is already a graph: it cannot be traced with options", path.string(),
                                "leave out --tracer, --leaf and --concrete");
    }
    SONDE_ASSIGN(const std::shared_ptr<const base::MappedFile> file, base::MappedFile::open(path));
    SONDE_ASSIGN(io::OnnxModel model, io::readOnnx(file, work, io::MissingData::Listed));
    if (options.flatten) model.graph = graph::withoutHierarchy(model.graph).graph;
    else if (options.groups) addFoundModules(model.graph, model.modules, model.diagnostics);
    analysis::listParameters(model.graph, model.modules);
    auto document = std::make_shared<Document>();
    document->title = path.filename().string();
    document->location = path.string();
    document->format = "ONNX";
    document->properties = std::move(model.properties);
    document->properties.emplace_back("file size", std::to_string(file->sizeBytes()) + " bytes");
    document->diagnostics = std::move(model.diagnostics);
    for (graph::NodeId input : model.graph.inputs()) {
        document->inputs.push_back({model.graph.expr(model.graph.node(input).producer).target, input});
    }
    document->fingerprint = fingerprintOf(file->bytes());
    document->modules = std::make_shared<const graph::ModuleTree>(std::move(model.modules));
    unfoldGradients(*document, model.graph);
    const std::vector<graph::NodeId>& outputs = model.graph.outputs();
    for (std::size_t i = 0; i < outputs.size(); ++i) document->outputs.push_back({model.outputNames[i], outputs[i]});
    if (work.cancelled()) return base::cancelled("opening the model");
    tellMissing(*document, model.missing);
    finish(*document, std::move(model.graph), work);
    document->graph = graph::withMissing(std::move(document->graph), std::move(model.missing));
    if (work.cancelled()) return base::cancelled("inferring shapes");
    return document;
}

}  // namespace

Format onnxFormat() {
    return {"onnx", "ONNX", "ONNX models (.onnx), with their data files", {"onnx"}, recognisesOnnx, openOnnx};
}

}  // namespace sonde::document
