#include "core/io/onnx/tensor_proto.h"

#include <algorithm>
#include <cstring>

#include "core/base/activity_log.h"
#include "core/base/number_text.h"
#include "core/base/resident_memory.h"
#include "core/io/onnx/node_metadata.h"
#include "core/io/onnx/proto.h"
#include "core/tensor/bool_bytes.h"

namespace sonde::io::onnx {

namespace {

using base::Result;
using base::unreadable;
using tensor::DType;
using tensor::Shape;
using tensor::Storage;
using tensor::Tensor;

constexpr std::size_t kSparseLimitBytes = std::size_t{1} << 30;
/// Larger unaligned data is not copied until it is read. Each such tensor is a mapping of its own, of which there are
/// few.
constexpr std::size_t kDeferredFromBytes = std::size_t{256} << 10;

/// Several elements to a byte, lowest bits first (onnx.proto, TensorProto.raw_data).
void unpackBits(std::span<const std::byte> packed, std::size_t bits, bool isSigned, std::span<std::uint8_t> out) {
    const std::size_t perByte = 8 / bits;
    const auto mask = static_cast<unsigned>((1u << bits) - 1);
    for (std::size_t i = 0; i < out.size(); ++i) {
        unsigned value = std::to_integer<unsigned>(packed[i / perByte]) >> (bits * (i % perByte)) & mask;
        if (isSigned && (value & (1u << (bits - 1)))) value |= ~mask;
        out[i] = static_cast<std::uint8_t>(value);
    }
}

/// Elements of int32_data that one element of the tensor takes: packed types keep a byte's worth in each.
std::size_t numbersNeeded(DType dtype, std::size_t count) {
    const std::size_t perByte = 8 / std::min<std::size_t>(tensor::bitsInFile(dtype), 8);
    return (count + perByte - 1) / perByte;
}

}  // namespace

struct TensorReader::Header {
    Bytes name;
    DType dtype = DType::Undefined;
    Shape shape;
    std::size_t numel = 0;
    std::optional<Bytes> raw;
    bool external = false;
    Bytes location, offset, length;
    std::string problem;
};

TensorReader::TensorReader(Wire& wire, std::shared_ptr<const base::MappedFile> model)
    : m_wire(wire), m_model(std::move(model)) {}

Bytes TensorReader::nameOf(Bytes message) {
    MessageReader reader(m_wire, message);
    while (reader.next()) {
        if (reader.tag() == 8) return reader.bytes();
        reader.skip();
    }
    return {};
}

Bytes TensorReader::nameOfSparse(Bytes message) {
    MessageReader reader(m_wire, message);
    while (reader.next()) {
        if (reader.tag() == 1) return nameOf(reader.bytes());
        reader.skip();
    }
    return {};
}

Bytes TensorReader::metadataOf(Bytes message, std::string_view key) {
    MessageReader reader(m_wire, message);
    while (reader.next()) {
        if (reader.tag() != kTensorMetadata) {
            reader.skip();
            continue;
        }
        const auto [name, value] = readStringPair(m_wire, reader.bytes());
        if (name == key) return value;
    }
    return {};
}

TensorReader::Header TensorReader::readHeader(Bytes message) {
    Header header;
    std::int64_t type = 0;
    MessageReader reader(m_wire, message);
    while (reader.next()) {
        switch (reader.tag()) {
            case 1: reader.eachInt64([&](std::int64_t dimSize) { header.shape.push_back(dimSize); }); break;
            case 2: type = reader.int64(); break;
            case 8: header.name = reader.bytes(); break;
            case 9: header.raw = reader.bytes(); break;
            case 13: {
                Bytes key, value;
                MessageReader entry(m_wire, reader.bytes());
                while (entry.next()) {
                    if (entry.tag() == 1) key = entry.bytes();
                    else if (entry.tag() == 2) value = entry.bytes();
                    else entry.skip();
                }
                if (key == "location") header.location = value;
                if (key == "offset") header.offset = value;
                if (key == "length") header.length = value;
                break;
            }
            case 14: header.external = reader.int64() == 1; break;
            default: reader.skip();
        }
    }
    if (type <= 0 || type >= tensor::kDTypeCount) {
        header.problem = "unknown element type " + std::to_string(type);
        return header;
    }
    header.dtype = static_cast<DType>(type);
    const std::optional<std::int64_t> count = header.shape.checkedNumel();
    if (!count || header.shape.rank() > 64) header.problem = "impossible shape " + header.shape.text();
    else header.numel = static_cast<std::size_t>(*count);
    return header;
}

base::Error TensorReader::wrong(const Header& header, std::string what, Bytes message) const {
    std::string place = header.name.empty() ? std::string() : "tensor '" + shown(header.name) + "', ";
    place += "byte " + std::to_string(m_wire.offsetOf(message.data()));
    return unreadable(std::move(what), std::move(place));
}

Result<Tensor> TensorReader::read(Bytes message) {
    const Header header = readHeader(message);
    if (m_wire.failed()) return wrong(header, m_wire.problem(), message);
    if (!header.problem.empty()) return wrong(header, header.problem, message);
    if (header.external) return fromExternal(header, message);
    // Some writers leave raw data empty beside the typed field.
    if (!header.raw || (header.raw->empty() && header.numel > 0)) return fromNumbers(header, message);
    const std::span<const std::byte> raw(reinterpret_cast<const std::byte*>(header.raw->data()), header.raw->size());
    return fromRaw(header, raw, m_model, message);
}

Result<Tensor> TensorReader::fromRaw(const Header& header, std::span<const std::byte> raw,
                                     std::shared_ptr<const base::MappedFile> owner, Bytes message) {
    if (header.dtype == DType::String) return wrong(header, "strings cannot be stored as raw data", message);
    const std::size_t bits = tensor::bitsInFile(header.dtype);
    // numel is below 2^63 and a tensor of more than the file's bits is refused, so the product cannot overflow.
    if (header.numel > raw.size() * 8 / bits || (header.numel * bits + 7) / 8 != raw.size()) {
        return wrong(header,
                     "the data has " + std::to_string(raw.size()) + " bytes, which does not match the size of " +
                         std::string(tensor::name(header.dtype)) + header.shape.text(),
                     message);
    }
    const std::size_t itemSize = tensor::itemSize(header.dtype);
    const std::size_t alignment = tensor::isComplex(header.dtype) ? itemSize / 2 : itemSize;
    const bool aligned = reinterpret_cast<std::uintptr_t>(raw.data()) % alignment == 0;
    const bool cleanBools = header.dtype != DType::Bool || tensor::areBools(raw);
    if (bits >= 8 && aligned && cleanBools && header.numel > 0) {
        return Tensor::onStorage(header.dtype, header.shape, Storage::view(raw.data(), raw.size(), std::move(owner)));
    }
    if (bits >= 8 && cleanBools && raw.size() >= kDeferredFromBytes) {
        // Weights that the file does not align are copied by whoever reads them first: a model that is only looked at
        // opens without that, and takes no memory for them.
        SONDE_ASSIGN(auto storage, Storage::deferred(raw.size(), [raw, owner = std::move(owner)](std::byte* out) {
                         // The pages of the file come into memory beside those of the copy.
                         if (base::ActivityLog::current())
                             base::ActivityLog::read(base::MemoryKind::Weights,
                                                     base::absentBytes(raw.data(), raw.size()));
                         std::memcpy(out, raw.data(), raw.size());
                         (void)owner->hasChanged();  // who reads the copy hears of it as if it read the file
                     }));
        return Tensor::onStorage(header.dtype, header.shape, std::move(storage));
    }
    SONDE_ASSIGN(Tensor tensor, Tensor::allocate(header.dtype, header.shape));
    if (header.numel == 0) return tensor;
    if (bits < 8) {
        unpackBits(raw, bits, tensor::isSigned(header.dtype) && !tensor::isFloating(header.dtype),
                   {reinterpret_cast<std::uint8_t*>(tensor.mutableBytes()), header.numel});
        return tensor;
    }
    std::memcpy(tensor.mutableBytes(), raw.data(), raw.size());
    if (!cleanBools) {
        for (std::byte& b : std::span(tensor.mutableBytes(), raw.size())) b = b == std::byte{0} ? b : std::byte{1};
    }
    return tensor;
}

namespace {

/// Writes numbers as they come into a tensor's elements, each as its low bytes; counts those that do not fit too.
class Filler {
  public:
    Filler(std::byte* out, std::size_t itemSize, std::size_t most) : m_out(out), m_itemSize(itemSize), m_most(most) {}
    template <typename T>
    void add(T value) {
        if (m_count < m_most) std::memcpy(m_out + m_count * m_itemSize, &value, std::min(m_itemSize, sizeof(T)));
        ++m_count;
    }
    std::size_t count() const { return m_count; }

