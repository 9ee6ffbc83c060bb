#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/result.h"

namespace sonde::io {

/// The tokens of a model of text, a token a line: the id of a token is the number of its line, from 0. Lines are taken
/// as they are: a blank is a token of a vocabulary of characters.
class Vocabulary {
  public:
    /// How tokens are joined to text; told by the tokens themselves.
    enum class Spelling {
        Words,          ///< blanks between
        Characters,     ///< nothing between: no token but special ones ("<pad>", "[PAD]") has several characters
        WordPiece,      ///< "##ing" continues the token before
        SentencePiece,  ///< "▁the" begins a word
        ByteLevel,      ///< "Ġthe" begins a word; characters stand for bytes as in GPT-2
    };

    /// Errors: those of NameLines.
    static base::Result<Vocabulary> parse(std::string_view text, const std::string& where = {});
    static base::Result<Vocabulary> read(const std::filesystem::path& path);
    /// Of tokens that another reader has found. Of one that is there twice the first counts.
    explicit Vocabulary(std::vector<std::string> tokens);

    std::size_t size() const { return m_tokens.size(); }
    /// Null: no token has this id.
    const std::string* token(std::int64_t id) const;
    std::optional<std::int64_t> id(const std::string& token) const;
    Spelling spelling() const { return m_spelling; }
    /// "[PAD]", "<eos>": not text, whatever is beside it.
    static bool isSpecial(std::string_view token);

    /// Tokens joined as they are spelled; an id without a token is "‹12›". Bytes that are no UTF-8 become U+FFFD.
    std::string text(std::span<const std::int64_t> ids) const;

  private:
    std::vector<std::string> m_tokens;
    std::unordered_map<std::string, std::int64_t> m_ids;
    Spelling m_spelling = Spelling::Words;
};

}  // namespace sonde::io
