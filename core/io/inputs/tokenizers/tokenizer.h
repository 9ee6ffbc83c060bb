#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/io/inputs/tokenizers/added_tokens.h"
#include "core/io/inputs/tokenizers/pipeline.h"

namespace sonde::io {

/// What fills the end of a text that is shorter than an input.
struct TokenPadding {
    std::int64_t id = 0;
    std::int64_t type = 0;  ///< token_type_ids
    std::string token;      ///< "[PAD]"; empty: the tokenizer has none, and 0 is used
    bool isLeft = false;    ///< before the text
};

/// Text to token ids and back. Immutable and thread-safe.
class Tokenizer {
  public:
    /// The parts that a kind of file makes; empty functions do nothing.
    struct Parts {
        std::string description;  ///< "WordPiece, lower case"
        AddedTokens added;
        Normalizer normalizer;
        PreTokenizer preTokenizer;
        std::shared_ptr<const TokenModel> model;
        Template around{TemplatePart{}};
        Decoder decoder;
        std::optional<TokenPadding> padding;  ///< where the file tells it
        bool truncatesLeft = false;           ///< what is too long loses its beginning
        bool spellsBytes = false;             ///< tokens are bytes written as characters (GPT-2)
    };

    static base::Result<std::shared_ptr<const Tokenizer>> make(Parts parts);

    const std::string& description() const { return m_parts.description; }
    const TokenPadding& padding() const { return m_padding; }
    std::size_t size() const { return m_parts.model->table().size(); }
    /// One past the largest id.
    std::int64_t idCount() const;

    /// The ids of a text in UTF-8, with the special tokens of the tokenizer around it if `isFramed`. Of more than
    /// `maxLength` tokens those at the end are left out, never the special ones around; nothing: all. Errors (Usage):
    /// the text is too long, or no UTF-8; something has no token, and there is none for what is unknown.
    base::Result<Encoding> encode(std::string_view text, bool isFramed = true,
                                  std::optional<std::size_t> maxLength = {}) const;

    /// The text of ids. Special tokens are in it unless `isPlain`; an id that has no token is "‹12›". Bytes that are no
    /// UTF-8 become U+FFFD.
    std::string decode(std::span<const std::int64_t> ids, bool isPlain = false) const;

    /// A token as it is in the file; null: no token has this id.
    const std::string* token(std::int64_t id) const;
    std::optional<std::int64_t> id(std::string_view token) const;
    bool isSpecial(std::int64_t id) const;
    /// A token for a list: what it stands for where it spells bytes, with control characters made visible.
    std::string tokenText(std::int64_t id) const;

  private:
    explicit Tokenizer(Parts parts);
    base::Result<void> encodePart(std::string text, bool isBeginning, Encoding& to) const;
    TokenPadding findPadding() const;

    Parts m_parts;
    TokenPadding m_padding;
};

}  // namespace sonde::io
