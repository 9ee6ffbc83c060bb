#include "core/io/inputs/tokenizers/tokenizer_file.h"

#include <algorithm>
#include <deque>
#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>

#include "core/base/count_text.h"
#include "core/base/mapped_file.h"
#include "core/base/trimmed.h"
#include "core/base/unicode.h"
#include "core/io/inputs/tokenizers/json_place.h"

namespace sonde::io {

namespace {

using base::Result;
using TokenizerPtr = std::shared_ptr<const Tokenizer>;
using Json = nlohmann::json;

constexpr std::size_t kKeptTokenizers = 4;
constexpr std::string_view kUnknownNames[] = {"[UNK]", "<unk>", "<UNK>", "[unk]", "<|unk|>", "<oov>", "<OOV>"};

/// "[PAD]", "<eos>": not text.
bool isBracketed(std::string_view token) {
    return token.size() > 2 &&
           ((token.front() == '[' && token.back() == ']') || (token.front() == '<' && token.back() == '>'));
}

base::Error notSupported(const std::string& what, const std::string& where, std::string hint = {}) {
    if (hint.empty())
        hint =
            "supported: tokenizer.json with BPE, WordPiece or WordLevel, and vocabularies of words, characters or WordPiece";
    return base::unreadable(what + " is not supported as a tokenizer", where, std::move(hint));
}

/// Files of tokenizers that are none of ours, by their content.
Result<void> refuseOthers(std::string_view content, const std::string& where) {
    if (content.empty()) return base::unreadable("the tokenizer file is empty", where);
    if (content.size() > TokenizerLimits::kMaxFileBytes)
        return base::unreadable(
            "the tokenizer file is larger than " + std::to_string(TokenizerLimits::kMaxFileBytes >> 20U) + " MiB",
            where);
    const std::string_view head = content.substr(0, 4'096);
    if (head.starts_with("\n") && head.find('\0') != std::string_view::npos)
        return notSupported("a SentencePiece model", where, "convert it to tokenizer.json, if it is BPE");
    if (head.find('\0') != std::string_view::npos) return notSupported("a binary file", where);
    if (head.starts_with("#version:"))
        return notSupported("a list of merges (merges.txt)", where, "take the tokenizer.json of the same model");
    const std::string_view line = head.substr(0, head.find('\n'));
    const std::size_t blank = line.find(' ');
    const bool isTiktoken = blank != std::string_view::npos && blank % 4 == 0 && blank > 0 &&
                            line.substr(blank) == " 0" && line.substr(0, blank).ends_with('=');
    if (isTiktoken) return notSupported("a tiktoken file", where, "take the tokenizer.json of the same model");
    return {};
}

/// An object with a first key, or a list with a first text. A vocabulary of characters may begin with a bracket and a
/// quotation mark, too, each on a line of its own.
bool looksLikeJson(std::string_view content) {
    constexpr std::string_view kBlanks = " \t\r\n";
    const std::size_t first = content.find_first_not_of(kBlanks);
    if (first == std::string_view::npos || (content[first] != '{' && content[first] != '[')) return false;
    const std::size_t second = content.find_first_not_of(kBlanks, first + 1);
    if (second == std::string_view::npos) return true;  // no vocabulary is a single bracket
    if (content[second] == '"') return second + 1 == content.size() || content[second + 1] != '\n';
    const bool isEmpty = content[second] == '}' || content[second] == ']';
    return isEmpty && content.find_first_not_of(kBlanks, second + 1) == std::string_view::npos;
}

/// How many brackets are open at once.
std::size_t depthOf(std::string_view json) {
    std::size_t depth = 0, deepest = 0;
    bool isText = false;
    for (std::size_t i = 0; i < json.size(); ++i) {
        const char c = json[i];
        if (isText) {
            if (c == '\\') ++i;
            else if (c == '"') isText = false;
        } else if (c == '"') {
            isText = true;
        } else if (c == '{' || c == '[') {
            deepest = std::max(deepest, ++depth);
        } else if ((c == '}' || c == ']') && depth > 0) {
            --depth;
        }
    }
    return deepest;
}

/// JSON of at most so many levels.
Result<Json> parseJson(std::string_view content, const std::string& where) {
    if (depthOf(content) > TokenizerLimits::kMaxDepth)
        return base::unreadable(
            "the tokenizer file is nested deeper than " + std::to_string(TokenizerLimits::kMaxDepth) + " levels",
            where);
    try {
        return Json::parse(content);
    } catch (const Json::parse_error& error) {
        return base::unreadable(
            "the tokenizer file is no JSON: there is an error at byte " + std::to_string(error.byte), where);
    } catch (const Json::exception&) {
        return base::unreadable("the tokenizer file is no JSON", where);
    }
}

Result<void> checkToken(std::string_view token, const std::string& where) {
    if (token.size() > TokenizerLimits::kMaxTokenBytes)
        return base::unreadable("a token is longer than " + std::to_string(TokenizerLimits::kMaxTokenBytes) + " bytes",
                                where);
    for (std::string_view rest = token; !rest.empty();) {
        const base::CodePoint point = base::firstCodePoint(rest);
        if (!point.valid) return base::unreadable("the vocabulary is not UTF-8", where, "save it as UTF-8");
        rest.remove_prefix(point.bytes);
    }
    return {};
}

/// A token a line.
Result<TokenTable> tableOfLines(std::string_view content, const std::string& where) {
    TokenTable table;
    for (std::int64_t id = 0; !content.empty(); ++id) {
        const std::size_t end = content.find('\n');
        std::string_view line = content.substr(0, end);
        content.remove_prefix(end == std::string_view::npos ? content.size() : end + 1);
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (id == static_cast<std::int64_t>(TokenizerLimits::kMaxTokens))
            return base::unreadable("the vocabulary has more than " + base::countText(id) + " lines", where);
        SONDE_TRY(checkToken(line, where + ", line " + std::to_string(id + 1)));
        table.add(std::string(line), id);
    }
    return table;
}

/// ["a", "b"], or {"a": 0, "b": 1}.
Result<TokenTable> tableOfJson(const Json& json, const std::string& where) {
    const JsonPlace place(json, where);
    if (json.size() > TokenizerLimits::kMaxTokens) return place.error("there are too many tokens");
    TokenTable table;
    const auto add = [&table, &where](std::string token, std::int64_t id) -> Result<void> {
        SONDE_TRY(checkToken(token, where));
        table.add(std::move(token), id);
        return {};
    };
    if (json.is_array()) {
        SONDE_ASSIGN(const std::vector<JsonPlace> items, place.items());
        for (std::size_t i = 0; i < items.size(); ++i) {
            SONDE_ASSIGN(std::string token, items[i].text());
            SONDE_TRY(add(std::move(token), static_cast<std::int64_t>(i)));
        }
        return table;
    }
    for (const auto& [token, id] : json.items()) {
        SONDE_ASSIGN(const JsonPlace at, place.at(token));
        SONDE_ASSIGN(const std::int64_t number, at.integer());
        SONDE_TRY(add(token, number));
    }
    return table;
}

bool hasCapital(std::string_view token) {
    while (!token.empty()) {
        const base::CodePoint point = base::firstCodePoint(token);
        if (point.valid && base::lowerCase(point.value) != point.value) return true;
        token.remove_prefix(point.bytes);
    }
    return false;
}

Result<TokenizerPtr> ofTable(TokenTable table, const std::string& where, const TokenizerChoice& choice) {
    if (table.size() == 0) return base::unreadable("the vocabulary has no tokens", where);
    std::vector<std::string> tokens;
    std::vector<AddedToken> special;
    table.forEach([&](const std::string& token, std::int64_t id) {
        if (isBracketed(token)) special.push_back({token, id, true});
        else if (!token.empty()) tokens.push_back(token);
    });
    const auto begins = [&tokens](std::string_view with) {
        return std::ranges::any_of(
            tokens, [with](const std::string& token) { return token.size() > with.size() && token.starts_with(with); });
    };
    const VocabularyKind* kind = nullptr;
    for (const VocabularyKind& each : vocabularyKinds()) {
        const bool isIt = choice.kind.empty() ? each.fits(tokens) : each.id == choice.kind;
        if (isIt && !kind) kind = &each;
    }
    if (choice.kind.empty() && begins("\xc4\xa0"))
        return notSupported("a vocabulary of byte pairs without their merges", where,
                            "take the tokenizer.json of the same model");
    if (choice.kind.empty() && begins("\xe2\x96\x81"))
        return notSupported("a vocabulary of SentencePiece without its model", where);
    if (!kind) return base::usageError("there is no kind of vocabulary '" + choice.kind + "'", where);
    const bool lowersCase = choice.lowersCase.value_or(std::ranges::none_of(tokens, hasCapital));
    return Tokenizer::make(kind->make(std::move(table), special, lowersCase));
}

/// A tokenizer and the file that it was read from, which tells whether it is still that.
struct KeptTokenizer {
    std::filesystem::path location;
    TokenizerChoice choice;
    std::shared_ptr<const base::MappedFile> file;
    TokenizerPtr tokenizer;
};

struct TokenizerStore {
    std::mutex mutex;
    std::deque<KeptTokenizer> kept;  ///< the last one used first
};

TokenizerStore& tokenizerStore() {
    static TokenizerStore store;
    return store;
}

}  // namespace

std::span<const VocabularyKind> vocabularyKinds() {
    static const std::vector<VocabularyKind> kinds{wordPieceKind(), characterKind(), wordKind()};
    return kinds;
}

bool isTokenizerJson(std::string_view content) { return looksLikeJson(base::withoutByteOrderMark(content)); }

std::string unknownTokenOf(const TokenTable& table) {
    for (const std::string_view name : kUnknownNames)
        if (table.id(name)) return std::string(name);
    return {};
}

base::Result<TokenizerPtr> parseTokenizer(std::string_view content, const std::string& where,
                                          const TokenizerChoice& choice) {
    content = base::withoutByteOrderMark(content);
    SONDE_TRY(refuseOthers(content, where));
    if (!looksLikeJson(content)) {
        SONDE_ASSIGN(TokenTable table, tableOfLines(content, where));
        return ofTable(std::move(table), where, choice);
    }
    SONDE_ASSIGN(const Json json, parseJson(content, where));
    if (json.is_object() && json.contains("model") && json["model"].is_object())
        return readTokenizerJson(JsonPlace(json, where));
    SONDE_ASSIGN(TokenTable table, tableOfJson(json, where));
    return ofTable(std::move(table), where, choice);
}

base::Result<TokenizerPtr> openTokenizer(const std::string& path, const TokenizerChoice& choice) {
    SONDE_ASSIGN(const std::shared_ptr<const base::MappedFile> file, base::MappedFile::open(path));
    std::error_code ignored;
    const std::filesystem::path location = std::filesystem::absolute(path, ignored);
    TokenizerStore& store = tokenizerStore();
    {
        const std::lock_guard lock(store.mutex);
        std::erase_if(store.kept, [](const KeptTokenizer& kept) { return kept.file->hasChanged(); });
        for (std::size_t i = 0; i < store.kept.size(); ++i) {
            if (store.kept[i].location != location || store.kept[i].choice != choice) continue;
            std::swap(store.kept.front(), store.kept[i]);
            return store.kept.front().tokenizer;
        }
    }
    const std::string_view content(reinterpret_cast<const char*>(file->bytes().data()), file->sizeBytes());
    auto made = parseTokenizer(content, path, choice);
    if (file->hasChanged()) return file->changeError("tokenizer file");
    if (!made) return made;
    const std::lock_guard lock(store.mutex);
    store.kept.push_front({location, choice, file, *made});
    if (store.kept.size() > kKeptTokenizers) store.kept.pop_back();
    return made;
}

}  // namespace sonde::io
