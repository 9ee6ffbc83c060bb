#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/exec/measurement.h"

namespace sonde::exec {

/// How much memory the values of a run take while each step runs: a row for every step of the main body and of the
/// bodies that it calls, in order. Watched values stay to the end, in a loop those of the last iteration. Weights and
/// inputs are not in it, nor what kernels need for themselves.
struct RowMemory {
    struct Row {
        ExprId expr;
        std::int64_t bytes = 0;       ///< with its results, before what nobody reads any more goes
        std::int64_t bytesAfter = 0;  ///< what stays
    };
    std::vector<Row> rows;
    std::int64_t peakBytes = 0;
    std::size_t peakRow = 0;  ///< the first of that many bytes
};

/// `fuses`: of a run that nobody observes, where values of fused steps may never be in memory. `origin`: for a plan of
/// another graph than was measured, by its nodes the measured ones (see Recomputed); empty: the same graph.
RowMemory rowMemory(const Plan& plan, const Measurement& measurement, bool fuses = true,
                    std::span<const NodeId> origin = {});

}  // namespace sonde::exec
