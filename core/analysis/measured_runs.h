#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/analysis/compare.h"
#include "core/analysis/run_edits.h"
#include "core/analysis/tensor_stats.h"
#include "core/exec/runner.h"

namespace sonde::analysis {

/// What the reference of a comparison has computed, for the next comparison with it: the run is not made again while
/// graph, inputs and the nodes that are compared are the same. Thread-safe.
class KeptRun {
  public:
    /// Null: it is of other inputs, another graph or other nodes.
    std::shared_ptr<const exec::Recording> find(const graph::InternalGraph& graph,
                                                const std::vector<tensor::Value>& inputs,
                                                const std::vector<graph::NodeId>& nodes) const;
    void keep(std::shared_ptr<const graph::InternalGraph> graph, std::vector<tensor::Value> inputs,
              std::vector<graph::NodeId> nodes, std::shared_ptr<const exec::Recording> recording);

  private:
    mutable std::mutex m_mutex;
    std::shared_ptr<const graph::InternalGraph> m_graph;
    std::vector<tensor::Value> m_inputs;
    std::vector<graph::NodeId> m_nodes;
    std::shared_ptr<const exec::Recording> m_recording;
};

/// A graph and what it is run on: values in the order of graph->inputs(), after edits.
struct MeasuredRun {
    std::shared_ptr<const graph::InternalGraph> graph;
    std::vector<tensor::Value> inputs;
    std::shared_ptr<const exec::Edits> edits = {};  ///< of what the run computes; null: none
    std::shared_ptr<KeptRun> kept = {};             ///< of a reference without edits; null: it is run each time
};

/// How many bytes of values are held at once while two runs are compared. Models with more are run several times, a
/// part of their nodes each time, so that comparing all nodes needs no more memory than comparing a few.
inline constexpr std::int64_t kHeldBytes = 256LL << 20;

/// What is known of the values of one run, by NodeId; nothing of values that are no tensors, of weights, and of what
/// was not computed. Inside loops all passes together.
struct RunStats {
    std::vector<std::optional<TensorStats>> ofNode;
    std::optional<base::Error> error;  ///< why the run ended early; what was computed is there
};
/// Each value is measured when it is computed, and none is kept: float32 piece by piece in the kernel that computes it
/// (the last bits of mean and deviation may depend on the number of threads), all else as by tensorStats(). Errors:
/// cancelled.
base::Result<RunStats> measureRun(const MeasuredRun& run, exec::Runner& runner, const base::WorkContext& work = {});

/// How far the value of a node is from that of its counterpart in another run; inside loops the worst of all passes.
struct NodeDifference {
    double maxAbsolute = 0;  ///< largest |a - r|; infinite if one is NaN or infinite where the other is not
    double maxRelative = 0;  ///< see Difference::maxRelative
    bool ok = true;          ///< within the tolerance of its element type everywhere (see Tolerances), and shapes agree
    std::string note;        ///< why it could not be compared element by element; empty if it was
    double cosine = std::numeric_limits<double>::quiet_NaN();  ///< see Difference
    double snr = std::numeric_limits<double>::quiet_NaN();     ///< dB
    bool isInherited =
        false;  ///< of one that is not ok: so is a value that it was computed from, or an input of the model
    bool isMeasured =
        true;  ///< false: it could not be compared element by element (see note), and no number says anything
    std::string typeText;  ///< "float64 in the reference, float32 in the model"; empty if the element types agree
    std::string maskText;  ///< MaskValues::text() of one that is not ok because they do not count; else empty
    std::optional<std::size_t> iteration;  ///< the first that is not ok, where the run has several of the node

    /// All that is to be said besides numbers: note, types, masks, the iteration; joined by ", ".
    std::string remarks() const;
};

/// By NodeId of `actual`; nothing where there is no counterpart, no tensor, or neither run came to it. What only one of
/// two runs computed that came to their ends, as in another branch, is not ok.
struct RunDifferences {
    std::vector<std::optional<NodeDifference>> ofNode;
    std::size_t compared = 0;
    std::size_t differing = 0;                   ///< not ok
    graph::NodeId firstDiverging;                ///< the first of them in order of execution
    std::vector<graph::NodeId> diverging;        ///< all that are not ok, in order of execution
    std::vector<graph::NodeId> differingInputs;  ///< inputs of the model whose values are not those of the other run
    std::vector<std::string> unmatched;          ///< keys of a reference file that name nothing in the graph
    std::vector<std::string> pairings;           ///< "out.b is compared with output p (by position)"
    std::optional<base::Error> error;            ///< why one of the runs ended early
    bool isReferenceError = false;               ///< `error` is that of the reference; the other came to its end
};

/// Runs both and compares every value with that of its counterpart (see matchNodes()). Of a run that failed only what
/// comes before the failure in the order of the program counts, whatever else was computed by then. The reference is
/// not run if its `kept` has the values; if they are held all at once, they are kept there.
base::Result<RunDifferences> compareRuns(const MeasuredRun& actual, const MeasuredRun& reference,
                                         const Tolerances& tolerances, exec::Runner& runner,
                                         const base::WorkContext& work = {}, std::int64_t heldBytes = kHeldBytes);

/// The node differs for another reason than its tolerance, which the note tells; everything is counted again. Nothing
/// of a node that was not compared.
void markDifferent(const graph::InternalGraph& graph, RunDifferences& differences, graph::NodeId node,
                   const std::string& note);

/// What the counts do not say: reference values that name no node, outputs that are compared by position, and values of
/// another element type in the reference, by names; sentences without a full stop, joined by "; ". Empty if there is
/// nothing.
std::string remarksOn(const graph::InternalGraph& graph, const RunDifferences& differences);

/// What one case of a reference file says of the nodes of `graph`.
RunDifferences differencesOf(const graph::InternalGraph& graph, const ComparedCase& compared);

}  // namespace sonde::analysis
