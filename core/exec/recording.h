#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/error.h"
#include "core/graph/internal_graph.h"

namespace sonde::exec {

using graph::ExprId;
using graph::InternalGraph;
using graph::NodeId;
using tensor::Value;

enum class ExprState : std::uint8_t { NotReached, Done, Failed };

/// NaN and infinite elements of a node's value; inside loops of all iterations together.
struct BadValues {
    std::int64_t nan = 0;
    std::int64_t inf = 0;
    bool isOrigin = false;  ///< at least once everything that it was computed from was finite (weights aside), or an
                            ///< input of the model
    tensor::DType dtype = tensor::DType::Undefined;  ///< of the last such value, if it is a tensor
};

/// An operation that could not be done.
struct Failure {
    ExprId expr;  ///< the innermost one
    base::Error error;
    std::vector<std::string> inputTypes;  ///< of its arguments, in order: "float32[1,3,224,224]"
};

/// What happened in one run. Also what is left after a failed or cancelled one: everything computed so far is there.
class Recording {
  public:
    /// The kept value: of the last time the node was computed, or of one pass of the loop that it is in.
    const Value* value(NodeId node) const;
    const Value* value(NodeId node, std::size_t iteration) const;
    std::size_t iterations(NodeId node) const;  ///< how many values were kept: 0 if none, more than 1 inside loops
    /// Passes of the loops around the node in which its kept value was made, outermost loop first and from 0: {2, 0}.
    /// Empty outside loops. A node in a branch may have been skipped in some passes.
    std::vector<std::int64_t> passOf(NodeId node, std::size_t iteration) const;
    std::string passText(NodeId node, std::size_t iteration) const;  ///< "2.0"; empty outside loops
    /// The iteration whose passText is `text`, if there is one.
    std::optional<std::size_t> iterationOf(NodeId node, std::string_view text) const;
    /// Branches that an expr with several bodies took, as indices into Expr::bodies, one for each time it ran.
    const std::vector<std::size_t>& branches(ExprId expr) const;
    bool computed(NodeId node) const;  ///< computed in this run, kept or not
    ExprState state(ExprId expr) const;
    /// The expr whose kernel did this one's work too, piece by piece while its own result was in the cache: that one's
    /// time contains this one's, which is 0 here. Of a call: the expr that did all of its steps. None otherwise, and
    /// never while somebody observes the run.
    ExprId doneWith(const InternalGraph& graph, ExprId expr) const;
    /// Sum over all times the expr ran; 0 if it did not, or if it was done with another one. Calls contain their steps.
    std::int64_t elapsedNs(ExprId expr) const;
    std::int64_t startNs(ExprId expr) const;  ///< of the first time, from the run's start

    /// Why an operation failed, whether it ended the run or not; null if it did not fail.
    const Failure* failure(ExprId expr) const;

    std::vector<Value> outputs;  ///< graph outputs, or the end points' values in the order given
    std::int64_t totalNs = 0;
    std::optional<base::Error> error;  ///< why it stopped early
    ExprId failedAt;                   ///< of the main body: the operation itself, or the one that it is inside of

    // Filled by the runner.
    std::unordered_map<NodeId, std::vector<Value>> kept;
    std::unordered_map<NodeId, std::vector<std::vector<std::int64_t>>>
        keptPasses;  ///< of nodes in loops: one per kept value
    std::unordered_map<ExprId, std::vector<std::size_t>> branchesTaken;
    std::vector<ExprState> states;      ///< by expr
    std::vector<std::int64_t> elapsed;  ///< by expr
    std::vector<std::int64_t> started;  ///< by expr
    std::vector<bool> computedNodes;    ///< by node
    std::vector<ExprId> joinedTo;       ///< by expr: done by this one's kernel
    /// The one that ended the run first, if an operation did; then those that only watch points asked for: the run went
    /// on without their values. `failedAt` is the operation of the main body around the first.
    std::vector<Failure> failures;
    std::unordered_map<NodeId, BadValues> bad;  ///< nodes whose values have NaN or infinite elements
};

}  // namespace sonde::exec
