// WordPiece (Wu et al. 2016, "Google's Neural Machine Translation System", section 4.1; as BERT's tokenization.py).

#include <algorithm>
#include <set>

#include "core/base/visible_text.h"
#include "core/io/inputs/tokenizers/character_classes.h"
#include "core/io/inputs/tokenizers/models.h"

namespace sonde::io {

namespace {

class WordPieceModel final : public TokenModel {
  public:
    WordPieceModel(TokenTable table, WordPieceOptions options) : m_options(std::move(options)) {
        m_table = std::move(table);
        std::set<std::size_t> first, next;
        m_table.forEach([&](std::string_view token, std::int64_t) {
            const bool continues = token.starts_with(m_options.continuation);
            if (continues) next.insert(token.size() - m_options.continuation.size());
            first.insert(token.size());
        });
        m_firstSizes.assign(first.rbegin(), first.rend());
        m_nextSizes.assign(next.rbegin(), next.rend());
    }

    base::Result<void> encode(std::string_view piece, Encoding& to) const override {
        const std::size_t before = to.ids.size();
        bool isKnown = characterCount(piece) <= m_options.maxCharacters;
        for (std::size_t at = 0; at < piece.size() && isKnown;) isKnown = addLongest(piece, at, to);
        if (isKnown) return {};
        to.ids.resize(before);
        const auto unknown = m_table.id(m_options.unknown);
        if (!unknown)
            return base::usageError("word '" + base::visibleText(piece.substr(0, 60)) +
                                    "' cannot be made of tokens of the vocabulary, which has no '" +
                                    base::visibleText(m_options.unknown) + "'");
        to.ids.push_back(*unknown);
        ++to.unknownCount;
        return {};
    }

  private:
    /// Only lengths that tokens have are tried.
    bool addLongest(std::string_view piece, std::size_t& at, Encoding& to) const {
        const std::string_view rest = piece.substr(at);
        std::string token = at > 0 ? m_options.continuation : std::string();
        const std::size_t prefix = token.size();
        for (const std::size_t size : at > 0 ? m_nextSizes : m_firstSizes) {
            if (size > rest.size() || size == 0) continue;
            token.resize(prefix);
            token += rest.substr(0, size);
            const auto id = m_table.id(token);
            if (!id) continue;
            to.ids.push_back(*id);
            at += size;
            return true;
        }
        return false;
    }

    WordPieceOptions m_options;
    std::vector<std::size_t> m_firstSizes, m_nextSizes;  ///< bytes, the largest first
};

}  // namespace

TokenModelPtr wordPieceModel(TokenTable table, WordPieceOptions options) {
    return std::make_shared<WordPieceModel>(std::move(table), std::move(options));
}

base::Result<TokenModelPtr> readWordPieces(const JsonPlace& place) {
    SONDE_ASSIGN(TokenTable table, readTable(place));
    WordPieceOptions options;
    SONDE_ASSIGN(options.unknown, readUnknown(place, table));
    if (place.find("continuing_subword_prefix")) {
        SONDE_ASSIGN(options.continuation, place.text("continuing_subword_prefix"));
    }
    if (const auto at = place.find("max_input_chars_per_word")) {
        SONDE_ASSIGN(const std::int64_t count, at->integer());
        options.maxCharacters = std::min(static_cast<std::size_t>(count), TokenizerLimits::kMaxWordCharacters);
    }
    return wordPieceModel(std::move(table), std::move(options));
}

}  // namespace sonde::io
