#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/io/zip/zip_archive.h"

namespace sonde::test {

/// Pickles by hand (Lib/pickletools.py): what torch.save and torch.jit.save write, opcode by opcode.
namespace pickle {
inline std::string text(const std::string& value) {
    std::string result = "X";
    for (int shift = 0; shift < 32; shift += 8) result += static_cast<char>(value.size() >> shift & 0xff);
    return result + value;
}
inline std::string number(int value) {  // 0 to 255
    return std::string("K") + static_cast<char>(value);
}
inline std::string global(const std::string& module, const std::string& name) {
    return 'c' + module + '\n' + name + '\n';
}
inline std::string tuple(const std::string& items) { return '(' + items + 't'; }
inline std::string memoized(const std::string& value, int slot) { return value + 'q' + static_cast<char>(slot); }
inline std::string fromMemo(int slot) { return std::string("h") + static_cast<char>(slot); }
/// An instance of a class with a state of keys and values in turn.
inline std::string instance(const std::string& module, const std::string& name, const std::string& state) {
    return global(module, name) + ")\x81}(" + state + "ub";
}
/// A tensor on storage `key` (`count` elements of `type`, "FloatStorage").
inline std::string tensor(const std::string& key, const std::string& type, int count, int offset,
                          const std::vector<int>& sizes, const std::vector<int>& strides) {
    const auto list = [](const std::vector<int>& values) {
        std::string items;
        for (int value : values) items += number(value);
        return tuple(items);
    };
    const std::string storage =
        tuple(text("storage") + global("torch", type) + text(key) + text("cpu") + number(count)) + 'Q';
    return global("torch._utils", "_rebuild_tensor_v2") +
           tuple(storage + number(offset) + list(sizes) + list(strides) + '\x89' +
                 global("collections", "OrderedDict") + ")R") +
           'R';
}
inline std::string file(const std::string& value) { return "\x80\x02" + value + '.'; }
}  // namespace pickle

using Records = std::vector<std::pair<std::string, std::string>>;

/// A zip file of these records below the folder `m`.
inline void writeRecords(const std::filesystem::path& path, const Records& records) {
    std::vector<std::pair<std::string, std::vector<std::byte>>> entries;
    for (const auto& [name, content] : records) {
        const std::span<const std::byte> bytes = std::as_bytes(std::span(content.data(), content.size()));
        entries.emplace_back("m/" + name, std::vector<std::byte>(bytes.begin(), bytes.end()));
    }
    (void)io::writeZip(path, entries);
}

/// CRC-32 of zip (APPNOTE 4.4.7; polynomial 0xedb88320).
inline std::uint32_t crc32(const std::string& bytes) {
    std::uint32_t crc = 0xffffffffU;
    for (char byte : bytes) {
        crc ^= static_cast<unsigned char>(byte);
        for (int bit = 0; bit < 8; ++bit) crc = crc >> 1U ^ (crc & 1U ? 0xedb88320U : 0U);
    }
    return ~crc;
}

/// The same with every size and place in 64 bits (APPNOTE 4.3.14 to 4.5.3), as archives beyond 4 GiB have them.
inline std::string zip64(const Records& records) {
    const auto number = [](std::uint64_t value, int bytes) {
        std::string text;
        for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xff);
        return text;
    };
    std::string file;
    std::string directory;
    for (const auto& [name, content] : records) {
        const std::string path = "m/" + name;
        const std::uint64_t offset = file.size();
        const std::string both = number(content.size(), 8) + number(content.size(), 8);
        const std::string head = number(45, 2) + number(0, 2) + number(0, 2) + number(0, 4) +
                                 number(crc32(content), 4) + "\xff\xff\xff\xff\xff\xff\xff\xff" +
                                 number(path.size(), 2);
        file += number(0x04034b50, 4) + head + number(20, 2) + path + number(1, 2) + number(16, 2) + both + content;
        directory += number(0x02014b50, 4) + number(45, 2) + head + number(28, 2) + number(0, 2) + number(0, 2) +
                     number(0, 2) + number(0, 4) + "\xff\xff\xff\xff" + path + number(1, 2) + number(24, 2) + both +
                     number(offset, 8);
    }
    const std::uint64_t start = file.size();
    file += directory;
    const std::uint64_t end = file.size();
    file += number(0x06064b50, 4) + number(44, 8) + number(45, 2) + number(45, 2) + number(0, 4) + number(0, 4) +
            number(records.size(), 8) + number(records.size(), 8) + number(directory.size(), 8) + number(start, 8);
    file += number(0x07064b50, 4) + number(0, 4) + number(end, 8) + number(1, 4);
    return file + number(0x06054b50, 4) + number(0, 4) + "\xff\xff\xff\xff" + "\xff\xff\xff\xff\xff\xff\xff\xff" +
           number(0, 2);
}

/// A TorchScript archive of one module, class `M` of the given source, with attributes (keys and values of a pickled
/// dict). `more`: further records; one that is there already takes its place.
inline void writeScript(const std::filesystem::path& path, const std::string& source,
                        const std::string& attributes = {}, Records more = {}) {
    Records records{{"version", "3\n"},
                    {"constants.pkl", pickle::file(")")},
                    {"data.pkl", pickle::file(pickle::instance("__torch__", "M", attributes))},
                    {"code/__torch__.py", source}};
    for (auto& record : more) {
        const auto known =
            std::find_if(records.begin(), records.end(), [&](const auto& each) { return each.first == record.first; });
        if (known != records.end()) known->second = std::move(record.second);
        else records.push_back(std::move(record));
    }
    writeRecords(path, records);
}

}  // namespace sonde::test
