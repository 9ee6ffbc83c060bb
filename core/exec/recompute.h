#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/exec/measurement.h"
#include "core/exec/recompute_options.h"

namespace sonde::exec {

/// A graph that computes some values again instead of keeping them, with the same results bit for bit: it is a copy in
/// which operations stand again before a later use of their values. Nodes of the graph before keep their ids.
struct Recomputed {
    std::shared_ptr<const InternalGraph> graph;  ///< the one given if the peak would be lower by less than 1%
    std::vector<NodeId> origin;                  ///< by node: what it is a copy of, or itself
    std::size_t repeatedSteps = 0;               ///< steps of the main body that run again
    std::int64_t repeatedNs = 0;                 ///< their time in the measured run
};

/// Checkpoints in segments (Chen et al., Training Deep Nets with Sublinear Memory Cost, 2016, arXiv:1604.06174): the
/// steps are cut into segments of about equal memory; what is read beyond the next segment is dropped and computed
/// again from what is kept, where that lowers the peak. Several counts of segments are tried, then changed at random if
/// `geneticNrIter` says so (always the same way).
/// Random operators, those with an effect, writes in place, branches, loops and opaque code run once only. What the run
/// keeps (outputs, watch and end points) stays. Usage error: bad options.
base::Result<Recomputed> recomputeSublinear(const Plan& plan, const Measurement& measurement,
                                            const SublinearOptions& options = {});

/// Eviction under a memory limit (Kirisame et al., Dynamic Tensor Rematerialization, 2020, arXiv:2006.09616): where a
/// step needs more memory than there is, values go whose cost / (size * staleness) is the smallest, and are computed
/// again when they are read. The cost is the time to compute the value and what it needs that has gone as well. The
/// limit is for values; if the rest cannot go, they take more than it. What stays is as for recomputeSublinear. Errors:
/// bad options (Usage); more than kMaxRepetition times the steps would have to run (Run).
base::Result<Recomputed> recomputeDtr(const Plan& plan, const Measurement& measurement, const DtrOptions& options);

}  // namespace sonde::exec
