#pragma once

#include <vector>

#include "core/base/progress.h"
#include "core/session/diff/compared_operations.h"

namespace sonde::session::diff {

/// Operations of two graphs that stand between the same counterparts and compute the same functions: a layer, and what
/// another exporter has decomposed it into.
struct LayerGroup {
    std::vector<graph::ExprId> ofFirst, ofSecond;  ///< without counterparts, in execution order
    /// Gives the only value that is used outside; none: there are more. They may be counterparts already.
    graph::ExprId resultOfFirst, resultOfSecond;
};

/// Which operations a group may hold besides those without counterparts.
enum class GroupMembers {
    Unmatched,
    /// Also matched ones that move elements only: of several alike nothing but their place says which is which.
    UnmatchedAndMoved
};

/// Connected operations without counterparts of both graphs. Two groups are one layer if what they read comes from the
/// same counterparts, what reads them is the same, and LayerFunctions::mayEqual(). Linear in the graphs.
std::vector<LayerGroup> layerGroups(const GraphSide& first, const GraphSide& second,
                                    const ComparedOperations& comparedFirst, const ComparedOperations& comparedSecond,
                                    GroupMembers members, const base::WorkContext& work);

}  // namespace sonde::session::diff
