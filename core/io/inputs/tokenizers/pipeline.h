#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/result.h"

namespace sonde::io {

/// What a tokenizer is made of, in the order in which a text passes through it.

/// Limits of what files may ask for.
struct TokenizerLimits {
    static constexpr std::size_t kMaxFileBytes = std::size_t{128} << 20;
    static constexpr std::size_t kMaxDepth = 32;  ///< of JSON
    static constexpr std::size_t kMaxTokens = 4'000'000;
    static constexpr std::size_t kMaxTokenBytes = 4'096;
    static constexpr std::size_t kMaxTextBytes = std::size_t{256} << 10;
    /// Of a text after normalising: a file may ask to replace one letter by a page.
    static constexpr std::size_t kMaxNormalizedBytes = std::size_t{4} << 20;
    static constexpr std::size_t kMaxSteps = 64;               ///< normalizers, pre-tokenizers and so on of one file
    static constexpr std::size_t kMaxWordCharacters = 10'000;  ///< of WordPiece, which tries every part of a word
};

/// Changes a text before it is divided. Error (Usage): it would grow above the limit.
using Normalizer = std::function<base::Result<std::string>(std::string text)>;

using Pieces = std::vector<std::string>;
/// Divides pieces of a text into smaller ones. `isBeginning`: the first piece is the beginning of the whole text, no
/// special token comes before it. Errors as of a Normalizer.
using PreTokenizer = std::function<base::Result<Pieces>(Pieces pieces, bool isBeginning)>;

/// Tokens by their text and the other way round.
class TokenTable {
  public:
    TokenTable() = default;
    TokenTable(TokenTable&&) = default;  // a copy's tokens would be those of the original
    TokenTable& operator=(TokenTable&&) = default;

    /// Of a text or an id that is there twice the first counts.
    void add(std::string token, std::int64_t id);
    std::optional<std::int64_t> id(std::string_view token) const;
    const std::string* token(std::int64_t id) const;  ///< null: none
    std::size_t size() const { return m_ids.size(); }
    /// One past the largest id.
    std::int64_t idCount() const { return m_idCount; }
    /// `visit(token, id)` for each.
    template <typename Visit>
    void forEach(Visit visit) const {
        for (const auto& [token, id] : m_ids) visit(token, id);
    }

  private:
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
    };

    std::unordered_map<std::string, std::int64_t, Hash, std::equal_to<>> m_ids;
    std::unordered_map<std::int64_t, const std::string*> m_tokens;  ///< keys of m_ids, which stay where they are
    std::int64_t m_idCount = 0;
};

/// Token ids of a text.
struct Encoding {
    std::vector<std::int64_t> ids;
    std::vector<std::int64_t> types;  ///< token_type_ids, one for each
    std::size_t unknownCount = 0;     ///< words or characters that became the unknown token
    std::size_t droppedCount = 0;     ///< characters that have no token and are left out
};

/// Turns one piece into tokens.
class TokenModel {
  public:
    TokenModel() = default;
    TokenModel(const TokenModel&) = delete;
    TokenModel& operator=(const TokenModel&) = delete;
    virtual ~TokenModel() = default;

    /// Appends ids, and counts what is unknown. Error (Usage): no token for something, and no unknown token.
    virtual base::Result<void> encode(std::string_view piece, Encoding& to) const = 0;
    const TokenTable& table() const { return m_table; }

  protected:
    TokenTable m_table;
};

/// Special tokens around a text: `isText` stands for its own.
struct TemplatePart {
    bool isText = true;
    std::int64_t id = 0;
    std::int64_t type = 0;  ///< token_type_ids
};
using Template = std::vector<TemplatePart>;

/// Tokens → parts of a text, which are joined.
using Decoder = std::function<Pieces(Pieces tokens)>;

/// Error: `bytes` is above what a text may grow to.
base::Result<void> checkGrowth(std::size_t bytes);

}  // namespace sonde::io
