#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/tensor/value.h"

namespace sonde::expression {

/// A word or sign of an expression.
struct Token {
    enum class Kind : std::uint8_t { End, Number, Word, QuotedName, Text, Sign };
    Kind kind = Kind::End;
    std::size_t at = 0;    ///< its first byte
    std::size_t end = 0;   ///< the byte behind it
    std::string text;      ///< of a Word, QuotedName, Text (without the quotes) or Sign
    tensor::Value number;  ///< an int or a float

    bool is(std::string_view sign) const { return kind == Kind::Sign && text == sign; }
    bool isWord(std::string_view word) const { return kind == Kind::Word && text == word; }
};

/// The token that begins at or behind byte `at`. Throws LocatedProblem: characters that begin none, a quote without its
/// end, numbers that do not fit.
Token tokenAt(std::string_view text, std::size_t at);

/// Letters, digits and '_', no digit first. Every character that is not ASCII counts as a letter.
bool isIdentifier(std::string_view name);
/// A word that is no name: "and", "True", "np" …
bool isReserved(std::string_view word);

}  // namespace sonde::expression
