#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/analysis/findings/batch_run.h"
#include "core/analysis/findings/computed.h"
#include "core/analysis/findings/finding.h"
#include "core/analysis/findings/observed_values.h"
#include "core/analysis/findings/stored_weights.h"
#include "core/analysis/parameters.h"
#include "core/base/progress.h"
#include "core/exec/recording.h"

namespace sonde::analysis {

/// What the file says in words, beside the graph.
struct FileText {
    std::string where;  ///< "metadata 'author'"
    std::string text;
    bool isOneOfMany = false;  ///< many texts may say the same, as stacks of operations do
};

/// What runs of a model left for checkers: counts and extremes of each value, none of the values.
struct ObservedRun {
    ObservedValues values;
    std::vector<exec::Recording> recordings;  ///< one for each input, without kept values
    std::size_t inputs = 0;                   ///< different ones that it ran on
    std::size_t complete = 0;  ///< of them those on which it went to its end; 0: later values were not seen
    /// By graph output: how many different values it had on those.
    std::vector<std::size_t> outputValues;
    std::vector<graph::NodeId> accepted;  ///< whose NaN and infinity are meant: session::Problems::accepted()
};

/// What a checker looks at.
struct CheckedModel {
    const graph::InternalGraph& graph;
    const ModelCounts& counts;
    std::span<const StoredWeight> weights;
    std::span<const FileText> texts;
    std::span<const std::pair<std::string, std::int64_t>> opsets;  ///< that the file imports; "ai.onnx", 17
    std::span<const std::string> defaults;  ///< stored tensors that whoever runs the model may give another value
    const ObservedRun* run = nullptr;       ///< null: the model was not run
    const BatchRun* batch = nullptr;        ///< null: it was not run on two batches
    base::WorkContext work = {};
};

/// What a checker needs besides the graph.
enum class FindingNeed : std::uint8_t { File, Run, Batch };

/// Values that a checker could not judge.
struct FewSamples {
    std::vector<graph::NodeId> nodes;
    std::string why;  ///< "fewer than 32 positions of each channel"
};

/// One thing to look for: a file in this folder, and a line in findingCheckers().
struct FindingChecker {
    std::string_view id;  ///< a stable word
    FindingNeed need = FindingNeed::File;
    std::string_view description;
    void (*find)(const CheckedModel& model, std::vector<Finding>& findings);
    /// Of a run: which nodes of its kind have too little to tell by, and why; null: it looks at all.
    FewSamples (*tooFew)(const CheckedModel& model) = nullptr;
};
/// Sorted by id.
const std::vector<FindingChecker>& findingCheckers();

FindingChecker batchDependentChecker();
FindingChecker badWeightChecker();
FindingChecker constantOutputChecker();
FindingChecker deadUnitChecker();
FindingChecker denormalChecker();
FindingChecker deprecatedOperatorChecker();
FindingChecker duplicateFilterChecker();
FindingChecker duplicateSubgraphChecker();
FindingChecker explodingScaleChecker();
FindingChecker float16OverflowChecker();
FindingChecker foldableConstantChecker();
FindingChecker infChecker();
FindingChecker nameCollisionChecker();
FindingChecker nanChecker();
FindingChecker oldOpsetChecker();
FindingChecker privateMetadataChecker();
FindingChecker quantizationClippingChecker();
FindingChecker quantizationRangeChecker();
FindingChecker redundantCastChecker();
FindingChecker redundantTransposeChecker();
FindingChecker saturationChecker();
FindingChecker suspiciousInitialisationChecker();
FindingChecker trainingModeChecker();
FindingChecker unusedInputChecker();
FindingChecker unusedOutputChecker();
FindingChecker unusedParameterChecker();
FindingChecker vanishingScaleChecker();
FindingChecker weightScaleChecker();
FindingChecker zeroFilterChecker();

// For checkers.

/// A finding of one node.
Finding findingAt(graph::NodeId node, base::Severity severity, Confidence confidence, std::string message,
                  std::string advice);
/// By node: whether a body, or the model, returns it.
std::vector<bool> resultNodes(const graph::InternalGraph& graph);
/// "62 %", "0.5 %"; 100 % only of all of them.
std::string percentText(std::int64_t part, std::int64_t whole);

}  // namespace sonde::analysis
