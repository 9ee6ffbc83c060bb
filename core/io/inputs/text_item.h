#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/io/inputs/tokenizers/tokenizer_file.h"

namespace sonde::io {

/// How a text becomes ids, as it is written behind the '#' of an item: "tokenizer.json,128,plain".
struct TokenizerPart {
    std::string path;
    std::optional<std::size_t> length;  ///< of the ids: cut or padded to it
    bool isPlain = false;               ///< no special tokens around the text
    TokenizerChoice choice;

    bool operator==(const TokenizerPart&) const = default;
};

/// 'TEXT'#TOKENIZER[,LENGTH][,plain][,KIND][,cased|uncased]: a text in an item of a specification. Its quotes may be '
/// or "; \n, \t, \r, \\, \' and \" are as in C, \xHH is a byte.
struct TextItem {
    std::string text;
    std::string part;  ///< behind '#'
};

bool isTextItem(std::string_view item);
/// Errors (Usage): an escape that is not known.
base::Result<TextItem> parseTextItem(std::string_view item);
/// The item of a text, which may be among others in one specification and in a line of a list: no ';' and no line end.
std::string textItemOf(std::string_view text, std::string_view part);

/// Errors (Usage): no tokenizer; a length that is none.
base::Result<TokenizerPart> parseTokenizerPart(std::string_view part);
std::string tokenizerPartText(const TokenizerPart& part);

/// The items of a specification, between ';', none empty. A ';' within a text is a part of it.
std::vector<std::string_view> splitSpecification(std::string_view specification);

/// The path within "tokenizer.json,128,plain": so many bytes.
std::size_t tokenizerPathBytes(std::string_view part);

}  // namespace sonde::io
