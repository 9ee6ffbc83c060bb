#include "core/session/output_check.h"

namespace sonde::session {

std::vector<document::FileRead> filesRead(const Session& session) {
    std::vector<document::FileRead> files;
    for (const auto& opened : {session.whole(), session.document()}) {
        if (!opened) continue;
        for (const auto& read : {document::modelFiles(*opened), document::inputFiles(opened->options)})
            files.insert(files.end(), read.begin(), read.end());
    }
    for (const Input& input : session.inputs().all())
        for (const auto& file : input.files) files.push_back({file->path(), "an input file"});
    for (const auto& file : session.comparison().files()) files.push_back({file->path(), "the reference"});
    return files;
}

base::Result<void> checkOutput(const Session& session, const std::filesystem::path& output) {
    return document::checkOutput(output, {}, filesRead(session));
}

}  // namespace sonde::session
