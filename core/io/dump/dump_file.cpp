#include "core/io/dump/dump_file.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <functional>
#include <istream>
#include <ostream>
#include <set>

#include "core/base/mapped_file.h"
#include "core/graph/source_files.h"
#include "core/io/dump/export_options.h"
#include "core/io/dump/graph_codec.h"

namespace sonde::io::dump {

using tensor::Tensor;
using tm::CodecError;
using tm::Json;

namespace {

constexpr std::uint64_t kAlignment = 64;
constexpr std::uint32_t kMaxCases = 1'000'000;
constexpr int kOldVersion = 1;  ///< of FBS
constexpr std::string_view kFormatNames[] = {"FBS_V2", "FBS"};

/// Where a dump is read: bytes of a file or stream that `owner` keeps. Padding counts from the beginning of the file,
/// of which `bytes` is the part from `start` on.
struct Source {
    std::span<const std::byte> bytes;
    std::shared_ptr<const void> owner;
    std::uint64_t start = 0;
};

std::uint64_t aligned(std::uint64_t size) { return (size + kAlignment - 1) / kAlignment * kAlignment; }

std::string littleEndian(std::uint64_t value, int bytes) {
    std::string text;
    for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xff);
    return text;
}

std::uint64_t readNumber(std::span<const std::byte> bytes, std::size_t at, int count) {
    std::uint64_t value = 0;
    for (int i = 0; i < count; ++i)
        value |= static_cast<std::uint64_t>(bytes[at + static_cast<std::size_t>(i)]) << (8 * i);
    return value;
}

/// FNV-1a (Fowler, Noll, Vo), 64 bits, going on from the hash of what came before.
std::uint64_t hashOf(std::string_view bytes, std::uint64_t hash = 14695981039346656037ULL) {
    for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 1099511628211ULL;
    return hash;
}

/// Header and tensors as the bytes of a section that begins at byte `start` of the file.
std::string section(Json header, const tm::TensorTable& table, std::uint64_t start, WriteInfo* info = nullptr) {
    header["tensors"] = Json::array();
    std::uint64_t offset = 0;
    std::vector<Tensor> packed;
    for (const Tensor& tensor : table.tensors()) {
        if (tensor.dtype() == tensor::DType::String)
            throw CodecError{base::usageError("tensors of strings cannot be dumped")};
        auto contiguous = tensor.contiguous();
        if (!contiguous) throw CodecError{contiguous.error()};
        header["tensors"].push_back({static_cast<int>(tensor.dtype()),
                                     std::vector<std::int64_t>(tensor.shape().begin(), tensor.shape().end()), offset});
        offset += aligned(contiguous->sizeBytes());
        packed.push_back(std::move(*contiguous));
    }
    header["tensorBytes"] = offset;
    const std::string text = header.dump();
    std::string bytes(kSectionMagic);
    bytes += littleEndian(text.size(), 8) + text;
    const auto pad = [&] { bytes.resize(aligned(start + bytes.size()) - start); };
    pad();
    std::uint64_t hash = hashOf(text);
    for (const Tensor& tensor : packed) {
        const std::string_view values(reinterpret_cast<const char*>(tensor.bytes()), tensor.sizeBytes());
        bytes += values;
        pad();
        hash = hashOf(values, hash);
        if (info) info->tensorBytes += values.size();
    }
    if (info) info->contentHash = hash;
    return bytes;
}

bool isUtf8(const std::string& text) {
    try {
        (void)Json(text).dump();
        return true;
    } catch (const Json::exception&) {
        return false;
    }
}

std::string hexOf(std::string_view bytes) {
    static constexpr char kDigits[] = "0123456789abcdef";
    std::string text;
    for (const char byte : bytes) {
        const auto value = static_cast<unsigned char>(byte);
        text += {kDigits[value >> 4], kDigits[value & 15]};
    }
    return text;
}

std::string bytesOf(const std::string& hex) {
    const auto digit = [](char c) {
        if (c >= '0' && c <= '9') return c - '0';
        if (c >= 'a' && c <= 'f') return c - 'a' + 10;
        throw CodecError{base::unreadable("the user info is not hexadecimal")};
    };
    if (hex.size() % 2 != 0) throw CodecError{base::unreadable("the user info is not hexadecimal")};
    std::string bytes;
    for (std::size_t i = 0; i < hex.size(); i += 2) bytes += static_cast<char>(digit(hex[i]) << 4 | digit(hex[i + 1]));
    return bytes;
}

struct Section {
    Json header;
    std::vector<Tensor> tensors;
    std::uint64_t end = 0;
};

/// A tensor of the file. `total` bytes from `blob` on are the section's.
Tensor readTensor(const Json& entry, const Source& file, std::uint64_t blob, std::uint64_t total) {
    const auto dtype = static_cast<tensor::DType>(entry.at(0).get<std::uint8_t>());
    std::uint64_t size = tensor::itemSize(dtype);
    if (size == 0 || dtype == tensor::DType::String) throw CodecError{base::unreadable("unknown dtype of a tensor")};
    tensor::Shape shape;
    for (const Json& dim : entry.at(1)) {
        const auto dimSize = dim.get<std::uint64_t>();
        if (dimSize > total || (dimSize > 0 && size > total / dimSize))
            throw CodecError{base::unreadable("a tensor is larger than the file")};
        size *= dimSize;
        shape.push_back(static_cast<std::int64_t>(dimSize));
    }
    const auto at = entry.at(2).get<std::uint64_t>();
    if (at > total || at % kAlignment != 0 || size > total - at)
        throw CodecError{base::unreadable("a tensor is outside its section")};
    return tm::tensorOn(file.bytes.subspan(blob + at, size), dtype, std::move(shape), file.owner);
}

Section readSection(const Source& file, std::uint64_t offset) {
    const std::span<const std::byte> bytes = file.bytes;
    const std::uint64_t start = kSectionMagic.size() + 8;
    if (offset > bytes.size() || bytes.size() - offset < start ||
        std::memcmp(bytes.data() + offset, kSectionMagic.data(), kSectionMagic.size()) != 0) {
        throw CodecError{base::unreadable("no section at byte " + std::to_string(offset))};
    }
    const std::uint64_t length = readNumber(bytes, offset + kSectionMagic.size(), 8);
    if (length > bytes.size() - offset - start) throw CodecError{base::unreadable("a header is longer than the file")};
    const auto* text = reinterpret_cast<const char*>(bytes.data() + offset + start);
    Section section;
    section.header = Json::parse(text, text + length, nullptr, false);
    if (!section.header.is_object()) throw CodecError{base::unreadable("a header cannot be read")};
    const std::uint64_t blob = aligned(file.start + offset + start + length) - file.start;
    const auto total = section.header.at("tensorBytes").get<std::uint64_t>();
    if (blob > bytes.size() || total > bytes.size() - blob)
        throw CodecError{base::unreadable("the file ends before its tensors")};
    for (const Json& entry : section.header.at("tensors"))
        section.tensors.push_back(readTensor(entry, file, blob, total));
    section.end = blob + total;
    return section;
}

/// What is no text is written as {"hex": "00ff"}.
Json metadataJson(const Metadata& metadata) {
    Json json{{"user_info", metadata.userInfo}, {"is_valid", true}, {"graph_modified", false}};
    if (!isUtf8(metadata.userInfo)) json["user_info"] = {{"hex", hexOf(metadata.userInfo)}};
    if (metadata.optimizeOptions) json["optimize_options"] = *metadata.optimizeOptions;
    for (const auto& [name, count] : metadata.applied) json["applied"].push_back({name, count});
    if (!metadata.compatibleWith.empty()) json["compat_older_version"] = metadata.compatibleWith;
    return json;
}

Metadata metadataFrom(const Json& json) {
    Metadata metadata;
    const Json& info = json.at("user_info");
    metadata.userInfo = info.is_object() ? bytesOf(info.at("hex").get<std::string>()) : info.get<std::string>();
    if (json.contains("optimize_options")) metadata.optimizeOptions = json.at("optimize_options").get<std::uint64_t>();
    if (const auto applied = json.find("applied"); applied != json.end()) {
        for (const Json& each : *applied)
            metadata.applied.emplace_back(each.at(0).get<std::string>(), each.at(1).get<std::size_t>());
    }
    metadata.compatibleWith = json.value("compat_older_version", "");
    return metadata;
}

Json graphHeader(const DumpFile& dump, const WriteOptions& options, tm::TensorTable& tensors) {
    std::set<std::string> seen;
    for (const std::string& name : dump.outputNames) {
        if (!seen.insert(name).second) throw CodecError{base::usageError("two outputs are called '" + name + "'")};
    }
    Json header{{"format", "sonde-dump"},
                {"version", dump.format == DumpFormat::Fbs ? kOldVersion : options.modelVersion},
                {"dump_format", nameOf(dump.format)},
                {"graph", graphJson(*dump.graph, tensors, options.names)},
                {"outputs", dump.outputNames}};
    if (dump.metadata) header["metadata"] = metadataJson(*dump.metadata);
    return header;
}

/// A newer version may hold what is not known here: a warning, and a try.
void readVersion(const Json& header, DumpFile& dump) {
    dump.modelVersion = header.value("version", kModelVersion);
    const auto format = dumpFormatFrom(header.value("dump_format", std::string(kFormatNames[0])));
    if (format) dump.format = *format;
    if (dump.modelVersion > kModelVersion || !format) {
        const std::string found = format ? "version " + std::to_string(dump.modelVersion)
                                         : "format " + header.value("dump_format", std::string());
        dump.notes.push_back(base::Diagnostic{
            base::Severity::Warning,
            "the dump is of " + found + ", newer than what is known (version " + std::to_string(kModelVersion) + ")"});
    }
}

DumpFile read(const Source& file, std::uint64_t offset, std::uint64_t* end) {
    const std::span<const std::byte> bytes = file.bytes;
    std::uint64_t count = 0;
    if (offset < bytes.size() && bytes.size() - offset >= kTestMagic.size() + 4 &&
        std::memcmp(bytes.data() + offset, kTestMagic.data(), kTestMagic.size()) == 0) {
        count = readNumber(bytes, offset + kTestMagic.size(), 4);
        if (count > kMaxCases)
            throw CodecError{base::unreadable("the file says that it has " + std::to_string(count) + " test cases")};
        offset += kTestMagic.size() + 4;
    }
    const Section graph = readSection(file, offset);
    if (graph.header.value("format", "") != "sonde-dump")
        throw CodecError{base::unreadable("the first section is not a graph")};
    DumpFile dump;
    readVersion(graph.header, dump);
    GraphExtras extras;
    dump.graph = graphFrom(graph.header.at("graph"), graph.tensors, &extras);
    dump.priorities = std::move(extras.priorities);
    dump.outputNames = graph.header.at("outputs").get<std::vector<std::string>>();
    if (const auto metadata = graph.header.find("metadata"); metadata != graph.header.end())
        dump.metadata = metadataFrom(*metadata);
    offset = graph.end;
    for (std::uint64_t i = 0; i < count; ++i) {
        const Section each = readSection(file, offset);
        TestCase test;
        const Json& names = each.header.at("names");
        for (std::size_t k = 0; k < names.size(); ++k)
            test.emplace_back(names[k].get<std::string>(), tm::elementAt(each.tensors, each.header.at("values").at(k)));
        dump.cases.push_back(std::move(test));
        offset = each.end;
    }
    if (end) *end = offset;
    return dump;
}

/// `open` is called when the graph is known to be one that can be written; `begin`: the position at which it writes.
base::Result<WriteInfo> write(const std::function<std::ostream&()>& open, std::uint64_t begin, const std::string& place,
                              const DumpFile& dump, const WriteOptions& options) {
    SONDE_TRY(checkModelVersion(dump.format, options.modelVersion));
    try {
        WriteInfo info;
        tm::TensorTable tensors;
        Json header = graphHeader(dump, options, tensors);
        std::uint64_t end = begin;
        std::string start;
        if (!dump.cases.empty()) start = std::string(kTestMagic) + littleEndian(dump.cases.size(), 4);
        end += start.size();
        const std::string graph = section(std::move(header), tensors, end, &info);
        end += graph.size();
        SONDE_TRY(graph::checkFiles(dump.graph));
        std::ostream& file = open();
        file << start << graph;
        for (TestCase test : dump.cases) {
            std::ranges::sort(test, {}, &std::pair<std::string, Tensor>::first);
            tm::TensorTable values;
            Json names = Json::array(), places = Json::array();
            for (const auto& [name, value] : test) {
                names.push_back(name);
                places.push_back(values.add(value));
            }
            const std::string bytes =
                section({{"format", "sonde-dump-case"}, {"names", names}, {"values", places}}, values, end);
            file << bytes;
            end += bytes.size();
        }
        info.totalBytes = end - begin;
        file.flush();
        if (!file) return base::runError("the file cannot be written", place);
        return info;
    } catch (const CodecError& error) {
        return error.error;
    } catch (const nlohmann::json::exception& error) {
        return base::usageError(std::string("the graph cannot be written: ") + error.what());
    }
}

/// The rest of a stream.
std::shared_ptr<std::string> restOf(std::istream& stream) {
    auto bytes = std::make_shared<std::string>();
    constexpr std::size_t kPiece = std::size_t{1} << 20;
    while (stream) {
        const std::size_t before = bytes->size();
        bytes->resize(before + kPiece);
        stream.read(bytes->data() + before, kPiece);
        bytes->resize(before + static_cast<std::size_t>(stream.gcount()));
    }
    return bytes;
}

/// Runs a reading function; what it throws is the error.
template <typename Read>
base::Result<DumpFile> caught(const std::string& place, Read read) {
    try {
        return read();
    } catch (const CodecError& error) {
        return base::Error(error.error).at(place);
    } catch (const nlohmann::json::exception& error) {
        return base::unreadable(std::string("a section is damaged: ") + tm::problemText(error), place);
    } catch (const std::bad_alloc&) {
        return base::unreadable("out of memory while reading", place);
    }
}

}  // namespace

