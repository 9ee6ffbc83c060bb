#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/graph/internal_graph.h"

namespace sonde::analysis {

/// How much of one axis of an input an element of a value depends on.
struct FieldSize {
    enum class Kind : std::uint8_t {
        None,    ///< not on its values at all
        Window,  ///< on at most `size` neighbouring indices
        All,     ///< perhaps on all of them
    };
    Kind kind = Kind::None;
    std::int64_t size = 0;  ///< Window: may be more than the axis has, where padding is a part of it
    bool operator==(const FieldSize&) const = default;
};

/// An axis of an input that fields are counted along.
struct FieldAxis {
    graph::NodeId input;
    std::size_t axis = 0;
};

/// The receptive field of every value in every axis of the inputs: which part of the input can change it at all. It
/// follows windows, strides, dilations and padding (see PixelMap for formula and source), sums and joins; global
/// pooling, products over an axis, attention and recurrent steps see all of an axis, and so does what has no rule.
/// Never less than what is read; more where a rule knows too little.
class ReceptiveFields {
  public:
    const std::vector<FieldAxis>& axes() const { return m_axes; }
    /// Whether the model has more axes of inputs than are followed.
    bool isPartial() const { return m_isPartial; }
    FieldSize of(graph::NodeId node, std::size_t axis) const;
    /// The largest window of all axes, an axis of known size that is seen as a whole counting with that; infinity where
    /// an axis of unknown size is seen as a whole. Nothing of a value that depends on no input.
    std::optional<double> sizeOf(const graph::InternalGraph& graph, graph::NodeId node) const;
    /// The value with the largest window along the axis; the first one of several.
    graph::NodeId largest(std::size_t axis) const { return m_largest[axis]; }
    /// The first value that sees all of the axis; none: no value does.
    graph::NodeId firstWhole(std::size_t axis) const { return m_firstWhole[axis]; }

  private:
    friend class FieldFinder;
    std::vector<FieldAxis> m_axes;
    bool m_isPartial = false;
    /// By node: sizes by axis, shared by values that have the same; null: None in all.
    std::vector<std::shared_ptr<const std::vector<FieldSize>>> m_sizes;
    std::vector<graph::NodeId> m_largest, m_firstWhole;
};

/// Linear in the graph, for inputs with at most 64 axes in all that are followed. Of the types that the graph has.
ReceptiveFields receptiveFields(const graph::InternalGraph& graph);

/// "1×all×435×435": by axis of `input`.
std::string fieldText(const ReceptiveFields& fields, graph::NodeId node, graph::NodeId input);

}  // namespace sonde::analysis
