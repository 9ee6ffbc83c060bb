#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace sonde::io {

/// Files that name something by position, a name a line: tokens of a vocabulary, classes of a classifier.
struct NameLines {
    static constexpr std::size_t kMaxBytes = std::size_t{64} << 20;
    static constexpr std::size_t kMaxLines = 1'000'000;
    static constexpr std::size_t kMaxLineBytes = 4'096;

    /// The lines of a text without their line ends (LF or CRLF); a byte order mark before them is none of the first.
    /// The end of the last line begins no further one. Errors (Unreadable), each with the number of the line: not
    /// UTF-8, with the byte; a zero byte; a line that is too long; UTF-16; JSON; too many lines; no line at all.
    /// `what` is what the file is to be: "labels file".
    static base::Result<std::vector<std::string>> parse(std::string_view text, std::string_view what,
                                                        const std::string& where);
    /// Errors as of parse(); the file cannot be read, is too large, or changed while it was read.
    static base::Result<std::vector<std::string>> read(const std::filesystem::path& path, std::string_view what);
};

}  // namespace sonde::io
