// Models whose tokens are whole words, or single characters.

#include "core/base/unicode.h"
#include "core/base/visible_text.h"
#include "core/io/inputs/tokenizers/models.h"

namespace sonde::io {

namespace {

class WordModel : public TokenModel {
  public:
    WordModel(TokenTable table, std::string unknown, std::string_view what)
        : m_unknown(std::move(unknown)), m_what(what) {
        m_table = std::move(table);
    }

    base::Result<void> encode(std::string_view piece, Encoding& to) const override {
        if (const auto id = m_table.id(piece)) {
            to.ids.push_back(*id);
            return {};
        }
        const auto unknown = m_table.id(m_unknown);
        if (m_unknown.empty() || !unknown)
            return base::usageError(m_what + " '" + base::visibleText(base::utf8Prefix(piece, 60)) +
                                    "' is not in the vocabulary, which has no token for what is unknown");
        to.ids.push_back(*unknown);
        ++to.unknownCount;
        return {};
    }

  private:
    std::string m_unknown;
    std::string m_what;
};

class CharacterModel final : public WordModel {
  public:
    CharacterModel(TokenTable table, std::string unknown)
        : WordModel(std::move(table), std::move(unknown), "character") {}

    base::Result<void> encode(std::string_view piece, Encoding& to) const override {
        while (!piece.empty()) {
            const std::size_t bytes = base::firstCodePoint(piece).bytes;
            SONDE_TRY(WordModel::encode(piece.substr(0, bytes), to));
            piece.remove_prefix(bytes);
        }
        return {};
    }
};

}  // namespace

TokenModelPtr wordModel(TokenTable table, std::string unknown) {
    return std::make_shared<WordModel>(std::move(table), std::move(unknown), "word");
}

TokenModelPtr characterModel(TokenTable table, std::string unknown) {
    return std::make_shared<CharacterModel>(std::move(table), std::move(unknown));
}

base::Result<TokenModelPtr> readWords(const JsonPlace& place) {
    SONDE_ASSIGN(TokenTable table, readTable(place));
    SONDE_ASSIGN(std::string unknown, readUnknown(place, table));
    return wordModel(std::move(table), std::move(unknown));
}

}  // namespace sonde::io
