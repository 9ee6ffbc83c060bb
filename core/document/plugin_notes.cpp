#include "core/document/plugin_notes.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "core/nn/plugin.h"

namespace sonde::document {

namespace {

using Bytes = std::span<const std::byte>;
using nn::PluginNote;

constexpr std::size_t kMaxSegments = 256;
constexpr std::size_t kMaxModels = 256;

template <typename T>
std::optional<T> read(Bytes bytes, std::uint64_t offset) {
    if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, bytes.data() + offset, sizeof(T));
    return value;
}

Bytes part(Bytes bytes, std::uint64_t offset, std::uint64_t size) {
    if (offset > bytes.size() || size > bytes.size() - offset) return {};
    return bytes.subspan(offset, size);
}

/// Text of a field that ends with a zero or with the field.
std::string textOf(const char* field, std::size_t size) {
    return std::string(field, std::find(field, field + size, '\0'));
}

PluginEntry entryOf(Bytes content) {
    PluginNote::Content note{};
    const bool sameForm = content.size() == sizeof note;
    std::memset(static_cast<void*>(&note), 0, sizeof note);
    std::memcpy(static_cast<void*>(&note), content.data(), std::min(content.size(), sizeof note));
    PluginEntry entry;
    entry.abi = textOf(note.abi, sizeof note.abi);
    if (!sameForm) return entry;
    entry.layout = note.layout;
    entry.line = note.line;
    entry.model = textOf(note.model, sizeof note.model);
    entry.className = textOf(note.className, sizeof note.className);
    return entry;
}

void readNotes(Bytes notes, std::vector<PluginEntry>& into) {
    constexpr std::size_t kHeader = 12;
    constexpr std::string_view kOwner("Sonde\0", 6);
    const auto padded = [](std::uint64_t size) { return (size + 3) & ~std::uint64_t{3}; };
    std::uint64_t offset = 0;
    while (notes.size() - offset >= kHeader && into.size() < kMaxModels) {
        const std::uint64_t ownerBytes = *read<std::uint32_t>(notes, offset);
        const std::uint64_t contentBytes = *read<std::uint32_t>(notes, offset + 4);
        const std::uint32_t type = *read<std::uint32_t>(notes, offset + 8);
        const Bytes owner = part(notes, offset + kHeader, ownerBytes);
        const Bytes content = part(notes, offset + kHeader + padded(ownerBytes), contentBytes);
        if (owner.size() != ownerBytes || content.size() != contentBytes) return;
        if (type == PluginNote::kType && ownerBytes == kOwner.size() && contentBytes > 0 &&
            std::memcmp(owner.data(), kOwner.data(), kOwner.size()) == 0) {
            into.push_back(entryOf(content));
        }
        offset += kHeader + padded(ownerBytes) + padded(contentBytes);
        if (offset > notes.size()) return;
    }
}

}  // namespace

std::vector<PluginEntry> readPluginNotes(Bytes file) {
    constexpr std::string_view kMagic(
        "\x7f"
        "ELF\x02\x01",
        6);  // 64-bit, little-endian
    constexpr std::uint32_t kNoteSegment = 4;
    std::vector<PluginEntry> entries;
    if (file.size() < 64 || std::memcmp(file.data(), kMagic.data(), kMagic.size()) != 0) return entries;
    const std::uint64_t table = *read<std::uint64_t>(file, 32);
    const std::uint64_t entryBytes = *read<std::uint16_t>(file, 54);
    const std::size_t count = std::min<std::size_t>(*read<std::uint16_t>(file, 56), kMaxSegments);
    if (entryBytes < 56 || part(file, table, entryBytes * count).empty()) return entries;
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t header = table + i * entryBytes;
        if (*read<std::uint32_t>(file, header) != kNoteSegment) continue;
        readNotes(part(file, *read<std::uint64_t>(file, header + 8), *read<std::uint64_t>(file, header + 32)), entries);
    }
    std::ranges::stable_sort(entries, {}, &PluginEntry::line);
    return entries;
}

}  // namespace sonde::document
