#include "core/export/write_export.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/mapped_file.h"
#include "core/document/input_infos.h"
#include "core/document/model_passes.h"
#include "core/document/optimize.h"
#include "core/document/output_check.h"
#include "core/export/form_check.h"
#include "core/export/lowering/onnx_graph.h"
#include "core/graph/missing_data.h"
#include "core/graph/source_files.h"
#include "core/io/traced_module/traced_module_file.h"
#include "core/ops/kernels/half_sums.h"

namespace sonde::exporting {

namespace {

/// What a runtime must have to run the graph: with `append` what the file lists already stays.
base::Result<void> writeStripInfo(const std::string& path, const graph::InternalGraph& graph, std::uint64_t hash,
                                  bool append) {
    using Json = nlohmann::ordered_json;
    std::set<std::string> operators, dtypes, modes;
    if (append) {
        std::ifstream known(path);
        const Json before = Json::parse(known, nullptr, false);
        const auto keep = [&before](const char* key, std::set<std::string>& into) {
            if (!before.is_object() || !before.contains(key) || !before[key].is_array()) return;
            for (const Json& each : before[key]) {
                if (each.is_string()) into.insert(each.get<std::string>());
            }
        };
        keep("opr_types", operators), keep("dtypes", dtypes), keep("elemwise_modes", modes);
    }
    collectStripInfo(graph, operators, dtypes, modes);
    const Json json{{"opr_types", operators}, {"dtypes", dtypes}, {"elemwise_modes", modes}, {"hash", hash}};
    std::ofstream file(path);
    file << json.dump(2) << '\n';
    return file ? base::Result<void>() : base::runError("the file cannot be written", path);
}

/// A file that is added to has such lists, or is not there yet.
base::Result<void> checkStripInfo(const std::string& path) {
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) return {};
    std::ifstream file(path);
    const auto known = nlohmann::json::parse(file, nullptr, false);
    for (const char* key : {"opr_types", "dtypes", "elemwise_modes"}) {
        if (!known.is_object() || !known.contains(key) || !known[key].is_array())
            return base::usageError("the file is no list of what a runtime must have", path,
                                    "leave out --append-json to replace it");
    }
    return {};
}

base::Result<std::string> bytesOf(const std::string& path) {
    SONDE_ASSIGN(const auto file, base::MappedFile::open(path));
    std::string bytes(reinterpret_cast<const char*>(file->bytes().data()), file->sizeBytes());
    SONDE_TRY(base::checkUnchanged({file}, "user info"));
    return bytes;
}

/// Writes to `stream`, or to the file if it is null.
base::Result<WrittenExport> writeAsDump(const Document& document, const ExportSettings& settings,
                                        const std::filesystem::path& path, std::ostream* stream,
                                        std::span<const tensor::Value> inputs, const base::WorkContext& work) {
    DumpOptions options = settings.dump;
    if (settings.appendJson && !settings.stripInfoFile.empty()) SONDE_TRY(checkStripInfo(settings.stripInfoFile));
    if (!settings.userInfoFile.empty()) {
        const document::FileRead source{settings.userInfoFile, "the file of the user info"};
        SONDE_TRY(document::checkOutput(path, "user-info-file", std::span(&source, 1)));
        SONDE_TRY(document::checkOutput(settings.stripInfoFile, "user-info-file", std::span(&source, 1)));
        SONDE_ASSIGN(options.userInfo, bytesOf(settings.userInfoFile));
    }
    for (const document::NamedNode& input : document.inputs) {
        const auto at = std::ranges::find(document.graph->inputs(), input.node) - document.graph->inputs().begin();
        if (static_cast<std::size_t>(at) < inputs.size())
            options.example.push_back(inputs[static_cast<std::size_t>(at)]);
    }
    if (options.example.size() != document.inputs.size()) options.example.clear();
    SONDE_ASSIGN(io::dump::DumpFile file, makeDump(document, settings.inputData, options, work));
    if (work.cancelled()) return base::cancelled("before the file was written");
    WrittenExport written;
    const io::dump::WriteOptions how{options.names, options.modelVersion, settings.append};
    SONDE_ASSIGN(written.dump, stream ? io::dump::writeDump(*stream, file, how) : io::dump::writeDump(path, file, how));
    if (!stream) written.files.push_back(path);
    if (!settings.stripInfoFile.empty()) {
        SONDE_TRY(writeStripInfo(settings.stripInfoFile, *file.graph, written.dump.contentHash, settings.appendJson));
        written.files.emplace_back(settings.stripInfoFile);
    }
    written.graph = std::move(file.graph);
    written.notes = std::move(file.notes);
    written.outputNames = std::move(file.outputNames);
    return written;
}

/// Without what Sonde says of ONNX's own operators, which checkers refuse: that they add up in float16 (ONNX leaves it
/// open what they add up in). The same graph if there is nothing of it.
std::shared_ptr<const graph::InternalGraph> standardForm(std::shared_ptr<const graph::InternalGraph> graph) {
    std::vector<graph::ExprId> marked;
    for (const graph::ExprId id : graph->recursiveOrder(graph->mainId())) {
        const graph::Expr& expr = graph->expr(id);
        if (expr.op.domain.empty() && expr.attributes.has(ops::kernels::kComputeMode)) marked.push_back(id);
    }
    if (marked.empty()) return graph;
    auto made = std::make_shared<graph::InternalGraph>(*graph);
    for (const graph::ExprId id : marked) made->mutableExpr(id).attributes.erase(ops::kernels::kComputeMode);
    return graph::withFiles(std::move(made), graph::filesOf(graph));
}

/// Runs what is to be written on the inputs of the model's run; a note says what is otherwise.
base::Result<void> compareWithModel(const Document& document, OnnxGraph& made, std::span<const tensor::Value> inputs,
                                    const base::WorkContext& work) {
    std::vector<std::string> names;
    for (const graph::NodeId node : made.graph->outputs()) names.push_back(made.graph->node(node).name);
    const std::vector<tensor::Value> given = inputsOfForm(*document.graph, inputs, *made.graph);
    const auto check = checkForm(made.graph, given, made.results, names, work);
    if (work.cancelled()) return base::cancelled("running the ONNX form");
    std::optional<std::string> problem =
        check ? check->problem : std::optional("does not run: " + check.error().text());
    if (problem)
        made.notes.push_back(
            {base::Severity::Warning, "on these inputs the ONNX file " + *problem, document.title, ""});
    return {};
}

base::Result<WrittenExport> writeAsOnnx(const Document& document, const ExportSettings& settings,
                                        const std::filesystem::path& path, std::span<const tensor::Value> inputs,
                                        const base::WorkContext& work) {
    // ONNX models are not run, and need no inputs.
    std::vector<tensor::Value> values(inputs.begin(), inputs.end());
    if (values.empty() && document.format != "ONNX") {
        SONDE_ASSIGN(const auto made, io::makeInputs("", document::inputInfos(document), {}, work));
        values.resize(document.graph->inputs().size());
        for (std::size_t i = 0; i < document.inputs.size(); ++i) {
            const auto at = std::ranges::find(document.graph->inputs(), document.inputs[i].node);
            values[static_cast<std::size_t>(at - document.graph->inputs().begin())] = made.front().values[i];
        }
    }
    SONDE_ASSIGN(OnnxGraph made, onnxGraph(document, values, work));
    made.graph = standardForm(std::move(made.graph));
    if (!made.results.empty()) SONDE_TRY(compareWithModel(document, made, values, work));
    io::OnnxWriteOptions options = settings.onnx;
    options.sources = graph::filesOf(document.graph);
    std::filesystem::path data = path;
    data += ".data";
    // A file of that name may be there already.
    std::error_code ignored;
    const auto before = std::filesystem::last_write_time(data, ignored);
    SONDE_TRY(io::writeOnnx(path, *made.graph, options, work));
    WrittenExport written{std::move(made.graph), std::move(made.notes), {}, {}, {path}};
    if (std::filesystem::exists(data, ignored) && std::filesystem::last_write_time(data, ignored) != before)
        written.files.push_back(std::move(data));
    return written;
}

base::Result<WrittenExport> writeAsTracedModule(const Document& document, const ExportSettings& settings,
                                                const std::filesystem::path& path, const base::WorkContext& work) {
    // The graphs of the modules get the changes that the reports tell.
    std::vector<std::string> passes;
    for (const passes::PassReport& report : document.passReports)
        if (!report.empty()) passes.push_back(report.pass);
    passes.insert(passes.end(), settings.passes.begin(), settings.passes.end());
    std::shared_ptr<const trace::TracedModule> saved = document.tracedModule;
    if (!passes.empty()) {
        SONDE_ASSIGN(saved, document::runModulePasses(*saved, passes, work));
    }
    SONDE_TRY(io::saveTracedModule(*saved, path, io::kTracedModuleLibrary, graph::filesOf(document.graph)));
    return WrittenExport{document.graph, {}, {}, {}, {path}};
}

}  // namespace

