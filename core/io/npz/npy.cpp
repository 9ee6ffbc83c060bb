#include "core/io/npz/npy.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>

#include "core/base/mapped_file.h"
#include "core/base/number_text.h"
#include "core/base/unicode.h"
#include "core/tensor/bool_bytes.h"
#include "core/tensor/mapped_source.h"

namespace sonde::io {

namespace {

using base::Result;
using base::unreadable;
using tensor::DType;
using tensor::Shape;
using tensor::Storage;
using tensor::Tensor;

constexpr std::string_view kMagic = "\x93NUMPY";

/// The element type of a file: '<f4', '|b1', '>i8', '<U12', '|S5'.
struct Description {
    DType dtype = DType::Undefined;
    std::size_t itemSize = 0;  ///< bytes of one element in the file
    bool bigEndian = false;
    char kind = 0;
};

struct Header {
    std::string description;
    bool fortranOrder = false;
    Shape shape;
};

/// Reads the header: a Python dictionary of three known keys with simple literals, and nothing else.
class HeaderParser {
  public:
    explicit HeaderParser(std::string_view text) : m_text(text) {}

    std::optional<Header> parse() {
        Header header;
        int seen = 0;
        if (!take('{')) return std::nullopt;
        while (!take('}')) {
            std::string key;
            if (!parseString(key) || !take(':')) return std::nullopt;
            if (key == "descr") {
                if (!parseString(header.description)) return std::nullopt;
                seen |= 1;
            } else if (key == "fortran_order") {
                if (!parseBool(header.fortranOrder)) return std::nullopt;
                seen |= 2;
            } else if (key == "shape") {
                if (!parseShape(header.shape)) return std::nullopt;
                seen |= 4;
            } else {
                return std::nullopt;
            }
            take(',');
        }
        return seen == 7 ? std::optional(header) : std::nullopt;
    }

  private:
    void skipBlanks() {
        while (m_at < m_text.size() && (m_text[m_at] == ' ' || m_text[m_at] == '\n' || m_text[m_at] == '\t')) ++m_at;
    }
    bool take(char c) {
        skipBlanks();
        if (m_at >= m_text.size() || m_text[m_at] != c) return false;
        ++m_at;
        return true;
    }
    bool parseString(std::string& out) {
        skipBlanks();
        if (m_at >= m_text.size() || (m_text[m_at] != '\'' && m_text[m_at] != '"')) return false;
        const char quote = m_text[m_at++];
        const std::size_t end = m_text.find(quote, m_at);
        if (end == std::string_view::npos) return false;
        out = m_text.substr(m_at, end - m_at);
        m_at = end + 1;
        return true;
    }
    bool parseBool(bool& out) {
        skipBlanks();
        for (const auto& [word, value] : {std::pair<std::string_view, bool>{"True", true}, {"False", false}}) {
            if (m_text.substr(m_at).starts_with(word)) {
                m_at += word.size();
                out = value;
                return true;
            }
        }
        return false;
    }
    bool parseShape(Shape& out) {
        if (!take('(')) return false;
        while (!take(')')) {
            skipBlanks();
            std::string_view rest = m_text.substr(m_at);
            const auto dimSize = base::takeNumber<std::int64_t>(rest);
            if (!dimSize || *dimSize < 0 || out.rank() >= 64) return false;
            m_at = m_text.size() - rest.size();
            take('L');  // Python 2 wrote long integers so
            out.push_back(*dimSize);
            take(',');
        }
        return true;
    }

