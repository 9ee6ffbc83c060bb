#include "core/io/inputs/tokenizers/normalizers.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "core/base/unicode.h"
#include "core/io/inputs/tokenizers/character_classes.h"
#include "core/io/inputs/tokenizers/token_pattern.h"

namespace sonde::io {

namespace {

using base::Result;

/// CJK Unified Ideographs and their extensions, as BERT's tokenizer lists them (tokenization.py, _is_chinese_char).
bool isChinese(char32_t c) {
    return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x20000 && c <= 0x2A6DF) ||
           (c >= 0x2A700 && c <= 0x2B73F) || (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B820 && c <= 0x2CEAF) ||
           (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

void appendCleaned(std::string& to, char32_t c) {
    const bool isLine = c == '\t' || c == '\n' || c == '\r';
    if (c == 0 || c == 0xFFFD || (!isLine && isOther(c))) return;
    base::appendUtf8(to, base::isSpace(c) ? U' ' : c);
}

void appendSeparated(std::string& to, char32_t c) {
    if (isChinese(c)) to += ' ';
    base::appendUtf8(to, c);
    if (isChinese(c)) to += ' ';
}

/// As BERT's own normalizer takes accents off.
void appendUnlessNonspacing(std::string& to, char32_t c) {
    if (!isNonspacingMark(c)) base::appendUtf8(to, c);
}

/// As the normalizer StripAccents does: also vowel signs that take room, as Devanagari's.
void appendUnlessMark(std::string& to, char32_t c) {
    if (!isMark(c)) base::appendUtf8(to, c);
}

/// A step that cannot fail, but for the size of what it makes.
template <typename Change>
Normalizer ofChange(Change change) {
    return [change](std::string text) -> Result<std::string> {
        std::string made = change(text);
        SONDE_TRY(checkGrowth(made.size()));
        return made;
    };
}

Result<Normalizer> readBert(const JsonPlace& place) {
    BertNormalization what;
    SONDE_ASSIGN(what.cleans, place.flag("clean_text", true));
    SONDE_ASSIGN(what.separatesChinese, place.flag("handle_chinese_chars", true));
    SONDE_ASSIGN(what.lowers, place.flag("lowercase", true));
    SONDE_ASSIGN(what.stripsAccents, place.flag("strip_accents", what.lowers));
    return bertNormalizer(what);
}

Result<Normalizer> readLowercase(const JsonPlace&) {
    return ofChange([](const std::string& text) { return mappedCharacters(text, appendLowerCase); });
}

Result<Normalizer> readStripAccents(const JsonPlace&) {
    return ofChange([](const std::string& text) { return mappedCharacters(text, appendUnlessMark); });
}

template <NormalForm Form>
Result<Normalizer> readForm(const JsonPlace&) {
    return ofChange([](const std::string& text) { return normalForm(text, Form); });
}

Result<Normalizer> readStrip(const JsonPlace& place) {
    SONDE_ASSIGN(const bool left, place.flag("strip_left", true));
    SONDE_ASSIGN(const bool right, place.flag("strip_right", true));
    return ofChange([left, right](const std::string& text) {
        const std::u32string all = base::codePoints(text);
        std::size_t begin = 0, end = all.size();
        while (left && begin < end && base::isSpace(all[begin])) ++begin;
        while (right && end > begin && base::isSpace(all[end - 1])) --end;
        std::string made;
        for (std::size_t i = begin; i < end; ++i) base::appendUtf8(made, all[i]);
        return made;
    });
}

Result<Normalizer> readPrepend(const JsonPlace& place) {
    SONDE_ASSIGN(const std::string prefix, place.text("prepend"));
    return ofChange([prefix](const std::string& text) { return text.empty() ? text : prefix + text; });
}

Result<Normalizer> readReplace(const JsonPlace& place) {
    SONDE_ASSIGN(const JsonPlace at, place.at("pattern"));
    SONDE_ASSIGN(const TokenPattern pattern, readPattern(at));
    SONDE_ASSIGN(const std::string content, place.text("content"));
    return Normalizer([pattern, content](std::string text) -> Result<std::string> {
        const std::vector<TextSpan> spans = pattern.spansOf(text);
        const auto count = static_cast<std::size_t>(std::ranges::count(spans, true, &TextSpan::isMatch));
        SONDE_TRY(checkGrowth(text.size() + count * std::min(content.size(), TokenizerLimits::kMaxNormalizedBytes)));
        std::string made;
        for (const TextSpan& span : spans)
            made += span.isMatch ? content : text.substr(span.begin, span.end - span.begin);
        return made;
    });
}

Result<Normalizer> readSequence(const JsonPlace& place) {
    SONDE_ASSIGN(const std::vector<JsonPlace> items, place.items("normalizers"));
    std::vector<Normalizer> steps;
    for (const JsonPlace& item : items) {
        SONDE_ASSIGN(Normalizer step, readNormalizer(item));
        steps.push_back(std::move(step));
    }
    return Normalizer([steps = std::move(steps)](std::string text) -> Result<std::string> {
        for (const Normalizer& step : steps) {
            SONDE_ASSIGN(text, step(std::move(text)));
        }
        return text;
    });
}

struct NormalizerKind {
    std::string_view type;
    Result<Normalizer> (*read)(const JsonPlace& place);
};

constexpr NormalizerKind kNormalizers[] = {
    {"Sequence", readSequence},         {"BertNormalizer", readBert},       {"Lowercase", readLowercase},
    {"StripAccents", readStripAccents}, {"NFC", readForm<NormalForm::C>},   {"NFD", readForm<NormalForm::D>},
    {"NFKC", readForm<NormalForm::KC>}, {"NFKD", readForm<NormalForm::KD>}, {"Strip", readStrip},
    {"Prepend", readPrepend},           {"Replace", readReplace},
};

}  // namespace

Normalizer bertNormalizer(const BertNormalization& what) {
    return ofChange([what](std::string text) {
        if (what.cleans) text = mappedCharacters(text, appendCleaned);
        if (what.separatesChinese) text = mappedCharacters(text, appendSeparated);
        if (what.stripsAccents) text = mappedCharacters(normalForm(text, NormalForm::D), appendUnlessNonspacing);
        if (what.lowers) text = mappedCharacters(text, appendLowerCase);
        return text;
    });
}

base::Result<Normalizer> readNormalizer(const JsonPlace& place) {
    SONDE_ASSIGN(const NormalizerKind* const kind, place.kindIn(kNormalizers, "normalizer"));
    return kind->read(place);
}

base::Result<TokenPattern> readPattern(const JsonPlace& place) {
    if (const std::optional<JsonPlace> plain = place.find("String")) {
        SONDE_ASSIGN(const std::string text, plain->text());
        return TokenPattern::ofText(text);
    }
    SONDE_ASSIGN(const JsonPlace at, place.at("Regex"));
    SONDE_ASSIGN(const std::string text, at.text());
    auto pattern = TokenPattern::parse(text);
    if (!pattern) return std::move(pattern).error().at(at.where());
    return pattern;
}

}  // namespace sonde::io
