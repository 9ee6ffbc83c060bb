#include "core/session/outputs/class_labels.h"

#include "core/base/mapped_file.h"
#include "core/base/trimmed.h"
#include "core/document/session_model.h"
#include "core/io/inputs/name_lines.h"
#include "core/session/outputs/label_json.h"

namespace sonde::session::outputs {

namespace {

constexpr std::string_view kWhat = "labels file";

base::Result<std::vector<std::string>> trimmedLabels(std::vector<std::string> lines, const std::string& where) {
    for (std::string& line : lines) line = std::string(base::trimmed(line));
    while (!lines.empty() && lines.back().empty()) lines.pop_back();
    if (lines.empty()) return base::unreadable("the labels file has no name", where);
    return lines;
}

std::optional<std::filesystem::path> fileBeside(const document::Document& document, std::filesystem::path path) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(document.location, ignored)) return std::nullopt;
    if (!std::filesystem::is_regular_file(path, ignored)) return std::nullopt;
    const auto& opened = document.session;
    if (opened && !opened->allowsOutside && !document::isInFolder(path, opened->folder)) return std::nullopt;
    return path;
}

}  // namespace

base::Result<std::vector<std::string>> parseLabels(std::string_view text, const std::string& where) {
    SONDE_ASSIGN(auto names,
                 isLabelJson(text) ? parseLabelJson(text, where) : io::NameLines::parse(text, kWhat, where));
    return trimmedLabels(std::move(names), where);
}

base::Result<std::vector<std::string>> readLabels(const std::filesystem::path& path) {
    SONDE_ASSIGN(const std::shared_ptr<const base::MappedFile> file, base::MappedFile::open(path));
    auto labels = parseLabels({reinterpret_cast<const char*>(file->bytes().data()), file->sizeBytes()}, path.string());
    if (file->hasChanged()) return file->changeError(kWhat);
    return labels;
}

std::optional<std::filesystem::path> labelsBeside(const document::Document& document) {
    const std::filesystem::path model(document.location);
    auto lines = fileBeside(document, std::filesystem::path(model).replace_extension(".labels.txt"));
    return lines ? lines : fileBeside(document, std::filesystem::path(model).replace_extension(".labels.json"));
}

std::optional<std::filesystem::path> vocabularyBeside(const document::Document& document) {
    return fileBeside(document, std::filesystem::path(document.location).replace_filename("vocab.txt"));
}

}  // namespace sonde::session::outputs