    std::string_view m_text;
    std::size_t m_at = 0;
};

DType numberType(char kind, std::size_t size) {
    switch (kind) {
        case 'b': return size == 1 ? DType::Bool : DType::Undefined;
        case 'f':
            return size == 2   ? DType::Float16
                   : size == 4 ? DType::Float32
                   : size == 8 ? DType::Float64
                               : DType::Undefined;
        case 'c': return size == 8 ? DType::Complex64 : size == 16 ? DType::Complex128 : DType::Undefined;
        case 'i':
            return size == 1   ? DType::Int8
                   : size == 2 ? DType::Int16
                   : size == 4 ? DType::Int32
                   : size == 8 ? DType::Int64
                               : DType::Undefined;
        case 'u':
            return size == 1   ? DType::UInt8
                   : size == 2 ? DType::UInt16
                   : size == 4 ? DType::UInt32
                   : size == 8 ? DType::UInt64
                               : DType::Undefined;
        default: return DType::Undefined;
    }
}

std::optional<Description> parseDescription(std::string_view text) {
    if (text.size() < 3) return std::nullopt;
    Description result;
    result.bigEndian = text[0] == '>';
    if (text[0] != '<' && text[0] != '>' && text[0] != '|' && text[0] != '=') return std::nullopt;
    result.kind = text[1];
    const auto count = base::parseNumber<std::uint64_t>(text.substr(2));
    if (!count || *count > (std::size_t{1} << 24)) return std::nullopt;
    result.itemSize = result.kind == 'U' ? 4 * *count : *count;
    result.dtype = result.kind == 'U' || result.kind == 'S' ? DType::String : numberType(result.kind, *count);
    if (result.dtype == DType::Undefined) return std::nullopt;
    return result;
}

void swapBytes(std::byte* data, std::size_t count, std::size_t width) {
    for (std::size_t i = 0; i < count; ++i) std::reverse(data + i * width, data + (i + 1) * width);
}

/// Fixed-width text, padded with zeros: UCS-4 or bytes.
std::string textElement(const std::byte* data, const Description& description) {
    std::string result;
    if (description.kind == 'S') {
        result.assign(reinterpret_cast<const char*>(data), description.itemSize);
        result.resize(result.find_last_not_of('\0') + 1);
        return result;
    }
    std::vector<std::uint32_t> codes(description.itemSize / 4);
    for (std::size_t i = 0; i < codes.size(); ++i) {
        std::byte unit[4];
        std::memcpy(unit, data + 4 * i, 4);
        if (description.bigEndian) std::reverse(unit, unit + 4);
        std::memcpy(&codes[i], unit, 4);
    }
    while (!codes.empty() && codes.back() == 0) codes.pop_back();
    for (std::uint32_t code : codes) base::appendUtf8(result, code);
    return result;
}

/// What is in Fortran order is the transposed array in C order.
Tensor inFortranOrder(const Tensor& stored) {
    std::vector<std::size_t> axes(stored.rank());
    for (std::size_t i = 0; i < axes.size(); ++i) axes[i] = axes.size() - 1 - i;
    return stored.permuted(axes);
}

Result<Tensor> numbers(std::span<const std::byte> data, const Description& description, const Shape& shape,
                       std::shared_ptr<const void> owner) {
    const std::size_t count = data.size() / description.itemSize;
    const bool complex = description.kind == 'c';
    const std::size_t word = complex ? description.itemSize / 2 : description.itemSize;
    const bool swap = description.bigEndian && word > 1;
    const bool aligned = reinterpret_cast<std::uintptr_t>(data.data()) % std::min<std::size_t>(word, 8) == 0;
    // A bool of the file may be any byte; in memory it is 0 or 1.
    const bool clean = description.dtype != DType::Bool || tensor::areBools(data);
    if (aligned && !swap && clean && count > 0) {
        return Tensor::onStorage(description.dtype, shape, Storage::view(data.data(), data.size(), std::move(owner)));
    }
    SONDE_ASSIGN(Tensor tensor, Tensor::allocate(description.dtype, shape));
    if (count > 0) std::memcpy(tensor.mutableBytes(), data.data(), data.size());
    if (swap) swapBytes(tensor.mutableBytes(), data.size() / word, word);
    if (!clean) {
        for (std::byte& b : std::span(tensor.mutableBytes(), data.size())) b = b == std::byte{0} ? b : std::byte{1};
    }
    return tensor;
}

/// numpy's name for a dtype; empty if it has none.
std::string_view numpyName(DType dtype) {
    switch (dtype) {
        case DType::Bool: return "|b1";
        case DType::UInt8: return "|u1";
        case DType::Int8: return "|i1";
        case DType::UInt16: return "<u2";
        case DType::Int16: return "<i2";
        case DType::UInt32: return "<u4";
        case DType::Int32: return "<i4";
        case DType::UInt64: return "<u8";
        case DType::Int64: return "<i8";
        case DType::Float16: return "<f2";
        case DType::Float32: return "<f4";
        case DType::Float64: return "<f8";
        case DType::Complex64: return "<c8";
        case DType::Complex128: return "<c16";
        default: return {};
    }
}

DType widened(DType dtype) {
    if (tensor::isFloating(dtype)) return DType::Float32;
    return tensor::isSigned(dtype) ? DType::Int8 : DType::UInt8;
}

std::vector<std::byte> withHeader(std::string_view description, const Shape& shape, std::size_t dataBytes) {
    std::string dims;
    for (std::int64_t dimSize : shape) dims += std::to_string(dimSize) + ", ";
    if (shape.rank() > 1) dims.resize(dims.size() - 2);
    if (shape.rank() == 1) dims.resize(dims.size() - 1);
    std::string header =
        "{'descr': '" + std::string(description) + "', 'fortran_order': False, 'shape': (" + dims + "), }";
    // The whole of it is padded to a multiple of 64, so that mapped data is aligned.
    const std::size_t fixed = kMagic.size() + 4;
    header.resize((fixed + header.size() + 1 + 63) / 64 * 64 - fixed - 1, ' ');
    header += '\n';
    std::vector<std::byte> bytes;
    bytes.reserve(fixed + header.size() + dataBytes);
    const auto append = [&bytes](std::string_view text) {
        for (char c : text) bytes.push_back(static_cast<std::byte>(c));
    };
    append(kMagic);
    append(std::string_view("\x01\x00", 2));
    bytes.push_back(static_cast<std::byte>(header.size() & 0xff));
    bytes.push_back(static_cast<std::byte>(header.size() >> 8));
    append(header);
    return bytes;
}

/// Text as numpy has it: UCS-4 of the longest element's width. Broken UTF-8 is kept byte by byte.
std::vector<std::uint32_t> codePoints(const std::string& text) {
    std::vector<std::uint32_t> codes;
    for (std::string_view rest = text; !rest.empty();) {
        const base::CodePoint first = base::firstCodePoint(rest);
        codes.push_back(first.valid ? first.value : static_cast<unsigned char>(rest.front()));
        rest.remove_prefix(first.bytes);
    }
    return codes;
}

std::vector<std::byte> stringBytes(const Tensor& tensor) {
    std::size_t width = 1;
    std::vector<std::vector<std::uint32_t>> elements;
    for (const std::string& text : tensor.strings()) {
        elements.push_back(codePoints(text));
        width = std::max(width, elements.back().size());
    }
    std::vector<std::byte> bytes =
        withHeader("<U" + std::to_string(width), tensor.shape(), 4 * width * elements.size());
    for (std::vector<std::uint32_t>& element : elements) {
        element.resize(width);
        const auto* data = reinterpret_cast<const std::byte*>(element.data());
        bytes.insert(bytes.end(), data, data + 4 * width);
    }
    return bytes;
}

}  // namespace

bool looksLikeNpy(std::span<const std::byte> head) {
    return head.size() >= kMagic.size() && std::memcmp(head.data(), kMagic.data(), kMagic.size()) == 0;
}

namespace {

/// What the bytes say before the data.
struct Head {
    Header header;
    Description description;
    std::size_t dataAt = 0;
};

Result<Head> headOf(std::span<const std::byte> bytes, const std::string& where) {
    if (!looksLikeNpy(bytes)) return unreadable("this is not a .npy array", where);
    const auto byteAt = [&bytes](std::size_t i) { return std::to_integer<std::size_t>(bytes[i]); };
    if (bytes.size() < 12) return unreadable("the .npy header is cut off", where);
    const std::size_t major = byteAt(6);
    if (major < 1 || major > 3) return unreadable("unknown .npy version " + std::to_string(major), where);
    const std::size_t start = major == 1 ? 10 : 12;
    const std::size_t length = byteAt(8) | byteAt(9) << 8 | (major == 1 ? 0 : byteAt(10) << 16 | byteAt(11) << 24);
    if (length > bytes.size() - start) return unreadable("the .npy header is cut off", where);
    const std::string_view text(reinterpret_cast<const char*>(bytes.data() + start), length);
    std::optional<Header> header = HeaderParser(text).parse();
    if (!header)
        return unreadable("the .npy header cannot be parsed", where, "records and named fields are not supported");
    if (header->description.find('O') != std::string::npos) {
        return unreadable("the array contains Python objects", where,
                          "files are never executed; save it as an array of numbers");
    }
    const std::optional<Description> description = parseDescription(header->description);
    if (!description) return unreadable("unknown element type '" + header->description + "'", where);
    return Head{std::move(*header), *description, start + length};
}

}  // namespace

Result<tensor::TypeInfo> readNpyType(std::span<const std::byte> head, std::string_view place) {
    SONDE_ASSIGN(const Head read, headOf(head, std::string(place)));
    return tensor::TypeInfo::tensor(read.description.dtype, read.header.shape);
}

Result<Tensor> readNpy(std::span<const std::byte> bytes, std::shared_ptr<const void> owner, std::string_view place) {
    const std::string where(place);
    SONDE_ASSIGN(const Head head, headOf(bytes, where));
    const Header* const header = &head.header;
    const Description* const description = &head.description;
    const std::optional<std::int64_t> count = header->shape.checkedNumel();
    const std::span<const std::byte> rest = bytes.subspan(head.dataAt);
    const std::size_t itemSize = std::max<std::size_t>(description->itemSize, 1);
    if (!count || static_cast<std::uint64_t>(*count) > rest.size() / itemSize) {
        return unreadable("the array's data is cut off: shape " + header->shape.text() + " needs more than the " +
                              std::to_string(rest.size()) + " available bytes",
                          where);
    }
    Shape stored = header->shape;
    if (header->fortranOrder) {
        std::vector<std::int64_t> dims(stored.begin(), stored.end());
        std::reverse(dims.begin(), dims.end());
        stored = Shape(std::move(dims));
    }
    Tensor tensor;
    if (description->dtype == DType::String) {
        std::vector<std::string> strings;
        for (std::int64_t i = 0; i < *count; ++i) {
            strings.push_back(
                textElement(rest.data() + static_cast<std::size_t>(i) * description->itemSize, *description));
        }
        tensor = Tensor::ofStrings(stored, std::move(strings));
    } else {
        auto read =
            numbers(rest.first(static_cast<std::size_t>(*count) * itemSize), *description, stored, std::move(owner));
        if (!read) return unreadable(read.error().what, where);
        tensor = std::move(*read);
    }
    if (!header->fortranOrder || tensor.rank() < 2) return tensor;
    return inFortranOrder(tensor).contiguous();
}

Result<Tensor> readNpyFile(const std::filesystem::path& path) {
    SONDE_ASSIGN(std::shared_ptr<const base::MappedFile> file, base::MappedFile::open(path));
    return readNpy(file->bytes(), file, path.string());
}

Result<std::vector<std::byte>> npyBytes(const Tensor& tensor) {
    SONDE_ASSIGN(Tensor dense, tensor.contiguous());
    if (dense.dtype() == DType::String) return stringBytes(dense);
    if (numpyName(dense.dtype()).empty()) {
        SONDE_ASSIGN(Tensor wide, dense.cast(widened(dense.dtype())));
        dense = std::move(wide);
    }
    std::vector<std::byte> bytes = withHeader(numpyName(dense.dtype()), dense.shape(), dense.sizeBytes());
    if (dense.sizeBytes() > 0) bytes.insert(bytes.end(), dense.bytes(), dense.bytes() + dense.sizeBytes());
    return bytes;
}

Result<void> writeNpyFile(const std::filesystem::path& path, const Tensor& tensor) {
    SONDE_ASSIGN(const std::vector<std::byte> bytes, npyBytes(tensor));
    if (auto changed = tensor::sourceError(tensor::Value(tensor), "a file that the values are read from"))
        return *changed;
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    out.close();
    if (!out) return base::runError("the file cannot be written", path.string());
    return {};
}

}  // namespace sonde::io
