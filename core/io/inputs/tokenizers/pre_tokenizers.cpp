#include "core/io/inputs/tokenizers/pre_tokenizers.h"

#include <functional>
#include <string>

#include "core/base/unicode.h"
#include "core/io/inputs/tokenizers/byte_characters.h"
#include "core/io/inputs/tokenizers/character_classes.h"
#include "core/io/inputs/tokenizers/normalizers.h"
#include "core/io/inputs/tokenizers/splits.h"

namespace sonde::io {

namespace {

using base::Result;
using Spans = std::function<std::vector<TextSpan>(std::string_view)>;

/// GPT-2's words (Radford et al. 2019, encoder.py): endings, letters, digits and other characters, each with the blank
/// before it.
constexpr std::string_view kGpt2Words = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr std::string_view kLowBlock = "\xe2\x96\x81";  // U+2581

PreTokenizer ofSplit(Spans spans, SplitBehavior behavior, bool isInverted = false) {
    return [spans = std::move(spans), behavior, isInverted](Pieces pieces, bool) -> Result<Pieces> {
        Pieces made;
        for (const std::string& piece : pieces) {
            std::vector<TextSpan> found = spans(piece);
            if (isInverted)
                for (TextSpan& span : found) span.isMatch = !span.isMatch;
            split(piece, found, behavior, made);
        }
        return made;
    };
}

PreTokenizer ofCharacters(std::function<bool(char32_t)> matches, SplitBehavior behavior) {
    return ofSplit([matches = std::move(matches)](std::string_view text) { return charactersWhere(text, matches); },
                   behavior);
}

Result<PreTokenizer> ofPattern(std::string_view pattern, SplitBehavior behavior, bool isInverted = false) {
    SONDE_ASSIGN(TokenPattern parsed, TokenPattern::parse(pattern));
    return ofSplit([parsed](std::string_view text) { return parsed.spansOf(text); }, behavior, isInverted);
}

PreTokenizer inTurn(std::vector<PreTokenizer> steps) {
    return [steps = std::move(steps)](Pieces pieces, bool isBeginning) -> Result<Pieces> {
        for (const PreTokenizer& step : steps) {
            SONDE_ASSIGN(pieces, step(std::move(pieces), isBeginning));
            std::size_t bytes = 0;
            for (const std::string& piece : pieces) bytes += piece.size();
            SONDE_TRY(checkGrowth(bytes));
        }
        return pieces;
    };
}

/// A step that changes each piece alone.
PreTokenizer ofEach(std::function<std::string(const std::string&)> change) {
    return [change = std::move(change)](Pieces pieces, bool) -> Result<Pieces> {
        for (std::string& piece : pieces) piece = change(piece);
        return pieces;
    };
}

Result<PreTokenizer> readByteLevel(const JsonPlace& place) {
    SONDE_ASSIGN(const bool addsBlank, place.flag("add_prefix_space", true));
    SONDE_ASSIGN(const bool usesPattern, place.flag("use_regex", true));
    std::vector<PreTokenizer> steps;
    if (addsBlank)
        steps.push_back(ofEach([](const std::string& text) { return text.starts_with(' ') ? text : ' ' + text; }));
    if (usesPattern) {
        SONDE_ASSIGN(PreTokenizer words, ofPattern(kGpt2Words, SplitBehavior::Isolated));
        steps.push_back(std::move(words));
    }
    steps.push_back(ofEach([](const std::string& text) { return bytesAsCharacters(text); }));
    return inTurn(std::move(steps));
}

Result<PreTokenizer> readWhitespace(const JsonPlace&) {
    return ofPattern(R"(\w+|[^\w\s]+)", SplitBehavior::Removed, true);
}

Result<PreTokenizer> readWhitespaceSplit(const JsonPlace&) { return blankPreTokenizer(); }

Result<PreTokenizer> readBertWords(const JsonPlace&) { return bertPreTokenizer(); }

Result<PreTokenizer> readPunctuation(const JsonPlace& place) {
    SplitBehavior behavior = SplitBehavior::Isolated;
    if (const auto at = place.find("behavior")) {
        SONDE_ASSIGN(behavior, splitBehaviorOf(*at));
    }
    return ofCharacters(isBertPunctuation, behavior);
}

Result<PreTokenizer> readDigits(const JsonPlace& place) {
    SONDE_ASSIGN(const bool areApart, place.flag("individual_digits", false));
    return ofCharacters(isNumber, areApart ? SplitBehavior::Isolated : SplitBehavior::Contiguous);
}

Result<PreTokenizer> readSplit(const JsonPlace& place) {
    SONDE_ASSIGN(const JsonPlace at, place.at("pattern"));
    SONDE_ASSIGN(const TokenPattern pattern, readPattern(at));
    SONDE_ASSIGN(const JsonPlace how, place.at("behavior"));
    SONDE_ASSIGN(const SplitBehavior behavior, splitBehaviorOf(how));
    SONDE_ASSIGN(const bool isInverted, place.flag("invert", false));
    return ofSplit([pattern](std::string_view text) { return pattern.spansOf(text); }, behavior, isInverted);
}

Result<PreTokenizer> readDelimiter(const JsonPlace& place) {
    SONDE_ASSIGN(const std::string delimiter, place.text("delimiter"));
    const TokenPattern pattern = TokenPattern::ofText(delimiter);
    return ofSplit([pattern](std::string_view text) { return pattern.spansOf(text); }, SplitBehavior::Removed);
}

/// SentencePiece's "▁": in place of each blank, and before each piece ("always"), before the whole text ("first") or
/// nothing ("never") where there is none.
Result<PreTokenizer> readMetaspace(const JsonPlace& place) {
    std::string mark(kLowBlock);
    if (place.find("replacement")) {
        SONDE_ASSIGN(mark, place.text("replacement"));
    }
    SONDE_ASSIGN(const bool addsBlank, place.flag("add_prefix_space", true));
    std::string scheme = addsBlank ? "always" : "never";
    if (place.find("prepend_scheme")) {
        SONDE_ASSIGN(scheme, place.text("prepend_scheme"));
    }
    if (scheme != "always" && scheme != "first" && scheme != "never") {
        SONDE_ASSIGN(const JsonPlace at, place.at("prepend_scheme"));
        return at.error("'" + scheme + "' is not known", "always, first or never");
    }
    SONDE_ASSIGN(const bool divides, place.flag("split", true));
    std::vector<PreTokenizer> steps;
    steps.push_back([mark, scheme](Pieces pieces, bool isBeginning) -> Result<Pieces> {
        for (std::size_t i = 0; i < pieces.size(); ++i) {
            std::string made = mappedCharacters(pieces[i], [&mark](std::string& to, char32_t c) {
                if (c == ' ') to += mark;
                else base::appendUtf8(to, c);
            });
            const bool isAdded = scheme == "always" || (scheme == "first" && isBeginning && i == 0);
            pieces[i] = isAdded && !made.starts_with(mark) ? mark + made : std::move(made);
        }
        return pieces;
    });
    if (divides)
        steps.push_back(
            ofSplit([pattern = TokenPattern::ofText(mark)](std::string_view text) { return pattern.spansOf(text); },
                    SplitBehavior::MergedWithNext));
    return inTurn(std::move(steps));
}

Result<PreTokenizer> readSequenceOfSteps(const JsonPlace& place) {
    SONDE_ASSIGN(const std::vector<JsonPlace> items, place.items("pretokenizers"));
    std::vector<PreTokenizer> steps;
    for (const JsonPlace& item : items) {
        SONDE_ASSIGN(PreTokenizer step, readPreTokenizer(item));
        steps.push_back(std::move(step));
    }
    return inTurn(std::move(steps));
}

struct PreTokenizerKind {
    std::string_view type;
    Result<PreTokenizer> (*read)(const JsonPlace& place);
};

constexpr PreTokenizerKind kPreTokenizers[] = {
    {"Sequence", readSequenceOfSteps},
    {"ByteLevel", readByteLevel},
    {"BertPreTokenizer", readBertWords},
    {"Whitespace", readWhitespace},
    {"WhitespaceSplit", readWhitespaceSplit},
    {"Punctuation", readPunctuation},
    {"Digits", readDigits},
    {"Split", readSplit},
    {"CharDelimiterSplit", readDelimiter},
    {"Metaspace", readMetaspace},
};

}  // namespace

PreTokenizer blankPreTokenizer() { return ofCharacters(base::isSpace, SplitBehavior::Removed); }

PreTokenizer bertPreTokenizer() {
    return inTurn({blankPreTokenizer(), ofCharacters(isBertPunctuation, SplitBehavior::Isolated)});
}

base::Result<PreTokenizer> readPreTokenizer(const JsonPlace& place) {
    SONDE_ASSIGN(const PreTokenizerKind* const kind, place.kindIn(kPreTokenizers, "pre-tokenizer"));
    return kind->read(place);
}

}  // namespace sonde::io
