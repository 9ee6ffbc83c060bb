#pragma once

#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/graph/internal_graph.h"
#include "core/graph/traits.h"

namespace sonde::analysis::requirement {

using Ints = std::vector<std::int64_t>;

using operators::OpClass;
using operators::Trait;
using operators::Traits;
using operators::ViewForm;

/// An operation on the elements of two tensors, or of one and a number: add, but not where.
bool isOperation(const Traits& traits);

/// What the graph itself tells of its values, whatever its inputs are: constants, weights, and what layers make of any
/// input.
class Facts {
  public:
    explicit Facts(const graph::InternalGraph& graph) : m_graph(graph) {}

    /// The values that a body is called with: inside, they are what its inputs are.
    void setGiven(graph::NodeId input, graph::NodeId value) { m_given[input.index()] = value; }

    const graph::Expr* producerOf(const graph::Argument& value) const;
    /// By the name of the schema: given by position, by name, or the default.
    static graph::Argument argument(const graph::Expr& expr, std::string_view name);
    tensor::Value valueOf(const graph::Argument& value) const;
    std::optional<std::int64_t> integer(const graph::Argument& value) const;
    /// Empty unless all are known.
    Ints integers(const graph::Argument& value) const;
    /// One for each of `count` axes; of a single one, that for each. Empty unless all are known.
    Ints integersFor(const graph::Argument& value, std::size_t count) const;
    /// A number, or a tensor without dimensions: it changes no shape.
    bool isNumber(const graph::Argument& value) const;
    /// None, and what is not given.
    bool isNone(const graph::Argument& value) const;

    std::optional<Ints> shapeOf(const graph::Argument& value) const;
    tensor::DType dtypeOf(const graph::Argument& value) const;
    std::optional<std::size_t> rankOf(const graph::Argument& value) const;
    /// By an axis that may count from the end; -1: not told.
    std::int64_t dimSizeOf(const graph::Argument& value, std::int64_t axis) const;

  private:
    tensor::TypeInfo typeOf(const graph::Argument& value) const;
    std::optional<std::size_t> rankFrom(const graph::Argument& value, int& steps) const;
    std::int64_t dimSizeFrom(const graph::Argument& value, std::int64_t axis, int& steps) const;
    std::int64_t joinedDimSize(const graph::Expr& cat, std::int64_t axis, int& steps) const;
    std::int64_t expandedDimSize(const graph::Expr& expand, std::int64_t axis, int& steps) const;
    graph::Argument sourceOf(const graph::Argument& value) const;

    const graph::InternalGraph& m_graph;
    std::unordered_map<std::size_t, graph::NodeId> m_given;
};

}  // namespace sonde::analysis::requirement
