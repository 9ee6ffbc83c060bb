#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/analysis/run_edits.h"
#include "core/base/result.h"
#include "core/graph/internal_graph.h"

namespace sonde::analysis {

/// Reference values by key, as in an .npz (shared meaning of the keys: see the help page on the command line):
/// in.NAME, out.NAME, node.NAME, with the summaries .shape, .stats (mean, population std, min, max) and .head (first
/// elements) for large values and .0, .1 … for elements of tuples; further cases behind "case1.", "case2." …. Inside
/// loops node.NAME is the value of the last iteration, and node.NAME.passN that of iteration N (see reference_keys.h).
struct ReferenceValues {
    std::vector<std::string> keys;
    std::function<base::Result<tensor::Tensor>(const std::string& key)> read;
};

/// What to compare: a graph with the names that users know its inputs and outputs by.
struct ComparedModel {
    std::shared_ptr<const graph::InternalGraph> graph;
    std::vector<std::pair<std::string, graph::NodeId>> inputs;
    std::vector<std::pair<std::string, graph::NodeId>> outputs;
    /// The graph was recorded by another tool than the reference: equal node names need not mean equal nodes. What
    /// namesOfOthers() finds counts as not matched instead of wrong.
    bool looseNames = false;
    /// The names of outputs are the model's own. If not ("out_0"), a reference may have others: they go by position
    /// without a note.
    bool areOutputsNamed = true;
    RunEdits edits = {};  ///< of the runs, whose inputs are the reference's
};

/// One reference value and how far the model's own is from it. ok: within the tolerance everywhere (see Tolerance),
/// same shape; NaN equals NaN. Cosine and SNR are known of whole values only, not of summaries.
struct ComparedValue {
    std::string name;      ///< node or output name, as in the key: "lstm.1.0", "z.pass2"
    std::string qualname;  ///< originating module; empty for the root
    graph::NodeId node;
    bool isOutput = false;
    double maxAbsolute = 0;
    double maxRelative = 0;
    bool ok = true;
    bool hasValue = true;  ///< false: the run has no tensor there
    std::string note;      ///< why it could not be compared element by element; empty if it was
    double cosine = std::numeric_limits<double>::quiet_NaN();
    double snr = std::numeric_limits<double>::quiet_NaN();  ///< dB
    /// The element types of the model's tensor and of the reference; undefined of what is no tensor, or only
    /// summarised.
    tensor::DType dtype = tensor::DType::Undefined, expectedType = tensor::DType::Undefined;
    /// MaskValues::text() of a value that is not ok because they do not count; else empty.
    std::string maskText;
    /// Which iteration of the node the value is, where the run has several.
    std::optional<std::size_t> iteration;
    /// The model's output that an output of another name is compared with, because of its position; else empty.
    std::string outputByPosition;
    /// "compared with output p (by position)"; empty if the names agree.
    std::string pairingText() const;
    /// Whether maxAbsolute and maxRelative say anything: not where note says why nothing was compared.
    bool isMeasured() const { return ok || note.empty(); }
    /// "float64 in the reference, float32 in the model"; empty if they agree or are not known.
    std::string typeText() const;
};

struct ComparedCase {
    std::string label;                   ///< "case 0", "case1" …
    std::vector<ComparedValue> values;   ///< nodes in graph order, then outputs
    std::vector<std::string> unmatched;  ///< keys that name nothing in the graph
    std::optional<base::Error> error;    ///< the run's
    /// The reference's, before edits, in the order of graph->inputs(); empty of a sequence.
    std::vector<tensor::Value> inputs;
    bool ok() const;
    /// The first value in graph order that is not ok; null if all are.
    const ComparedValue* firstDiverging() const;
};

/// See ComparedValue::typeText().
std::string differentTypes(tensor::DType actual, tensor::DType expected);
/// "node.zzz, out.q and 7 more".
std::string listOfKeys(const std::vector<std::string>& keys);
/// "2 reference values have no counterpart in the model: node.zzz, out.q"; empty if there are no keys.
std::string unmatchedText(const std::vector<std::string>& keys);

/// A value as a tensor: numbers are scalars, lists of numbers vectors; nothing for other kinds.
std::optional<tensor::Tensor> asTensor(const tensor::Value& value);
/// A float64 vector of the numbers.
tensor::Tensor vectorOf(std::span<const double> values);

}  // namespace sonde::analysis
