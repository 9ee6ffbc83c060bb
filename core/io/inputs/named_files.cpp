#include "core/io/inputs/named_files.h"

#include <sstream>
#include <string>

#include "core/base/text_file.h"
#include "core/io/inputs/data_files.h"
#include "core/io/inputs/inputs.h"
#include "core/io/inputs/noise.h"
#include "core/io/inputs/npz_inputs.h"
#include "core/io/inputs/text_input.h"
#include "core/io/inputs/text_item.h"

namespace sonde::io {

namespace {

/// Of a text the file of its tokenizer, which stands behind '#'.
void addTokenizer(std::string_view item, std::vector<std::filesystem::path>& paths) {
    for (std::size_t hash = item.find('#'); hash != std::string_view::npos; hash = item.find('#', hash + 1)) {
        const std::string_view part = item.substr(hash + 1);
        paths.emplace_back(part.substr(0, tokenizerPathBytes(part)));
    }
}

/// "x:a.npz#key": the item itself, what stands behind one of its colons, and each without what follows a '#'.
void addItem(std::string_view given, std::vector<std::filesystem::path>& paths) {
    const std::string_view item = withoutNoise(given);
    if (item.find("#draw(") != std::string_view::npos) return;  // thousands of numbers, and no file
    addTokenizer(item, paths);
    for (std::string_view rest = item; !rest.empty();) {
        for (std::size_t end = rest.size(); end != std::string_view::npos && end > 0; end = rest.rfind('#', end - 1))
            paths.emplace_back(rest.substr(0, end));
        const std::size_t colon = rest.find(':');
        rest = colon == std::string_view::npos ? std::string_view() : rest.substr(colon + 1);
    }
}

void addItems(std::string_view text, std::vector<std::filesystem::path>& paths) {
    for (const std::string_view item : splitSpecification(text)) addItem(item, paths);
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
    std::istringstream list(base::readText(paths.front(), "the list").value_or(std::string()));
    for (std::string line; std::getline(list, line);) {
        line.resize(line.find_last_not_of(" \t\r") + 1);
        addItems(line, paths);
    }
    return paths;
}

std::vector<std::pair<std::size_t, std::size_t>> pathsInItem(std::string_view given) {
    const std::string_view item = withoutNoise(given);
    if (item.empty()) return {};
    std::vector<std::pair<std::size_t, std::size_t>> paths;
    std::size_t part = item.size();  // where that of a tokenizer begins
    const ItemKind kind = kindOfItem(item);
    if (isTextItem(item)) {
        const auto typed = parseTextItem(item);
        part = item.size() - (typed ? typed->part.size() : 0);
    } else if (kind == ItemKind::File || kind == ItemKind::Archive) {
        paths.emplace_back(0, (kind == ItemKind::Archive ? splitArchiveItem(item) : splitDataItem(item)).first.size());
        if (givesText(item)) part = paths.back().second + 1;
    }
    if (part < item.size()) paths.emplace_back(part, tokenizerPathBytes(item.substr(part)));
    return paths;
}

}  // namespace sonde::io
