#include "core/session/debug/command_words.h"

#include <algorithm>

namespace sonde::session::debug {

namespace {

bool isBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

}  // namespace

std::size_t Words::column() const {
    const std::string_view before = m_line.substr(0, m_at);
    return 1 + static_cast<std::size_t>(std::ranges::count_if(before, [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string_view Words::rest() const {
    std::string_view text = m_line.substr(std::min(m_at, m_line.size()));
    while (!text.empty() && isBlank(text.back())) text.remove_suffix(1);
    return text;
}

std::string_view Words::next() {
    const std::size_t begin = m_at;
    bool isQuoted = false;
    for (; m_at < m_line.size() && (isQuoted || !isBlank(m_line[m_at])); ++m_at) {
        if (m_line[m_at] == '\\' && isQuoted && m_at + 1 < m_line.size()) ++m_at;
        else if (m_line[m_at] == '`') isQuoted = !isQuoted;
    }
    const std::string_view word = m_line.substr(begin, m_at - begin);
    skip();
    return word;
}

bool Words::takes(std::string_view word) {
    const std::size_t before = m_at;
    if (next() == word) return true;
    m_at = before;
    return false;
}

void Words::skip() {
    while (m_at < m_line.size() && isBlank(m_line[m_at])) ++m_at;
}

std::string unquoted(std::string_view word) {
    if (word.size() < 2 || !word.starts_with('`') || !word.ends_with('`')) return std::string(word);
    std::string name;
    for (std::size_t i = 1; i + 1 < word.size(); ++i) {
        if (word[i] == '\\' && i + 2 < word.size()) ++i;
        name += word[i];
    }
    return name;
}

}  // namespace sonde::session::debug
