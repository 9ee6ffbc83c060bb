#include "core/io/inputs/tokenizers/decoders.h"

#include <optional>
#include <string>
#include <utility>

#include "core/base/unicode.h"
#include "core/io/inputs/tokenizers/byte_characters.h"
#include "core/io/inputs/tokenizers/character_classes.h"
#include "core/io/inputs/tokenizers/normalizers.h"
#include "core/io/inputs/tokenizers/token_pattern.h"

namespace sonde::io {

namespace {

using base::Result;

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
    std::string made;
    for (std::size_t at = 0; !from.empty() && (at = text.find(from)) != std::string_view::npos;) {
        made += text.substr(0, at);
        made += to;
        text.remove_prefix(at + from.size());
    }
    return made += text;
}

/// Hugging Face's clean_up_tokenization, for one token with the blank before it.
std::string cleanedUp(std::string text) {
    constexpr std::pair<std::string_view, std::string_view> kReplacements[] = {
        {" .", "."},   {" ?", "?"},           {" !", "!"},   {" ,", ","},     {" ' ", "'"},   {" n't", "n't"},
        {" 'm", "'m"}, {" do not", " don't"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
    for (const auto& [from, to] : kReplacements) text = replaced(text, from, to);
    return text;
}

std::string joined(const Pieces& tokens, std::string_view between = {}) {
    std::string text;
    for (std::size_t i = 0; i < tokens.size(); ++i) text += (i ? std::string(between) : std::string()) + tokens[i];
    return text;
}

Result<Decoder> readBytesDecoder(const JsonPlace&) {
    return Decoder([](const Pieces& tokens) {
        std::string bytes;
        for (const std::string& token : tokens) bytes += charactersAsBytes(token).value_or(token);
        return Pieces{validUtf8(bytes)};
    });
}

Result<Decoder> readWordPieceDecoder(const JsonPlace& place) {
    SONDE_ASSIGN(std::string prefix, place.text("prefix"));
    SONDE_ASSIGN(const bool cleansUp, place.flag("cleanup", true));
    return wordPieceDecoder(std::move(prefix), cleansUp);
}

Result<Decoder> readMetaspaceDecoder(const JsonPlace& place) {
    SONDE_ASSIGN(const std::string mark, place.text("replacement"));
    SONDE_ASSIGN(bool isAdded, place.flag("add_prefix_space", true));
    if (place.find("prepend_scheme")) {
        SONDE_ASSIGN(const std::string scheme, place.text("prepend_scheme"));
        isAdded = scheme != "never";
    }
    return Decoder([mark, isAdded](Pieces tokens) {
        for (std::size_t i = 0; i < tokens.size(); ++i) {
            const bool isDropped = i == 0 && isAdded && tokens[i].starts_with(mark);
            tokens[i] = replaced(std::string_view(tokens[i]).substr(isDropped ? mark.size() : 0), mark, " ");
        }
        return tokens;
    });
}

Result<Decoder> readSuffixDecoder(const JsonPlace& place) {
    SONDE_ASSIGN(const std::string suffix, place.text("suffix"));
    return Decoder([suffix](Pieces tokens) {
        for (std::size_t i = 0; i < tokens.size(); ++i)
            tokens[i] = replaced(tokens[i], suffix, i + 1 < tokens.size() ? " " : "");
        return tokens;
    });
}

/// "<0x0A>" → its byte.
std::optional<char> byteOfToken(std::string_view token) {
    if (token.size() != 6 || !token.starts_with("<0x") || token.back() != '>') return std::nullopt;
    int value = 0;
    for (const char c : token.substr(3, 2)) {
        const std::size_t digit = std::string_view("0123456789ABCDEF").find(c);
        if (digit == std::string_view::npos) return std::nullopt;
        value = 16 * value + static_cast<int>(digit);
    }
    return static_cast<char>(value);
}

bool isValidUtf8(std::string_view text) {
    while (!text.empty()) {
        const base::CodePoint point = base::firstCodePoint(text);
        if (!point.valid) return false;
        text.remove_prefix(point.bytes);
    }
    return true;
}

Result<Decoder> readFallbackDecoder(const JsonPlace&) {
    return Decoder([](const Pieces& tokens) {
        Pieces made;
        std::string bytes;
        const auto flush = [&] {
            if (isValidUtf8(bytes)) made.push_back(bytes);
            else made.insert(made.end(), bytes.size(), "\xEF\xBF\xBD");
            bytes.clear();
        };
        for (const std::string& token : tokens) {
            const std::optional<char> byte = byteOfToken(token);
            if (byte) bytes += *byte;
            if (!byte && !bytes.empty()) flush();
            if (!byte) made.push_back(token);
        }
        if (!bytes.empty()) flush();
        return made;
    });
}

Result<Decoder> readFuse(const JsonPlace&) {
    return Decoder([](const Pieces& tokens) { return Pieces{joined(tokens)}; });
}

Result<Decoder> readReplaceDecoder(const JsonPlace& place) {
    SONDE_ASSIGN(const JsonPlace at, place.at("pattern"));
    SONDE_ASSIGN(const TokenPattern pattern, readPattern(at));
    SONDE_ASSIGN(const std::string content, place.text("content"));
    if (content.size() > TokenizerLimits::kMaxTokenBytes) return place.error("'content' is too long");
    return Decoder([pattern, content](Pieces tokens) {
        std::size_t bytes = 0;
        for (std::string& token : tokens) {
            std::string made;
            for (const TextSpan& span : pattern.spansOf(token)) {
                const std::string part = span.isMatch ? content : token.substr(span.begin, span.end - span.begin);
                if ((bytes += part.size()) > TokenizerLimits::kMaxNormalizedBytes) break;  // several steps multiply
                made += part;
            }
            token = std::move(made);
        }
        return tokens;
    });
}

/// At most so many of a character at each end of every token.
Result<Decoder> readStripDecoder(const JsonPlace& place) {
    SONDE_ASSIGN(const std::string content, place.text("content"));
    SONDE_ASSIGN(const std::int64_t start, place.integer("start"));
    SONDE_ASSIGN(const std::int64_t stop, place.integer("stop"));
    if (content.empty()) return place.error("'content' is empty");
    return Decoder([content, start, stop](Pieces tokens) {
        for (std::string& token : tokens) {
            std::string_view rest = token;
            for (std::int64_t i = 0; i < start && rest.starts_with(content); ++i) rest.remove_prefix(content.size());
            for (std::int64_t i = 0; i < stop && rest.ends_with(content); ++i) rest.remove_suffix(content.size());
            token = std::string(rest);
        }
        return tokens;
    });
}

Result<Decoder> readDecoderSequence(const JsonPlace& place) {
    SONDE_ASSIGN(const std::vector<JsonPlace> items, place.items("decoders"));
    std::vector<Decoder> steps;
    for (const JsonPlace& item : items) {
        SONDE_ASSIGN(Decoder step, readDecoder(item));
        steps.push_back(std::move(step));
    }
    return Decoder([steps = std::move(steps)](Pieces tokens) {
        for (const Decoder& step : steps) tokens = step(std::move(tokens));
        return tokens;
    });
}

struct DecoderKind {
    std::string_view type;
    Result<Decoder> (*read)(const JsonPlace& place);
};

constexpr DecoderKind kDecoders[] = {
    {"Sequence", readDecoderSequence},     {"ByteLevel", readBytesDecoder},
    {"WordPiece", readWordPieceDecoder},   {"Metaspace", readMetaspaceDecoder},
    {"BPEDecoder", readSuffixDecoder},     {"Replace", readReplaceDecoder},
    {"ByteFallback", readFallbackDecoder}, {"Fuse", readFuse},
    {"Strip", readStripDecoder},
};

}  // namespace

Decoder wordPieceDecoder(std::string continuation, bool cleansUp) {
    return [continuation = std::move(continuation), cleansUp](Pieces tokens) {
        for (std::size_t i = 0; i < tokens.size(); ++i) {
            const bool continues = i > 0 && tokens[i].starts_with(continuation);
            if (continues) tokens[i].erase(0, continuation.size());
            else if (i > 0) tokens[i].insert(0, " ");
            if (cleansUp) tokens[i] = cleanedUp(std::move(tokens[i]));
        }
        return tokens;
    };
}

Decoder joiningDecoder(std::string between) {
    return [between = std::move(between)](const Pieces& tokens) { return Pieces{joined(tokens, between)}; };
}

base::Result<Decoder> readDecoder(const JsonPlace& place) {
    SONDE_ASSIGN(const DecoderKind* const kind, place.kindIn(kDecoders, "decoder"));
    return kind->read(place);
}

}  // namespace sonde::io
