#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace sonde::layout {

static_assert(std::endian::native == std::endian::little, "the pipe and the cache hold little-endian numbers");

/// Appends numbers as bytes.
class ByteWriter {
  public:
    template <typename T>
    requires std::is_arithmetic_v<T>
    void put(T value) {
        const auto* begin = reinterpret_cast<const std::byte*>(&value);
        m_bytes.insert(m_bytes.end(), begin, begin + sizeof(T));
    }
    void put(const std::string& text) {
        put(static_cast<std::uint32_t>(text.size()));
        const auto* begin = reinterpret_cast<const std::byte*>(text.data());
        m_bytes.insert(m_bytes.end(), begin, begin + text.size());
    }
    void reserve(std::size_t bytes) { m_bytes.reserve(bytes); }
    std::vector<std::byte> take() { return std::move(m_bytes); }

  private:
    std::vector<std::byte> m_bytes;
};

/// Reads numbers back; after the first read past the end everything reads as zero and `failed()` is true.
class ByteReader {
  public:
    explicit ByteReader(std::span<const std::byte> bytes) : m_bytes(bytes) {}

    template <typename T>
    requires std::is_arithmetic_v<T> T get() {
        T value{};
        if (m_bytes.size() < sizeof(T)) {
            m_failed = true;
            m_bytes = {};
            return value;
        }
        std::memcpy(&value, m_bytes.data(), sizeof(T));
        m_bytes = m_bytes.subspan(sizeof(T));
        return value;
    }
    std::string getText() {
        const auto size = getCount(1);
        std::string text(reinterpret_cast<const char*>(m_bytes.data()), size);
        m_bytes = m_bytes.subspan(size);
        return text;
    }
    /// A number of items of at least `itemBytes` bytes each that follow; 0 and failed if the bytes left cannot hold
    /// them.
    std::size_t getCount(std::size_t itemBytes) {
        const std::size_t count = get<std::uint32_t>();
        if (count > m_bytes.size() / itemBytes) {
            m_failed = true;
            m_bytes = {};
            return 0;
        }
        return count;
    }
    bool failed() const { return m_failed; }
    bool atEnd() const { return m_bytes.empty(); }

  private:
    std::span<const std::byte> m_bytes;
    bool m_failed = false;
};

}  // namespace sonde::layout
