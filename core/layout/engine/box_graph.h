#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/layout/engine/geometry.h"

namespace sonde::layout {

// What a layout engine is told and what it answers: boxes, edges, geometry. No names, no text, no neural network.

enum class Direction : std::uint8_t { TopDown, LeftRight };

/// Where a box may be in the direction of the flow. First boxes are in their order, and so are Last ones.
enum class Pin : std::uint8_t { Free, First, Last };

struct Box {
    double width = 0;
    double height = 0;
    Pin pin = Pin::Free;
    /// Its ports say in which order edges meet its borders, but its middle is what should be in line with other boxes.
    bool loosePorts = false;
    bool operator==(const Box&) const = default;
};

/// An edge begins on the border of `from` and ends on the border of `to`. A port fixes where: on the border that faces
/// down the flow for `from` and up the flow for `to` (bottom and top if TopDown, right and left if LeftRight), at this
/// distance from its middle, to the right if TopDown and downwards if LeftRight. Without a port the engine chooses.
/// Self loops and parallel edges are allowed.
struct BoxEdge {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    std::optional<double> fromPort;
    std::optional<double> toPort;
    double weight = 1;  ///< how much it matters that the edge is short and straight
    bool operator==(const BoxEdge&) const = default;
};

struct BoxGraph {
    std::vector<Box> boxes;
    std::vector<BoxEdge> edges;
    Direction direction = Direction::TopDown;
    double nodeSep = 24;  ///< least distance of boxes side by side
    double rankSep = 40;  ///< least distance of boxes after one another
    bool operator==(const BoxGraph&) const = default;
};

enum class Engine : std::uint8_t { Graphviz, Layered };
const char* engineName(Engine engine);

struct BoxLayout {
    std::vector<Rect> boxes;  ///< as BoxGraph::boxes; the whole picture's top left is (0, 0)
    std::vector<Path> edges;  ///< as BoxGraph::edges, from the border of `from` to the border of `to`
    Size size;
    Engine engine = Engine::Layered;
    std::string note;  ///< why Graphviz did not do it, if it was asked; else empty
    bool operator==(const BoxLayout&) const = default;
};

/// A pipe or a file may hold at most this many boxes, or edges.
inline constexpr std::size_t kMaxBoxes = 4'000'000;

/// Fails with Unreadable if an edge names a box that does not exist, or a number is negative, huge or not finite.
base::Result<void> validate(const BoxGraph& graph);

/// Little-endian bytes. Reading never trusts them: sizes are checked before memory is taken, and the result is valid.
std::vector<std::byte> encode(const BoxGraph& graph);
std::vector<std::byte> encode(const BoxLayout& layout);
base::Result<BoxGraph> decodeGraph(std::span<const std::byte> bytes);
base::Result<BoxLayout> decodeLayout(std::span<const std::byte> bytes);

/// True if `layout` can be the answer to `graph`: as many boxes of the same sizes, as many edges, all finite.
bool answers(const BoxLayout& layout, const BoxGraph& graph);

/// Equal graphs, and only they for all that matters, have equal keys (128 bits over the encoded bytes).
struct LayoutKey {
    std::uint64_t high = 0;
    std::uint64_t low = 0;
    std::string hex() const;
    auto operator<=>(const LayoutKey&) const = default;
};
LayoutKey structuralKey(const BoxGraph& graph);
LayoutKey keyOfBytes(std::span<const std::byte> bytes);

/// The same graph or picture with x and y exchanged: engines need to know top-down only.
BoxGraph transposed(BoxGraph graph);
void transpose(BoxLayout& layout);

/// Moves the whole so that its top left is (0, 0), and measures it.
void frame(BoxLayout& layout);
/// Where a port on a border of `box` is; a port beyond the border is taken to its end. Top-down.
Point startPoint(const Rect& box, const std::optional<double>& port);
Point endPoint(const Rect& box, const std::optional<double>& port);

}  // namespace sonde::layout

template <>
struct std::hash<sonde::layout::LayoutKey> {
    std::size_t operator()(const sonde::layout::LayoutKey& key) const noexcept { return key.low; }
};
