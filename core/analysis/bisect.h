#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/analysis/difference.h"
#include "core/exec/runner.h"

namespace sonde::analysis {

/// What a model is compared with: another model, or another engine. Nodes are always those of the model, A.
class BisectTarget {
  public:
    virtual ~BisectTarget() = default;

    /// Values by node of A. Nothing for what the target did not compute.
    using Values = std::unordered_map<graph::NodeId, tensor::Value>;

    /// The nodes of A, in any order, that the target has a counterpart of.
    virtual const std::vector<graph::NodeId>& matched() const = 0;
    /// The inputs of A whose counterpart is computed: the target has an edit of them, which anything else reads.
    virtual std::span<const graph::NodeId> editedInputs() const { return {}; }
    /// What errors call it.
    virtual std::string title() const { return "the other one"; }
    /// Runs the target on its inputs, with the values of `given` in place of its own, and returns the values of
    /// `wanted`, computed from what is given. A node may be both. Errors: those of the run.
    virtual base::Result<Values> run(const Values& given, std::span<const graph::NodeId> wanted,
                                     const base::WorkContext& work) = 0;
};

/// A model and what it is run on, with the random numbers of a seed.
struct BisectModel {
    std::shared_ptr<const graph::InternalGraph> graph;
    std::vector<tensor::Value> inputs;  ///< in the order of graph->inputs()
    std::uint64_t seed = 0;
    /// By node what it gives, where that is known of elsewhere: then it is not run, and only these nodes count.
    std::optional<BisectTarget::Values> values = {};
    /// What errors call it: "a.onnx"; empty: those of its run name no model.
    std::string title = {};
};

/// An error of a model's run that says which model it was: "in a.onnx, node 'y' …".
base::Error errorOf(const BisectModel& model, base::Error error);

/// What one run of the target said.
struct BisectStep {
    std::size_t given = 0;      ///< values of A that it had in place of its own
    std::size_t compared = 0;   ///< its values
    std::size_t differing = 0;  ///< of them
    graph::NodeId first;        ///< the first of them in execution order; invalid: none
    std::string refusal;        ///< why there are no values; then nothing else counts but `given`
};

/// The smallest part of A found in which the target gives another value.
struct Bisection {
    bool differs = false;  ///< of an output of A; without, only `matched`, `computed`, `runs`, `note` and what is in
                           ///< between count
    graph::NodeId node;    ///< where the part ends: the value that differs
    /// Every value that differs by itself, computed from A's: `node` first, then later ones.
    std::vector<graph::NodeId> all;
    std::vector<graph::NodeId> from;  ///< where it begins: both were given A's values of these
    /// Of the part, in execution order. None: `node` is an input that the target has an edit of.
    std::vector<graph::ExprId> operations;
    /// No operation differs by itself: differences within the tolerance add up in the part.
    bool isAccumulated = false;
    Difference difference;  ///< of `node`, computed from A's values of `from`
    /// Why it cannot be measured: other shapes; empty if it was. Where nothing differs, why that says nothing: no
    /// output has elements.
    std::string note;
    tensor::Value own, other;       ///< of `node`: A's, and the target's computed from A's values of `from`
    std::size_t runs = 0;           ///< of the target
    std::vector<BisectStep> steps;  ///< one for each run
    std::size_t matched = 0;        ///< computed values of A that the target has as well
    std::size_t computed = 0;       ///< all of them, without what is in loops and branches
    std::size_t reshaped = 0;       ///< of `matched`: of another shape or kind in the target by itself
    std::size_t inBetween = 0;      ///< values that differ, whether inherited or not
    std::vector<graph::NodeId> firstInBetween = {};  ///< of them, in execution order: kListedInBetween at most
    static constexpr std::size_t kListedInBetween = 5;
    std::vector<std::string> notes;
};

/// Runs both, and finds where they part: the first operation that gives another value for the same inputs, tried for
/// all of them in one run of the target, each on A's values. Where none does, the part in which differences grow
/// beyond the tolerance is halved until neither side of it does: at most 2 + log2(n) runs for n operations. `work` is
/// told how many of these are done, in hundredths of a run.
/// Errors: those of A's run and of the target's first one; no output of A has a counterpart (Usage).
base::Result<Bisection> bisect(const BisectModel& model, BisectTarget& target, const Tolerances& tolerances,
                               exec::Runner& runner, const base::WorkContext& work = {});

}  // namespace sonde::analysis
