#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostics.h"
#include "core/exec/recording.h"

namespace sonde::analysis {

enum class ProblemKind : std::uint8_t { Nan, Inf, Overflow, Failure, Guard };
std::string_view name(ProblemKind kind);  ///< "nan", "inf", …

enum class ProblemRole : std::uint8_t {
    Origin,  ///< it came up here
    Carrier  ///< it came from an input
};
std::string_view name(ProblemRole role);  ///< "origin", "carrier"

/// One node with something wrong in a run.
struct Problem {
    ProblemKind kind = ProblemKind::Nan;
    ProblemRole role = ProblemRole::Origin;
    /// Error: NaN or an overflow was made here, or the run ended here. Warning: infinity (it may be meant), or a
    /// failure that the run went on after. Info: carriers.
    base::Severity severity = base::Severity::Error;
    graph::NodeId node;
    std::string qualname;
    std::string operatorName;
    std::string message;  ///< "3 elements are NaN, 1 is infinite"
    std::string advice;   ///< what to look at; empty for carriers
};

/// What a run says about its values, besides that it finished.
struct BadSummary {
    std::size_t nanNodes = 0, infNodes = 0;  ///< each value once, however many names calls give it
    graph::NodeId firstNan, firstInf;        ///< the first origins of either, in execution order
    std::size_t accepted = 0;                ///< nodes that are left out, because they or what they carry were accepted
    std::vector<graph::NodeId> nodes;        ///< all with bad values that nobody accepted, under all their names
    /// "NaN in 214 nodes, first made by features.3.1.bn (BatchNormalization)"; empty if there is nothing to say.
    std::string text(const graph::InternalGraph& graph) const;
};

/// Everything wrong in a run: origins first, in execution order, then carriers. A node is an origin of NaN if nothing
/// that it was computed from held NaN, infinite as it may have been; of infinity if everything that it was computed
/// from was finite.
///
/// `accepted`: nodes whose bad values are meant (masks of −Inf). They are no problem, nor is what only carries them;
/// NaN that is made from their infinity is one, with an origin of its own.
std::vector<Problem> findProblems(const graph::InternalGraph& graph, const exec::Recording& recording,
                                  std::span<const graph::NodeId> accepted = {});
BadSummary summarizeBad(const graph::InternalGraph& graph, const exec::Recording& recording,
                        std::span<const graph::NodeId> accepted = {});

/// "features.3.1.bn (BatchNormalization)": the module and the operator of a node; of a node outside of modules, its
/// name.
std::string placeText(const graph::InternalGraph& graph, graph::NodeId node);

}  // namespace sonde::analysis
