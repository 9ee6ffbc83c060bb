#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace sonde::io::script {

/// ASCII, whatever the locale.
inline bool isDigit(char c) { return c >= '0' && c <= '9'; }

struct Token {
    enum class Kind : std::uint8_t { Name, Int, Float, String, Symbol, Newline, Indent, Dedent, End };
    Kind kind = Kind::End;
    std::string_view text;  ///< as written; of a symbol: "(", "->", …
    std::string value;      ///< of a string: unescaped
    int line = 0;
    std::uint32_t offset = 0;  ///< of its first byte in the source
};

/// Splits a source into tokens, with indentation as in Python. Lines inside brackets go on. Errors name file and line.
base::Result<std::vector<Token>> tokenize(std::string_view text, const std::string& file);

}  // namespace sonde::io::script
