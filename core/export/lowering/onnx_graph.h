#pragma once

#include <memory>
#include <span>

#include "core/base/progress.h"
#include "core/document/document_types.h"

namespace sonde::exporting {

using document::Document;

/// A document's graph in ONNX operators only, for io::writeOnnx.
struct OnnxGraph {
    std::shared_ptr<const graph::InternalGraph> graph;
    base::Diagnostics notes;  ///< what was fixed on the way: branches, passes of loops, numbers that depend on data
    /// What the model gave in the run, one tensor for each of the graph's outputs. Empty where nothing was run, and
    /// where random numbers are drawn.
    std::vector<tensor::Value> results;
};

/// An ONNX document's graph comes back as it is. Any other model is run once on `inputs` (one value for each of the
/// graph's inputs), and what ran is written down in ONNX operators of version 18: numbers that follow from shapes
/// become constants, modules are opened with their names kept. Branches and loops that depend on the data become If and
/// Loop where the shapes in them are fixed; else the branch is the one taken and the loop as long as it was, which is
/// noted. Shapes are those of the inputs. Errors: the run's; operators that have no ONNX form (Usage), all of them
/// named.
base::Result<OnnxGraph> onnxGraph(const Document& document, std::span<const tensor::Value> inputs,
                                  const base::WorkContext& work = {});

}  // namespace sonde::exporting

/// The names under which these were known when they were part of core/document.
namespace sonde::document {
using exporting::OnnxGraph;
using exporting::onnxGraph;
}  // namespace sonde::document
