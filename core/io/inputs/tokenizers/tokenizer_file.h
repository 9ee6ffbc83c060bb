#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/io/inputs/tokenizers/tokenizer.h"

namespace sonde::io {

/// What a person may say of a file of tokens that does not tell it itself.
struct TokenizerChoice {
    std::string kind;                ///< id of one of vocabularyKinds(); empty: told by the tokens
    std::optional<bool> lowersCase;  ///< nothing: if no token has a capital letter

    bool operator==(const TokenizerChoice&) const = default;
};

/// A kind of vocabulary: tokens without rules. A new kind is a file beside this one and a line in the table of
/// tokenizer_file.cpp. Files with rules are those of tokenizer_json.cpp.
struct VocabularyKind {
    std::string_view id;  ///< "words"
    /// Whether the tokens look like it, without the special ones. The first kind of the table that fits is taken.
    bool (*fits)(const std::vector<std::string>& tokens);
    /// `special`: "[PAD]" and its like, which are among the tokens.
    Tokenizer::Parts (*make)(TokenTable table, const std::vector<AddedToken>& special, bool lowersCase);
};
std::span<const VocabularyKind> vocabularyKinds();

/// A tokenizer from a file: tokenizer.json of Hugging Face; or a vocabulary, with a token a line, whose number from 0
/// is its id, or as a list of tokens or an object of tokens and ids in JSON. Recognised by content. The last few are
/// kept until their file changes. Thread-safe. Errors (Unreadable) with the place in the file: what is damaged, above
/// the limits (TokenizerLimits), or of a kind that is not supported, by its name.
base::Result<std::shared_ptr<const Tokenizer>> openTokenizer(const std::string& path,
                                                             const TokenizerChoice& choice = {});
/// The same of what is in a file; `where` is its name.
base::Result<std::shared_ptr<const Tokenizer>> parseTokenizer(std::string_view content, const std::string& where,
                                                              const TokenizerChoice& choice = {});

/// Whether the content of a file of tokens is JSON, and not a token a line.
bool isTokenizerJson(std::string_view content);

/// The token that stands for what is unknown: "[UNK]", "<unk>"; empty: there is none.
std::string unknownTokenOf(const TokenTable& table);

// The kinds of vocabularies, each in a file of its own, and tokenizer.json.
VocabularyKind characterKind();
VocabularyKind wordKind();
VocabularyKind wordPieceKind();
class JsonPlace;
base::Result<std::shared_ptr<const Tokenizer>> readTokenizerJson(const JsonPlace& place);

}  // namespace sonde::io
