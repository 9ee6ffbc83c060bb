#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/analysis/difference.h"
#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/document/document_types.h"
#include "core/session/diff/parameter_diff.h"
#include "core/session/diff/same_runs.h"
#include "core/session/diff/structure_diff.h"
#include "core/session/input_values.h"

namespace sonde::session {

/// A figure or property that the models may have different values of; a text for people.
struct FactChange {
    std::string name;                 ///< "macs", "producer", "opset ai.onnx": the key in JSON
    std::optional<std::string> a, b;  ///< none: it has none
    /// Of either model, what makes a difference to a figure of the cost: operations that are a part of it and have no
    /// counterpart, or one with another figure; stored tensors of which only one model has as many elements.
    std::vector<graph::NodeId> nodesA, nodesB;

    std::string title() const;  ///< the name for people: "bytes read"
    /// "none"; quotes around an empty text.
    static std::string text(const std::optional<std::string>& value);
};

/// The values of a node in both models on the same input.
struct ValueChange {
    graph::NodeId a, b;
    double maxAbs = 0, maxRel = 0;  ///< see analysis::Difference; infinity of what is relative to zero, or not finite
    std::string note;               ///< why they could not be compared by element; may be empty
};

/// The values of all nodes with a counterpart, each model having run on the same input.
struct ValueDiff {
    std::size_t compared = 0;
    /// Values inside the models that an ONNX file and an archive write in other forms, a shape as one tensor or as a
    /// number: not compared.
    std::size_t otherForms = 0;
    std::vector<ValueChange> changed;  ///< beyond the tolerance, in execution order of the first model
    std::string error;                 ///< why one of the runs ended early; may be empty
};

/// How two models differ: structure, weights, cost, metadata, values.
struct ModelDiff {
    GraphPairs pairs;
    StructureDiff structure;
    ParameterDiff parameters;
    std::vector<FactChange> cost;  ///< those that differ
    /// What figures of the cost that differ take for granted: "assumed of the second model: 'if_1' counts by its
    /// costlier branch, then".
    std::vector<std::string> costNotes;
    std::vector<FactChange> metadata;  ///< those that differ: format, producer, opsets, inputs, metadata of the file
    std::optional<ValueDiff> values;   ///< with input only
    diff::SameRuns runs;               ///< of both models, where the files do not say all; with an input on that

    /// No difference in structure, parameters or values. Other names, metadata and cost are none.
    bool isEqual() const {
        return structure.isEqual() && parameters.isEqual() &&
               (!values || (values->changed.empty() && values->error.empty()));
    }
};

struct ModelDiffRequest {
    /// Values in the order of Document::inputs of the first model, by position for the second; empty: no values are
    /// compared, and the models run at most to see what the files do not say (diff::runBoth()).
    std::vector<tensor::Value> inputs;
    PairsByHand byHand;
    analysis::Tolerances tolerances;
    std::uint64_t seed = 0;
    std::size_t threads = 0;
};

/// Blocks, on any thread. Errors: Cancelled; a file changed on disk.
base::Result<ModelDiff> modelDiff(const document::Document& first, const document::Document& second,
                                  const ModelDiffRequest& request = {}, const base::WorkContext& work = {});

/// The JSON of `sonde diff --json` (sonde-diff, version 1), and the same for people.
std::string modelDiffJson(const document::Document& first, const document::Document& second, const ModelDiff& diff);
std::string modelDiffText(const document::Document& first, const document::Document& second, const ModelDiff& diff);

}  // namespace sonde::session
