#include "core/session/input_folder.h"

#include <algorithm>
#include <filesystem>

#include "core/base/natural_order.h"
#include "core/io/inputs/data_files.h"
#include "core/io/inputs/named_files.h"
#include "core/session/session.h"

namespace sonde::session {

namespace fs = std::filesystem;

namespace {

using base::Result;

/// Files of one kind: of one DataFileKind, or of one suffix that has none (.npz).
bool isOfKind(const std::string& name, const std::string& like) {
    if (!io::isNamedAsData(name) && !io::partedFileKindOf(name)) return false;
    const io::DataFileKind *const kind = io::dataFileKindOf(name, {}), *const wanted = io::dataFileKindOf(like, {});
    if (kind || wanted) return kind == wanted;
    return fs::path(name).extension() == fs::path(like).extension();
}

Result<std::vector<std::string>> filesIn(const fs::path& folder, const std::stop_token& stop) {
    std::error_code code;
    std::vector<std::string> names;
    fs::directory_iterator entries(folder, fs::directory_options::skip_permission_denied, code);
    for (const auto end = fs::directory_iterator(); !code && entries != end; entries.increment(code)) {
        if (stop.stop_requested()) return base::cancelled();
        std::error_code ignored;
        if (entries->is_directory(ignored)) continue;
        names.push_back(entries->path().filename().string());
        if (names.size() > InputFolder::kMaxFiles)
            return base::usageError("the folder has more than " + std::to_string(InputFolder::kMaxFiles) + " files",
                                    folder.string());
    }
    if (code) return base::unreadable("the folder cannot be listed: " + code.message(), folder.string());
    std::ranges::sort(names, base::isNaturallyBefore);
    return names;
}

}  // namespace

std::string InputFolder::path(std::size_t index) const { return (fs::path(folder) / names[index]).string(); }

std::optional<std::size_t> InputFolder::find(std::string_view item) const {
    const fs::path file(fileOfItem(item));
    if (file.parent_path() != fs::path(folder)) return std::nullopt;
    const auto found = std::ranges::find(names, file.filename().string());
    if (found == names.end()) return std::nullopt;
    return static_cast<std::size_t>(found - names.begin());
}

std::string fileOfItem(std::string_view item) {
    const auto paths = io::pathsInItem(item);
    if (paths.empty() || paths.front().first != 0) return {};  // a typed text has a tokenizer only
    return std::string(item.substr(0, paths.front().second));
}

std::string withFile(std::string_view item, const std::string& path) {
    return path + std::string(item.substr(fileOfItem(item).size()));
}

Result<InputFolder> inputFolder(const std::string& path, std::stop_token stop) {
    std::error_code ignored;
    const bool isFolder = fs::is_directory(path, ignored);
    InputFolder made{(isFolder ? fs::path(path) : fs::path(path).parent_path()).string(), {}};
    // "folder/" has an empty name behind its slash.
    if (isFolder && !fs::path(path).has_filename()) made.folder = fs::path(path).parent_path().string();
    SONDE_ASSIGN(std::vector<std::string> all, filesIn(made.folder.empty() ? "." : made.folder, stop));
    std::string like = path;
    if (isFolder) {
        const auto first = std::ranges::find_if(all, [](const std::string& name) { return io::isNamedAsData(name); });
        if (first == all.end())
            return base::usageError("the folder has no file that an input is read from", path, io::dataFileFormats());
        like = *first;
    }
    for (std::string& name : all)
        if (isOfKind(name, like)) made.names.push_back(std::move(name));
    return made;
}

Result<void> stepInputFile(Session& session, std::string_view input, std::ptrdiff_t by) {
    const Input* const row = session.inputs().find(input);
    if (!row) return base::usageError("the model has no input named " + std::string(input));
    InputSpec spec = row->spec;
    const std::string path = fileOfItem(spec.source);
    const std::string where = "input '" + std::string(input) + "'";
    if (path.empty()) return base::usageError("the input is not given a file", where, "choose a file of the folder");
    SONDE_ASSIGN(const InputFolder folder, inputFolder(path));
    const auto at = folder.find(spec.source);
    if (!at) return base::usageError("the folder does not have the file any more", path);
    const std::ptrdiff_t next = static_cast<std::ptrdiff_t>(*at) + by;
    if (next < 0 || next >= static_cast<std::ptrdiff_t>(folder.names.size()))
        return base::usageError(by < 0 ? "that is the first file of the folder" : "that is the last file of the folder",
                                path);
    spec.source = withFile(spec.source, folder.path(static_cast<std::size_t>(next)));
    return session.runs().give(input, spec);
}

}  // namespace sonde::session
