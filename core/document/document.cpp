#include "core/document/document.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "core/base/current_stop.h"
#include "core/base/mapped_file.h"
#include "core/document/finish.h"
#include "core/document/format_plugin.h"
#include "core/document/input_infos.h"
#include "core/document/model_passes.h"
#include "core/document/session_model.h"
#include "core/document/unknown_file.h"
#include "core/graph/missing_data.h"
#include "core/graph/source_files.h"
#include "core/io/inputs/inputs.h"

namespace sonde::document {

namespace {

using base::Result;
using base::usageError;

constexpr std::size_t kHeadBytes = 64 * 1024;

/// A file that is a graph already needs no example, and a robust trace runs nothing; one that cannot be read, or is of
/// another rank, is an error all the same.
Result<void> checkExample(const Document& document, const OpenOptions& options, const base::WorkContext& work) {
    const bool isFollowed = document.traced && options.tracer != "robust";
    if (isFollowed || options.inputData.empty()) return {};
    io::InputOptions given;
    given.hasDefault = defaultsOf(document);
    SONDE_TRY(io::makeInputs(options.inputData, inputInfos(document), given, work));
    return {};
}

/// What is done for every format once there is a graph.
Result<void> complete(Document& document, const OpenOptions& options, const base::WorkContext& work) {
    document.options = options;
    SONDE_TRY(checkExample(document, options, work));
    SONDE_TRY(applyPasses(document, options, work));
    findUnknownOperators(document);
    return {};
}

/// "zoo:resnet18" → (built-in models, "resnet18"); none for files.
std::optional<std::pair<const Format*, std::string>> formatOfName(std::string_view model) {
    const std::size_t colon = model.find(':');
    if (colon == 0 || colon == std::string_view::npos) return std::nullopt;
    const auto format = std::ranges::find(formats(), model.substr(0, colon), &Format::scheme);
    if (format == formats().end()) return std::nullopt;
    return std::pair(&*format, std::string(model.substr(colon + 1)));
}

Result<std::shared_ptr<Document>> openAny(const std::string& model, const OpenOptions& options,
                                          const base::WorkContext& work);

/// The model that a session file is about. readSessionModel() has seen that it is no session itself.
Result<std::shared_ptr<Document>> openOfSession(const std::filesystem::path& path, const OpenOptions& options,
                                                const base::WorkContext& work) {
    SONDE_ASSIGN(OpenedSession session, openSession(path, options));
    SONDE_ASSIGN(const OpenOptions own, sessionOptions(session, options));
    SONDE_ASSIGN(std::shared_ptr<Document> document, openAny(session.model, own, work));
    if (document->session) return base::unreadable("the model of the session is a session itself", path.string());
    document->session = std::make_shared<const OpenedSession>(std::move(session));
    return document;
}

Result<std::shared_ptr<Document>> openAny(const std::string& model, const OpenOptions& options,
                                          const base::WorkContext& work) {
    if (const auto named = formatOfName(model)) {
        SONDE_ASSIGN(const std::shared_ptr<Document> document, named->first->open(named->second, options, work));
        SONDE_TRY(complete(*document, options, work));
        return document;
    }
    const std::filesystem::path path(model);
    SONDE_ASSIGN(const std::shared_ptr<const base::MappedFile> file,
                 base::MappedFile::open(splitModelPath(model).first));
    const std::span<const std::byte> head = file->window(0, std::min(file->sizeBytes(), kHeadBytes));
    for (const Format& format : formats()) {
        if (!format.recognises || !format.recognises(head, path)) continue;
        if (!format.open) return openOfSession(path, options, work);
        if (!options.weights.empty() && !format.takesWeights) {
            return usageError("weights can be given to built-in models and models in C++ only", model,
                              "a file has its own weights: open it without --weights");
        }
        SONDE_ASSIGN(const std::shared_ptr<Document> document, format.open(path, options, work));
        SONDE_TRY(complete(*document, options, work));
        return document;
    }
    return unknownFile(path, head, file->sizeBytes());
}

/// Each file once, besides the mappings that tensors read: opening looks into a file several times.
base::MappedFiles withoutRepeats(const base::MappedFiles& files) {
    base::MappedFiles kept;
    std::ranges::copy_if(files, std::back_inserter(kept), [](const auto& file) { return file.use_count() > 1; });
    for (const auto& file : files) {
        if (std::ranges::none_of(kept, [&](const auto& other) { return other->path() == file->path(); }))
            kept.push_back(file);
    }
    return kept;
}

/// Every graph of the document gets to know the files that it was read from. A session file is none of them: it is
/// written while the model is open.
void keepFiles(Document& document, const base::MappedFiles& opened) {
    base::MappedFiles files = withoutRepeats(opened);
    if (document.session)
        std::erase_if(files, [&](const auto& file) { return file->path() == document.session->path; });
    // A pass that changed the graph made it anew.
    document.graph = graph::withMissing(std::move(document.graph), graph::missingOf(document.original));
    document.graph = graph::withFiles(std::move(document.graph), files);
    document.original = graph::withFiles(std::move(document.original), files);
    for (Part& part : document.parts) part.graph = graph::withFiles(std::move(part.graph), files);
}

}  // namespace

Result<std::shared_ptr<const Document>> open(const std::string& model, const OpenOptions& options,
                                             const base::WorkContext& work) {
    const base::StopScope stop(work.stop);
    const base::MappedFilesScope files;
    auto document = openAny(model, options, work);
    // Bytes that changed while they were read make a wrong model, or an error that is about nothing.
    SONDE_TRY(base::checkUnchanged(files.files(), "model file"));
    if (!document) {
        base::Error error = std::move(document).error();
        if (error.kind == base::ErrorKind::Unreadable && error.where.empty()) error.where = model;
        return error;
    }
    keepFiles(**document, files.files());
    return std::shared_ptr<const Document>(std::move(*document));
}

}  // namespace sonde::document
