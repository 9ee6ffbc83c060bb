#include "core/io/inputs/tokenizers/added_tokens.h"

#include <algorithm>
#include <utility>

#include "core/base/unicode.h"
#include "core/io/inputs/tokenizers/character_classes.h"

namespace sonde::io {

namespace {

constexpr std::size_t kMaxAddedBytes = 1'024;  ///< of one: each is looked for from every place of a text
constexpr std::size_t kMaxAddedTokens = 200'000;

/// The last character of a text, and its bytes.
base::CodePoint lastCodePoint(std::string_view text) {
    std::size_t at = text.size() - 1;
    while (at > 0 && text.size() - at < 4 && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U) --at;
    return base::firstCodePoint(text.substr(at));
}

bool isWordBeside(std::string_view before, std::string_view after) {
    return (!before.empty() && isWordCharacter(lastCodePoint(before).value)) ||
           (!after.empty() && isWordCharacter(base::firstCodePoint(after).value));
}

std::size_t blanksAtEnd(std::string_view text) {
    std::size_t bytes = 0;
    while (!text.empty()) {
        const base::CodePoint last = lastCodePoint(text);
        if (!base::isSpace(last.value)) break;
        bytes += last.bytes;
        text.remove_suffix(last.bytes);
    }
    return bytes;
}

std::size_t blanksAtStart(std::string_view text) {
    std::size_t bytes = 0;
    while (!text.empty()) {
        const base::CodePoint first = base::firstCodePoint(text);
        if (!base::isSpace(first.value)) break;
        bytes += first.bytes;
        text.remove_prefix(first.bytes);
    }
    return bytes;
}

}  // namespace

void AddedTokens::Trie::add(std::string_view content, std::size_t token) {
    std::size_t node = 0;
    for (const char c : content) {
        const auto [edge, isNew] = m_nodes[node].next.emplace(c, m_nodes.size());
        node = edge->second;
        if (isNew) m_nodes.emplace_back();
    }
    if (!m_nodes[node].token) m_nodes[node].token = token;
}

std::optional<std::pair<std::size_t, std::size_t>> AddedTokens::Trie::longest(std::string_view text) const {
    std::optional<std::pair<std::size_t, std::size_t>> found;
    std::size_t node = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto edge = m_nodes[node].next.find(text[i]);
        if (edge == m_nodes[node].next.end()) break;
        node = edge->second;
        if (m_nodes[node].token) found.emplace(*m_nodes[node].token, i + 1);
    }
    return found;
}

base::Result<AddedTokens> AddedTokens::read(const JsonPlace& place) {
    AddedTokens made;
    SONDE_ASSIGN(const std::vector<JsonPlace> items, place.items());
    if (items.size() > kMaxAddedTokens) return place.error("there are too many added tokens");
    for (const JsonPlace& item : items) {
        AddedToken token;
        SONDE_ASSIGN(token.content, item.text("content"));
        SONDE_ASSIGN(token.id, item.integer("id"));
        SONDE_ASSIGN(token.isSpecial, item.flag("special", false));
        SONDE_ASSIGN(token.isWord, item.flag("single_word", false));
        SONDE_ASSIGN(token.takesLeft, item.flag("lstrip", false));
        SONDE_ASSIGN(token.takesRight, item.flag("rstrip", false));
        SONDE_ASSIGN(token.isNormalized, item.flag("normalized", !token.isSpecial));
        if (token.content.size() > kMaxAddedBytes)
            return item.error("an added token is longer than " + std::to_string(kMaxAddedBytes) + " bytes");
        if (!token.content.empty()) made.add(std::move(token));
    }
    return made;
}

void AddedTokens::add(AddedToken token) {
    const std::size_t index = m_tokens.size();
    m_byId.emplace(token.id, index);
    m_byContent.emplace(token.content, index);
    m_tokens.push_back(std::move(token));
}

base::Result<void> AddedTokens::prepare(const Normalizer& normalizer) {
    for (std::size_t i = 0; i < m_tokens.size(); ++i) {
        const AddedToken& token = m_tokens[i];
        if (!token.isNormalized) {
            m_plain.add(token.content, i);
            continue;
        }
        std::string content = token.content;
        if (normalizer) {
            SONDE_ASSIGN(content, normalizer(token.content));
        }
        if (content.size() > kMaxAddedBytes) return base::unreadable("an added token becomes too long when normalised");
        if (!content.empty()) m_normalized.add(content, i);
    }
    return {};
}

const AddedToken* AddedTokens::find(std::int64_t id) const {
    const auto found = m_byId.find(id);
    return found == m_byId.end() ? nullptr : &m_tokens[found->second];
}

const AddedToken* AddedTokens::find(std::string_view content) const {
    const auto found = m_byContent.find(content);
    return found == m_byContent.end() ? nullptr : &m_tokens[found->second];
}

std::vector<TextPart> AddedTokens::divide(std::string_view text, bool isNormalized) const {
    std::vector<TextPart> parts;
    const Trie& trie = isNormalized ? m_normalized : m_plain;
    std::size_t begin = 0;  // of what is in no part yet
    for (std::size_t at = 0; at < text.size() && !trie.isEmpty();) {
        const auto found = trie.longest(text.substr(at));
        if (!found) {
            ++at;
            continue;
        }
        const AddedToken& token = m_tokens[found->first];
        std::size_t first = at, last = at + found->second;
        at = last;
        if (token.isWord && isWordBeside(text.substr(0, first), text.substr(last))) continue;
        if (token.takesLeft) first -= blanksAtEnd(text.substr(begin, first - begin));
        if (token.takesRight) last += blanksAtStart(text.substr(last));
        if (begin < first) parts.push_back({std::string(text.substr(begin, first - begin))});
        parts.push_back({std::string(text.substr(first, last - first)), token.id});
        begin = last;
        at = std::max(at, last);
    }
    if (begin < text.size()) parts.push_back({std::string(text.substr(begin))});
    return parts;
}

}  // namespace sonde::io
