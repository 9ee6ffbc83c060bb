#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/document/document_types.h"
#include "core/session/diff/graph_pairs.h"
#include "core/session/model_info.h"

namespace sonde::session::diff {

/// Whether a value of both models is the same in all runs.
enum class Verdict : std::uint8_t {
    Unknown,  ///< no tensor, of another shape, or not computed
    Agrees,
    Differs
};

/// An operation that only one of the models could not do.
struct OneFailure {
    std::size_t side = 0;  ///< 0: of the first model
    graph::ExprId at;
    std::string text;
};

/// What two models compute on the same numbers, where they have counterparts.
struct SameRuns {
    std::size_t runs = 0;  ///< that both came to the end of, with results that are numbers
    bool isGiven = false;  ///< on the input that was given, else on random numbers
    /// One of the files, or who gave the input, says what the models take: other values are a difference.
    bool areValuesTold = false;
    /// By model: it says so itself, or one of them in numbers: a failure is a difference. A trace may be made for one
    /// size alone, and says nothing.
    std::array<bool, 2> areFailuresTold{false, false};
    std::string note;             ///< why there is no run, or no further one; may be empty
    std::vector<Verdict> ofPair;  ///< by ExprId of the first graph
    std::vector<double> maxAbs;   ///< by ExprId of the first graph: largest difference of what differs
    /// By ExprId of the first graph, of what was asked: different operators that compute the same function, AloneRuns.
    std::vector<bool> isSameAlone;
    std::array<std::vector<bool>, 2> hasRun;  ///< by ExprId of either graph: was computed in each run
    std::vector<Verdict> results;             ///< by output of the models; empty if they have not as many
    std::vector<std::string> resultTexts;     ///< by output: how it differs, "max abs 0.3"
    std::optional<OneFailure> failure;

    bool haveSameResults() const;
};

struct SameRunsRequest {
    std::vector<tensor::Value> inputs;  ///< in the order of Document::inputs of the first model; empty: random numbers
    std::uint64_t seed = 0;
    std::size_t threads = 0;
    std::vector<graph::ExprId> alone;  ///< operations of the first graph, see SameRuns::isSameAlone
};

/// Runs both models: on random numbers twice, of the magnitudes 1 and 8, for the sizes that either file declares, else
/// those that a first run usually has, several of each that is left open if both models take it. Not models of more
/// than some thousand million multiply-adds or of much memory, nor such as draw numbers: `note` says so. Values agree
/// within analysis::Tolerances. Error: cancelled.
base::Result<SameRuns> runBoth(const document::Document& first, const document::Document& second, const ModelInfo& a,
                               const ModelInfo& b, const GraphPairs& pairs, const SameRunsRequest& request,
                               const base::WorkContext& work);

}  // namespace sonde::session::diff
