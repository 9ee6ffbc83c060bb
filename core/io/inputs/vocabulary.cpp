#include "core/io/inputs/vocabulary.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/unicode.h"
#include "core/io/inputs/name_lines.h"

namespace sonde::io {

namespace {

constexpr std::string_view kContinues = "##";
constexpr std::string_view kLowBlock = "\xe2\x96\x81";  // U+2581 ▁
constexpr std::string_view kDottedG = "\xc4\xa0";       // U+0120 Ġ, GPT-2's blank

std::size_t characterCount(std::string_view text) {
    std::size_t count = 0;
    for (; !text.empty(); ++count) text.remove_prefix(base::firstCodePoint(text).bytes);
    return count;
}

Vocabulary::Spelling spellingOf(const std::vector<std::string>& tokens) {
    const auto begins = [&tokens](std::string_view with) {
        return std::ranges::any_of(
            tokens, [with](const std::string& token) { return token.size() > with.size() && token.starts_with(with); });
    };
    if (begins(kContinues)) return Vocabulary::Spelling::WordPiece;
    if (begins(kLowBlock)) return Vocabulary::Spelling::SentencePiece;
    if (begins(kDottedG)) return Vocabulary::Spelling::ByteLevel;
    const bool hasOnlyCharacters = std::ranges::all_of(
        tokens, [](const std::string& token) { return Vocabulary::isSpecial(token) || characterCount(token) <= 1; });
    return hasOnlyCharacters ? Vocabulary::Spelling::Characters : Vocabulary::Spelling::Words;
}

/// The byte that a character stands for in GPT-2's table (Radford et al. 2019, encoder.py, bytes_to_unicode): printable
/// characters of Latin-1 for themselves, the others from U+0100 on, in order.
std::optional<char> byteOf(char32_t c) {
    constexpr std::size_t kBytes = 256;
    static const auto table = [] {
        std::array<char32_t, kBytes> characters{};
        char32_t next = 0x100;
        for (std::size_t i = 0; i < kBytes; ++i) {
            const bool isItself = (i >= 0x21 && i <= 0x7e) || (i >= 0xa1 && i <= 0xac) || i >= 0xae;
            characters[i] = isItself ? static_cast<char32_t>(i) : next++;
        }
        return characters;
    }();
    const auto found = std::ranges::find(table, c);
    if (found == table.end()) return std::nullopt;
    return static_cast<char>(static_cast<unsigned char>(found - table.begin()));
}

void appendBytes(std::string& text, std::string_view token) {
    for (; !token.empty();) {
        const base::CodePoint point = base::firstCodePoint(token);
        if (const auto byte = byteOf(point.value)) text += *byte;
        else text += token.substr(0, point.bytes);
        token.remove_prefix(point.bytes);
    }
}

std::string validText(std::string_view text) {
    std::string valid;
    for (; !text.empty();) {
        const base::CodePoint point = base::firstCodePoint(text);
        base::appendUtf8(valid, point.value);
        text.remove_prefix(point.bytes);
    }
    return valid;
}

/// Text that grows token by token.
class Joined {
  public:
    explicit Joined(Vocabulary::Spelling spelling) : m_spelling(spelling) {}

    /// Special tokens and ids without a token stand alone.
    void addApart(std::string_view token) {
        if (m_spelling != Vocabulary::Spelling::Characters) addBlank();
        m_text += token;
        m_isApart = true;
    }

    void add(std::string_view token) {
        using Spelling = Vocabulary::Spelling;
        const bool wasApart = std::exchange(m_isApart, false);
        switch (m_spelling) {
            case Spelling::Characters: m_text += token; break;
            case Spelling::Words: addBlank(), m_text += token; break;
            case Spelling::WordPiece:
                if (token.size() > kContinues.size() && token.starts_with(kContinues) && !wasApart) {
                    m_text += token.substr(kContinues.size());
                } else {
                    addBlank(), m_text += token;
                }
                break;
            case Spelling::SentencePiece:
                if (wasApart && !token.starts_with(kLowBlock)) addBlank();
                while (!token.empty()) {
                    const std::size_t block = token.find(kLowBlock);
                    m_text += token.substr(0, block);
                    if (block == std::string_view::npos) break;
                    if (!m_text.empty() || block > 0) m_text += ' ';
                    token.remove_prefix(block + kLowBlock.size());
                }
                break;
            case Spelling::ByteLevel:
                if (wasApart && !token.starts_with(kDottedG)) addBlank();
                appendBytes(m_text, token);
                break;
        }
    }

    std::string take() && { return validText(m_text); }

  private:
    void addBlank() {
        if (!m_text.empty() && m_text.back() != ' ') m_text += ' ';
    }

    Vocabulary::Spelling m_spelling;
    std::string m_text;
    bool m_isApart = false;  ///< the last token stands alone
};

}  // namespace

base::Result<Vocabulary> Vocabulary::parse(std::string_view text, const std::string& where) {
    SONDE_ASSIGN(std::vector<std::string> tokens, NameLines::parse(text, "vocabulary file", where));
    return Vocabulary(std::move(tokens));
}

base::Result<Vocabulary> Vocabulary::read(const std::filesystem::path& path) {
    SONDE_ASSIGN(std::vector<std::string> tokens, NameLines::read(path, "vocabulary file"));
    return Vocabulary(std::move(tokens));
}

Vocabulary::Vocabulary(std::vector<std::string> tokens) : m_tokens(std::move(tokens)) {
    m_ids.reserve(m_tokens.size());
    for (std::size_t i = 0; i < m_tokens.size(); ++i) m_ids.emplace(m_tokens[i], static_cast<std::int64_t>(i));
    m_spelling = spellingOf(m_tokens);
}

const std::string* Vocabulary::token(std::int64_t id) const {
    return id < 0 || static_cast<std::size_t>(id) >= m_tokens.size() ? nullptr
                                                                     : &m_tokens[static_cast<std::size_t>(id)];
}

std::optional<std::int64_t> Vocabulary::id(const std::string& token) const {
    const auto found = m_ids.find(token);
    return found == m_ids.end() ? std::nullopt : std::optional(found->second);
}

bool Vocabulary::isSpecial(std::string_view token) {
    return token.size() > 2 &&
           ((token.front() == '[' && token.back() == ']') || (token.front() == '<' && token.back() == '>'));
}

std::string Vocabulary::text(std::span<const std::int64_t> ids) const {
    Joined joined(m_spelling);
    for (const std::int64_t id : ids) {
        const std::string* const found = token(id);
        if (!found) joined.addApart("\xe2\x80\xb9" + std::to_string(id) + "\xe2\x80\xba");
        else if (isSpecial(*found)) joined.addApart(*found);
        else joined.add(*found);
    }
    return std::move(joined).take();
}

}  // namespace sonde::io