std::string_view nameOf(DumpFormat format) { return kFormatNames[static_cast<std::size_t>(format)]; }

base::Result<DumpFormat> dumpFormatFrom(std::string_view name) {
    const auto* found = std::ranges::find(kFormatNames, name);
    if (found == std::end(kFormatNames))
        return base::usageError("'" + std::string(name) + "' is no format of dumps", "--dump-format", "FBS_V2 or FBS");
    return static_cast<DumpFormat>(found - std::begin(kFormatNames));
}

base::Result<void> checkModelVersion(DumpFormat format, int version) {
    if (format == DumpFormat::Fbs || version == kModelVersion) return {};
    return base::usageError("version " + std::to_string(version) + " of the format is not known", "--model-version",
                            "version " + std::to_string(kModelVersion) + " is the only one");
}

void addOptimisation(Metadata& metadata, std::uint64_t options,
                     const std::vector<std::pair<std::string, std::size_t>>& applied) {
    metadata.optimizeOptions = InferenceOptions::bothBits(metadata.optimizeOptions.value_or(0), options);
    for (const auto& [name, count] : applied) {
        const auto known = std::ranges::find(metadata.applied, name, &std::pair<std::string, std::size_t>::first);
        if (known == metadata.applied.end()) metadata.applied.emplace_back(name, count);
        else known->second += count;
    }
}

