#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace sonde::layout {

/// What precedes every message between Sonde and its layout helper, both ways: a request is an encoded BoxGraph,
/// a reply an encoded BoxLayout with the request's number, or an error message.
struct FrameHeader {
    static constexpr std::uint32_t kMagic = 0x46594c53;  // "SLYF"
    static constexpr std::uint64_t kMaxSize = std::uint64_t{256} << 20;
    enum Kind : std::uint32_t { Request = 1, Reply = 2, Failure = 3 };

    std::uint32_t magic = kMagic;
    std::uint32_t kind = Request;
    std::uint64_t number = 0;
    std::uint64_t size = 0;      ///< bytes that follow
    std::uint64_t budgetMs = 0;  ///< Request: the helper ends itself after this time

    bool sane() const { return magic == kMagic && kind >= Request && kind <= Failure && size <= kMaxSize; }
};
using FrameBytes = std::array<std::byte, sizeof(FrameHeader)>;

inline FrameBytes toBytes(const FrameHeader& header) { return std::bit_cast<FrameBytes>(header); }
inline FrameHeader toHeader(const FrameBytes& bytes) { return std::bit_cast<FrameHeader>(bytes); }

}  // namespace sonde::layout