base::Result<void> checkExport(const Document& document, ExportFormat format) {
    SONDE_TRY(graph::checkComplete(document.graph));
    if (format == ExportFormat::TracedModule && !document.tracedModule)
        return base::usageError("only traced modules can be saved as one", document.location,
                                document.traced ? "trace the model with --tracer traced-module"
                                                : "this model has no modules that can be traced; TorchScript "
                                                  "archives, built-in models and C++ models have");
    return {};
}

base::Result<WrittenExport> writeExport(const Document& document, const ExportChoice& choice,
                                        const std::filesystem::path& path, std::span<const tensor::Value> inputs,
                                        const base::WorkContext& work) {
    SONDE_TRY(checkExport(document, choice.format));
    const ExportSettings& settings = choice.settings;
    switch (choice.format) {
        case ExportFormat::Dump: return writeAsDump(document, settings, path, nullptr, inputs, work);
        case ExportFormat::TracedModule: return writeAsTracedModule(document, settings, path, work);
        case ExportFormat::Onnx: break;
    }
    if (settings.passes.empty()) return writeAsOnnx(document, settings, path, inputs, work);
    Document changed = document;
    document::OpenOptions options = document.options;
    options.passes = settings.passes;
    SONDE_TRY(document::applyPasses(changed, options, work));
    return writeAsOnnx(changed, settings, path, inputs, work);
}

base::Result<WrittenExport> writeExport(const Document& document, const ExportChoice& choice, std::ostream& stream,
                                        std::span<const tensor::Value> inputs, const base::WorkContext& work) {
    if (choice.format != ExportFormat::Dump)
        return base::usageError("only dumps are written to a stream", document.location, "name a file");
    return writeAsDump(document, choice.settings, {}, &stream, inputs, work);
}

std::vector<document::ExportForm> exportForms(const std::shared_ptr<const Document>& document,
                                              const ExportChoice& choice, const std::vector<tensor::Value>& inputs) {
    std::vector<document::ExportForm> forms;
    for (ExportStep& step : exportSteps(choice)) {
        step.choice.settings.append = false;
        step.choice.settings.stripInfoFile.clear();
        forms.push_back({step.label,
                         [document, choice = step.choice, inputs](
                             const std::filesystem::path& path,
                             const base::WorkContext& work) -> base::Result<document::ExportForm::Files> {
                             SONDE_ASSIGN(WrittenExport written, writeExport(*document, choice, path, inputs, work));
                             return document::ExportForm::Files{std::move(written.files), std::move(written.notes)};
                         }});
    }
    return forms;
}

}  // namespace sonde::exporting