std::string userInfoText(const Metadata& metadata) {
    return isUtf8(metadata.userInfo) ? metadata.userInfo : "0x" + hexOf(metadata.userInfo);
}

base::Result<WriteInfo> writeDump(const std::filesystem::path& path, const DumpFile& dump,
                                  const WriteOptions& options) {
    std::error_code missing;
    const std::uint64_t before = options.append ? std::filesystem::file_size(path, missing) : 0;
    std::ofstream file;
    const auto open = [&]() -> std::ostream& {
        file.open(path, std::ios::binary | (options.append ? std::ios::app : std::ios::trunc));
        return file;
    };
    return write(open, missing ? 0 : before, path.string(), dump, options);
}

base::Result<WriteInfo> writeDump(std::ostream& stream, const DumpFile& dump, const WriteOptions& options) {
    const auto position = static_cast<std::streamoff>(stream.tellp());
    if (position < 0) stream.clear();  // a pipe
    const auto open = [&]() -> std::ostream& { return stream; };
    return write(open, position < 0 ? 0 : static_cast<std::uint64_t>(position), "stream", dump, options);
}

base::Result<DumpFile> readDump(const std::filesystem::path& path, std::uint64_t offset, std::uint64_t* end) {
    SONDE_ASSIGN(const auto file, base::MappedFile::open(path));
    return caught(path.string(), [&]() -> base::Result<DumpFile> {
        DumpFile dump = read({file->bytes(), file}, offset, end);
        SONDE_TRY(base::checkUnchanged({file}, "model file"));
        dump.graph = graph::withFiles(std::move(dump.graph), {file});
        return dump;
    });
}

base::Result<DumpFile> readDump(std::istream& stream) {
    return caught("stream", [&]() -> base::Result<DumpFile> {
        const auto position = static_cast<std::streamoff>(stream.tellg());
        if (position < 0) stream.clear();  // a pipe
        const std::uint64_t start = position < 0 ? 0 : static_cast<std::uint64_t>(position);
        const std::shared_ptr<std::string> bytes = restOf(stream);
        std::uint64_t end = 0;
        DumpFile dump = read({std::as_bytes(std::span(*bytes)), bytes, start}, 0, &end);
        stream.clear();
        if (position >= 0) stream.seekg(position + static_cast<std::streamoff>(end));
        return dump;
    });
}

bool looksLikeDump(std::span<const std::byte> head) {
    const auto holds = [&](std::string_view magic, std::size_t at) {
        return head.size() >= at + magic.size() && std::memcmp(head.data() + at, magic.data(), magic.size()) == 0;
    };
    // MegEngine's files with test cases begin alike, and go on with a graph of its own form.
    return holds(kSectionMagic, 0) || (holds(kTestMagic, 0) && holds(kSectionMagic, kTestMagic.size() + 4));
}

}  // namespace sonde::io::dump
