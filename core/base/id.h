#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <limits>

namespace sonde::base {

/// A dense index with a type of its own, so that a node's number cannot be passed where an expr's is meant.
template <typename Tag>
struct Id {
    static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
    std::uint32_t value = kNone;

    constexpr Id() = default;
    constexpr explicit Id(std::size_t index) : value(static_cast<std::uint32_t>(index)) {}
    constexpr bool valid() const { return value != kNone; }
    constexpr explicit operator bool() const { return valid(); }
    constexpr std::size_t index() const { return value; }
    constexpr auto operator<=>(const Id&) const = default;
};

}  // namespace sonde::base

template <typename Tag>
struct std::hash<sonde::base::Id<Tag>> {
    std::size_t operator()(sonde::base::Id<Tag> id) const noexcept { return std::hash<std::uint32_t>{}(id.value); }
};
