#include "core/io/inputs/tokenizers/tokenizer.h"

#include <algorithm>
#include <utility>

#include "core/base/unicode.h"
#include "core/base/visible_text.h"
#include "core/io/inputs/tokenizers/byte_characters.h"

namespace sonde::io {

namespace {

/// Names that padding has, the most usual first; last what ends a text, which GPT-2 is padded with.
constexpr std::string_view kPaddingNames[] = {
    "[PAD]",         "<pad>",          "<PAD>", "[pad]", "<|pad|>", "<|padding|>", "<|finetune_right_pad_id|>",
    "<|endoftext|>", "<|end_of_text|>"};

base::Result<void> checkText(std::string_view text) {
    if (text.size() > TokenizerLimits::kMaxTextBytes)
        return base::usageError("the text has " + std::to_string(text.size()) + " bytes; at most " +
                                std::to_string(TokenizerLimits::kMaxTextBytes) + " are made tokens of");
    for (std::string_view rest = text; !rest.empty();) {
        const base::CodePoint point = base::firstCodePoint(rest);
        if (!point.valid)
            return base::usageError("the text is not UTF-8: byte " + std::to_string(text.size() - rest.size() + 1), {},
                                    "save it as UTF-8");
        rest.remove_prefix(point.bytes);
    }
    return {};
}

}  // namespace

Tokenizer::Tokenizer(Parts parts) : m_parts(std::move(parts)) { m_padding = findPadding(); }

base::Result<std::shared_ptr<const Tokenizer>> Tokenizer::make(Parts parts) {
    SONDE_TRY(parts.added.prepare(parts.normalizer));
    return std::shared_ptr<const Tokenizer>(new Tokenizer(std::move(parts)));
}

TokenPadding Tokenizer::findPadding() const {
    if (m_parts.padding) return *m_parts.padding;
    for (const std::string_view name : kPaddingNames)
        if (const auto found = id(name)) return {*found, 0, std::string(name), false};
    return {};
}

std::int64_t Tokenizer::idCount() const {
    std::int64_t count = m_parts.model->table().idCount();
    for (const AddedToken& token : m_parts.added.all()) count = std::max(count, token.id + 1);
    return count;
}

base::Result<void> Tokenizer::encodePart(std::string text, bool isBeginning, Encoding& to) const {
    if (m_parts.normalizer) {
        SONDE_ASSIGN(text, m_parts.normalizer(std::move(text)));
    }
    for (TextPart& part : m_parts.added.divide(text, true)) {
        const bool isFirst = std::exchange(isBeginning, false);
        if (part.id) {
            to.ids.push_back(*part.id);
            continue;
        }
        Pieces pieces{std::move(part.text)};
        if (m_parts.preTokenizer) {
            SONDE_ASSIGN(pieces, m_parts.preTokenizer(std::move(pieces), isFirst));
        }
        for (const std::string& piece : pieces)
            if (!piece.empty()) SONDE_TRY(m_parts.model->encode(piece, to));
    }
    return {};
}

base::Result<Encoding> Tokenizer::encode(std::string_view text, bool isFramed,
                                         std::optional<std::size_t> maxLength) const {
    SONDE_TRY(checkText(text));
    Encoding inner;
    bool isBeginning = true;
    for (TextPart& part : m_parts.added.divide(text, false)) {
        const bool isFirst = std::exchange(isBeginning, false);
        if (part.id) inner.ids.push_back(*part.id);
        else SONDE_TRY(encodePart(std::move(part.text), isFirst, inner));
    }
    const Template around = isFramed ? m_parts.around : Template{TemplatePart{}};
    const auto specials = static_cast<std::size_t>(std::ranges::count(around, false, &TemplatePart::isText));
    if (maxLength && specials > *maxLength)
        return base::usageError("the tokenizer adds " + std::to_string(specials) +
                                " special tokens, and there is room for " + std::to_string(*maxLength) + " in all");
    const std::size_t room = maxLength ? std::min(*maxLength - specials, inner.ids.size()) : inner.ids.size();
    const auto from = inner.ids.begin() +
                      static_cast<std::ptrdiff_t>(m_parts.truncatesLeft ? inner.ids.size() - room : std::size_t{0});
    Encoding made;
    made.unknownCount = inner.unknownCount;
    made.droppedCount = inner.droppedCount;
    for (const TemplatePart& part : around) {
        if (part.isText) made.ids.insert(made.ids.end(), from, from + static_cast<std::ptrdiff_t>(room));
        else made.ids.push_back(part.id);
        made.types.resize(made.ids.size(), part.type);
    }
    return made;
}

std::string Tokenizer::decode(std::span<const std::int64_t> ids, bool isPlain) const {
    Pieces tokens;
    for (const std::int64_t id : ids) {
        if (isPlain && isSpecial(id)) continue;
        const std::string* const found = token(id);
        tokens.push_back(found ? *found : "\xe2\x80\xb9" + std::to_string(id) + "\xe2\x80\xba");
    }
    if (m_parts.decoder) tokens = m_parts.decoder(std::move(tokens));
    std::string text;
    for (const std::string& part : tokens) text += part;
    return validUtf8(text);
}

const std::string* Tokenizer::token(std::int64_t id) const {
    if (const AddedToken* const added = m_parts.added.find(id)) return &added->content;
    return m_parts.model->table().token(id);
}

std::optional<std::int64_t> Tokenizer::id(std::string_view token) const {
    if (const AddedToken* const added = m_parts.added.find(token)) return added->id;
    return m_parts.model->table().id(token);
}

bool Tokenizer::isSpecial(std::int64_t id) const {
    const AddedToken* const added = m_parts.added.find(id);
    return added && added->isSpecial;
}

std::string Tokenizer::tokenText(std::int64_t id) const {
    const std::string* const found = token(id);
    if (!found) return "\xe2\x80\xb9" + std::to_string(id) + "\xe2\x80\xba";
    const bool isSpelled = m_parts.spellsBytes && !m_parts.added.find(id);
    return base::visibleText(isSpelled ? charactersAsBytes(*found).value_or(*found) : *found);
}

}  // namespace sonde::io
