#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/session/diff/model_diff.h"

namespace sonde::session {

/// One difference of two models, for lists.
struct DifferenceRow {
    /// NotCompared is no difference: all operations that were not compared one by one, in one row; nor is OtherForm,
    /// StructureDiff::otherForms, a row each.
    enum class Kind { Added, Removed, Changed, Moved, Parameter, Value, Cost, Metadata, NotCompared, OtherForm };

    Kind kind = Kind::Changed;
    graph::NodeId a, b;                         ///< of either graph; none where there is no such node
    std::string first, second;                  ///< what it is called there, or the figures; empty: it is not there
    std::string what;                           ///< "strides: [2, 2] -> [1, 1]"; may be empty
    std::optional<double> maxAbs, maxRel;       ///< of parameters and values
    std::vector<graph::NodeId> nodesA, nodesB;  ///< of figures of the cost: FactChange; of what is not compared: all
    std::string note;                           ///< what a figure of the cost takes for granted
};

/// "added", "removed", "changed", "moved", "parameter", "value", "cost", "metadata",
/// "not compared", "other form".
std::string_view name(DifferenceRow::Kind kind);

/// All of modelDiffJson(), in this order: structure (in execution order of the first model, added operations behind
/// what precedes them in the second), parameters, values, other forms, what was not compared, cost, metadata.
std::vector<DifferenceRow> differenceRows(const document::Document& first, const document::Document& second,
                                          const ModelDiff& diff);

}  // namespace sonde::session
