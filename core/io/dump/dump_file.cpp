#include "core/io/dump/dump_file.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <set>

#include "core/base/mapped_file.h"
#include "core/graph/source_files.h"
#include "core/io/dump/graph_codec.h"

namespace sonde::io::dump {

using tensor::Tensor;
using tm::CodecError;
using tm::Json;

namespace {

constexpr std::uint64_t kAlignment = 64;
constexpr std::uint32_t kMaxCases = 1'000'000;

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

struct Section {
    Json header;
    std::vector<Tensor> tensors;
    std::uint64_t end = 0;
};

/// A tensor in the file's own memory. `total` bytes from `blob` on are the section's.
Tensor readTensor(const Json& entry, const std::shared_ptr<const base::MappedFile>& file, std::uint64_t blob,
                  std::uint64_t total) {
    const auto dtype = static_cast<tensor::DType>(entry.at(0).get<std::uint8_t>());
    std::uint64_t size = tensor::itemSize(dtype);
    if (size == 0 || dtype == tensor::DType::String) throw CodecError{base::unreadable("unknown dtype of a tensor")};
    tensor::Shape shape;
    for (const Json& dim : entry.at(1)) {
        const auto extent = dim.get<std::uint64_t>();
        if (extent > total || (extent > 0 && size > total / extent))
            throw CodecError{base::unreadable("a tensor is larger than the file")};
        size *= extent;
        shape.push_back(static_cast<std::int64_t>(extent));
    }
    const auto at = entry.at(2).get<std::uint64_t>();
    if (at > total || at % kAlignment != 0 || size > total - at)
        throw CodecError{base::unreadable("a tensor is outside its section")};
    return Tensor::onStorage(dtype, std::move(shape),
                             tensor::Storage::view(file->bytes().data() + blob + at, size, file));
}

Section readSection(const std::shared_ptr<const base::MappedFile>& file, std::uint64_t offset) {
    const std::span<const std::byte> bytes = file->bytes();
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
    const std::uint64_t blob = aligned(offset + start + length);
    const auto total = section.header.at("tensorBytes").get<std::uint64_t>();
    if (blob > bytes.size() || total > bytes.size() - blob)
        throw CodecError{base::unreadable("the file ends before its tensors")};
    for (const Json& entry : section.header.at("tensors"))
        section.tensors.push_back(readTensor(entry, file, blob, total));
    section.end = blob + total;
    return section;
}

Json graphHeader(const DumpFile& dump, const WriteOptions& options, tm::TensorTable& tensors) {
    std::set<std::string> seen;
    for (const std::string& name : dump.outputNames) {
        if (!seen.insert(name).second) throw CodecError{base::usageError("two outputs are called '" + name + "'")};
    }
    Json header{{"format", "sonde-dump"},
                {"version", options.modelVersion},
                {"graph", graphJson(*dump.graph, tensors, options.names)},
                {"outputs", dump.outputNames}};
    if (dump.metadata) {
        header["metadata"] = {{"user_info", dump.metadata->userInfo}, {"is_valid", true}, {"graph_modified", false}};
        if (dump.metadata->optimizeOptions) header["metadata"]["optimize_options"] = *dump.metadata->optimizeOptions;
    }
    return header;
}

DumpFile read(const std::shared_ptr<const base::MappedFile>& file, std::uint64_t offset, std::uint64_t* end) {
    const std::span<const std::byte> bytes = file->bytes();
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
    dump.graph = graphFrom(graph.header.at("graph"), graph.tensors);
    dump.outputNames = graph.header.at("outputs").get<std::vector<std::string>>();
    if (const auto metadata = graph.header.find("metadata"); metadata != graph.header.end()) {
        dump.metadata.emplace();
        dump.metadata->userInfo = metadata->at("user_info").get<std::string>();
        if (metadata->contains("optimize_options"))
            dump.metadata->optimizeOptions = metadata->at("optimize_options").get<std::uint64_t>();
    }
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

}  // namespace

base::Result<WriteInfo> writeDump(const std::filesystem::path& path, const DumpFile& dump,
                                  const WriteOptions& options) {
    try {
        WriteInfo info;
        tm::TensorTable tensors;
        Json header = graphHeader(dump, options, tensors);
        std::error_code missing;
        const std::uint64_t before = options.append ? std::filesystem::file_size(path, missing) : 0;
        std::uint64_t end = missing ? 0 : before;
        const std::uint64_t begin = end;
        std::string start;
        if (!dump.cases.empty()) start = std::string(kTestMagic) + littleEndian(dump.cases.size(), 4);
        end += start.size();
        const std::string graph = section(std::move(header), tensors, end, &info);
        end += graph.size();
        SONDE_TRY(graph::checkFiles(dump.graph));
        std::ofstream file(path, std::ios::binary | (options.append ? std::ios::app : std::ios::trunc));
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
        if (!file) return base::runError("the file cannot be written", path.string());
        return info;
    } catch (const CodecError& error) {
        return error.error;
    } catch (const nlohmann::json::exception& error) {
        return base::usageError(std::string("the graph cannot be written: ") + error.what());
    }
}

base::Result<DumpFile> readDump(const std::filesystem::path& path, std::uint64_t offset, std::uint64_t* end) {
    SONDE_ASSIGN(const auto file, base::MappedFile::open(path));
    try {
        DumpFile dump = read(file, offset, end);
        SONDE_TRY(base::checkUnchanged({file}, "model file"));
        dump.graph = graph::withFiles(std::move(dump.graph), {file});
        return dump;
    } catch (const CodecError& error) {
        return base::Error(error.error).at(path.string());
    } catch (const nlohmann::json::exception& error) {
        return base::unreadable(std::string("a section is damaged: ") + error.what(), path.string());
    } catch (const std::bad_alloc&) {
        return base::unreadable("out of memory while reading", path.string());
    }
}

bool looksLikeDump(std::span<const std::byte> head) {
    const auto holds = [&](std::string_view magic, std::size_t at) {
        return head.size() >= at + magic.size() && std::memcmp(head.data() + at, magic.data(), magic.size()) == 0;
    };
    // MegEngine's files with test cases begin alike, and go on with a graph of its own form.
    return holds(kSectionMagic, 0) || (holds(kTestMagic, 0) && holds(kSectionMagic, kTestMagic.size() + 4));
}

}  // namespace sonde::io::dump
