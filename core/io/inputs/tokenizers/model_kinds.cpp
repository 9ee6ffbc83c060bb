#include <nlohmann/json.hpp>

#include "core/base/count_text.h"
#include "core/io/inputs/tokenizers/models.h"

namespace sonde::io {

namespace {

struct ModelKind {
    std::string_view type;
    base::Result<TokenModelPtr> (*read)(const JsonPlace& place);
};

constexpr ModelKind kModels[] = {
    {"BPE", readBytePairs},
    {"WordPiece", readWordPieces},
    {"WordLevel", readWords},
};

/// Files of older versions leave out "type".
const ModelKind* kindByKeys(const JsonPlace& place) {
    if (place.find("type") || !place.find("vocab")) return nullptr;
    if (place.find("merges")) return &kModels[0];
    if (place.find("max_input_chars_per_word")) return &kModels[1];
    return nullptr;
}

}  // namespace

base::Result<TokenModelPtr> readModel(const JsonPlace& place) {
    if (const ModelKind* const known = kindByKeys(place)) return known->read(place);
    SONDE_ASSIGN(const ModelKind* const kind, place.kindIn(kModels, "model"));
    return kind->read(place);
}

base::Result<TokenTable> readTable(const JsonPlace& place) {
    SONDE_ASSIGN(const JsonPlace vocabulary, place.at("vocab"));
    const nlohmann::json& tokens = vocabulary.value();
    if (!tokens.is_object()) return vocabulary.error("an object of tokens and their ids is expected");
    if (tokens.empty()) return vocabulary.error("the vocabulary has no tokens");
    if (tokens.size() > TokenizerLimits::kMaxTokens)
        return vocabulary.error("the vocabulary has " + base::countText(static_cast<std::int64_t>(tokens.size())) +
                                " tokens; at most " + base::countText(std::int64_t{TokenizerLimits::kMaxTokens}) +
                                " are read");
    TokenTable table;
    for (const auto& [token, id] : tokens.items()) {
        if (token.size() > TokenizerLimits::kMaxTokenBytes)
            return vocabulary.error("a token is longer than " + std::to_string(TokenizerLimits::kMaxTokenBytes) +
                                    " bytes");
        if (!id.is_number_unsigned() || id.get<std::uint64_t>() > INT32_MAX) {
            SONDE_ASSIGN(const JsonPlace at, vocabulary.at(token));
            SONDE_TRY(at.integer());
        }
        table.add(token, id.get<std::int64_t>());
    }
    return table;
}

base::Result<std::string> readUnknown(const JsonPlace& place, const TokenTable& table) {
    const std::optional<JsonPlace> at = place.find("unk_token");
    if (!at) return std::string();
    SONDE_ASSIGN(std::string token, at->text());
    if (!table.id(token)) return at->error("the unknown token is not in the vocabulary");
    return token;
}

}  // namespace sonde::io
