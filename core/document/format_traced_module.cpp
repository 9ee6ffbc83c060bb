#include "core/document/format_traced_module.h"

#include "core/document/evaluator.h"
#include "core/document/finish.h"
#include "core/document/traced_model.h"
#include "core/document/tracer_traced_module.h"
#include "core/io/traced_module/traced_module_file.h"

namespace sonde::document {

namespace {

/// What the example of the saved trace was: types of the graph's inputs, by parameter.
std::vector<KnownInput> inputsOf(const trace::TracedModule& module) {
    std::vector<KnownInput> inputs;
    if (module.entries().size() != 1) return inputs;
    for (const trace::TracedNode* node : module.entries().front().graph->inputs()) {
        if (!node->isModule()) inputs.push_back({node->name(), node->type()});
    }
    return inputs;
}

base::Result<std::shared_ptr<Document>> openTracedModule(const std::filesystem::path& path, const OpenOptions& options,
                                                         const base::WorkContext& work) {
    work.report("reading " + path.filename().string());
    SONDE_ASSIGN(const std::shared_ptr<const base::MappedFile> file, base::MappedFile::open(path));
    const trace::EvaluatorScope evaluator(kernelEvaluator());
    SONDE_ASSIGN(const std::shared_ptr<trace::TracedModule> module, io::loadTracedModule(path));
    const std::vector<KnownInput> inputs = inputsOf(*module);
    // The file holds graphs already; they are traced anew only if another way of tracing is asked for.
    const bool asSaved = (options.tracer.empty() || options.tracer == "traced-module") && options.leaves.empty() &&
                         options.concrete.empty() && options.inputData.empty();
    std::shared_ptr<Document> document;
    if (asSaved) {
        SONDE_ASSIGN(TracedGraph graph, graphOfTracedModule(module, options));
        document = documentOf(std::move(graph), options, inputs, work);
    } else {
        SONDE_ASSIGN(document, traceModel(module, options, inputs, work));
    }
    document->title = path.filename().string();
    document->location = path.string();
    document->format = "TracedModule";
    document->properties = {{"class", module->className()},
                            {"format version", std::to_string(io::kTracedModuleVersion)},
                            {"file size", std::to_string(file->sizeBytes()) + " bytes"}};
    document->fingerprint = fingerprintOf(file->bytes());
    return document;
}

}  // namespace

Format tracedModuleFormat() {
    return {
        "traced-module",
        "TracedModule",
        "Traced modules that Sonde has saved (.sondetm)",
        {"sondetm"},
        [](std::span<const std::byte> head, const std::filesystem::path&) { return io::looksLikeTracedModule(head); },
        openTracedModule};
}

}  // namespace sonde::document
