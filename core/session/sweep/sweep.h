#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/analysis/run_edits.h"
#include "core/analysis/tensor_stats.h"
#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/document/document_types.h"
#include "core/expression/expression.h"
#include "core/session/sweep/sweep_inputs.h"
#include "core/session/sweep/sweep_labels.h"

namespace sonde::session {

struct SweepRequest {
    std::vector<graph::NodeId> watch;  ///< empty: the outputs
    std::string condition;             ///< of the expression language, over nodes; empty: none
    SweepLabels labels;                ///< empty: none
    std::string preset = "bgr";        ///< of images: id of io::imagePresets()
    std::uint64_t seed = 0;
    std::size_t threads = 0;
    analysis::RunEdits edits = {};  ///< of every run
};

/// A sample of the first output beside its label.
struct SweepSample {
    std::string label;
    std::optional<std::int64_t> predicted;  ///< index of its largest element
    bool isAllNan = false;                  ///< instead of `predicted`: there is no largest element

    /// Label and prediction are the same class.
    bool isCorrect() const;
};

/// What one input gave.
struct SweepRow {
    std::string input;
    /// In the order of Sweep::nodes(): statistics of tensors that were computed. Inside loops of the last iteration.
    std::vector<std::optional<analysis::TensorStats>> stats;
    std::optional<bool> condition;
    std::string label;                 ///< as in the file: of a batch one for each sample, "3 5"; empty: none
    std::string labelError;            ///< why no sample is judged although labels were given
    std::vector<SweepSample> samples;  ///< judged: each has a label, and an output that is right or wrong
    /// By sample, also of those that are not judged: index of the largest element of the first output.
    std::vector<std::optional<std::int64_t>> predicted;
    std::optional<base::Error> error;  ///< why there is nothing else

    /// "3", of a batch "3 5", "-" for a sample that is NaN alone; empty without predictions.
    std::string predictedText() const;
};

struct SweepSummary {
    std::size_t done = 0;        ///< rows, with those that failed
    std::size_t failed = 0;      ///< could not be read, or the run failed
    std::size_t broken = 0;      ///< the condition is false
    std::size_t labelled = 0;    ///< samples that are judged: a batch has several
    std::size_t correct = 0;     ///< of them
    std::size_t unlabelled = 0;  ///< inputs without a label that fits although labels were given
    bool isCancelled = false;

    void add(const SweepRow& row);
    /// No input failed, none is without a label: the exit status of the verb is 0.
    bool isComplete() const { return failed == 0 && unlabelled == 0; }
};

/// A model on many inputs, one after the other: memory does not grow with their number.
class Sweep {
  public:
    /// Errors (Usage): the condition is no expression, or names what is no node, at its column; no input at all.
    static base::Result<Sweep> make(std::shared_ptr<const document::Document> document, SweepRequest request);

    /// Watched nodes with the names that the table has for them.
    const std::vector<std::pair<std::string, graph::NodeId>>& nodes() const { return m_nodes; }
    /// The nodes that the condition is of, by name.
    const std::vector<std::string>& conditionNodes() const { return m_condition.names(); }
    bool hasCondition() const { return !m_condition.empty(); }
    const SweepLabels& labels() const { return m_request.labels; }
    bool hasLabels() const { return !m_request.labels.empty(); }

    /// Blocks. `take` gets each row as soon as it is there, in the order of the inputs. What cannot be read or run is a
    /// row with an error. When cancelled, the rows before are all there is. Error (Usage): the condition cannot be
    /// computed of these values, at its column; nothing went before but rows that failed.
    base::Result<SweepSummary> run(const std::vector<SweepInput>& inputs,
                                   const std::function<void(const SweepRow&)>& take,
                                   const base::WorkContext& work = {}) const;

  private:
    struct Runs;

    std::shared_ptr<const document::Document> m_document;
    SweepRequest m_request;
    expression::Expression m_condition;
    std::vector<std::pair<std::string, graph::NodeId>> m_nodes;
    std::vector<graph::NodeId> m_needed;  ///< of rows, condition and prediction
};

}  // namespace sonde::session
