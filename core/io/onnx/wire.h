#pragma once

#include <cstddef>
#include <cstdint>
#include <protozero/pbf_reader.hpp>
#include <string>
#include <string_view>

namespace sonde::io::onnx {

/// Bytes inside the mapped file: a message, a string, packed numbers.
using Bytes = std::string_view;

/// A name from the file for a message: at most 80 bytes of it, control characters and bytes that are no UTF-8 as '?'.
std::string shown(Bytes name);

/// The file that messages are read from, and the first thing that is wrong with it. Reading goes on to return empty
/// results after that, so that only the caller at the top has to ask.
class Wire {
  public:
    explicit Wire(Bytes file) : m_begin(file.data()) {}

    bool failed() const { return !m_problem.empty(); }
    const std::string& problem() const { return m_problem; }
    std::size_t problemOffset() const { return m_problemOffset; }
    /// Where in the file a piece of it lies, in bytes.
    std::size_t offsetOf(const char* place) const { return static_cast<std::size_t>(place - m_begin); }
    void fail(std::string problem, const char* place) {
        if (failed()) return;
        m_problem = std::move(problem);
        m_problemOffset = offsetOf(place);
    }

  private:
    const char* m_begin;
    std::string m_problem;
    std::size_t m_problemOffset = 0;
};

/// Reads one protobuf message field by field (protobuf.dev/programming-guides/encoding). Every wire type is checked
/// before a field is read.
class MessageReader {
  public:
    MessageReader(Wire& wire, Bytes message)
        : m_wire(wire), m_reader(message.data(), message.size()), m_end(message.data() + message.size()) {}

    /// The next field; false at the end and after an error.
    bool next();
    std::uint32_t tag() const { return m_reader.tag(); }
    bool isVarint() const { return m_reader.has_wire_type(protozero::pbf_wire_type::varint); }
    bool isLengthDelimited() const { return m_reader.has_wire_type(protozero::pbf_wire_type::length_delimited); }
    void skip();

    Bytes bytes();         ///< a string, bytes or an embedded message
    std::int64_t int64();  ///< any integer or enum field
    float float32();
    double float64();

    /// Calls take(value) for each number of a repeated field, packed or not.
    template <typename Take>
    void eachInt64(Take&& take);
    template <typename Take>
    void eachFloat32(Take&& take) {
        eachFixed<float>(take);
    }
    template <typename Take>
    void eachFloat64(Take&& take) {
        eachFixed<double>(take);
    }

  private:
    bool expect(protozero::pbf_wire_type type);
    const char* place() const { return m_end - m_reader.length(); }
    static bool takeVarint(const char*& at, const char* end, std::uint64_t& value);
    template <typename T, typename Take>
    void eachFixed(Take&& take);

    Wire& m_wire;
    protozero::pbf_reader m_reader;
    const char* m_end;
};

template <typename Take>
void MessageReader::eachInt64(Take&& take) {
    if (!isLengthDelimited()) {
        const std::int64_t value = int64();
        if (!m_wire.failed()) take(value);
        return;
    }
    const Bytes packed = bytes();
    const char* at = packed.data();
    const char* end = at + packed.size();
    while (at < end) {
        std::uint64_t value = 0;
        if (!takeVarint(at, end, value)) return m_wire.fail("a number is cut off", at);
        take(static_cast<std::int64_t>(value));
    }
}

template <typename T, typename Take>
void MessageReader::eachFixed(Take&& take) {
    if (!isLengthDelimited()) {
        const T value = [this] {
            if constexpr (sizeof(T) == 4) return float32();
            else return float64();
        }();
        if (!m_wire.failed()) take(value);
        return;
    }
    const Bytes packed = bytes();
    if (packed.size() % sizeof(T) != 0) return m_wire.fail("a list of numbers is cut off", packed.data());
    for (std::size_t i = 0; i < packed.size(); i += sizeof(T)) {
        T value;
        packed.copy(reinterpret_cast<char*>(&value), sizeof(T), i);
        take(value);
    }
}

}  // namespace sonde::io::onnx
