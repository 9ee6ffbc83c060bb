#include "core/document/output_check.h"

#include "core/document/format_plugin.h"
#include "core/graph/source_files.h"
#include "core/io/inputs/named_files.h"

namespace sonde::document {

namespace fs = std::filesystem;

namespace {

/// Where a file will be that is not there yet: behind links that point to nothing, too.
fs::path placeOf(fs::path path) {
    constexpr int kMaxLinks = 40;  // as Linux follows
    std::error_code ignored;
    for (int i = 0; i < kMaxLinks && fs::is_symlink(path, ignored); ++i)
        path = path.parent_path() / fs::read_symlink(path, ignored);
    return fs::weakly_canonical(path, ignored);
}

}  // namespace

std::vector<FileRead> modelFiles(const std::string& model) { return {{splitModelPath(model).first, "the model file"}}; }

std::vector<FileRead> modelFiles(const Document& document) {
    std::vector<FileRead> files = modelFiles(document.location);
    for (const auto& file : graph::filesOf(document.graph)) files.push_back({file->path(), "a file of the model"});
    return files;
}

std::vector<FileRead> inputFiles(const OpenOptions& options, std::span<const std::string> inputData) {
    std::vector<FileRead> files;
    if (!options.weights.empty()) files.push_back({options.weights, "the file of weights"});
    const auto add = [&files](const std::string& spec) {
        for (fs::path& path : io::filesNamedIn(spec)) files.push_back({std::move(path), "an input file"});
    };
    add(options.inputData);
    for (const std::string& spec : inputData) add(spec);
    return files;
}

bool isSameFile(const fs::path& a, const fs::path& b) {
    std::error_code ignored;
    if (fs::equivalent(a, b, ignored)) return true;
    if (fs::exists(a, ignored) || fs::exists(b, ignored)) return false;
    return placeOf(a) == placeOf(b);
}

base::Result<void> checkOutput(const fs::path& output, std::string_view option, std::span<const FileRead> files) {
    for (const FileRead& file : files) {
        std::error_code ignored;  // what is not there yet is no file that is read
        if (!fs::equivalent(output, file.path, ignored)) continue;
        const std::string name = output == file.path ? std::string() : ", " + file.path.string();
        return base::usageError(
            "'" + output.string() + "' is " + std::string(file.role) + name + ": it would be overwritten",
            std::string(option), "choose another file");
    }
    return {};
}

}  // namespace sonde::document
