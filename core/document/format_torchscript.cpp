#include "core/document/format_torchscript.h"

#include <algorithm>

#include "core/base/current_stop.h"
#include "core/base/mapped_file.h"
#include "core/document/evaluator.h"
#include "core/document/finish.h"
#include "core/document/traced_model.h"
#include "core/io/torchscript/eager.h"
#include "core/io/torchscript/script_module.h"

namespace sonde::document {

namespace {

OwnCode ownCodeOf(const std::shared_ptr<trace::Module>& root, const Document& document) {
    std::vector<std::string> names;
    for (const NamedNode& input : document.inputs) names.push_back(input.name);
    return [root, names](std::span<const tensor::Value> inputs,
                         const base::WorkContext& work) -> base::Result<OwnOutputs> {
        const base::StopScope stop(work.stop);
        const trace::EvaluatorScope evaluator(kernelEvaluator());
        std::vector<io::script::NamedInput> named;
        for (std::size_t i = 0; i < std::min(names.size(), inputs.size()); ++i) named.emplace_back(names[i], inputs[i]);
        SONDE_ASSIGN(io::script::EagerOutputs outputs, io::script::runEagerly(root, named));
        return OwnOutputs{std::move(outputs.values), std::move(outputs.reason), outputs.isRandom};
    };
}

base::Result<std::shared_ptr<Document>> openTorchScript(const std::filesystem::path& path, const OpenOptions& options,
                                                        const base::WorkContext& work) {
    work.report("reading " + path.filename().string());
    SONDE_ASSIGN(const auto archive, io::script::Archive::open(path));
    // Without leaves the archive's own graph is shown, node by node. Passes and the tracers that run on values work on
    // the form that is for people.
    const bool noLeaves = std::ranges::find(options.leaves, "none") != options.leaves.end();
    const bool recordsSymbols = options.tracer.empty() || options.tracer == "module-path" || options.tracer == "robust";
    archive->setAsWritten(noLeaves && recordsSymbols && options.passes.empty() && options.inputData.empty());
    const base::StopScope stop(work.stop);
    const trace::EvaluatorScope evaluator(kernelEvaluator());
    SONDE_ASSIGN(const auto module, io::script::makeRootModule(archive));
    auto traced = traceModel(module, options, {}, work);
    if (!traced) return traced.error().where.empty() ? traced.error().at(path.string()) : traced.error();
    const std::shared_ptr<Document> document = std::move(*traced);
    for (base::Diagnostic& finding : archive->sourceFindings()) document->diagnostics.push_back(std::move(finding));
    // The code knows nothing of values that --concrete fixes, nor of what passes may change.
    if (options.concrete.empty() && options.passes.empty() && archive->mayWrite())
        document->ownCode = ownCodeOf(module, *document);
    document->title = path.filename().string();
    document->location = path.string();
    document->format = "TorchScript";
    document->properties = {{"class", archive->root().object()->typeName()},
                            {"format version", std::to_string(archive->version())},
                            {"file size", std::to_string(archive->sizeBytes()) + " bytes"}};
    SONDE_ASSIGN(const auto file, base::MappedFile::open(path));
    document->fingerprint = fingerprintOf(file->bytes());
    return document;
}

}  // namespace

Format torchScriptFormat() {
    return {"torchscript",
            "TorchScript",
            "TorchScript archives of torch.jit.trace and torch.jit.script (.pt)",
            {"pt", "pth"},
            io::script::looksLikeTorchFile,
            openTorchScript};
}

}  // namespace sonde::document
