#include "core/io/inputs/name_lines.h"

#include "core/base/count_text.h"
#include "core/base/mapped_file.h"
#include "core/base/trimmed.h"
#include "core/base/unicode.h"

namespace sonde::io {

namespace {

std::string lineOf(const std::string& where, std::size_t line) {
    const std::string at = "line " + std::to_string(line);
    return where.empty() ? at : where + ", " + at;
}

std::string hexByte(char c) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(c);
    return std::string("0x") + kDigits[byte >> 4U] + kDigits[byte & 15U];
}

/// Files that are often given in place of a list.
base::Result<void> checkKind(std::string_view text, std::string_view what, const std::string& where) {
    const std::string oneName = "a " + std::string(what) + " is text with one name a line";
    if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"))
        return base::unreadable("the " + std::string(what) + " is UTF-16, not UTF-8", where, "save it as UTF-8");
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos || text[first] != '{') return {};
    const std::size_t next = text.find_first_not_of(" \t\r\n", first + 1);
    const std::size_t last = text.find_last_not_of(" \t\r\n");
    if (next != std::string_view::npos && next != last && text[last] == '}' &&
        text.substr(next, last - next).find(':') != std::string_view::npos)
        return base::unreadable("the " + std::string(what) + " is JSON or a dictionary, not a list of lines", where,
                                oneName);
    return {};
}

base::Result<void> checkLine(std::string_view line, std::string_view what, const std::string& where) {
    if (line.size() > NameLines::kMaxLineBytes)
        return base::unreadable("a line of the " + std::string(what) + " is longer than " +
                                    base::countText(static_cast<std::int64_t>(NameLines::kMaxLineBytes)) + " bytes",
                                where);
    for (std::string_view rest = line; !rest.empty();) {
        const base::CodePoint point = base::firstCodePoint(rest);
        if (!point.valid)
            return base::unreadable("the " + std::string(what) + " is not UTF-8: byte " + hexByte(rest.front()), where,
                                    "save it as UTF-8");
        if (point.value == 0) return base::unreadable("the " + std::string(what) + " has a zero byte", where);
        rest.remove_prefix(point.bytes);
    }
    return {};
}

}  // namespace

base::Result<std::vector<std::string>> NameLines::parse(std::string_view text, std::string_view what,
                                                        const std::string& where) {
    if (text.size() > kMaxBytes)
        return base::unreadable(
            "the " + std::string(what) + " is larger than " + std::to_string(kMaxBytes >> 20U) + " MiB", where);
    SONDE_TRY(checkKind(text, what, where));
    text = base::withoutByteOrderMark(text);
    std::vector<std::string> lines;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        std::string_view line = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        if (end != std::string_view::npos && line.ends_with('\r')) line.remove_suffix(1);
        if (lines.size() == kMaxLines)
            return base::unreadable("the " + std::string(what) + " has more than " +
                                        base::countText(static_cast<std::int64_t>(kMaxLines)) + " lines",
                                    where);
        SONDE_TRY(checkLine(line, what, lineOf(where, lines.size() + 1)));
        lines.emplace_back(line);
    }
    if (lines.empty()) return base::unreadable("the " + std::string(what) + " is empty", where);
    return lines;
}

base::Result<std::vector<std::string>> NameLines::read(const std::filesystem::path& path, std::string_view what) {
    SONDE_ASSIGN(const std::shared_ptr<const base::MappedFile> file, base::MappedFile::open(path));
    const std::string_view text(reinterpret_cast<const char*>(file->bytes().data()), file->sizeBytes());
    auto lines = parse(text, what, path.string());
    if (file->hasChanged()) return file->changeError(what);
    return lines;
}

}  // namespace sonde::io
