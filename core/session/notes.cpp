#include "core/session/notes.h"

#include <algorithm>
#include <string_view>

namespace sonde::session {

using graph::NodeId;

namespace {

/// Without cutting through a character of UTF-8.
std::string cutOff(std::string text, std::size_t maxBytes) {
    if (text.size() <= maxBytes) return text;
    std::size_t end = maxBytes;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
    text.resize(end);
    return text;
}

/// Without white space around it.
std::string trimmed(std::string text) {
    constexpr std::string_view kSpace = " \t\n";
    text.erase(text.find_last_not_of(kSpace) + 1);
    text.erase(0, std::min(text.size(), text.find_first_not_of(kSpace)));
    return text;
}

}  // namespace

const std::string& Notes::of(NodeId node) const {
    static const std::string none;
    const auto found = std::ranges::find(m_entries, node, &Entry::node);
    return !node.valid() || found == m_entries.end() ? none : found->text;
}

bool Notes::set(NodeId node, std::string text) {
    if (!node.valid()) return false;
    text = cutOff(std::move(text), kMaxBytes);
    // Control characters would not survive a file.
    std::erase_if(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t'; });
    text = trimmed(std::move(text));
    const auto found = std::ranges::find(m_entries, node, &Entry::node);
    if (found == m_entries.end()) {
        if (text.empty() || m_entries.size() >= kMaxNotes) return false;
        m_entries.push_back({{}, node, std::move(text)});
        return true;
    }
    if (found->text == text) return false;
    if (text.empty()) m_entries.erase(found);
    else found->text = std::move(text);
    return true;
}

std::vector<Notes::Kept> Notes::all(const graph::InternalGraph& graph) const {
    std::vector<Kept> kept;
    if (m_entries.empty()) return kept;
    const IdentityIndex index(graph);
    for (const Entry& entry : m_entries)
        kept.push_back({entry.node.valid() ? index.of(entry.node) : entry.identity, entry.text});
    return kept;
}

void Notes::restore(const graph::InternalGraph& graph, const std::vector<Kept>& notes) {
    m_entries.clear();
    if (notes.empty()) return;
    const IdentityIndex index(graph);
    for (const Kept& note : notes) {
        if (m_entries.size() >= kMaxNotes) break;
        const NodeId node = index.find(note.identity).node;
        if (node.valid() && !of(node).empty()) continue;
        std::string text = trimmed(cutOff(note.text, kMaxBytes));
        if (!text.empty()) m_entries.push_back({note.identity, node, std::move(text)});
    }
}

void Notes::bind(const graph::InternalGraph& graph, const graph::InternalGraph* before) {
    if (m_entries.empty()) return;
    std::vector<Kept> kept;
    if (before) {
        kept = all(*before);
    } else {
        for (const Entry& entry : m_entries) kept.push_back({entry.identity, entry.text});
    }
    restore(graph, kept);
}

}  // namespace sonde::session
