#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/io/inputs/tokenizers/json_place.h"
#include "core/io/inputs/tokenizers/pipeline.h"

namespace sonde::io {

using TokenModelPtr = std::shared_ptr<const TokenModel>;

/// Whole words (Hugging Face: WordLevel). An empty `unknown`: a word that is not in the table is an error.
TokenModelPtr wordModel(TokenTable table, std::string unknown);
/// Single characters.
TokenModelPtr characterModel(TokenTable table, std::string unknown);
struct WordPieceOptions {
    std::string unknown = "[UNK]";
    std::string continuation = "##";  ///< before a token that continues a word
    std::size_t maxCharacters = 100;  ///< a longer word is unknown
};
/// The longest token that a word begins with, then the longest of the rest, and so on.
TokenModelPtr wordPieceModel(TokenTable table, WordPieceOptions options);

/// "model" of a tokenizer.json. A new one is a row of the table at the end of model_kinds.cpp.
base::Result<TokenModelPtr> readModel(const JsonPlace& place);

// The kinds that are read in files of their own.
base::Result<TokenModelPtr> readBytePairs(const JsonPlace& place);
base::Result<TokenModelPtr> readWordPieces(const JsonPlace& place);
base::Result<TokenModelPtr> readWords(const JsonPlace& place);

/// "vocab" of a model: tokens with their ids.
base::Result<TokenTable> readTable(const JsonPlace& place);
/// "unk_token", or "" if it is null or missing. Error: it is not in the table.
base::Result<std::string> readUnknown(const JsonPlace& place, const TokenTable& table);

}  // namespace sonde::io
