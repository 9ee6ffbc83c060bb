#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/analysis/measured_runs.h"
#include "core/analysis/problem.h"

namespace sonde::analysis {

/// Two keys of a reference are the same value of the model, and hold different ones.
struct ReferenceContradiction {
    std::string keys;      ///< "out.y and node.y"
    bool isRight = false;  ///< what the model has agrees with one of them
};

/// One run of a graph that was compared with a reference.
struct ComparedRun {
    std::shared_ptr<const graph::InternalGraph> graph;
    const RunDifferences& differences;
    /// The reference's own value of a node, as a whole; none if it has only a summary, or nothing. Null: it has none.
    std::function<std::optional<tensor::Tensor>(graph::NodeId)> reference = {};
    /// The run's inputs in the order of graph->inputs(), after edits.
    std::vector<tensor::Value> inputs = {};
    /// The reference's own arrays of inputs that the run was given others for.
    std::map<graph::NodeId, tensor::Tensor> replaced = {};
    Tolerances tolerances = {};
    /// By the node that the value is of, see exec::valueSources().
    std::map<graph::NodeId, ReferenceContradiction> contradictions = {};
    std::shared_ptr<const exec::Edits> edits = {};  ///< of the run; null: none
};

/// Every value that differs, as origin or carrier of the difference; origins first, in execution order. Of a value that
/// was compared under several names one that differs is shown.
///
/// Of an origin all inputs agree with the reference (same inputs, other output): its weights, attributes or definition
/// are not those of the reference. Where its inputs are not in the reference, the nearest ones upstream that are
/// decide, and the message names the operations between: one of them is the origin. Where the reference has the inputs
/// as whole values, the operation is computed again on these: what differs then as well is an origin even if its inputs
/// differ, and what agrees only hands on. An input that was given another value than the reference's is an origin, and
/// the message tells how both are related (relationOf()). Where the reference contradicts itself, that is an origin,
/// and is told. Inside loops NodeDifference::isInherited decides.
base::Result<std::vector<Problem>> findDivergence(const ComparedRun& run, exec::Runner& runner,
                                                  const base::WorkContext& work = {});

/// The problem of an input whose given value is not the reference's; nothing if both agree.
std::optional<Problem> inputDivergence(const graph::InternalGraph& graph, graph::NodeId input,
                                       const tensor::Tensor& given, const tensor::Tensor& reference,
                                       const Tolerances& tolerances = {});

/// The same problem in several cases is one, whose message names them: "in case 0, case1". Of an origin that one case
/// finds among fewer operations than another, the problem of the other one is a carrier.
std::vector<Problem> joinCases(const graph::InternalGraph& graph,
                               std::vector<std::pair<std::string, std::vector<Problem>>> cases);

}  // namespace sonde::analysis
