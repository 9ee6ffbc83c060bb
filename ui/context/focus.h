#pragma once

#include <vector>

#include "core/graph/ids.h"

namespace sonde::context {

/// What of the graph is to be drawn alone.
struct Focus {
    enum class Kind {
        None,   ///< everything
        Cone,   ///< what the seeds need, and what needs them
        Paths,  ///< every way between the seeds and the targets
        Only,   ///< the seeds
    };

    Kind kind = Kind::None;
    bool upstream = false, downstream = false;  ///< Cone
    int depth = 0;                              ///< Cone: in edges; 0: however far
    int farthest = 0;                           ///< Cone: the depth beyond which there is nothing more
    std::vector<graph::ExprId> seeds, targets;

    bool operator==(const Focus&) const = default;
};

}  // namespace sonde::context
