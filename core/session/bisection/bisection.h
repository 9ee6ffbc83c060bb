#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/analysis/bisect.h"
#include "core/document/document_types.h"
#include "core/export/write_piece.h"
#include "core/ort/helper.h"
#include "core/session/bisection/edits_in_part.h"
#include "core/session/bisection/likeness.h"
#include "core/session/precision/simulation.h"

namespace sonde::ort {
class WorkFolder;
}

/// Where a model parts from another one that should give the same, and that part as a model of its own.
namespace sonde::session::bisection {

/// Another model, as it was opened.
struct OtherModel {
    std::shared_ptr<const document::Document> document;
};
/// The model itself with rounded numbers.
struct LowerPrecision {
    precision::SimulationOptions options;
};
/// Reference values: an .npz, or "FILE.npz#case1". Its inputs take the place of the given ones. Without a case the
/// first that differs counts.
struct ReferenceFile {
    std::string path;
};
/// ONNX Runtime.
struct OtherEngine {
    ort::EngineOptions options;
};
using Target = std::variant<OtherModel, LowerPrecision, ReferenceFile, OtherEngine>;

struct Request {
    std::shared_ptr<const document::Document> document;
    std::vector<tensor::Value> inputs;  ///< in the order of the graph's
    std::uint64_t seed = 0;
    analysis::Tolerances tolerances = {};
    std::size_t threads = 0;
    bool hasEdits = false;  ///< the document has edits that its file has not (session::withEdits())
};

/// What was found, with all that it was found in.
struct Outcome {
    /// What all nodes are of: the model without writes in place, of another engine in ONNX operators.
    std::shared_ptr<const document::Document> document;
    std::vector<tensor::Value> inputs;
    std::uint64_t seed = 0;
    analysis::Bisection found;
    std::string other;      ///< "resnet18.npz", "ONNX Runtime 1.20.1", "int8"
    std::string ran;        ///< what `found.runs` are runs of: the other model, or "the model" with reference values
    std::string otherNode;  ///< what another model calls `found.node`; else empty
    std::string edit;       ///< the node whose edit is in the part, of this or of another model; empty: none
    std::vector<DifferingWeight> weights = {};  ///< of the part's operations, against another model
    std::string title = {};                     ///< of the first model, where another one is compared with it
    std::optional<Likeness> likeness = {};      ///< of another model with the first
    bool isReference = false;  ///< `found.own` is a reference value, `found.other` what the model gives instead
    std::shared_ptr<const ort::WorkFolder> folder = {};  ///< of files that the document is mapped from
};

/// Searches as analysis::bisect(). With reference values roles are changed: the model itself is run on them, and what
/// differs from them then differs by itself; the part is bounded by values that the file has in whole. Errors: those of
/// analysis::bisect(), document::withoutWrites(), precision::chosenBy(), ort::onnxForm() and runInEngine(), and of
/// document::compareWithReference(); the file has no case that can be run (Usage); cancelled.
base::Result<Outcome> bisect(const Request& request, const Target& target, const base::WorkContext& work = {});

/// Whether what differs is a part that can be written: not an input that the other model has an edit of.
bool hasPiece(const Outcome& outcome);

/// The part as a model, with the values at its border in the first model's run. Only where hasPiece(), else an error
/// (Usage). Errors: those of exporting::cutPiece() and writePiece().
base::Result<exporting::WrittenPiece> writePiece(const Outcome& outcome, const std::string& path,
                                                 const base::WorkContext& work = {});

/// Where both values of the node that differs are farthest apart, and what they are there.
struct FarthestElement {
    std::vector<std::int64_t> index;
    double own = 0, other = 0;
};
/// Nothing if one is no tensor, they have other shapes, or the same elements.
std::optional<FarthestElement> farthestElement(const Outcome& outcome);
/// Both values with as many digits as tell them apart: "0.25" and "0.5", "0.174281657" and "0.174281672".
std::pair<std::string, std::string> valueTexts(const FarthestElement& at);

/// A node of the outcome's document as the user knows it: "conv1"; of what an edit was written as "the edit of conv1".
std::string nodeText(const Outcome& outcome, graph::NodeId node);

/// The node that differs, with the edit that the part has in one of both models, if any: "z", "z (by the edit of y)",
/// "x (by its edit)".
std::string culpritText(const Outcome& outcome);

/// "resnet18 and mobilenet_v2 do not seem to be the same network: 10 of 69 values have a counterpart, 9 of them of
/// another shape". Empty if they may be.
std::string unlikeText(const Outcome& outcome);
/// "weight 'w' differs by 0.5 at most", of the other model's "… from 'w2'".
std::string weightText(const DifferingWeight& weight);

/// What a step did and found: "each operation on equal inputs: 1 of 12 values differs, first conv3".
std::string stepText(const Outcome& outcome, std::size_t step);
/// "same inputs, other output: 1 operation", "differences add up in 4 operations", "the outputs agree".
std::string findingText(const Outcome& outcome);
/// "3 values differ all the same: conv1, relu and pool": those that do although the outputs agree, the first of them by
/// name. Empty if the outputs differ, or no value does.
std::string differAnywayText(const Outcome& outcome);
/// "12 of 12 values are in both, 3 differ; 2 runs of wrong.onnx".
std::string countsText(const Outcome& outcome);
/// Module of an operation's result as the verbs write it: "layer1.0", "(root)", "-" where there is none.
std::string moduleText(const graph::Expr& expr);

/// The keys of `sonde bisect --json` but for "format" and "version". `written`: null if there is no file.
void addOutcome(nlohmann::ordered_json& answer, const Outcome& outcome, const exporting::WrittenPiece* written);
/// For people.
std::string outcomeText(const Outcome& outcome, const exporting::WrittenPiece* written);

}  // namespace sonde::session::bisection
