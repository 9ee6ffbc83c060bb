#include "core/io/onnx/wire.h"

#include <bit>

#include "core/base/unicode.h"

namespace sonde::io::onnx {

static_assert(std::endian::native == std::endian::little, "weights in files are little-endian and are used in place");

std::string shown(Bytes name) {
    constexpr std::size_t kMaxLength = 80;
    std::string text;
    for (std::size_t at = 0; at < name.size() && text.size() < kMaxLength;) {
        const base::CodePoint first = base::firstCodePoint(name.substr(at));
        text += first.valid && !base::isControl(first.value) ? name.substr(at, first.bytes) : "?";
        at += first.bytes;
    }
    return text.size() < kMaxLength || text.size() >= name.size()
               ? text
               : text + "… (" + std::to_string(name.size()) + " bytes)";
}

bool MessageReader::next() {
    if (m_wire.failed()) return false;
    const char* before = place();
    try {
        return m_reader.next();
    } catch (const protozero::exception&) {
        m_wire.fail("this is not a protobuf field", before);
        return false;
    }
}

bool MessageReader::expect(protozero::pbf_wire_type type) {
    if (m_wire.failed()) return false;
    if (m_reader.has_wire_type(type)) return true;
    m_wire.fail("protobuf field " + std::to_string(tag()) + " has an unexpected type", place());
    return false;
}

void MessageReader::skip() {
    if (m_wire.failed()) return;
    const char* before = place();
    try {
        m_reader.skip();
    } catch (const protozero::exception&) {
        m_wire.fail("a protobuf field is longer than its container", before);
    }
}

Bytes MessageReader::bytes() {
    if (!expect(protozero::pbf_wire_type::length_delimited)) return {};
    const char* before = place();
    try {
        const protozero::data_view view = m_reader.get_view();
        return {view.data(), view.size()};
    } catch (const protozero::exception&) {
        m_wire.fail("a protobuf field is longer than its container", before);
        return {};
    }
}

std::int64_t MessageReader::int64() {
    if (!expect(protozero::pbf_wire_type::varint)) return 0;
    const char* before = place();
    try {
        return m_reader.get_int64();
    } catch (const protozero::exception&) {
        m_wire.fail("a number is cut off", before);
        return 0;
    }
}

float MessageReader::float32() {
    if (!expect(protozero::pbf_wire_type::fixed32)) return 0;
    const char* before = place();
    try {
        return m_reader.get_float();
    } catch (const protozero::exception&) {
        m_wire.fail("a number is cut off", before);
        return 0;
    }
}

double MessageReader::float64() {
    if (!expect(protozero::pbf_wire_type::fixed64)) return 0;
    const char* before = place();
    try {
        return m_reader.get_double();
    } catch (const protozero::exception&) {
        m_wire.fail("a number is cut off", before);
        return 0;
    }
}

bool MessageReader::takeVarint(const char*& at, const char* end, std::uint64_t& value) {
    try {
        value = protozero::decode_varint(&at, end);
        return true;
    } catch (const protozero::exception&) {
        return false;
    }
}

}  // namespace sonde::io::onnx
