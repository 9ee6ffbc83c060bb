#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/passes/pass.h"
#include "core/session/diff/graph_side.h"

namespace sonde::session::diff {

using SizesBySymbol = std::map<std::string, std::int64_t, std::less<>>;

/// Values that one of two files stores and the other computes of stored ones in each run: an exporter folds constants,
/// or does not. What is computed of stored values is computed here once, by the engine's kernels. Sizes that one file
/// leaves open are those that the other one has there: an export for any batch computes what one for a batch of 2
/// stores.
class FoldedConstants {
  public:
    /// How an input of a pair compares that is stored in one graph and computed of stored values in the other.
    struct Comparison {
        bool isEqual = false;
        std::optional<double> maxAbs;  ///< of other elements; none: they cannot be compared by element
    };

    FoldedConstants(const FlatGraph& first, const FlatGraph& second);

    /// Nothing unless one of them is stored and the other computed of stored values alone, by one operation at least,
    /// or both are. With as many elements by dimension they are compared from then on where these two read them.
    std::optional<Comparison> compare(graph::NodeId a, graph::ExprId readerOfA, graph::NodeId b,
                                      graph::ExprId readerOfB);

    /// After all inputs of all pairs were compared. `match`: counterparts of the graph's operations. By ExprId: without
    /// a counterpart, and all that its results are read for was compared.
    std::vector<bool> foldedOperations(std::size_t side, const std::vector<graph::ExprId>& match) const;
    /// By NodeId: stored, read at all, and all that it is read for was compared. `folded`: see foldedOperations().
    std::vector<bool> comparedValues(std::size_t side, const std::vector<bool>& folded) const;
    /// Compared values with other elements, and the largest difference; `isRounded`: it is no more than what the
    /// rounding of a few operations makes, and the values are taken to be equal.
    struct Other {
        graph::NodeId a, b;
        std::optional<double> maxAbs;
        bool isRounded = false;
    };
    const std::vector<Other>& others() const { return m_others; }

    /// Of what is stored, or computed of stored values alone. Null: it depends on an input, or cannot be computed.
    const tensor::Value* valueOf(std::size_t side, graph::NodeId node);

  private:
    using Read = std::pair<graph::NodeId, graph::ExprId>;  ///< a value, and what reads it

    void compute(std::size_t side, graph::ExprId id);
    bool isComputed(std::size_t side, graph::NodeId node) const;

    const FlatGraph* m_flats[2];
    std::array<SizesBySymbol, 2> m_symbols;
    std::array<std::vector<bool>, 2> m_isFoldable;  ///< by ExprId: computes of stored values alone
    std::array<std::vector<bool>, 2> m_isResult;    ///< by NodeId: of a body or of the model
    passes::Evaluate m_evaluate;
    std::array<std::unordered_map<graph::NodeId, std::optional<tensor::Value>>, 2> m_values;
    std::array<std::set<Read>, 2> m_compared;
    std::vector<Other> m_others;
};

}  // namespace sonde::session::diff
