#pragma once

#include <vector>

#include "core/exec/plan_options.h"
#include "core/ops/registry/registry.h"

namespace sonde::exec {

/// Which exprs a plan runs, and for whom.
struct Needed {
    std::vector<bool> runs;  ///< by expr
    /// By expr: what the results are made from, and every check on the way. The same whatever is watched, so that
    /// watching neither adds a reason to fail nor takes one away.
    std::vector<bool> required;
    std::vector<bool>
        effect;  ///< by expr: it, or an expr in its bodies, has an effect (ops::hasEffect) or is opaque code
    std::vector<bool> given;  ///< by source node: it is one of PlanOptions::given, and something reads it
};

/// Dead code does not run. Alive is what end points (or, without any, the outputs) need, what has an effect and comes
/// before the last end point, and what watch points need. Whatever is in a body needs the body's owner.
/// `effect`: Needed::effect of the same graph and registry, if it is known.
Needed neededExprs(const InternalGraph& graph, const PlanOptions& options, const ops::Registry& registry,
                   const std::vector<bool>* effect = nullptr);

}  // namespace sonde::exec
