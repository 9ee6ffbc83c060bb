#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/graph/internal_graph.h"
#include "core/ops/registry/registry.h"

namespace sonde::analysis {

/// What is known of the arguments of a call before a run, by position or by the names of the schema (ATen).
class CallArguments {
  public:
    CallArguments(const graph::InternalGraph& graph, const graph::Expr& expr);

    const graph::Expr& expr() const { return m_expr; }
    /// None if it is left out or not known.
    tensor::Value at(std::size_t position) const;
    tensor::Value named(std::string_view name) const;
    /// Whether there is such a parameter, given or not.
    bool has(std::string_view name) const;
    /// Null beyond the end.
    const graph::Argument* argument(std::size_t position) const;
    tensor::TypeInfo type(std::size_t position) const;

    /// An integer, or a tensor with one.
    static std::optional<std::int64_t> integer(const tensor::Value& value);
    /// A list of integers, a tensor of them, or one integer. Nothing if any is not known.
    static std::optional<std::vector<std::int64_t>> integers(const tensor::Value& value);

  private:
    const ops::OpDef* definition() const;
    tensor::Value valueOf(const graph::Argument& argument) const;

    const graph::InternalGraph& m_graph;
    const graph::Expr& m_expr;
    mutable std::optional<const ops::OpDef*> m_op;  ///< looked up when a name is asked for
};

}  // namespace sonde::analysis
