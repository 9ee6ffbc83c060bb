#include "core/io/inputs/named_files.h"

#include <algorithm>
#include <fstream>
#include <string>

namespace sonde::io {

namespace {

/// "x:a.npz#key": the item itself, what stands behind one of its colons, and each without what follows a '#'.
void addItem(std::string_view item, std::vector<std::filesystem::path>& paths) {
    for (std::string_view rest = item; !rest.empty();) {
        for (std::size_t end = rest.size(); end != std::string_view::npos && end > 0; end = rest.rfind('#', end - 1))
            paths.emplace_back(rest.substr(0, end));
        const std::size_t colon = rest.find(':');
        rest = colon == std::string_view::npos ? std::string_view() : rest.substr(colon + 1);
    }
}

void addItems(std::string_view text, std::vector<std::filesystem::path>& paths) {
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(';'), text.size());
        addItem(text.substr(0, end), paths);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

}  // namespace

std::vector<std::filesystem::path> filesNamedIn(std::string_view spec) {
    std::vector<std::filesystem::path> paths;
    if (!spec.starts_with('@')) {
        addItems(spec, paths);
        return paths;
    }
    paths.emplace_back(spec.substr(1));
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(paths.front(), ignored)) return paths;  // a pipe can be read only once
    std::ifstream list(paths.front());
    for (std::string line; std::getline(list, line);) {
        line.resize(line.find_last_not_of(" \t\r") + 1);
        addItems(line, paths);
    }
    return paths;
}

}  // namespace sonde::io
