#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/progress.h"
#include "core/document/document.h"
#include "core/session/edits/edits.h"

namespace sonde::session {

/// What values are in a run, by node.
using TypesOfRun = std::unordered_map<graph::NodeId, tensor::TypeInfo>;

/// A document with the edits that are switched on in its graph, for writing it as a model: weights and other constants
/// have their edited values; behind inputs and computed values are operations of ONNX (Where, Mul, Add, Gather) that do
/// what the edits do. Named values keep their names; one before its edits is "NAME_before_edits". A run of it has the
/// values that the session's edits give, bit for bit; its operations and weights say which edit they are of
/// (graph::editedNodeOf(), editedWeightOf()). `types`: what an edit falls back to where the model leaves open what a
/// value is, and it cannot be written for all shapes (noise, for instance): a warning among the diagnostics says so.
///
/// Errors (Usage): an edit that has no node in the model, or that reads values of the run or has a slice of a value
/// whose shape is not fixed, with what to do instead.
base::Result<std::shared_ptr<const document::Document>> editedDocument(const document::Document& document,
                                                                       const Edits& edits,
                                                                       const TypesOfRun& types = {});

/// The types for editedDocument(): of the edited values whose shape or dtype the model leaves open, in a run on these
/// inputs. Without such values nothing is run. Errors: those of the run.
base::Result<TypesOfRun> typesOfRun(const document::Document& document, const Edits& edits,
                                    const std::vector<tensor::Value>& inputs, const base::WorkContext& work = {});

/// Whether the model leaves the shape or dtype open of a value that has an edit.
bool haveOpenTypes(const document::Document& document, const Edits& edits);

/// The edited document; the document itself if no edit is switched on.
base::Result<std::shared_ptr<const document::Document>> withEdits(std::shared_ptr<const document::Document> document,
                                                                  const Edits& edits);

}  // namespace sonde::session
