// Byte-pair encoding (Sennrich et al. 2016), of characters that stand for bytes (GPT-2) or of others.

#include <queue>

#include <array>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "core/base/count_text.h"
#include "core/base/unicode.h"
#include "core/base/visible_text.h"
#include "core/io/inputs/tokenizers/models.h"

namespace sonde::io {

namespace {

using Id = std::int64_t;
using Position = std::ptrdiff_t;
constexpr Position kNowhere = -1;

/// What becomes of two tokens side by side; a lower rank goes first.
struct Merge {
    std::size_t rank = 0;
    Id made = 0;
};

std::uint64_t pairKey(Id left, Id right) {
    return (static_cast<std::uint64_t>(left) << 32U) | static_cast<std::uint64_t>(right);
}

struct BytePairOptions {
    std::string unknown;
    std::string continuation, wordEnd;  ///< before what continues a word; after its last token
    bool fusesUnknown = false;          ///< several unknown characters in turn are one token
    bool fallsBackToBytes = false;      ///< an unknown character is its bytes: <0xE2>
    bool ignoresMerges = false;         ///< a whole word that is a token is that
};

class BytePairModel final : public TokenModel {
  public:
    BytePairModel(TokenTable table, BytePairOptions options, std::unordered_map<std::uint64_t, Merge> merges)
        : m_options(std::move(options)), m_merges(std::move(merges)) {
        m_table = std::move(table);
    }

    base::Result<void> encode(std::string_view piece, Encoding& to) const override {
        if (m_options.ignoresMerges) {
            if (const auto whole = m_table.id(piece)) {
                to.ids.push_back(*whole);
                return {};
            }
        }
        std::vector<Id> symbols = symbolsOf(piece, to);
        merge(symbols, to.ids);
        return {};
    }

  private:
    /// The characters of a piece.
    std::vector<Id> symbolsOf(std::string_view piece, Encoding& to) const {
        std::vector<Id> symbols;
        const auto unknown = m_options.unknown.empty() ? std::nullopt : m_table.id(m_options.unknown);
        bool wasUnknown = false;
        for (std::size_t at = 0; at < piece.size();) {
            const std::string_view character = piece.substr(at, base::firstCodePoint(piece.substr(at)).bytes);
            std::string token = at > 0 ? m_options.continuation : std::string();
            token += character;
            at += character.size();
            if (at == piece.size()) token += m_options.wordEnd;
            if (const auto id = m_table.id(token)) {
                symbols.push_back(*id);
                wasUnknown = false;
            } else if (m_options.fallsBackToBytes && addBytes(token, symbols)) {
                wasUnknown = false;
            } else if (unknown) {
                if (!wasUnknown || !m_options.fusesUnknown) symbols.push_back(*unknown);
                ++to.unknownCount;
                wasUnknown = true;
            } else {
                ++to.droppedCount;
            }
        }
        return symbols;
    }

    bool addBytes(std::string_view character, std::vector<Id>& symbols) const {
        std::vector<Id> bytes;
        constexpr std::string_view kHexDigits = "0123456789ABCDEF";
        for (const char c : character) {
            const auto byte = static_cast<unsigned char>(c);
            const std::string token{'<', '0', 'x', kHexDigits[byte >> 4U], kHexDigits[byte & 15U], '>'};
            const auto id = m_table.id(token);
            if (!id) return false;
            bytes.push_back(*id);
        }
        symbols.insert(symbols.end(), bytes.begin(), bytes.end());
        return true;
    }

    /// Pairs are merged in the order of their ranks, those of one rank from the left; each merge leaves one symbol
    /// less.
    void merge(const std::vector<Id>& symbols, std::vector<Id>& ids) const {
        struct Symbol {
            Id id;
            Position before, after;
        };
        struct Candidate {
            std::size_t rank;
            Position left;
            Id made;
            bool operator<(const Candidate& other) const {  // the queue's top is its largest
                return rank != other.rank ? rank > other.rank : left > other.left;
            }
        };
        const auto count = static_cast<Position>(symbols.size());
        std::vector<Symbol> chain;
        chain.reserve(symbols.size());
        for (Position i = 0; i < count; ++i)
            chain.push_back({symbols[static_cast<std::size_t>(i)], i - 1, i + 1 < count ? i + 1 : kNowhere});
        const auto at = [&chain](Position i) -> Symbol& { return chain[static_cast<std::size_t>(i)]; };
        std::priority_queue<Candidate> queue;
        std::vector<bool> isGone(symbols.size());
        const auto consider = [&](Position left) {
            if (left == kNowhere || at(left).after == kNowhere) return;
            const auto found = m_merges.find(pairKey(at(left).id, at(at(left).after).id));
            if (found != m_merges.end()) queue.push({found->second.rank, left, found->second.made});
        };
        for (Position i = 0; i + 1 < count; ++i) consider(i);
        while (!queue.empty()) {
            const Candidate top = queue.top();
            queue.pop();
            if (isGone[static_cast<std::size_t>(top.left)] || at(top.left).after == kNowhere) continue;
            const Position right = at(top.left).after;
            const auto found = m_merges.find(pairKey(at(top.left).id, at(right).id));
            if (found == m_merges.end() || found->second.made != top.made) continue;  // it was merged otherwise
            at(top.left).id = top.made;
            at(top.left).after = at(right).after;
            isGone[static_cast<std::size_t>(right)] = true;
            if (at(right).after != kNowhere) at(at(right).after).before = top.left;
            consider(at(top.left).before);
            consider(top.left);
        }
        for (Position i = count > 0 ? 0 : kNowhere; i != kNowhere; i = at(i).after) ids.push_back(at(i).id);
    }

