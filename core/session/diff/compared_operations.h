#pragma once

#include <vector>

#include "core/session/diff/graph_side.h"

namespace sonde::session::diff {

/// Which operations of a graph are compared, and which of them compute tensors. By ExprId.
struct ComparedOperations {
    std::vector<bool> isListed;    ///< counts as added or removed where the other graph has no counterpart
    std::vector<bool> hasTensors;  ///< gives tensors, and is no check

    /// `isOneVocabulary`: all are listed. Else what a file says about shapes, constants, checks and identities is its
    /// own affair.
    ComparedOperations(const FlatGraph& flat, bool isOneVocabulary);
};

}  // namespace sonde::session::diff