  private:
    std::byte* m_out;
    std::size_t m_itemSize;
    std::size_t m_most;
    std::size_t m_count = 0;
};

/// The field of TensorProto that holds elements of a dtype when there is no raw data.
std::uint32_t dataField(DType dtype) {
    switch (dtype) {
        case DType::Float32:
        case DType::Complex64: return 4;
        case DType::String: return 6;
        case DType::Int64: return 7;
        case DType::Float64:
        case DType::Complex128: return 10;
        case DType::UInt32:
        case DType::UInt64: return 11;
        default: return 5;
    }
}

}  // namespace

Result<Tensor> TensorReader::fromNumbers(const Header& header, Bytes message) {
    const std::size_t parts = tensor::isComplex(header.dtype) ? 2 : 1;
    const std::size_t bits = header.dtype == DType::String ? 8 : tensor::bitsInFile(header.dtype);
    // A number takes at least a byte of the message (an element of four bits half of one).
    if (header.numel / 8 * std::min<std::size_t>(bits, 8) > message.size()) {
        return wrong(header,
                     "the data is cut off: " + header.shape.text() + " does not fit into " +
                         std::to_string(message.size()) + " bytes",
                     message);
    }
    std::vector<std::string> strings;
    Tensor tensor;
    std::vector<std::byte> packed;
    const bool isText = header.dtype == DType::String;
    const std::size_t expected = isText || bits >= 8 ? header.numel * parts : numbersNeeded(header.dtype, header.numel);
    std::byte* out = nullptr;
    if (!isText) {
        SONDE_ASSIGN(tensor, Tensor::allocate(header.dtype, header.shape));
        if (bits < 8) packed.resize(expected);
        out = bits < 8 ? packed.data() : header.numel > 0 ? tensor.mutableBytes() : nullptr;
    }
    Filler filler(out, bits < 8 ? 1 : tensor::itemSize(header.dtype) / parts, isText ? 0 : expected);
    const std::uint32_t field = dataField(header.dtype);
    MessageReader reader(m_wire, message);
    while (reader.next()) {
        if (reader.tag() != field) reader.skip();
        else if (isText) strings.emplace_back(reader.bytes());
        else if (field == 4) reader.eachFloat32([&](float value) { filler.add(value); });
        else if (field == 10) reader.eachFloat64([&](double value) { filler.add(value); });
        else if (header.dtype == DType::Bool)
            reader.eachInt64([&](std::int64_t value) { filler.add(std::uint8_t(value != 0)); });
        else reader.eachInt64([&](std::int64_t value) { filler.add(value); });
    }
    if (m_wire.failed()) return wrong(header, m_wire.problem(), message);
    const std::size_t count = isText ? strings.size() : filler.count();
    if (count != expected) {
        return wrong(header,
                     "the data has " + std::to_string(count) + " numbers where " + header.shape.text() + " takes " +
                         std::to_string(expected),
                     message);
    }
    if (isText) return Tensor::ofStrings(header.shape, std::move(strings));
    if (bits < 8 && header.numel > 0) {
        unpackBits(packed, bits, tensor::isSigned(header.dtype) && !tensor::isFloating(header.dtype),
                   {reinterpret_cast<std::uint8_t*>(tensor.mutableBytes()), header.numel});
    }
    return tensor;
}

/// Error if the model may not name it.
Result<std::filesystem::path> TensorReader::dataPath(const Header& header, Bytes message) const {
    const std::string location(header.location);
    if (location.empty() || location.find('\0') != std::string::npos) {
        return wrong(header, "the data is in an external file whose name is missing", message);
    }
    // The file may not be anywhere but in the model's folder or below, also not by way of a link (onnx.proto).
    std::error_code code;
    const std::filesystem::path folder =
        std::filesystem::weakly_canonical(std::filesystem::absolute(m_model->path(), code).parent_path(), code);
    const std::filesystem::path path = std::filesystem::weakly_canonical(folder / location, code);
    const auto [end, rest] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
    if (code || std::filesystem::path(location).is_absolute() || end != folder.end()) {
        return wrong(header, "the data file '" + shown(location) + "' is outside of the model's folder", message);
    }
    if (std::filesystem::is_directory(path, code))
        return wrong(header, "the data file '" + shown(location) + "' is a folder", message);
    return path;
}

Result<std::shared_ptr<const base::MappedFile>> TensorReader::dataFile(const Header& header, Bytes message) {
    const std::string location(header.location);
    if (const auto known = m_dataFiles.find(location); known != m_dataFiles.end()) return known->second;
    SONDE_ASSIGN(const std::filesystem::path path, dataPath(header, message));
    auto file = base::MappedFile::open(path);
    if (!file) {
        m_unopened[location] = file.error().what;
        return wrong(header, "the data file '" + shown(location) + "' cannot be opened: " + file.error().what, message)
            .withHint("put the data file into the model's folder");
    }
    m_dataFiles.emplace(location, *file);
    return *file;
}

std::optional<TensorReader::Missing> TensorReader::missing(Bytes message) {
    const Header header = readHeader(message);
    if (m_wire.failed() || !header.problem.empty() || !header.external) return std::nullopt;
    const std::string location(header.location);
    // Tensors of one file are many: it is looked for once.
    if (!m_unopened.contains(location)) {
        if (const auto file = dataFile(header, message)) {
            const auto range = rangeOf(header);
            const std::uint64_t size = (*file)->sizeBytes();
            if (!range || (range->first <= size && range->second <= size - range->first)) return std::nullopt;
            return Missing{location, "cut off after " + std::to_string(size) + (size == 1 ? " byte" : " bytes"),
                           header.dtype, header.shape, true};
        }
    }
    const auto reason = m_unopened.find(location);
    if (reason == m_unopened.end()) return std::nullopt;
    return Missing{location, reason->second, header.dtype, header.shape};
}

Result<Tensor> TensorReader::fromExternal(const Header& header, Bytes message) {
    SONDE_ASSIGN(const std::shared_ptr<const base::MappedFile> file, dataFile(header, message));
    const auto range = rangeOf(header);
    if (!range) return wrong(header, "the place of the external data is not a number", message);
    if (range->first > file->sizeBytes())
        return wrong(header, "the tensor is beyond the end of its data file", message);
    if (range->second > file->sizeBytes() - range->first)
        return wrong(header, "the data file '" + shown(header.location) + "' is cut off", message);
    return fromRaw(header, file->window(range->first, range->second), file, message);
}

std::optional<std::pair<std::uint64_t, std::uint64_t>> TensorReader::rangeOf(const Header& header) {
    const std::optional<std::uint64_t> offset =
        header.offset.empty() ? std::optional<std::uint64_t>(0) : base::parseNumber<std::uint64_t>(header.offset);
    if (!offset) return std::nullopt;
    if (!header.length.empty()) {
        const std::optional<std::uint64_t> length = base::parseNumber<std::uint64_t>(header.length);
        return length ? std::optional(std::pair(*offset, *length)) : std::nullopt;
    }
    const std::size_t bits = std::max<std::size_t>(tensor::bitsInFile(header.dtype), 1);
    const bool isHuge = header.numel > UINT64_MAX / 8 / bits;
    return std::pair(*offset, isHuge ? UINT64_MAX : (static_cast<std::uint64_t>(header.numel) * bits + 7) / 8);
}

/// SparseTensorProto: values [NNZ], indices [NNZ] (into the flattened tensor) or [NNZ, rank], dims.
Result<Tensor> TensorReader::readSparse(Bytes message) {
    Bytes valuesMessage, indicesMessage;
    Shape shape;
    MessageReader reader(m_wire, message);
    while (reader.next()) {
        switch (reader.tag()) {
            case 1: valuesMessage = reader.bytes(); break;
            case 2: indicesMessage = reader.bytes(); break;
            case 3: reader.eachInt64([&](std::int64_t dimSize) { shape.push_back(dimSize); }); break;
            default: reader.skip();
        }
    }
    Header header;
    header.name = nameOf(valuesMessage);
    if (m_wire.failed()) return wrong(header, m_wire.problem(), message);
    if (!valuesMessage.data() || !indicesMessage.data())
        return wrong(header, "a sparse tensor lacks its values or indices", message);
    SONDE_ASSIGN(const Tensor values, read(valuesMessage));
    SONDE_ASSIGN(const Tensor indices, read(indicesMessage));
    const std::optional<std::int64_t> numel = shape.checkedNumel();
    const std::size_t itemSize = tensor::itemSize(values.dtype());
    if (!numel || itemSize == 0 || static_cast<std::size_t>(*numel) > kSparseLimitBytes / itemSize) {
        return wrong(header, "a sparse tensor of shape " + shape.text() + " is too large", message);
    }
    const bool flat = indices.rank() == 1;
    if (indices.dtype() != DType::Int64 || values.rank() != 1 || indices.rank() < 1 || indices.rank() > 2 ||
        indices.dim(0) != values.dim(0) || (!flat && static_cast<std::size_t>(indices.dim(1)) != shape.rank())) {
        return wrong(header, "the indices of a sparse tensor do not match its values", message);
    }
    SONDE_ASSIGN(Tensor dense, Tensor::zeros(values.dtype(), shape));
    const std::vector<std::int64_t> strides = shape.contiguousStrides();
    for (std::int64_t i = 0; i < values.dim(0); ++i) {
        std::int64_t at = 0;
        bool inside = true;
        for (std::size_t axis = 0; axis < (flat ? 1 : shape.rank()); ++axis) {
            const std::int64_t index = indices.toInt64(flat ? i : i * indices.dim(1) + static_cast<std::int64_t>(axis));
            inside = inside && index >= 0 && index < (flat ? *numel : shape[axis]);
            at += inside ? index * (flat ? 1 : strides[axis]) : 0;
        }
        if (!inside) return wrong(header, "an index of a sparse tensor is out of range", message);
        std::memcpy(dense.mutableBytes() + static_cast<std::size_t>(at) * itemSize,
                    values.bytes() + static_cast<std::size_t>(i) * itemSize, itemSize);
    }
    return dense;
}

}  // namespace sonde::io::onnx