    BytePairOptions m_options;
    std::unordered_map<std::uint64_t, Merge> m_merges;
};

/// "a b" of older files, ["a", "b"] of newer ones.
std::optional<std::pair<std::string, std::string>> pairOf(const nlohmann::json& merge) {
    if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string())
        return std::pair(merge[0].get<std::string>(), merge[1].get<std::string>());
    if (!merge.is_string()) return std::nullopt;
    const auto& text = merge.get_ref<const std::string&>();
    const std::size_t blank = text.find(' ');
    if (blank == std::string::npos || text.find(' ', blank + 1) != std::string::npos) return std::nullopt;
    return std::pair(text.substr(0, blank), text.substr(blank + 1));
}

base::Result<std::unordered_map<std::uint64_t, Merge>> readMerges(const JsonPlace& place, const TokenTable& table,
                                                                  const std::string& continuation) {
    SONDE_ASSIGN(const JsonPlace list, place.at("merges"));
    const nlohmann::json& merges = list.value();
    if (!merges.is_array()) return list.error("a list of merges is expected");
    if (merges.size() > TokenizerLimits::kMaxTokens)
        return list.error("there are " + base::countText(static_cast<std::int64_t>(merges.size())) +
                          " merges; at most " + base::countText(std::int64_t{TokenizerLimits::kMaxTokens}) +
                          " are read");
    std::unordered_map<std::uint64_t, Merge> made;
    made.reserve(merges.size());
    for (std::size_t i = 0; i < merges.size(); ++i) {
        const JsonPlace at(merges[i], {}, list.where() + '[' + std::to_string(i) + ']');
        const auto pair = pairOf(merges[i]);
        if (!pair) return at.error("two tokens with a blank between them are expected");
        const auto left = table.id(pair->first), right = table.id(pair->second);
        const std::string_view rest = pair->second;
        const bool continues = !continuation.empty() && rest.starts_with(continuation);
        const std::string both = pair->first + std::string(continues ? rest.substr(continuation.size()) : rest);
        const auto result = table.id(both);
        if (!left || !right || !result) {
            const std::string& missing = !left ? pair->first : !right ? pair->second : both;
            return at.error("a merge uses '" + base::visibleText(base::utf8Prefix(missing, 60)) +
                            "', which is not in the vocabulary");
        }
        // Of a pair that is there twice the last one counts, as in Hugging Face's tokenizers.
        made.insert_or_assign(pairKey(*left, *right), Merge{i, *result});
    }
    return made;
}

}  // namespace

base::Result<TokenModelPtr> readBytePairs(const JsonPlace& place) {
    SONDE_ASSIGN(TokenTable table, readTable(place));
    BytePairOptions options;
    SONDE_ASSIGN(options.unknown, readUnknown(place, table));
    if (place.find("continuing_subword_prefix")) {
        SONDE_ASSIGN(options.continuation, place.text("continuing_subword_prefix"));
    }
    if (place.find("end_of_word_suffix")) {
        SONDE_ASSIGN(options.wordEnd, place.text("end_of_word_suffix"));
    }
    SONDE_ASSIGN(options.fusesUnknown, place.flag("fuse_unk", false));
    SONDE_ASSIGN(options.fallsBackToBytes, place.flag("byte_fallback", false));
    SONDE_ASSIGN(options.ignoresMerges, place.flag("ignore_merges", false));
    // Its ids would be other ones each time.
    if (const auto dropout = place.find("dropout"); dropout && dropout->value() != 0)
        return dropout->error("merges are dropped at random, which is not supported", "set it to null");
    SONDE_ASSIGN(auto merges, readMerges(place, table, options.continuation));
    return TokenModelPtr(std::make_shared<BytePairModel>(std::move(table), std::move(options), std::move(merges)));
}

}  // namespace sonde::io
