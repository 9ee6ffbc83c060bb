#include "core/base/text_file.h"

#include <algorithm>
#include <fstream>

#include "core/base/trimmed.h"

namespace sonde::base {

Result<std::string> readText(const std::filesystem::path& path, std::string_view what, std::size_t maxBytes) {
    constexpr std::size_t kPiece = std::size_t{1} << 16;
    const std::string role(what);
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored))
        return usageError(role + " is a folder, not a file", path.string());
    std::ifstream file(path, std::ios::binary);
    if (!file) return usageError(role + " cannot be read", path.string());
    std::string text;
    while (file && text.size() <= maxBytes) {
        const std::size_t before = text.size();
        text.resize(before + std::min(kPiece, maxBytes + 1 - before));
        file.read(text.data() + before, static_cast<std::streamsize>(text.size() - before));
        text.resize(before + static_cast<std::size_t>(file.gcount()));
    }
    if (file.bad()) return usageError(role + " cannot be read", path.string());
    if (text.size() > maxBytes)
        return usageError(role + " is longer than " + std::to_string(maxBytes >> 20) + " MiB", path.string());
    text.erase(0, text.size() - withoutByteOrderMark(text).size());
    return text;
}

}  // namespace sonde::base
