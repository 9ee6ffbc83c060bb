// tokenizer.json of Hugging Face's library `tokenizers`: each part by its "type".

#include <nlohmann/json.hpp>

#include "core/io/inputs/tokenizers/decoders.h"
#include "core/io/inputs/tokenizers/json_place.h"
#include "core/io/inputs/tokenizers/models.h"
#include "core/io/inputs/tokenizers/normalizers.h"
#include "core/io/inputs/tokenizers/post_processors.h"
#include "core/io/inputs/tokenizers/pre_tokenizers.h"
#include "core/io/inputs/tokenizers/tokenizer_file.h"

namespace sonde::io {

namespace {

/// Whether a step of that type is there, also within a sequence.
bool hasStep(const nlohmann::json& step, std::string_view type) {
    if (step.is_object() && step.contains("type") && step["type"] == type) return true;
    if (!step.is_object() && !step.is_array()) return false;
    for (const nlohmann::json& inner : step)
        if ((inner.is_object() || inner.is_array()) && hasStep(inner, type)) return true;
    return false;
}

std::size_t stepCount(const nlohmann::json& step) {
    std::size_t count = step.is_object() && step.contains("type") ? 1 : 0;
    for (const nlohmann::json& inner : step)
        if (inner.is_object() || inner.is_array()) count += stepCount(inner);
    return count;
}

/// Each of them goes through all of a text, and sequences may hold sequences.
base::Result<void> checkSteps(const JsonPlace& place) {
    for (const std::string_view key : {"normalizer", "pre_tokenizer", "post_processor", "decoder"}) {
        const std::optional<JsonPlace> at = place.find(key);
        const bool hasParts = at && (at->value().is_object() || at->value().is_array());
        if (hasParts && stepCount(at->value()) > TokenizerLimits::kMaxSteps)
            return at->error("there are more than " + std::to_string(TokenizerLimits::kMaxSteps) + " steps");
    }
    return {};
}

base::Result<std::optional<TokenPadding>> readPadding(const JsonPlace& place) {
    const std::optional<JsonPlace> at = place.find("padding");
    if (!at) return std::optional<TokenPadding>();
    TokenPadding padding;
    SONDE_ASSIGN(padding.id, at->integer("pad_id"));
    SONDE_ASSIGN(padding.token, at->text("pad_token"));
    SONDE_ASSIGN(padding.type, at->find("pad_type_id") ? at->integer("pad_type_id") : base::Result<std::int64_t>(0));
    padding.isLeft = at->find("direction") && at->find("direction")->value() == "Left";
    return std::optional(padding);
}

base::Result<std::string> describe(const JsonPlace& place) {
    SONDE_ASSIGN(const JsonPlace model, place.at("model"));
    const auto type = model.find("type");
    std::string text = type && type->value().is_string() ? type->value().get<std::string>() : "BPE";
    const std::optional<JsonPlace> words = place.find("pre_tokenizer");
    if (words && hasStep(words->value(), "ByteLevel")) text = "byte-level " + text;
    return text;
}

}  // namespace

base::Result<std::shared_ptr<const Tokenizer>> readTokenizerJson(const JsonPlace& place) {
    Tokenizer::Parts parts;
    SONDE_TRY(checkSteps(place));
    SONDE_ASSIGN(const JsonPlace model, place.at("model"));
    SONDE_ASSIGN(parts.model, readModel(model));
    SONDE_ASSIGN(parts.description, describe(place));
    if (const auto at = place.find("added_tokens")) {
        SONDE_ASSIGN(parts.added, AddedTokens::read(*at));
    }
    if (const auto at = place.find("normalizer")) {
        SONDE_ASSIGN(parts.normalizer, readNormalizer(*at));
    }
    if (const auto at = place.find("pre_tokenizer")) {
        SONDE_ASSIGN(parts.preTokenizer, readPreTokenizer(*at));
    }
    if (const auto at = place.find("post_processor")) {
        SONDE_ASSIGN(parts.around, readPostProcessor(*at));
    }
    parts.decoder = joiningDecoder(" ");
    if (const auto at = place.find("decoder")) {
        SONDE_ASSIGN(parts.decoder, readDecoder(*at));
        parts.spellsBytes = hasStep(at->value(), "ByteLevel");
    }
    SONDE_ASSIGN(parts.padding, readPadding(place));
    if (const auto at = place.find("truncation"))
        parts.truncatesLeft = at->find("direction") && at->find("direction")->value() == "Left";
    auto made = Tokenizer::make(std::move(parts));
    if (!made) return std::move(made).error().at(place.where());
    return made;
}

}  // namespace sonde::io
