#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/analysis/parameters.h"
#include "core/session/diff/graph_side.h"

namespace sonde::session::diff {

/// What the files say of operations of one vocabulary.
class OperatorContents {
  public:
    OperatorContents(const FlatGraph& first, const FlatGraph& second);

    /// How two counterparts differ in operator, attributes, constants and the parameters of the schema:
    /// "strides: [2, 2] -> [1, 1]". Axes that count from the end are those from the front where the rank is known; one
    /// number for all dimensions is the list of it. What is set to its default is not set, letters
    /// of an equation do not count, and an attribute is the same
    /// as the constant input that other opsets have for it.
    std::vector<std::string> differences(const graph::Expr& ours, const graph::Expr& theirs) const;
    /// How many inputs an operation has, but for those that are attributes of the other one (axes, in other opsets) and
    /// optional ones without elements.
    std::size_t inputCount(const graph::Expr& expr, const graph::Expr& other) const;

  private:
    using Kinds = std::vector<std::optional<analysis::StoredKind>>;  ///< by NodeId

    void addAttributes(const graph::Expr& ours, const graph::Expr& theirs, std::vector<std::string>& what) const;
    void addNested(const graph::Expr& ours, const graph::Expr& theirs, std::size_t position,
                   std::vector<std::string>& what) const;
    void addArguments(const graph::Expr& ours, const graph::Expr& theirs, std::vector<std::string>& what) const;
    void addOmitted(const graph::Expr& ours, const graph::Expr& theirs, std::vector<std::string>& what) const;
    void addParameters(const graph::Expr& ours, const graph::Expr& theirs, std::vector<std::string>& what) const;

    const FlatGraph &m_first, &m_second;
    const Kinds m_kindsOfFirst, m_kindsOfSecond;
};

}  // namespace sonde::session::diff
