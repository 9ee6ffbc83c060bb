#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/analysis/problem.h"
#include "core/exec/recording.h"

namespace sonde::analysis {

/// What a run says about its values, besides that it finished.
struct BadSummary {
    std::size_t nanNodes = 0, infNodes = 0;  ///< each value once, however many names calls give it
    graph::NodeId firstNan, firstInf;        ///< the first origins of either, in execution order
    std::size_t accepted = 0;                ///< nodes that are left out, because they or what they carry were accepted
    std::vector<graph::NodeId> nodes;        ///< all with bad values that nobody accepted, under all their names
    /// "NaN in 214 nodes, first made by features.3.1.bn (BatchNormalization)"; empty if there is nothing to say.
    std::string text(const graph::InternalGraph& graph) const;
};

/// Everything wrong in a run, as all of problemCheckers() find it: origins first, in execution order, then carriers. A
/// node is an origin of NaN if nothing that it was computed from held NaN, infinite as it may have been; of infinity if
/// everything that it was computed from was finite.
///
/// `accepted`: nodes whose bad values are meant (masks of −Inf). They are no problem, nor is what only carries them;
/// NaN that is made from their infinity is one, with an origin of its own. `types`: what an observed run showed; the
/// values that the recording kept are looked at in any case.
std::vector<Problem> findProblems(const graph::InternalGraph& graph, const exec::Recording& recording,
                                  std::span<const graph::NodeId> accepted = {}, const ContradictingTypes& types = {});
BadSummary summarizeBad(const graph::InternalGraph& graph, const exec::Recording& recording,
                        std::span<const graph::NodeId> accepted = {});

}  // namespace sonde::analysis
